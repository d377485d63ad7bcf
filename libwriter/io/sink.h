/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sink is made of. The public face is <hpcw/sink.h>. */
#ifndef HPCW_IO_SINK_H
#define HPCW_IO_SINK_H

#include <stdbool.h>

#include <hpcw/sink.h>

#include "libwriter/io/sys.h"

/* Any may be NULL: then the call goes to the inner sink, and without one there is nothing to do. A sink with an
 * inner one has its own `write`. */
struct hpcw_i_sink_ops {
    /* Writes all pieces, which follow each other in the file. `size` is their total. */
    hpcw_status (*write)(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                         size_t size, hpcw_error *err);
    hpcw_status (*set_size)(hpcw_sink *sink, uint64_t size, hpcw_error *err);
    hpcw_status (*sync)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*settle)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*publish)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*detach)(hpcw_sink *sink, hpcw_error *err);
    void (*withdraw)(hpcw_sink *sink);
    void (*discard)(hpcw_sink *sink);
    void (*free)(hpcw_sink *sink); /* of all but the inner sink and, where it is NULL, the sink itself */
};

/* First member of every kind of sink. */
struct hpcw_sink {
    const struct hpcw_i_sink_ops *ops;
    hpcw_sink *inner; /* owned; NULL: none */
    bool finished;    /* published or discarded */
    bool named;       /* has its final name; a publish may still fail after that */
};

struct hpcw_i_dir;

/* A sink for a file: of `source`, if it has any; otherwise a file, shared by several processes if `tag` is not 0.
 * Then one process `creates` it, and the others open it after that. `dir` is the directory that `path` is in, held
 * by the caller since it was given the path; NULL: it is looked up now. A symbolic link as the last part is
 * followed now. */
hpcw_status hpcw_i_sink_open(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                             uint64_t tag, bool creates, hpcw_durability durability, hpcw_sink **out,
                             hpcw_error *err);

/* The same for a file of a set in `dir`. While it has no older one, it gets the group, the access list and the
 * permissions of the file that the first one of the set replaces, which has the name `first`. */
hpcw_status hpcw_i_sink_open_member(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                                    const char *first, uint64_t tag, bool creates, hpcw_durability durability,
                                    hpcw_sink **out, hpcw_error *err);

/* As hpcw_i_sink_open for a caller that has followed the links before, to `name` in `dir`: a link that has the
 * name by now is replaced. The path is for messages, and for `source`. */
hpcw_status hpcw_i_sink_open_found(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *name,
                                   const char *path, uint64_t tag, bool creates, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err);

/* A sink for a file below a directory that others write, too: no symbolic link is followed (libwriter/io/dir.h).
 * The path is for messages. */
hpcw_status hpcw_i_sink_open_below(struct hpcw_i_dir *root, const char *name, const char *path,
                                   hpcw_durability durability, hpcw_sink **out, hpcw_error *err);

/* The same for all files of a writer: a source for paths that begin with `path` and a slash, the root's name.
 * `below` must outlive it. */
struct hpcw_i_sink_below {
    struct hpcw_i_dir *root;
    const char *path;
    hpcw_durability durability;
};
hpcw_sink_source hpcw_i_sink_below_source(const struct hpcw_i_sink_below *below);

/* Does everything that a publish does but giving the name: for files that get their names together (sink_set.h). A
 * publish follows, which leaves the temporary file if it fails, or a discard. */
hpcw_status hpcw_i_sink_settle(hpcw_sink *sink, hpcw_error *err);

/* Of a file sink: the number in its temporary name, and that name for a final one (without directory, to be freed;
 * NULL: out of memory). */
uint64_t hpcw_i_sink_number(const hpcw_sink *file);
char *hpcw_i_sink_temporary(const char *base, uint64_t number);

/* Of a file sink: removes the older file that it replaces. The name is the one that the open found, whatever has
 * it now; a symbolic link goes, and not what it leads to. Returns 0 or an errno value. */
int hpcw_i_sink_retire(hpcw_sink *file);

/* Closes a settled file sink, whose temporary file stays for the next open of the set. */
void hpcw_i_sink_leave(hpcw_sink *file);

/* The descriptor of a file sink that is not finished, open for reading, too. The sink's. */
int hpcw_i_sink_descriptor(const hpcw_sink *file);

/* hpcw_sink_write_at for pieces that follow each other in the file. In memory they may lie anywhere; one may appear
 * several times. Few system calls, where the destination allows it. */
hpcw_status hpcw_i_sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              hpcw_error *err);

/* Removes the file after a publish, for files that are useless without others that failed. */
void hpcw_i_sink_withdraw(hpcw_sink *sink);

/* A number that no other run draws. */
uint64_t hpcw_i_sink_random(void);

/* The tag of a shared file. `random`: of one process; hosts: least and greatest hpcw_i_sys_host of all of them. A
 * dead writer's file is found again if they are the same (sink_file.c). */
uint64_t hpcw_i_sink_tag(uint64_t random, uint64_t least_host, uint64_t greatest_host);

/* Removes what dead writers of this host left for a name in a directory that this run does not write. Whether
 * there was any. */
bool hpcw_i_sink_clear(struct hpcw_i_dir *dir, const char *base);

/* Whether a name (without its directory) is one that file sinks use for unfinished files. */
bool hpcw_i_sink_is_temporary(const char *name);

#endif
