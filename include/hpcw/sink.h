/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Byte sinks: the destinations of a format's bytes.
 *
 * A format writer never opens a file by itself; it hands bytes to sinks. So every format can be written to every
 * destination: a file, one file shared by many processes, memory, or nothing (to measure the encoder alone).
 *
 * A file sink looks up the target's directory when it is opened, and keeps it open. So the program may change its
 * working directory, and the directory may be renamed. If the target is a symbolic link, the link stays and its
 * target is replaced. The new file gets the group, the access list and the permissions of the file that it
 * replaces. If root runs the program, the new file also gets the owner of the replaced file; if the system refuses
 * the owner, the publish fails. If the system refuses the group or the access list, the group of the new file has
 * no rights. Set-user-ID and set-group-ID bits are dropped.
 *
 * A file sink writes under a temporary name in that directory, ".hpcw-NUMBER-NAME.tmp", and takes the target's name
 * NAME only when it is published. A failure before that leaves nothing under the target's name. A killed process
 * leaves the temporary file. The next process that opens the same path on the same host removes the file if its
 * lock is free. Otherwise remove the file by hand: after a restart of the host, after a run on several hosts, and
 * on a file system without locks (fcntl, F_OFD_SETLK), the lock does not tell whether the writer still runs. The
 * file also stays if more than four sinks of the path were open at the same time.
 *
 * A child of fork() may free its copies of handles and sinks, which touches no file. Once its parent has ended
 * with _exit(), the child may also write to them and close them, as a daemon does. While the parent lives, calls
 * that would write to the file fail with HPCW_ESTATE. Calls that fill a buffer may still succeed, but the close
 * fails.
 *
 * Sinks are not collective. Writes to disjoint ranges of one sink may run on different threads at the same time.
 * No other call may run at the same time as another one.
 */
#ifndef HPCW_SINK_H
#define HPCW_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a finished file is flushed to the disk before a close reports success. */
typedef enum hpcw_durability {
    HPCW_SYNC_NONE = 0,     /**< the data may be in the page cache only, and be lost in a power failure */
    HPCW_SYNC_FILE = 1,     /**< fsync of the file before it gets its name; the library's default */
    HPCW_SYNC_DIRECTORY = 2 /**< as HPCW_SYNC_FILE, and fsync of the directory after the file gets its name */
} hpcw_durability;

/** An opaque sink. */
typedef struct hpcw_sink hpcw_sink;

/**
 * Opens a file that only this process writes. An existing file at `path` is replaced when the sink is published,
 * not before. Open files of one directory share a descriptor of the directory.
 *
 * @param path        final name of the file; borrowed for the call
 * @param durability  how hpcw_sink_publish flushes the data
 * @param out         the sink, to be freed with hpcw_sink_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL, HPCW_ENOMEM; HPCW_ENOENT, HPCW_EACCES, HPCW_ENOSPC or HPCW_EIO from the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_file(const char *path, hpcw_durability durability,
                                                         hpcw_sink **out, hpcw_error *err);

/**
 * Opens a file that several processes write together. All processes pass the same `path` and the same `tag`, a
 * number that no other run uses. For instance, one process draws a random number and broadcasts it. One process
 * creates the file. The other processes must call this function only after the file was created.
 *
 * The open of another process fails if this process does not see the created file, for instance because it has
 * another working directory, or because the file system is local to a host. For this check the first 8 bytes of the
 * file have the tag until a process writes there; only one process may write there. Bytes that were not written
 * are zero after the publish. So the file has at least 8 bytes.
 *
 * The process that created the file must publish it after all other processes have called hpcw_sink_detach.
 *
 * Other parameters and results as hpcw_sink_open_file.
 *
 * @param creates  whether this process creates the file
 * @return also HPCW_EMISMATCH: this process does not see the file that another process created
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_shared_file(const char *path, uint64_t tag, bool creates,
                                                                hpcw_durability durability, hpcw_sink **out,
                                                                hpcw_error *err);

/** Opens a sink in memory, which grows as needed. @see hpcw_sink_memory_data. @return HPCW_OK, HPCW_EINVAL or
 * HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_memory(hpcw_sink **out, hpcw_error *err);

/** Opens a sink that accepts all bytes and stores only their number. @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_null(hpcw_sink **out, hpcw_error *err);

/**
 * Opens a sink that passes its bytes on to `inner`. It passes at most `max_call` bytes in one write (0: any
 * number), and fails with HPCW_ENOSPC after `max_total` bytes. For tests of writers and for quotas. On success the
 * new sink owns `inner`, and frees it when it is freed.
 *
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_limited(hpcw_sink *inner, uint64_t max_total,
                                                            size_t max_call, hpcw_sink **out, hpcw_error *err);

/** How a brotli sink compresses. Initialise with hpcw_brotli_options_init. */
typedef struct hpcw_brotli_options {
    /** compression level, 0 (fast) to 9 (small); default 4. Levels 10 and 11 are refused: they use floating point,
     * so they may make different bytes on other machines */
    int quality;
    /** log2 of the window size, bytes, 10 to 24; default 18. The window is the distance in which repeated bytes are
     * found */
    int window;
    /** true: makes a valid stream of uncompressed blocks, at the speed of a copy; `quality` is ignored */
    bool stored;
} hpcw_brotli_options;

