/* SPDX-License-Identifier: BSD-3-Clause */
/* The private part of sinks. The public part is <hpcw/sink.h>. */
#ifndef HPCW_IO_SINK_H
#define HPCW_IO_SINK_H

#include <stdbool.h>

#include <hpcw/sink.h>

#include "libwriter/io/sys.h"

/* Any member may be NULL: then the call goes to the inner sink, and does nothing if there is none. A sink with an
 * inner sink has its own `write`. */
struct hpcw_i_sink_ops {
    /* Writes all pieces, which follow each other in the file. `size` is their total in bytes. */
    hpcw_status (*write)(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                         size_t size, hpcw_error *err);
    hpcw_status (*set_size)(hpcw_sink *sink, uint64_t size, hpcw_error *err);
    hpcw_status (*sync)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*settle)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*publish)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*detach)(hpcw_sink *sink, hpcw_error *err);
    void (*withdraw)(hpcw_sink *sink);
    void (*discard)(hpcw_sink *sink);
    /* frees all but the inner sink; NULL: there is nothing to free but the sink itself */
    void (*free)(hpcw_sink *sink);
};

/* This is the first member of every kind of sink. */
struct hpcw_sink {
    const struct hpcw_i_sink_ops *ops;
    hpcw_sink *inner; /* owned; NULL: none */
    bool finished;    /* was published or discarded */
    bool named;       /* has its final name; a publish may still fail after that */
};

struct hpcw_i_dir;

/* Opens a sink for a file: from `source` if there is one, otherwise a file. If `tag` is not 0, several processes
 * share the file. Then one process `creates` it, and the others open it after that.
 *
 * `dir` is the directory that `path` is in, held by the caller since it got the path; NULL: it is looked up now. A
 * symbolic link as the last part is followed now. */
hpcw_status hpcw_i_sink_open(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                             uint64_t tag, bool creates, hpcw_durability durability, hpcw_sink **out,
                             hpcw_error *err);

/* Does the same for a file of a set in `dir`. A file that replaces no older one gets the group, the access list
 * and the permissions of the file `first`: the one that the first file of the set replaces. */
hpcw_status hpcw_i_sink_open_member(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                                    const char *first, uint64_t tag, bool creates, hpcw_durability durability,
                                    hpcw_sink **out, hpcw_error *err);

/* Does the same for a caller that has followed the links already, to `name` in `dir`. A link that has the name by
 * now is replaced. The path is for messages and for `source`. */
hpcw_status hpcw_i_sink_open_found(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *name,
                                   const char *path, uint64_t tag, bool creates, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err);

/* Opens a sink for a file below a directory that others write, too. No symbolic link is followed
 * (libwriter/io/dir.h). The path is for messages. */
hpcw_status hpcw_i_sink_open_below(struct hpcw_i_dir *root, const char *name, const char *path,
                                   hpcw_durability durability, hpcw_sink **out, hpcw_error *err);

/* A source for all files of a writer below `root`. It takes paths that begin with `path` and a slash. `below` must
 * outlive it. */
struct hpcw_i_sink_below {
    struct hpcw_i_dir *root;
    const char *path;
    hpcw_durability durability;
};
hpcw_sink_source hpcw_i_sink_below_source(const struct hpcw_i_sink_below *below);

/* Does everything that a publish does except giving the name, for files that get their names together
 * (sink_set.h). A publish or a discard must follow. A publish that fails leaves the temporary file. */
hpcw_status hpcw_i_sink_settle(hpcw_sink *sink, hpcw_error *err);

/* For a file sink: its number, which is in its temporary name; and the temporary name for a final one, without
 * directory. The caller frees the name. NULL: out of memory. */
uint64_t hpcw_i_sink_number(const hpcw_sink *file);
char *hpcw_i_sink_temporary(const char *base, uint64_t number);

/* For a file sink: removes the older file that it replaces. The name is the one that the open found, whatever has
 * it now. Of a symbolic link, the link is removed and not its target. Returns 0 or an errno value. */
int hpcw_i_sink_retire(hpcw_sink *file);

/* Closes a settled file sink. Its temporary file stays for the next open of the set. */
void hpcw_i_sink_leave(hpcw_sink *file);

/* Returns the descriptor of a file sink that is not finished; it can be read as well. The sink owns it. */
int hpcw_i_sink_descriptor(const hpcw_sink *file);

/* Writes like hpcw_sink_write_at, but pieces that follow each other in the file. In memory they may lie anywhere,
 * and one may appear several times. It makes few system calls if the destination allows it. */
hpcw_status hpcw_i_sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              hpcw_error *err);

/* Removes the file after a publish. This is for files that are useless without others that failed. */
void hpcw_i_sink_withdraw(hpcw_sink *sink);

/* Returns a number that no other run draws. */
uint64_t hpcw_i_sink_random(void);

/* Returns the tag of a shared file. `random` is a number that one process drew; the hosts are the least and the
 * greatest hpcw_i_sys_host of all processes. If they are equal, a later run finds the file of a dead writer again
 * (sink_file.c). */
uint64_t hpcw_i_sink_tag(uint64_t random, uint64_t least_host, uint64_t greatest_host);

/* Removes files that dead writers of this host left for a name in a directory. This run must not write that name.
 * Returns whether there were any. */
bool hpcw_i_sink_clear(struct hpcw_i_dir *dir, const char *base);

/* Returns whether a name (without its directory) is one that file sinks use for unfinished files. */
bool hpcw_i_sink_is_temporary(const char *name);

#endif
