/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Byte sinks: where a format's bytes go.
 *
 * A format writer never opens a file by itself; it hands bytes to sinks. So every format can be written to every
 * destination: a file, one file shared by many processes, memory, or nothing (to measure the encoder alone).
 *
 * A file sink looks up the target's directory when it is opened, and keeps it open. So the program may change its
 * working directory, and the directory may be renamed. If the target is a symbolic link, the link stays and its
 * target is replaced. The new file gets the group, the access list and the permissions of the file that it
 * replaces. If root runs the program, it also gets the owner; if that is refused, the publish fails. If the group
 * or the list is refused, the new file's group has no rights. Set-user-ID and set-group-ID bits are dropped.
 *
 * A file sink writes under a temporary name in that directory, ".hpcw-NUMBER-NAME.tmp", and takes the target's
 * name NAME only when it is published. A failure before that leaves nothing under the target's name. A killed
 * process leaves the temporary file. The next process that opens the same path on the same host removes the file
 * if its lock is free. The file stays if its lock says nothing: after a restart of the host, after a run on
 * several hosts, or on a file system without locks (fcntl, F_OFD_SETLK). It also stays if more than four sinks of
 * the path were open at the same time. Then remove it by hand.
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

/** How far a finished file is pushed towards the disk before a close reports success. */
typedef enum hpcw_durability {
    HPCW_SYNC_NONE = 0,     /**< the data is in the page cache; a power loss may take it */
    HPCW_SYNC_FILE = 1,     /**< fsync of the file before it gets its name; the library's default */
    HPCW_SYNC_DIRECTORY = 2 /**< the same, and fsync of the directory after it gets its name */
} hpcw_durability;

/** An opaque sink. */
typedef struct hpcw_sink hpcw_sink;

/**
 * Opens a file of this process alone. `path` is the final name. An existing file of that name is replaced when the
 * sink is published, not before. Open files of one directory share a descriptor of the directory.
 *
 * @param path        final name; borrowed for the call
 * @param durability  what hpcw_sink_publish does for the data
 * @param out         the sink, to be freed with hpcw_sink_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL, HPCW_ENOMEM; HPCW_ENOENT, HPCW_EACCES, HPCW_ENOSPC or HPCW_EIO from the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_file(const char *path, hpcw_durability durability,
                                                         hpcw_sink **out, hpcw_error *err);

/**
 * Opens a file that several processes write together. All pass the same `path` and the same `tag`, a number that
 * no other run uses; for instance, one process draws and broadcasts it. One process creates the file. The others
 * open it after that; the caller lets them wait.
 *
 * The open of the others fails if they do not see the file. A relative path means another directory to a process
 * in another working directory, and some file systems belong to one host. For this check the first 8 bytes hold
 * the tag until a process writes there; only one process may. Bytes that were not written are zero once the file
 * is published. So the file has at least 8 bytes.
 *
 * The process that created the file must publish it, after all others have written. The others call
 * hpcw_sink_detach before that.
 *
 * Other parameters and results as hpcw_sink_open_file.
 *
 * @param creates  whether this process creates the file
 * @return also HPCW_EMISMATCH: another process created the file where this one does not see it
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_shared_file(const char *path, uint64_t tag, bool creates,
                                                                hpcw_durability durability, hpcw_sink **out,
                                                                hpcw_error *err);

/** Opens a sink that is a growing piece of memory. @see hpcw_sink_memory_data. @return HPCW_OK, HPCW_EINVAL or
 * HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_memory(hpcw_sink **out, hpcw_error *err);

/** Opens a sink that accepts everything and keeps only the length. @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_null(hpcw_sink **out, hpcw_error *err);

/**
 * Opens a sink in front of another one. It accepts at most `max_call` bytes in one system-level write (0: any
 * number), and fails with HPCW_ENOSPC once `max_total` bytes were accepted. For tests of writers and for quotas.
 * Takes ownership of `inner` on success; freeing the new sink frees it.
 *
 * @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_limited(hpcw_sink *inner, uint64_t max_total,
                                                            size_t max_call, hpcw_sink **out, hpcw_error *err);

/** How a brotli sink compresses. Initialise with hpcw_brotli_options_init. */
typedef struct hpcw_brotli_options {
    /** 0 (fast) to 9 (small); default 4. 10 and 11 are refused: they use floating point, and so may make
     * different bytes on other machines */
    int quality;
    int window;  /**< log2 of the distance that matches reach back, 10 to 24; default 18 */
    bool stored; /**< a valid stream of uncompressed blocks, at the speed of a copy; `quality` is ignored */
} hpcw_brotli_options;

