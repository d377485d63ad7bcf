/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removing a dataset's files: a list of names is made, then these files are removed. The list has the dataset's
 * metadata files, and the data files that a map, a writer's marker or an intent names, and no others.
 */
#ifndef HPCW_FORMAT_RANK2FILE_REMOVAL_H
#define HPCW_FORMAT_RANK2FILE_REMOVAL_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/prefix/marker.h"

struct hpcw_i_r2f_removal {
    struct hpcw_i_r2f_prefix p;
    bool all; /* the list has all files of a directory, and some may belong to other datasets */
    /* names below the prefix, each with its NUL; one that ends in '/' is a directory, which is removed if empty */
    struct hpcw_i_buf names;
};

struct hpcw_i_r2f_dataset {
    hpcw_rank2file_layout layout;
    uint64_t id;
    const char *name;
};

struct hpcw_i_r2f_removal hpcw_i_r2f_removal_new(const struct hpcw_i_r2f_prefix *p);
void hpcw_i_r2f_removal_free(struct hpcw_i_r2f_removal *r);

/* Returns the name after `name` in a list of names, each with its NUL. `name` NULL: the first one. NULL: no
 * more. */
const char *hpcw_i_r2f_next_name(const struct hpcw_i_buf *names, const char *name);
/* Returns whether a name of the list is that of a directory. */
bool hpcw_i_r2f_is_folder(const char *name);
/* Returns whether a name of the list is that of a temporary file. */
bool hpcw_i_r2f_is_temporary(const char *name);

/* ---- make the list ---- */

/* Adds the nodes and summaries of a dataset, the temporary files of nodes and summaries that dead writers left,
 * and the directories of all these files. */
hpcw_status hpcw_i_r2f_removal_add_metadata(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                            hpcw_error *err);

/* Adds the data files that a map of the dataset lists, and the dataset's directory. If no map can be read,
 * fails as a restart does, and adds nothing. */
hpcw_status hpcw_i_r2f_removal_add_map(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err);

/*
 * Deletes from the list the files that other datasets of the index have, too. SCR lets an application keep its
 * file names, so a newer checkpoint may have files of an older one. Only files outside the dataset's directories
 * are compared. If the map of another dataset cannot be read, none of these files is removed.
 */
hpcw_status hpcw_i_r2f_removal_spare(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                     const hpcw_kvtree *index, hpcw_error *err);

/* Deletes from the list all names outside the directories of the dataset. Needed for a list from a file that
 * somebody may have changed. */
hpcw_status hpcw_i_r2f_removal_confine(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err);

/* Adds names, each with its NUL, which are below the directory `dataset`; also adds that directory. With
 * `dataset` NULL, the names are below the prefix. */
hpcw_status hpcw_i_r2f_removal_add_names(struct hpcw_i_r2f_removal *r, const char *dataset,
                                         const struct hpcw_i_buf *names, hpcw_error *err);

/* Adds the directory of a dataset with everything in it. HPCW_EACCES: another file system is mounted in the
 * directory, and must not be emptied. */
hpcw_status hpcw_i_r2f_removal_add_all(struct hpcw_i_r2f_removal *r, const char *dataset, hpcw_error *err);

/* Adds temporary files in the directory of a dataset that belong to files of the list. */
hpcw_status hpcw_i_r2f_removal_add_temporary(struct hpcw_i_r2f_removal *r, const char *dataset,
                                             hpcw_error *err);

/* Adds the temporary files that another list has. */
hpcw_status hpcw_i_r2f_removal_add_temporary_of(struct hpcw_i_r2f_removal *r,
                                                const struct hpcw_i_r2f_removal *from, hpcw_error *err);

/* ---- do it ---- */

/* Fails if a name of the list is behind a symbolic link. */
hpcw_status hpcw_i_r2f_removal_check(const struct hpcw_i_r2f_removal *r, hpcw_error *err);

/* Calls how->told with the path of every file of the list that exists. */
hpcw_status hpcw_i_r2f_removal_tell(const struct hpcw_i_r2f_removal *r, const hpcw_rank2file_removal *how,
                                    hpcw_error *err);

/* Removes all files of the list, and the directories that become empty. Temporary files of living writers stay.
 * With `sync`, the removal is on the disk when this returns. Goes on after a failure, and returns the first
 * one. */
hpcw_status hpcw_i_r2f_removal_do(const struct hpcw_i_r2f_removal *r, bool sync, hpcw_error *err);

/* ---- files that are left ---- */

/* Adds to *left the number of files in the directories of a dataset. */
hpcw_status hpcw_i_r2f_count_left(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                  uint64_t *left, hpcw_error *err);

/* Finds out whether writers left temporary files in the directories of a dataset. */
hpcw_status hpcw_i_r2f_has_temporary(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                     bool *has, hpcw_error *err);

#endif
