/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that look after a prefix, on process 0. */
#ifndef HPCW_FORMAT_RANK2FILE_UPKEEP_H
#define HPCW_FORMAT_RANK2FILE_UPKEEP_H

#include "libwriter/format/rank2file/upkeep/intent.h"

struct hpcw_i_r2f_upkeep {
    struct hpcw_i_r2f_prefix p;
    hpcw_rank2file_removal how;
    hpcw_rank2file_tally tally;
};

/* Removes a dataset of the index. `telling`: says what would be removed, and changes nothing. */
hpcw_status hpcw_i_r2f_drop(struct hpcw_i_r2f_upkeep *u, const char *dataset, bool telling, hpcw_error *err);

/* Marks a dataset of the index as failed. */
hpcw_status hpcw_i_r2f_mark_failed(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Makes a sound dataset of the index the current one, which did not fail. */
hpcw_status hpcw_i_r2f_make_current(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Drops old datasets, if `keep` is not 0, and removes what dead writers left. */
hpcw_status hpcw_i_r2f_prune(struct hpcw_i_r2f_upkeep *u, uint32_t keep, hpcw_error *err);

/* Builds the index anew. */
hpcw_status hpcw_i_r2f_reindex(struct hpcw_i_r2f_upkeep *u, hpcw_error *err);

/* Number of the summaries that a dataset has, sound or not. */
hpcw_status hpcw_i_r2f_count_summaries(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                       uint32_t *count, hpcw_error *err);

/*
 * Removes what dead writers of the id `id` left that were of this host: what their markers list. The caller has
 * the lock of the index. Writers that are alive, and those whose dataset reindex would find, are left alone. What
 * is skipped, and what is left in the directories, goes to the tally.
 *
 * own      a dataset that the caller writes again, with its locks: of its markers only the temporary files go.
 * NULL: none telling  says what would be removed, and changes nothing
 */
hpcw_status hpcw_i_r2f_remove_unfinished(struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *index,
                                         hpcw_rank2file_layout layout, const struct hpcw_i_r2f_which *which,
                                         size_t count, const struct hpcw_i_r2f_dataset *own, bool telling,
                                         hpcw_error *err);

#endif