/**
 * Fills in the defaults, which come from a measurement on 98 MB of load-balancing records (JSON) with brotli
 * 1.0.9 (`hpcw-kernels --only vom-settings`). There, quality 4 in a window of 2^18 bytes makes fewer bytes than
 * quality 8 in 2^20. It has four times the speed, and takes a quarter of the memory. A text of a few MB that
 * repeats the same records becomes a tenth smaller with quality 8.
 */
HPCW_API void hpcw_brotli_options_init(hpcw_brotli_options *options);

/**
 * Opens a sink in front of another one that compresses into one brotli stream (RFC 7932), without flushes. Each
 * write must begin where the one before ended: any other offset or size gives HPCW_ENOTSUP. A sync covers only the
 * output of the encoder so far; publish and detach end the stream first. The stream depends on the text and the
 * options alone, not on the sizes of the writes. Memory with the defaults: 7 MiB. Takes ownership of `inner` on
 * success; freeing the new sink frees it.
 *
 * @param inner    empty so far
 * @param options  NULL: the defaults
 * @return HPCW_OK, HPCW_EINVAL (an option out of range) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_open_brotli(hpcw_sink *inner, const hpcw_brotli_options *options,
                                                           hpcw_sink **out, hpcw_error *err);

/**
 * Writes `size` bytes at offset `offset`: all of them, or it fails. Gaps read as zero. Different threads may write
 * disjoint ranges, except on memory sinks.
 *
 * @return HPCW_OK; HPCW_EINVAL for NULL; HPCW_ERANGE if offset + size passes 2^63 - 1; HPCW_ESTATE after
 * publish; HPCW_ENOSPC, HPCW_ENOMEM or HPCW_EIO from the destination
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_write_at(hpcw_sink *sink, uint64_t offset, const void *data,
                                                        size_t size, hpcw_error *err);

/** Sets the length. If the sink grows, the new part is a hole. @return as hpcw_sink_write_at */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err);

/** Pushes the written data to the disk (fsync). Does nothing for memory and null sinks. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_sync(hpcw_sink *sink, hpcw_error *err);

/**
 * Finishes: makes the content durable as asked at open, then gives it the final name. Afterwards the sink only
 * answers hpcw_sink_memory_data and hpcw_sink_free.
 *
 * @return HPCW_OK; HPCW_ESTATE if published before; HPCW_ENOSPC, HPCW_EACCES or HPCW_EIO: an older file of that
 *         name is unchanged. There is one exception: if only the fsync of the directory failed, the new file is
 *         complete and has the name, but may lose it in a power failure
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_publish(hpcw_sink *sink, hpcw_error *err);

/**
 * Ends this process's part of a shared file that another process will publish. Makes its writes durable as asked
 * at open, and closes the file. Call it before the other process publishes. Late write errors appear here (NFS,
 * quotas). Does nothing for other kinds of sink.
 *
 * @return as hpcw_sink_publish
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_sink_detach(hpcw_sink *sink, hpcw_error *err);

/** Removes a file that was not published: its temporary file. A shared file is removed only by the process that
 * created it, as long as that has it open. Afterwards the sink only answers hpcw_sink_free. NULL is allowed. */
HPCW_API void hpcw_sink_discard(hpcw_sink *sink);

/**
 * Frees a sink, NULL allowed. A private file that was not published is removed. A shared file is only closed, as
 * other processes may still write to it; its creator calls hpcw_sink_discard or hpcw_sink_publish.
 */
HPCW_API void hpcw_sink_free(hpcw_sink *sink);

/**
 * The content of a memory sink, valid until the next call on the sink.
 *
 * @param size  out: length in bytes, may be NULL
 * @return the bytes; NULL for an empty sink or one that is not a memory sink
 */
HPCW_API const void *hpcw_sink_memory_data(const hpcw_sink *sink, size_t *size);

/**
 * Where a writer of several files gets its sinks. A zeroed struct means files, the default of every format.
 *
 * `open` is called once for each physical file that a process writes, with the final path. If several processes
 * write the file, all get the same non-zero `tag`. It is called again for a shared file if the process has
 * detached from it and then has metadata to write. `creates` is true on one process per file, and its call
 * succeeds before `open` is called on the others. Sinks that are no files may ignore `tag` and `creates`. `open`
 * returns a sink that the writer owns. It may be called on several processes, but never on two threads at once.
 */
typedef struct hpcw_sink_source {
    /** See above. NULL: files. */
    hpcw_status (*open)(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                        hpcw_error *err);
    void *context; /**< first argument of `open` */
} hpcw_sink_source;

#ifdef __cplusplus
}
#endif

#endif