/**
 * Fills in the defaults, which come from a measurement on 98 MB of load-balancing records (JSON) with brotli 1.0.9
 * (`hpcw-kernels --only vom-settings`). On these data, quality 4 with a window of 2^18 bytes makes fewer bytes than
 * quality 8 with 2^20 bytes, at four times the speed and with a quarter of the memory. A text of a few MB that
 * repeats the same records becomes a tenth smaller with quality 8.
 */
HPCW_API void hpcw_brotli_options_init(hpcw_brotli_options *options);

/**
 * Opens a sink that compresses its bytes into one brotli stream (RFC 7932), without flushes, and passes the stream
 * on to `inner`. Each write must begin at the end of the previous write: any other offset, or another size in
 * hpcw_sink_set_size, gives HPCW_ENOTSUP. hpcw_sink_sync flushes only the bytes that the encoder has passed on so
 * far; hpcw_sink_publish and hpcw_sink_detach end the stream first. The stream depends on the text and the options
 * alone, not on the sizes of the writes. Memory with the defaults: 7 MiB. On success the new sink owns `inner`, and
 * frees it when it is freed.
 *
 * @param inner    a sink without any bytes so far
 * @param options  NULL: the defaults
 * @return HPCW_OK, HPCW_EINVAL (an option out of range) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_brotli(hpcw_sink *inner, const hpcw_brotli_options *options,
                                                           hpcw_sink **out, hpcw_error *err);

/**
 * Writes `size` bytes at offset `offset`: all of them, or the call fails. Bytes that are never written read as
 * zero. Different threads may write disjoint ranges, except on memory sinks.
 *
 * @return HPCW_OK; HPCW_EINVAL for NULL; HPCW_ERANGE if offset + size passes 2^63 - 1; HPCW_ESTATE after
 * publish; HPCW_ENOSPC, HPCW_ENOMEM or HPCW_EIO from the destination
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_write_at(hpcw_sink *sink, uint64_t offset, const void *data,
                                                        size_t size, hpcw_error *err);

/** Sets the length of a sink. If the sink grows, the new part reads as zero. @return as hpcw_sink_write_at */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err);

/** Flushes the written data to the disk (fsync). Does nothing for memory and null sinks. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_sync(hpcw_sink *sink, hpcw_error *err);

/**
 * Finishes a sink: flushes the content as the open asked, then gives the file its final name. Afterwards only
 * hpcw_sink_memory_data and hpcw_sink_free may be called.
 *
 * @return HPCW_OK; HPCW_ESTATE if the sink was published before; HPCW_ENOSPC, HPCW_EACCES or HPCW_EIO: an older
 *         file of that name is unchanged. There is one exception: if only the fsync of the directory failed, the
 *         new file is complete and has its name, but may lose the name in a power failure
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_publish(hpcw_sink *sink, hpcw_error *err);

/**
 * Ends this process's part of a shared file that another process will publish. Flushes the writes of this process
 * as the open asked, and closes the file. Call it before the other process publishes. Write errors that the system
 * reports late, as NFS and quotas do, appear here. Does nothing for other kinds of sink.
 *
 * @return as hpcw_sink_publish
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_detach(hpcw_sink *sink, hpcw_error *err);

/** Removes the temporary file of a sink that was not published. A shared file is removed only by the process that
 * created it, as long as this process has the file open. Afterwards only hpcw_sink_free may be called. NULL is
 * allowed. */
HPCW_API void hpcw_sink_discard(hpcw_sink *sink);

/**
 * Frees a sink, NULL allowed. A file of hpcw_sink_open_file that was not published is removed. A shared file is
 * only closed, as other processes may still write to it; its creator calls hpcw_sink_discard or hpcw_sink_publish.
 */
HPCW_API void hpcw_sink_free(hpcw_sink *sink);

/**
 * Returns the content of a memory sink, valid until the next call on the sink.
 *
 * @param size  out: length in bytes, may be NULL
 * @return the bytes; NULL for an empty sink or one that is not a memory sink
 */
HPCW_API const void *hpcw_sink_memory_data(const hpcw_sink *sink, size_t *size);

/**
 * How a writer opens the sinks of its files. A zeroed struct means files, the default of every format.
 *
 * `open` is called once for each physical file that a process writes, with the final path. If several processes
 * write the file, all get the same non-zero `tag`. `open` is called again for a shared file if the process has
 * detached from the file and then has metadata to write. `creates` is true on one process per file. The call on
 * this process succeeds before `open` is called on the other processes. Sinks that are no files may ignore `tag`
 * and `creates`. `open` returns a sink, which the writer then owns. Several processes may call `open` at the same
 * time, but no two threads of a process.
 */
typedef struct hpcw_sink_source {
    /** opens a sink, see hpcw_sink_source; NULL: hpcw_sink_open_file or hpcw_sink_open_shared_file */
    hpcw_status (*open)(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                        hpcw_error *err);
    void *context; /**< first argument of `open` */
} hpcw_sink_source;

#ifdef __cplusplus
}
#endif

#endif
