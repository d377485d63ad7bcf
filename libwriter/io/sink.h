/* SPDX-License-Identifier: BSD-3-Clause */
/* The private part of sinks. The public part is <hpcw/sink.h>. */
#ifndef HPCW_IO_SINK_H
#define HPCW_IO_SINK_H

#include <stdbool.h>

#include <hpcw/sink.h>

#include "libwriter/io/sys.h"

/* Functions of a kind of sink. A call whose member is NULL goes to the inner sink, and does nothing without
 * one. A sink with an inner sink must have `write`. */
struct hpcw_i_sink_ops {
    /* Writes all pieces to the file, one after the other from `offset` on. `size` is the sum of their sizes,
     * bytes. */
    hpcw_status (*write)(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                         size_t size, hpcw_error *err);
    hpcw_status (*set_size)(hpcw_sink *sink, uint64_t size, hpcw_error *err);
    hpcw_status (*sync)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*settle)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*publish)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*detach)(hpcw_sink *sink, hpcw_error *err);
    void (*withdraw)(hpcw_sink *sink);
    void (*discard)(hpcw_sink *sink);
    /* frees memory of the sink, except itself and its inner sink; may be NULL */
    void (*free)(hpcw_sink *sink);
};

/* The first member of the struct of every kind of sink. */
struct hpcw_sink {
    const struct hpcw_i_sink_ops *ops;
    hpcw_sink *inner; /* owned; NULL: none */
    bool finished;    /* whether it was published or discarded */
    bool named;       /* whether the file has its final name; a publish may still fail after that */
};

struct hpcw_i_dir;

/*
 * Opens a sink for a file: by source->open, or a file sink if that or `source` is NULL. With a `tag` other than 0,
 * several processes write the file: one creates it (`creates`), then the others open it.
 *
 * `dir` is the directory of `path`, held since the caller got the path; NULL: it is looked up now. A symbolic link
 * as the last part of `path` is followed now.
 */
hpcw_status hpcw_i_sink_open(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                             uint64_t tag, bool creates, hpcw_durability durability, hpcw_sink **out,
                             hpcw_error *err);

/* Opens a sink as hpcw_i_sink_open does, for a file of a set (files that get their names together). A new file that
 * replaces no older one takes group, access list and permissions from the older first file of the set, whose name
 * is `first`. */
hpcw_status hpcw_i_sink_open_member(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                                    const char *first, uint64_t tag, bool creates, hpcw_durability durability,
                                    hpcw_sink **out, hpcw_error *err);

/* Opens a sink as hpcw_i_sink_open does, for file `name` in `dir`. The caller has followed symbolic links
 * already, so a link of this name is replaced. `path` is for messages and for `source`. */
hpcw_status hpcw_i_sink_open_found(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *name,
                                   const char *path, uint64_t tag, bool creates, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err);

/* Opens a sink for file `name` below `root`, a directory in which other users may write. No symbolic link is
 * followed (libwriter/io/dir.h). `path` is for messages. */
hpcw_status hpcw_i_sink_open_below(struct hpcw_i_dir *root, const char *name, const char *path,
                                   hpcw_durability durability, hpcw_sink **out, hpcw_error *err);

/* A source of sinks for all files of a writer below `root`. The paths of the files begin with `path` and a
 * slash. The struct must outlive the source. */
struct hpcw_i_sink_below {
    struct hpcw_i_dir *root;
    const char *path;
    hpcw_durability durability;
};
hpcw_sink_source hpcw_i_sink_below_source(const struct hpcw_i_sink_below *below);

/* Does all that a publish does except the rename, for files that get their names together (sink_set.h). Then
 * publish or discard the sink. If that publish fails, the temporary file stays. */
hpcw_status hpcw_i_sink_settle(hpcw_sink *sink, hpcw_error *err);

/* Returns the number in the temporary name of a file sink. */
uint64_t hpcw_i_sink_number(const hpcw_sink *file);
/* Returns the temporary name of a file, without directory, to be freed by the caller. `base` is its final name.
 * NULL: out of memory. */
char *hpcw_i_sink_temporary(const char *base, uint64_t number);

/* Removes the file that has the final name of a file sink, usually the older file, unless the sink's own file has
 * this name. Removes a symbolic link itself, not its target. Returns 0 or an errno value. */
int hpcw_i_sink_retire(hpcw_sink *file);

/* Closes a file sink after hpcw_i_sink_settle. The temporary file stays, and the next open of the set renames
 * it. */
void hpcw_i_sink_leave(hpcw_sink *file);

/* Returns the descriptor of a file sink that is not finished. It can also be read from. The sink closes it. */
int hpcw_i_sink_descriptor(const hpcw_sink *file);

/* Writes pieces of memory to a sink, one after the other from `offset` on. They may lie anywhere in memory, and
 * a piece may be given several times. Makes few system calls if the destination allows that. */
hpcw_status hpcw_i_sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              hpcw_error *err);

/* Removes a published file, which is useless if another file could not be written. */
void hpcw_i_sink_withdraw(hpcw_sink *sink);

/* Returns a random number that differs from those of other runs. */
uint64_t hpcw_i_sink_random(void);

/* Returns the tag of a file that several processes write. `random` is a number that one process drew.
 * The hosts are the smallest and greatest hpcw_i_sys_host of all processes. If the two are equal, a later run
 * can find and remove the file of a dead writer (sink_file.c). */
uint64_t hpcw_i_sink_tag(uint64_t random, uint64_t least_host, uint64_t greatest_host);

/* Removes temporary files of the file `base` in `dir` that dead writers on this host left. This process must
 * not write the file. Returns whether there were any. */
bool hpcw_i_sink_clear(struct hpcw_i_dir *dir, const char *base);

/* Returns whether a name without directory has the form of temporary names of file sinks. */
bool hpcw_i_sink_is_temporary(const char *name);

#endif
