/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset that is being read, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_RESTART_H
#define HPCW_FORMAT_RANK2FILE_RESTART_H

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/prefix/prefix.h"

/* One leaf of the list on all processes, in words for the broadcast. */
struct hpcw_i_r2f_leaf {
    uint64_t first;  /* rank; the leaf ends where the next one begins */
    uint64_t number; /* in the name of its file */
    uint64_t offset;
};

/* The place of a loaded file in the words. */
struct hpcw_i_r2f_place {
    uint64_t word;
    uint32_t rank;
};

/* What process 0 finds out and broadcasts. */
struct hpcw_i_r2f_known {
    uint64_t id;
    hpcw_rank2file_layout layout;
    enum hpcw_i_r2f_kind kind;
    uint32_t ranks, levels, inner, leaves;
    char name[HPCW_I_R2F_LONGEST + 1]; /* of the dataset; "": opened by its root */
};

struct hpcw_rank2file_restart {
    hpcw_comm *comm;
    struct hpcw_i_dir *dir; /* everything is read through it; borrowed; NULL: by paths */
    size_t skip;            /* bytes of a path before the name below `dir` */
    char *metadata;         /* directory of the map */
    char *base;             /* base of the names of data files */
    struct hpcw_i_r2f_known known;
    hpcw_rank2file_dataset dataset;
    hpcw_kvtree *summary;         /* owns the texts of `dataset`; NULL without one */
    struct hpcw_i_r2f_leaf *leaf; /* [leaves] ascending */

    hpcw_rank2file_list *list; /* owns the names of `skipped`; NULL: opened by name */
    hpcw_rank2file_skipped *skipped;
    uint32_t skips;

    bool whole;      /* every rank is loaded on exactly one process */
    uint64_t *words; /* records of the ranks loaded here */
    uint64_t word_count;
    struct hpcw_i_buf places; /* of struct hpcw_i_r2f_place */
    struct hpcw_i_buf path;   /* of the file described last */
};

/*
 * Finds a dataset in the index. *out, to be freed, is the whole index, or NULL after a failure; NULL: not wanted.
 */
hpcw_status hpcw_i_r2f_find_dataset(const struct hpcw_i_r2f_prefix *p, const char *wanted,
                                    struct hpcw_i_r2f_known *known, hpcw_kvtree **out, hpcw_error *err);

/* Where a file of the dataset is read: a descriptor of a directory, and the name in there. */
hpcw_status hpcw_i_r2f_where(const hpcw_rank2file_restart *r, const char *path, int *at, const char **name,
                             hpcw_error *err);

/* On process 0: reads the summary of r->known, and finds the directory. */
hpcw_status hpcw_i_r2f_read_summary(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err);

/*
 * Collective. Opens the dataset that process 0 knows; `s` is the status of that. Reads the map, but no index. A
 * prefix that is held, by one process alone, is not looked up again, and must be held until the handle is freed.
 */
hpcw_status hpcw_i_r2f_open_known(const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm,
                                  const struct hpcw_i_r2f_known *known, hpcw_status s,
                                  hpcw_rank2file_restart **out, hpcw_error *err);

/* The same by one process for the root of a map below a held prefix, without summary and index. */
hpcw_status hpcw_i_r2f_open_root(const struct hpcw_i_r2f_prefix *p, const char *root,
                                 hpcw_rank2file_restart **out, hpcw_error *err);

/* hpcw_rank2file_list_open by one process, of a held prefix. */
hpcw_status hpcw_i_r2f_list_open(const struct hpcw_i_r2f_prefix *p, hpcw_rank2file_list **out, hpcw_error *err);

/* Collective. Loads all ranks and checks that the files exist and have their sizes; then nothing is loaded. */
hpcw_status hpcw_i_r2f_check_all(hpcw_rank2file_restart *r, hpcw_error *err);

/* hpcw_rank2file_check of a prefix that is held, with the files. What the index says about the dataset does not
 * count: the dataset can be restarted all the same. */
hpcw_status hpcw_i_r2f_check_dataset(const struct hpcw_i_r2f_prefix *p, const char *dataset, hpcw_error *err);

/* Frees what hpcw_rank2file_restart_load found. */
void hpcw_i_r2f_unload(hpcw_rank2file_restart *r);

/* Whether a failure says that the dataset is damaged, rather than that this process cannot judge it. */
bool hpcw_i_r2f_is_damage(hpcw_status s);

/* Collective. Broadcasts a tree of process 0; NULL: none. `about`: for messages. */
hpcw_status hpcw_i_r2f_share_tree(hpcw_comm *comm, const char *about, hpcw_kvtree **tree, hpcw_error *err);

/* Describes the dataset by r->summary, and checks that nothing is missing in there. */
hpcw_status hpcw_i_r2f_take_summary(hpcw_rank2file_restart *r, const char *path, hpcw_error *err);

/* Path of a node that is not the root; to be freed. */
hpcw_status hpcw_i_r2f_node_path(const hpcw_rank2file_restart *r, uint32_t level, uint64_t number, char **path,
                                 hpcw_error *err);

#endif
