/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of a dataset that is being read, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_RESTART_H
#define HPCW_FORMAT_RANK2FILE_RESTART_H

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/prefix/prefix.h"

/* A leaf in the list that process 0 broadcasts. All members have 64 bits, as the list is sent as words. */
struct hpcw_i_r2f_leaf {
    uint64_t first;  /* first rank of the leaf; the ranks end where those of the next leaf begin */
    uint64_t number; /* number in the name of the leaf's file */
    uint64_t offset;
};

/* The place of a loaded file's entry in `words` of the handle. */
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
    /* name of the dataset; "": the dataset was opened by the path of its map's root */
    char name[HPCW_I_R2F_LONGEST + 1];
};

struct hpcw_rank2file_restart {
    hpcw_comm *comm;
    /* held directory through which files are opened, borrowed; NULL: files are opened by their paths */
    struct hpcw_i_dir *dir;
    size_t skip;    /* bytes of a path up to the part below `dir` */
    char *metadata; /* path of the directory with the nodes of the map */
    char *base;     /* path of the directory to which the names of data files are relative */
    struct hpcw_i_r2f_known known;
    hpcw_rank2file_dataset dataset;
    hpcw_kvtree *summary;         /* owns the texts of `dataset`; NULL: there is no summary */
    struct hpcw_i_r2f_leaf *leaf; /* [leaves] ascending */

    hpcw_rank2file_list *list; /* owns the names in `skipped`; NULL: the dataset was opened by its name */
    hpcw_rank2file_skipped *skipped;
    uint32_t skips;

    bool whole;      /* whether each rank is loaded on exactly one process */
    uint64_t *words; /* [word_count] records of the ranks that this process loaded */
    uint64_t word_count;
    struct hpcw_i_buf places; /* array of struct hpcw_i_r2f_place, one for each loaded file */
    struct hpcw_i_buf path;   /* path that the last hpcw_rank2file_restart_file returned */
};

/* A dataset in an index. The nodes belong to the index. */
struct hpcw_i_r2f_entry {
    hpcw_rank2file_layout layout;
    const hpcw_kvtree *node;   /* child of hpcw_i_r2f_index_names with the name of the dataset */
    const hpcw_kvtree *record; /* hpcw_i_r2f_index_record of the dataset; NULL: it has none */
};

/* Reads the index and finds a dataset in it. *index is to be freed also after a failure. */
hpcw_status hpcw_i_r2f_find_dataset(const struct hpcw_i_r2f_prefix *p, const char *wanted, hpcw_kvtree **index,
                                    struct hpcw_i_r2f_entry *entry, hpcw_error *err);

/* Fills in `known` from the dataset's entry in the index. Fails if the entry is damaged or not complete. */
hpcw_status hpcw_i_r2f_know_entry(const char *prefix, const struct hpcw_i_r2f_entry *entry,
                                  struct hpcw_i_r2f_known *known, hpcw_error *err);

/* Finds a file of the dataset, to be opened: *at becomes the descriptor of a directory, *name the file's path from
 * there. */
hpcw_status hpcw_i_r2f_where(const hpcw_rank2file_restart *r, const char *path, int *at, const char **name,
                             hpcw_error *err);

/* Reads the summary of the dataset in r->known, and sets r->metadata. Called on process 0. */
hpcw_status hpcw_i_r2f_read_summary(hpcw_rank2file_restart *r, const char *prefix, hpcw_error *err);

/* Opens the dataset that process 0 has found; `s` is the status of that search. Reads the map, but not the
 * index. On one process, `p` may be a held prefix, to be held until the handle is freed. Collective. */
hpcw_status hpcw_i_r2f_open_known(const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm,
                                  const struct hpcw_i_r2f_known *known, hpcw_status s,
                                  hpcw_rank2file_restart **out, hpcw_error *err);

/* Opens a map by the path of its root below a held prefix. Reads no summary and no index. For one process. */
hpcw_status hpcw_i_r2f_open_root(const struct hpcw_i_r2f_prefix *p, const char *root,
                                 hpcw_rank2file_restart **out, hpcw_error *err);

/* Lists the datasets of a held prefix as hpcw_rank2file_list_open does. For one process. */
hpcw_status hpcw_i_r2f_list_open(const struct hpcw_i_r2f_prefix *p, hpcw_rank2file_list **out, hpcw_error *err);

/* Returns the entry of an element of a list, valid as long as the list. */
const struct hpcw_i_r2f_entry *hpcw_i_r2f_entry_of(const hpcw_rank2file_listed *listed);
/* Returns the prefix of a list. */
const char *hpcw_i_r2f_list_prefix(const hpcw_rank2file_list *list);

/* Loads all ranks, checks that their files exist and have the listed sizes, and frees the loaded records.
 * Collective. */
hpcw_status hpcw_i_r2f_check_all(hpcw_rank2file_restart *r, hpcw_error *err);

/* Checks a dataset and its files below a held prefix, as hpcw_rank2file_check does. The totals in the index are
 * not compared: a restart does not need them. */
hpcw_status hpcw_i_r2f_check_entry(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_entry *entry,
                                   hpcw_error *err);

/* Frees the records that hpcw_rank2file_restart_load loaded. */
void hpcw_i_r2f_unload(hpcw_rank2file_restart *r);

/* Returns whether a status means that the dataset is damaged. Other errors mean that this process could not
 * find out. */
bool hpcw_i_r2f_is_damage(hpcw_status s);

/* Broadcasts a tree of process 0, which may be NULL. `about` names the tree in messages. Collective. */
hpcw_status hpcw_i_r2f_share_tree(hpcw_comm *comm, const char *about, hpcw_kvtree **tree, hpcw_error *err);

/* Fills in r->dataset from r->summary. Fails if the summary lacks a value. */
hpcw_status hpcw_i_r2f_take_summary(hpcw_rank2file_restart *r, const char *path, hpcw_error *err);

/* Gets the path of a node that is not the root, to be freed. */
hpcw_status hpcw_i_r2f_node_path(const hpcw_rank2file_restart *r, uint32_t level, uint64_t number, char **path,
                                 hpcw_error *err);

#endif
