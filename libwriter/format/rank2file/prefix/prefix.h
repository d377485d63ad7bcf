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
 * The prefix is looked up once and held. What creates, overwrites or removes below it follows no symbolic link, so
 * that nothing outside is reached (libwriter/io/dir.h). The prefix itself, and all reading, may go through links.
 */
struct hpcw_i_r2f_prefix {
    const char *path; /* for messages */
    /* NULL: nobody holds it, as a restart that changes nothing; it is then read by its path */
    struct hpcw_i_dir *dir;
};

/* Holds a prefix that exists. p->dir is to be released, and NULL after a failure. */
hpcw_status hpcw_i_r2f_hold(const char *path, struct hpcw_i_r2f_prefix *p, hpcw_error *err);

/* Records that a call for a name below the prefix failed: "PREFIX/NAME: WHAT". If a link is the reason, the
 * message names the link. */
hpcw_status hpcw_i_r2f_fail_below(const struct hpcw_i_r2f_prefix *p, int e, const char *name, const char *what,
                                  hpcw_error *err);

/* Makes one directory, which may exist. With `sync`, a new one is written back to the disk with its name. *made
 * (may be NULL): whether there was none. */
hpcw_status hpcw_i_r2f_make_directory(const struct hpcw_i_r2f_prefix *p, const char *name, bool sync,
                                      bool *made, hpcw_error *err);

/* ---- locks ---- */

/* Below the prefix. Never removed by this library: two writers could hold locks on two files of that name. */
#define HPCW_I_R2F_LOCK ".scr/hpcw.lock"

/*
 * Locks the index, or a dataset by its id and name. The directory .scr must exist. hpcw_i_r2f_unlock closes *fd
 * and releases the lock, as the end of the program and of its children does; -1 after a failure. The lock of the
 * index waits; a dataset that another writer holds gives HPCW_EEXIST. Where the file system has no locks, *fd is
 * open and nothing is locked; *locked (may be NULL) tells.
 *
 * Somebody else may have removed the file. A lock is taken on the file that has the name then; and a dataset whose
 * writer still owns its marker is being written, whatever the lock says.
 */
hpcw_status hpcw_i_r2f_lock_index(const struct hpcw_i_r2f_prefix *p, int *fd, bool *locked, hpcw_error *err);
hpcw_status hpcw_i_r2f_lock_dataset(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                    bool *locked, hpcw_error *err);
void hpcw_i_r2f_unlock(int fd);

/* Whether an open lock file still has its name. If not, others do not see the locks. */
hpcw_status hpcw_i_r2f_lock_is_named(const struct hpcw_i_r2f_prefix *p, int fd, bool *named, hpcw_error *err);
/* Locks a dataset again, for its writer, which owns the marker. */
hpcw_status hpcw_i_r2f_lock_again(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name, int *fd,
                                  bool *locked, hpcw_error *err);

/* ---- the index as a file ---- */

hpcw_status hpcw_i_r2f_index_read(const struct hpcw_i_r2f_prefix *p, hpcw_kvtree **index, hpcw_error *err);
/* *named (may be NULL): the new index has its name, perhaps in spite of a failure. */
hpcw_status hpcw_i_r2f_index_write(const struct hpcw_i_r2f_prefix *p, const hpcw_kvtree *index,
                                   hpcw_durability durability, bool *named, hpcw_error *err);

/* ---- trees ---- */

/* doc/formats/rank2file.md#rank2file-20 */
hpcw_status hpcw_i_r2f_index_layout(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                                    hpcw_error *err);

/* hpcw_rank2file_index_add of a dataset whose name SCR gave. */
hpcw_status hpcw_i_r2f_index_add(hpcw_kvtree *index, const hpcw_rank2file_options *options, hpcw_error *err);

/* The node that has a child for each dataset, by name. */
hpcw_kvtree *hpcw_i_r2f_index_names(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* The record of a dataset: COMPLETE, FAILED, ... NULL: none. */
hpcw_kvtree *hpcw_i_r2f_index_record(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* The same in the node of its id. */
hpcw_kvtree *hpcw_i_r2f_index_record_in(const hpcw_kvtree *of_id, hpcw_rank2file_layout layout,
                                        const char *name);

/* Whether a restart may take a record: complete and not failed. */
bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record);
bool hpcw_i_r2f_is_good(const hpcw_kvtree *record);

/* The id of a dataset; 0: it is not listed, or has none. */
uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* The same of a child of the names. */
uint64_t hpcw_i_r2f_index_id_of(const hpcw_kvtree *entry);

/* Whether the index lists a dataset to which the directory of this name, or the metadata of this id, belongs. */
bool hpcw_i_r2f_index_has(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id,
                          const char *name);
/* Whether a dataset in the index has its metadata in the directory of this id. */
bool hpcw_i_r2f_index_has_metadata(const hpcw_kvtree *index, hpcw_rank2file_layout layout, uint64_t id);

/* The good dataset with the highest id, or NULL. */
const char *hpcw_i_r2f_index_newest(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* Removes a dataset. CURRENT, if it names none that is good any more, becomes the newest. */
hpcw_status hpcw_i_r2f_index_remove(hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name,
                                    hpcw_error *err);
hpcw_status hpcw_i_r2f_index_settle(hpcw_kvtree *index, hpcw_rank2file_layout layout, hpcw_error *err);

/* A time as the index has it, YYYY-MM-DDThh:mm:ss. */
enum { HPCW_I_R2F_STAMP = 24 };
void hpcw_i_r2f_stamp_utc(uint64_t us, char text[HPCW_I_R2F_STAMP]);
void hpcw_i_r2f_stamp_now(char text[HPCW_I_R2F_STAMP]); /* local time, as SCR writes it */
uint64_t hpcw_i_r2f_now_us(void);

#endif
