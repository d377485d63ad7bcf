/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset that is being read, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_RESTART_H
#define HPCW_FORMAT_RANK2FILE_RESTART_H

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/names.h"

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
    char name[HPCW_RANK2FILE_MAX_DATASET + 1]; /* of the dataset; "": opened by its root */
};

struct hpcw_rank2file_restart {
    hpcw_comm *comm;
    char *metadata; /* directory of the map */
    char *base;     /* base of the names of data files */
    struct hpcw_i_r2f_known known;
    hpcw_rank2file_dataset dataset;
    hpcw_kvtree *summary;         /* owns the texts of `dataset`; NULL without one */
    struct hpcw_i_r2f_leaf *leaf; /* [leaves] ascending */

    uint64_t *words; /* records of the ranks loaded here */
    uint64_t word_count;
    struct hpcw_i_buf places; /* of struct hpcw_i_r2f_place */
    struct hpcw_i_buf path;   /* of the file described last */
};

/* On process 0: reads index and summary of a dataset; NULL: the one to restart from. */
hpcw_status hpcw_i_r2f_find_dataset(hpcw_rank2file_restart *r, const char *prefix, const char *wanted,
                                    hpcw_error *err);

/* Describes the dataset by r->summary, and checks that nothing is missing in there. */
hpcw_status hpcw_i_r2f_take_summary(hpcw_rank2file_restart *r, const char *path, hpcw_error *err);

/* Path of a node that is not the root; to be freed. */
hpcw_status hpcw_i_r2f_node_path(const hpcw_rank2file_restart *r, uint32_t level, uint64_t number, char **path,
                                 hpcw_error *err);

#endif
