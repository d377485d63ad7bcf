/* SPDX-License-Identifier: BSD-3-Clause */
/* Maintenance of a prefix directory, on process 0. */
#ifndef HPCW_FORMAT_RANK2FILE_UPKEEP_H
#define HPCW_FORMAT_RANK2FILE_UPKEEP_H

#include "libwriter/format/rank2file/upkeep/intent.h"

struct hpcw_i_r2f_upkeep {
    struct hpcw_i_r2f_prefix p;
    hpcw_rank2file_removal how;
    hpcw_rank2file_tally tally;
};

/* Most datasets that one call of hpcw_i_r2f_drop removes. Each needs a descriptor for its lock. */
enum { HPCW_I_R2F_GROUP = 32 };

/*
 * Removes datasets of the index, with one change of the index. `telling`: reports what would be removed, and changes
 * nothing.
 *
 * count  in: number of datasets, 1 to HPCW_I_R2F_GROUP; out: number of those that the result is about, from the first
 *        one on. It is smaller if the datasets have many files, or if one fails
 * last   out: the last of these datasets made the call fail, and nothing was changed: the others can be dropped
 *        without it. Otherwise a failure is that of one of the datasets, and the tally counts the others that failed
 *        as skipped
 */
hpcw_status hpcw_i_r2f_drop(struct hpcw_i_r2f_upkeep *u, const char *const *dataset, size_t *count,
                            bool telling, bool *last, hpcw_error *err);

/* Marks a dataset of the index as failed. */
hpcw_status hpcw_i_r2f_mark_failed(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Makes a sound dataset of the index the current one, and clears its FAILED mark. */
hpcw_status hpcw_i_r2f_make_current(struct hpcw_i_r2f_upkeep *u, const char *dataset, hpcw_error *err);

/* Drops datasets older than the newest `keep` sound ones (none for `keep` 0), and removes files that dead
 * writers left. */
hpcw_status hpcw_i_r2f_prune(struct hpcw_i_r2f_upkeep *u, uint32_t keep, hpcw_error *err);

/* Rebuilds the index. */
hpcw_status hpcw_i_r2f_reindex(struct hpcw_i_r2f_upkeep *u, hpcw_error *err);

/* Counts the summaries of a dataset, whether they are sound or not. */
hpcw_status hpcw_i_r2f_count_summaries(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *d,
                                       uint32_t *count, hpcw_error *err);

/*
 * Removes files that dead writers on this host left: those that the markers `of` one id list. The caller holds the
 * lock of the index. Datasets of living writers are left unchanged, and so are complete ones, which reindex would
 * list. The tally counts failures as skipped datasets, and counts the files left.
 *
 * own      NULL, or a dataset that the caller writes again under its locks: only its temporary files are removed
 * telling  only reports what would be removed
 */
hpcw_status hpcw_i_r2f_remove_unfinished(struct hpcw_i_r2f_upkeep *u, const hpcw_kvtree *index,
                                         hpcw_rank2file_layout layout, const struct hpcw_i_r2f_markers *of,
                                         const struct hpcw_i_r2f_dataset *own, bool telling, hpcw_error *err);

#endif
