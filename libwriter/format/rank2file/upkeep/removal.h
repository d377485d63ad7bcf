/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The removal of a dataset's files: first a list is made, then its files are removed. The list has the files that
 * a map, the marker of a writer or an intent names, and the metadata by their names. Nothing else is removed.
 */
#ifndef HPCW_FORMAT_RANK2FILE_REMOVAL_H
#define HPCW_FORMAT_RANK2FILE_REMOVAL_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/prefix/marker.h"

struct hpcw_i_r2f_removal {
    struct hpcw_i_r2f_prefix p;
    bool all; /* the list has all files of the dataset's directory, possibly also files of other datasets */
    /* names below the prefix, each with its NUL. A name that ends in '/' is a directory, removed if it is empty */
    struct hpcw_i_buf names;
};

/* The facts about a dataset that the calls below need. */
struct hpcw_i_r2f_dataset {
    hpcw_rank2file_layout layout;
    uint64_t id;
    const char *name;
};

struct hpcw_i_r2f_removal hpcw_i_r2f_removal_new(const struct hpcw_i_r2f_prefix *p);
void hpcw_i_r2f_removal_free(struct hpcw_i_r2f_removal *r);

/* Returns the next name of a list; the first one for `name` NULL. NULL after the last. */
const char *hpcw_i_r2f_next_name(const struct hpcw_i_buf *names, const char *name);
/* Returns the last part of a name. */
const char *hpcw_i_r2f_base(const char *name);
/* Returns whether a name of a list is that of a directory; or of a temporary file. */
bool hpcw_i_r2f_is_folder(const char *name);
bool hpcw_i_r2f_is_temporary(const char *name);

/* ---- make the list ---- */

/* Adds the nodes and summaries of a dataset, with their directories and temporary files of dead writers. */
hpcw_status hpcw_i_r2f_removal_add_metadata(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                            hpcw_error *err);

/* Adds the data files that a map of the dataset lists, with the dataset's directory. If no map can be read, fails
 * as a restart does and adds nothing. */
hpcw_status hpcw_i_r2f_removal_add_map(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err);

/*
 * Removes names from the list that other datasets of the index list, too. SCR lets an application keep its file
 * names, so a newer checkpoint may have files of an older one. Only files outside the dataset's directories are
 * compared. All of these stay if the map of another dataset cannot be read.
 */
hpcw_status hpcw_i_r2f_removal_spare(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                     const hpcw_kvtree *index, hpcw_error *err);

/* Removes names from the list that are not in the directories of the dataset. For a list that somebody may have
 * changed. */
hpcw_status hpcw_i_r2f_removal_confine(struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                       hpcw_error *err);

/* Adds names, each with its NUL. They are below the dataset's directory, which is added, too; `dataset` NULL:
 * below the prefix. */
hpcw_status hpcw_i_r2f_removal_add_names(struct hpcw_i_r2f_removal *r, const char *dataset,
                                         const struct hpcw_i_buf *names, hpcw_error *err);

/* Adds everything in the directory of a dataset, with its directories. HPCW_EACCES if a file system is mounted
 * there, as its content belongs to others. */
hpcw_status hpcw_i_r2f_removal_add_all(struct hpcw_i_r2f_removal *r, const char *dataset, hpcw_error *err);

/* Adds temporary files in the directory of a dataset, those of the listed files. */
hpcw_status hpcw_i_r2f_removal_add_temporary(struct hpcw_i_r2f_removal *r, const char *dataset,
                                             hpcw_error *err);

/* Adds the temporary files of another list. */
hpcw_status hpcw_i_r2f_removal_add_temporary_of(struct hpcw_i_r2f_removal *r,
                                                const struct hpcw_i_r2f_removal *from, hpcw_error *err);

/* ---- do it ---- */

/* Refuses a list with a name behind a symbolic link. */
hpcw_status hpcw_i_r2f_removal_check(const struct hpcw_i_r2f_removal *r, hpcw_error *err);

/* Calls `told` with the path of every file of the list that exists. */
hpcw_status hpcw_i_r2f_removal_tell(const struct hpcw_i_r2f_removal *r, const hpcw_rank2file_removal *how,
                                    hpcw_error *err);

/* Removes all files of the list, and the directories that become empty. Temporary files of living writers stay.
 * `sync`: the removal is on the disk when this returns. Continues after a failure, and returns the first one. */
hpcw_status hpcw_i_r2f_removal_do(const struct hpcw_i_r2f_removal *r, bool sync, hpcw_error *err);

/* ---- what is left ---- */

/* Adds to *left the files in the directories of a dataset. */
hpcw_status hpcw_i_r2f_count_left(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                  uint64_t *left, hpcw_error *err);

/* Finds out whether writers left temporary files in the directories of a dataset. */
hpcw_status hpcw_i_r2f_has_temporary(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                     bool *has, hpcw_error *err);

#endif
