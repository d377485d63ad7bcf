/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A prefix directory that several programs write: its index, and the locks that keep them apart
 * (doc/formats/rank2file.md, "Several writers").
 */
#ifndef HPCW_FORMAT_RANK2FILE_PREFIX_H
#define HPCW_FORMAT_RANK2FILE_PREFIX_H

#include <hpcw/kvtree.h>

#include "libwriter/format/rank2file/map/names.h"

/* Below the prefix. Never removed: two writers could hold locks on two files of that name. */
#define HPCW_I_R2F_LOCK ".scr/hpcw.lock"

/*
 * Locks the index, or a dataset by its id and name. The directory .scr must exist. hpcw_i_r2f_unlock
 * closes *fd and releases the lock, as the end of the program and of its children does; -1 after a failure. The lock of the index waits; a dataset that
 * another writer holds gives HPCW_EEXIST. Where the file system has no locks, *fd is open and nothing is locked;
 * *locked (may be NULL) tells.
 */
hpcw_status hpcw_i_r2f_lock_index(const char *prefix, int *fd, bool *locked, hpcw_error *err);
hpcw_status hpcw_i_r2f_lock_dataset(const char *prefix, uint64_t id, const char *name, int *fd, bool *locked,
                                    hpcw_error *err);
void hpcw_i_r2f_unlock(int fd);

/* The index of a prefix. */
hpcw_status hpcw_i_r2f_index_read(const char *prefix, hpcw_kvtree **index, hpcw_error *err);
hpcw_status hpcw_i_r2f_index_write(const char *prefix, const hpcw_kvtree *index, hpcw_durability durability,
                                   hpcw_error *err);

/* ---- datasets that are being written ---- */

/* What a writer leaves in .scr while it writes, so that its files can be found if it dies. */
struct hpcw_i_r2f_marker {
    hpcw_rank2file_layout layout;
    bool made;     /* the writer made the dataset's directory, so that all in there is of the dataset */
    uint64_t host; /* hpcw_i_sys_host() of the process with the lock */
    char name[HPCW_RANK2FILE_MAX_DATASET + 1];
};
hpcw_status hpcw_i_r2f_marker_write(const char *prefix, uint64_t id, const struct hpcw_i_r2f_marker *marker,
                                    hpcw_error *err);
/* False if there is none, or none that can be read. */
bool hpcw_i_r2f_marker_read(const char *prefix, uint64_t id, struct hpcw_i_r2f_marker *marker);
void hpcw_i_r2f_marker_remove(const char *prefix, uint64_t id);
/* The id in the name of a marker, without its directory; 0: it is none. */
uint64_t hpcw_i_r2f_marker_id(const char *name);

/* Removes all files of a dataset, which must not be in the index any more: by its map; if that cannot be read, only the
 * metadata, and with the directory of SCR 1.1 all that is in there. Returns why the map cannot be read, if so. */
hpcw_status hpcw_i_r2f_remove_files(const char *prefix, hpcw_rank2file_layout layout, uint64_t id,
                                    const char *name, hpcw_error *err);

/* ---- trees ---- */

/* doc/formats/rank2file.md#rank2file-20 */
hpcw_status hpcw_i_r2f_index_layout(const hpcw_kvtree *index, const char *path, hpcw_rank2file_layout *layout,
                                    hpcw_error *err);

/* The node that has a child for each dataset, by name. */
hpcw_kvtree *hpcw_i_r2f_index_names(const hpcw_kvtree *index, hpcw_rank2file_layout layout);

/* The record of a dataset: COMPLETE, FAILED, ... NULL: none. */
hpcw_kvtree *hpcw_i_r2f_index_record(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

/* Whether a restart may take a record: complete and not failed. */
bool hpcw_i_r2f_is_complete(const hpcw_kvtree *record);
bool hpcw_i_r2f_is_good(const hpcw_kvtree *record);

/* The id of a dataset; 0: it is not listed, or has none. */
uint64_t hpcw_i_r2f_index_id(const hpcw_kvtree *index, hpcw_rank2file_layout layout, const char *name);

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
