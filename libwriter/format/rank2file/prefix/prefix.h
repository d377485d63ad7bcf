/* SPDX-License-Identifier: BSD-3-Clause */
/* The prefix directory, in which SCR keeps checkpoints: its index, and the locks that keep programs apart
 * (doc/formats/rank2file.md, "Several writers"). */
#ifndef HPCW_FORMAT_RANK2FILE_PREFIX_H
#define HPCW_FORMAT_RANK2FILE_PREFIX_H

#include <hpcw/kvtree.h>

#include "libwriter/format/rank2file/map/names.h"

struct hpcw_i_dir;

/* The prefix directory is looked up once and then held open. Calls that create, overwrite or remove files below
 * it follow no symbolic link, so that they change nothing outside (libwriter/io/dir.h). Links are followed in
 * the path of the prefix itself, and by calls that only read. */
struct hpcw_i_r2f_prefix {
    const char *path; /* for messages */
    /* the held directory; NULL: not held, as in a restart, which only reads and uses `path` */
    struct hpcw_i_dir *dir;
};

/* Opens an existing prefix directory and holds it. The caller releases p->dir, which is NULL after a failure. */
hpcw_status hpcw_i_r2f_hold(const char *path, struct hpcw_i_r2f_prefix *p, hpcw_error *err);

/* Records that a call failed for a name below the prefix: "PREFIX/NAME: WHAT". If a symbolic link is the
 * reason, the message names the link. */
hpcw_status hpcw_i_r2f_fail_below(const struct hpcw_i_r2f_prefix *p, int e, const char *name, const char *what,
                                  hpcw_error *err);

/* Makes one directory, or accepts an existing one. With `sync`, a new directory and its entry are written back
 * to the disk. *made (may be NULL) says whether the directory is new. */
hpcw_status hpcw_i_r2f_make_directory(const struct hpcw_i_r2f_prefix *p, const char *name, bool sync,
                                      bool *made, hpcw_error *err);

/* ---- locks ---- */

/* Path of the lock file below the prefix. This library never removes the lock file: two writers could otherwise
 * hold the same lock on two files. */
#define HPCW_I_R2F_LOCK ".scr/hpcw.lock"

/*
 * Lock the index, or a dataset by its id and name. The directory .scr must exist. *fd becomes the open lock file,
 * or -1 after a failure. The lock ends with hpcw_i_r2f_unlock, or with the program and its children. The call for
 * the index waits for the lock. The call for a dataset returns HPCW_EEXIST if another writer holds it. If the file
 * system has no locks, both calls succeed without one. *locked (may be NULL) says whether there is a lock.
 *
 * Somebody may remove the lock file. So a lock only counts on the file that has the name at that time. And a
 * dataset also counts as locked while its writer holds the lock on its marker.
 */
hpcw_status hpcw_i_r2f_lock_index(const struct hpcw_i_r2f_prefix *p, int *fd, bool *locked, hpcw_error *err);
hpcw_status hpcw_i_r2f_lock_dataset(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                    bool *locked, hpcw_error *err);
void hpcw_i_r2f_unlock(int fd);

/* Finds out whether an open lock file still has its name. Otherwise other programs do not see the locks on it. */
hpcw_status hpcw_i_r2f_lock_is_named(const struct hpcw_i_r2f_prefix *p, int fd, bool *named, hpcw_error *err);
/* Locks a dataset again for its writer, which holds the lock on the marker. */
hpcw_status hpcw_i_r2f_lock_again(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                  bool *locked, hpcw_error *err);

/* ---- the index as a file ---- */

hpcw_status hpcw_i_r2f_index_read(const struct hpcw_i_r2f_prefix *p, hpcw_kvtree **index, hpcw_error *err);
/* Writes the index. *named (may be NULL) says whether it has replaced the old index, which is possible even
 * after a failure. */
hpcw_status hpcw_i_r2f_index_write(const struct hpcw_i_r2f_prefix *p, const hpcw_kvtree *index,
                                   hpcw_durability durability, bool *named, hpcw_error *err);

/* ---- trees ---- */

/* Finds the layout of an index: doc/formats/rank2file.md#rank2file-20. */
hpcw_status hpcw_i_r2f_index_layout(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                                    hpcw_error *err);

/* Adds a dataset as hpcw_rank2file_index_add does, but accepts any name that SCR may have given it. */
hpcw_status hpcw_i_r2f_index_add(hpcw_kvtree *index, const hpcw_rank2file_options *options, hpcw_error *err);

/* Returns the node whose children are the names of the datasets. */
hpcw_kvtree *hpcw_i_r2f_index_names(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* Returns the record of a dataset (the node with COMPLETE, FAILED, ...), or NULL. */
hpcw_kvtree *hpcw_i_r2f_index_record(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* Returns the record of a dataset below the node of its id. */
hpcw_kvtree *hpcw_i_r2f_index_record_in(const hpcw_kvtree *of_id, hpcw_rank2file_layout layout,
                                        const char *name);

/* Returns whether a record has COMPLETE = 1. */
bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record);

/* Returns the id of a dataset; 0: it is not listed, or has no id. */
uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* Returns the id of a dataset; `entry` is the child of hpcw_i_r2f_index_names with its name. */
uint64_t hpcw_i_r2f_index_id_of(const hpcw_kvtree *entry);

/* Returns whether the index lists a dataset of this name, or one whose metadata directory has this id. */
bool hpcw_i_r2f_index_has(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id,
                          const char *name);
/* Returns whether the index lists a dataset whose metadata directory has this id. In the layout of SCR 1.1,
 * none has. */
bool hpcw_i_r2f_index_has_metadata(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id);

/* Returns the name of the newest dataset (the highest id) that a restart may read, or NULL. */
const char *hpcw_i_r2f_index_newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* Removes a dataset from the index, and calls hpcw_i_r2f_index_settle. */
hpcw_status hpcw_i_r2f_index_remove(hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name,
                                    hpcw_error *err);
/* If CURRENT names no dataset that a restart may read, sets CURRENT to the newest one that it may read. If there
 * is none, removes CURRENT. */
hpcw_status hpcw_i_r2f_index_settle(hpcw_kvtree *index, hpcw_rank2file_layout layout, hpcw_error *err);

/* Times as texts, YYYY-MM-DDThh:mm:ss, as the index has them. */
enum { HPCW_I_R2F_STAMP = 24 };
void hpcw_i_r2f_stamp_utc(uint64_t us, char text[HPCW_I_R2F_STAMP]);
void hpcw_i_r2f_stamp_now(char text[HPCW_I_R2F_STAMP]); /* local time, as SCR writes it */
uint64_t hpcw_i_r2f_now_us(void);

#endif
