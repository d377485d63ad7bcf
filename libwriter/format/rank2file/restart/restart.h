/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset that is being read, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_RESTART_H
#define HPCW_FORMAT_RANK2FILE_RESTART_H

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/prefix/prefix.h"

/* A leaf in the list of all processes. It consists of words, for the broadcast. */
struct hpcw_i_r2f_leaf {
    uint64_t first;  /* first rank; the leaf ends where the next one begins */
    uint64_t number; /* number in the name of its file */
    uint64_t offset;
};

/* The position of a loaded file in the words. */
struct hpcw_i_r2f_place {
    uint64_t word;
    uint32_t rank;
};

/* Facts that process 0 finds and broadcasts. */
struct hpcw_i_r2f_known {
    uint64_t id;
    hpcw_rank2file_layout layout;
    enum hpcw_i_r2f_kind kind;
    uint32_t ranks, levels, inner, leaves;
    char name[HPCW_I_R2F_LONGEST + 1]; /* name of the dataset; "": opened by the root of its map */
};

struct hpcw_rank2file_restart {
    hpcw_comm *comm;
    struct hpcw_i_dir *dir; /* directory through which everything is read; borrowed; NULL: read by paths */
    size_t skip;            /* number of bytes of a path before the name below `dir` */
    char *metadata;         /* directory of the map */
    char *base;             /* directory in front of the names of data files */
    struct hpcw_i_r2f_known known;
    hpcw_rank2file_dataset dataset;
    hpcw_kvtree *summary;         /* owns the texts of `dataset`; NULL: there is no summary */
    struct hpcw_i_r2f_leaf *leaf; /* [leaves] ascending */

    hpcw_rank2file_list *list; /* owns the names of `skipped`; NULL: the dataset was opened by name */
    hpcw_rank2file_skipped *skipped;
    uint32_t skips;

    bool whole;      /* every rank is loaded on exactly one process */
    uint64_t *words; /* records of the ranks that this process loaded */
    uint64_t word_count;
    struct hpcw_i_buf places; /* array of struct hpcw_i_r2f_place */
    struct hpcw_i_buf path;   /* path of the file described last */
};

/*
 * Finds a dataset in the index. *out, to be freed, is the whole index, or NULL after a failure. `out` may be NULL.
 */
hpcw_status hpcw_i_r2f_find_dataset(const struct hpcw_i_r2f_prefix *p, const char *wanted,
                                    struct hpcw_i_r2f_known *known, hpcw_kvtree **out, hpcw_error *err);

/* Gets the position from which a file of the dataset is read: the descriptor of a directory, and the name in it. */
hpcw_status hpcw_i_r2f_where(const hpcw_rank2file_restart *r, const char *path, int *at, const char **name,
                             hpcw_error *err);

/* Reads the summary of r->known, and finds the directory. Called on process 0. */
hpcw_status hpcw_i_r2f_read_summary(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err);

/*
 * Opens the dataset that process 0 knows; `s` is the status of its search. Reads the map, but no index. One
 * process alone may pass a held prefix: it is not looked up again, and must be held until the handle is freed.
 * Collective.
 */
hpcw_status hpcw_i_r2f_open_known(const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm,
                                  const struct hpcw_i_r2f_known *known, hpcw_status s,
                                  hpcw_rank2file_restart **out, hpcw_error *err);

/* Opens the root of a map below a held prefix on one process, without summary and index. */
hpcw_status hpcw_i_r2f_open_root(const struct hpcw_i_r2f_prefix *p, const char *root,
                                 hpcw_rank2file_restart **out, hpcw_error *err);

/* Lists the datasets of a held prefix on one process, as hpcw_rank2file_list_open. */
hpcw_status hpcw_i_r2f_list_open(const struct hpcw_i_r2f_prefix *p, hpcw_rank2file_list **out, hpcw_error *err);

/* Loads all ranks and checks that the files exist and have their sizes. Afterwards nothing is loaded.
 * Collective. */
hpcw_status hpcw_i_r2f_check_all(hpcw_rank2file_restart *r, hpcw_error *err);

/* Checks a dataset of a held prefix as hpcw_rank2file_check, with the files. Numbers in the index are not checked:
 * a restart does not need them. */
hpcw_status hpcw_i_r2f_check_dataset(const struct hpcw_i_r2f_prefix *p, const char *dataset, hpcw_error *err);

/* Frees the records that hpcw_rank2file_restart_load made. */
void hpcw_i_r2f_unload(hpcw_rank2file_restart *r);

/* Returns whether a failure means that the dataset is damaged. Other failures mean that this process cannot judge
 * it. */
bool hpcw_i_r2f_is_damage(hpcw_status s);

/* Broadcasts a tree of process 0, or NULL. `about` is for messages. Collective. */
hpcw_status hpcw_i_r2f_share_tree(hpcw_comm *comm, const char *about, hpcw_kvtree **tree, hpcw_error *err);

/* Fills in the description of the dataset from r->summary, and checks that the summary lacks nothing. */
hpcw_status hpcw_i_r2f_take_summary(hpcw_rank2file_restart *r, const char *path, hpcw_error *err);

/* Gets the path of a node other than the root, to be freed. */
hpcw_status hpcw_i_r2f_node_path(const hpcw_rank2file_restart *r, uint32_t level, uint64_t number, char **path,
                                 hpcw_error *err);

#endif
