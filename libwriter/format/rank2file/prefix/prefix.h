/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A prefix directory that several programs write: its index, and the locks that keep them apart
 * (doc/formats/rank2file.md, "Several writers").
 */
#ifndef HPCW_FORMAT_RANK2FILE_PREFIX_H
#define HPCW_FORMAT_RANK2FILE_PREFIX_H

#include <hpcw/kvtree.h>

#include "libwriter/format/rank2file/map/names.h"

struct hpcw_i_dir;

/*
 * The prefix is looked up once and then held. Calls that create, overwrite or remove something below it follow no
 * symbolic link, so that nothing outside is reached (libwriter/io/dir.h). The prefix itself, and all reading, may
 * go through links.
 */
struct hpcw_i_r2f_prefix {
    const char *path; /* for messages */
    /* NULL: not held, as in a restart that changes nothing; it is then read by its path */
    struct hpcw_i_dir *dir;
};

/* Holds an existing prefix. p->dir is to be released; it is NULL after a failure. */
hpcw_status hpcw_i_r2f_hold(const char *path, struct hpcw_i_r2f_prefix *p, hpcw_error *err);

/* Records that a call failed for a name below the prefix: "PREFIX/NAME: WHAT". If a link is the reason, the
 * message names it. */
hpcw_status hpcw_i_r2f_fail_below(const struct hpcw_i_r2f_prefix *p, int e, const char *name, const char *what,
                                  hpcw_error *err);

/* Makes one directory, which may exist. With `sync`, a new one is written back to the disk with its name. *made
 * (may be NULL): the directory is new. */
hpcw_status hpcw_i_r2f_make_directory(const struct hpcw_i_r2f_prefix *p, const char *name, bool sync,
                                      bool *made, hpcw_error *err);

/* ---- locks ---- */

/* Path of the lock file below the prefix. This library never removes it: two writers could then hold locks on two
 * files of that name. */
#define HPCW_I_R2F_LOCK ".scr/hpcw.lock"

/*
 * Locks the index, or a dataset by its id and name. The directory .scr must exist. hpcw_i_r2f_unlock closes *fd
 * and releases the lock; the end of the program and its children releases it, too. *fd is -1 after a failure. The
 * call for the index waits. A dataset that another writer holds gives HPCW_EEXIST. If the file system has no
 * locks, *fd is open and nothing is locked; *locked (may be NULL) says so.
 *
 * Somebody may remove the lock file. So a lock is taken on the file that has the name at that time. And a dataset
 * counts as being written while its writer owns its marker, whatever the lock says.
 */
hpcw_status hpcw_i_r2f_lock_index(const struct hpcw_i_r2f_prefix *p, int *fd, bool *locked, hpcw_error *err);
hpcw_status hpcw_i_r2f_lock_dataset(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                    bool *locked, hpcw_error *err);
void hpcw_i_r2f_unlock(int fd);

/* Checks that an open lock file still has its name. If not, others do not see its locks. */
hpcw_status hpcw_i_r2f_lock_is_named(const struct hpcw_i_r2f_prefix *p, int fd, bool *named, hpcw_error *err);
/* Locks a dataset again for its writer, which owns the marker. */
hpcw_status hpcw_i_r2f_lock_again(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                  bool *locked, hpcw_error *err);

/* ---- the index as a file ---- */

hpcw_status hpcw_i_r2f_index_read(const struct hpcw_i_r2f_prefix *p, hpcw_kvtree **index, hpcw_error *err);
/* Writes the index. *named (may be NULL): the new index has its name, possibly despite a failure. */
hpcw_status hpcw_i_r2f_index_write(const struct hpcw_i_r2f_prefix *p, const hpcw_kvtree *index,
                                   hpcw_durability durability, bool *named, hpcw_error *err);

/* ---- trees ---- */

/* Finds the layout of an index: doc/formats/rank2file.md#rank2file-20. */
hpcw_status hpcw_i_r2f_index_layout(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                                    hpcw_error *err);

/* Adds a dataset as hpcw_rank2file_index_add. Its name may be one that SCR gave. */
hpcw_status hpcw_i_r2f_index_add(hpcw_kvtree *index, const hpcw_rank2file_options *options, hpcw_error *err);

/* Returns the node that has a child for each dataset, by name. */
hpcw_kvtree *hpcw_i_r2f_index_names(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* Returns the record of a dataset (COMPLETE, FAILED, ...), or NULL. */
hpcw_kvtree *hpcw_i_r2f_index_record(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* Returns the record of a dataset in the node of its id. */
hpcw_kvtree *hpcw_i_r2f_index_record_in(const hpcw_kvtree *of_id, hpcw_rank2file_layout layout,
                                        const char *name);

/* Returns whether a record is complete. */
bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record);

/* Returns the id of a dataset; 0: it is not listed, or has no id. */
uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* Returns the id of a dataset from its node below the names. */
uint64_t hpcw_i_r2f_index_id_of(const hpcw_kvtree *entry);

/* Returns whether the index lists a dataset that owns the directory of this name, or the metadata of this id. */
bool hpcw_i_r2f_index_has(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id,
                          const char *name);
/* Returns whether a dataset in the index has its metadata in the directory of this id. */
bool hpcw_i_r2f_index_has_metadata(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id);

/* Returns the good dataset with the highest id, or NULL. */
const char *hpcw_i_r2f_index_newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* Removes a dataset. If CURRENT then names no good dataset, it becomes the newest good one. */
hpcw_status hpcw_i_r2f_index_remove(hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name,
                                    hpcw_error *err);
hpcw_status hpcw_i_r2f_index_settle(hpcw_kvtree *index, hpcw_rank2file_layout layout, hpcw_error *err);

/* Times in the form of the index, YYYY-MM-DDThh:mm:ss. */
enum { HPCW_I_R2F_STAMP = 24 };
void hpcw_i_r2f_stamp_utc(uint64_t us, char text[HPCW_I_R2F_STAMP]);
void hpcw_i_r2f_stamp_now(char text[HPCW_I_R2F_STAMP]); /* local time, as SCR writes it */
uint64_t hpcw_i_r2f_now_us(void);

#endif
