/* SPDX-License-Identifier: BSD-3-Clause */
/* The maintenance of a prefix, on process 0. */
#ifndef HPCW_FORMAT_RANK2FILE_UPKEEP_H
#define HPCW_FORMAT_RANK2FILE_UPKEEP_H

#include "libwriter/format/rank2file/upkeep/intent.h"

struct hpcw_i_r2f_upkeep {
    struct hpcw_i_r2f_prefix p;
    hpcw_rank2file_removal how;
    hpcw_rank2file_tally tally;
};

/* Removes a dataset of the index. `telling`: reports what would be removed, and changes nothing. */
hpcw_status hpcw_i_r2f_drop(struct hpcw_i_r2f_upkeep *u, const char *dataset, bool telling, hpcw_error *err);

/* Marks a dataset of the index as failed. */
hpcw_status hpcw_i_r2f_mark_failed(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Makes a sound dataset of the index the current one, and clears its FAILED mark. */
hpcw_status hpcw_i_r2f_make_current(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Drops old datasets, if `keep` is not 0, and removes what dead writers left. */
hpcw_status hpcw_i_r2f_prune(struct hpcw_i_r2f_upkeep *u, uint32_t keep, hpcw_error *err);

/* Rebuilds the index. */
hpcw_status hpcw_i_r2f_reindex(struct hpcw_i_r2f_upkeep *u, hpcw_error *err);

/* Gets the number of summaries that a dataset has, sound or not. */
hpcw_status hpcw_i_r2f_count_summaries(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                       uint32_t *count, hpcw_error *err);

/*
 * Removes what dead writers of id `id` on this host left: the files that their markers list. The caller holds the
 * lock of the index. Living writers, and datasets that reindex would find, are left alone. The tally counts what
 * is skipped, and what is left in the directories.
 *
 * own      a dataset that the caller writes again, holding its locks: for its markers only temporary files are
 *          removed. NULL: none
 * telling  reports what would be removed, and changes nothing
 */
hpcw_status hpcw_i_r2f_remove_unfinished(struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *index,
                                         hpcw_rank2file_layout layout, const struct hpcw_i_r2f_which *which,
                                         size_t count, const struct hpcw_i_r2f_dataset *own, bool telling,
                                         hpcw_error *err);

#endif
