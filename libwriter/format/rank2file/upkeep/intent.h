/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dataset is removed in four steps: write an intent (a marker that lists its files), write the index without the
 * dataset, remove the files, remove the intent. If the program dies, the next program that changes the prefix
 * finishes the removal, or only removes the intent if the index still lists the dataset.
 */
#ifndef HPCW_FORMAT_RANK2FILE_INTENT_H
#define HPCW_FORMAT_RANK2FILE_INTENT_H

#include "libwriter/format/rank2file/prefix/marker.h"
#include "libwriter/format/rank2file/upkeep/removal.h"

/*
 * Locks the index for a change, and finishes removals that dead programs began. See hpcw_i_r2f_lock_index for
 * fd and locked.
 *
 * own    dataset whose lock the caller has; NULL: none
 * tally  counts removals that cannot be finished as skipped; NULL: they are not counted
 */
hpcw_status hpcw_i_r2f_begin_change(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *own,
                                    hpcw_rank2file_tally *tally, int *fd, bool *locked, hpcw_error *err);

/* Removes the intent of this id for a program that now writes a dataset of this id. The new dataset replaces
 * files that the removal left. */
void hpcw_i_r2f_forget_intent(const struct hpcw_i_r2f_prefix *p, uint64_t id);

/* A dataset that is being removed. */
struct hpcw_i_r2f_drop {
    struct hpcw_i_r2f_dataset d;
    struct hpcw_i_r2f_removal r; /* its files */
    int lock;                    /* lock of the dataset, for its owner */
};

/*
 * Writes an intent for each of some datasets with different ids, and then `index`, which does not list them any more.
 * The caller holds the locks of the index and of the datasets. After a failure, either the index is unchanged, or
 * the next change of the prefix finishes the removals.
 *
 * count     in: number of datasets; out: number of intents that were tried
 * no_intent  out: whether the last of these intents made the call fail
 */
hpcw_status hpcw_i_r2f_take_out(const struct hpcw_i_r2f_drop *drop, size_t *count, const hpcw_kvtree *index,
                                hpcw_durability durability, bool *no_intent, hpcw_error *err);

/* Removes the files of a dataset after hpcw_i_r2f_take_out, then its markers among `unfinished`, and then its
 * intent. The caller needs only the lock of the dataset. */
hpcw_status hpcw_i_r2f_finish_removal(const struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                      const struct hpcw_i_r2f_markers *unfinished, bool sync, hpcw_error *err);

/* Counts a dataset that is left unchanged. Keeps the error of the first such dataset. */
void hpcw_i_r2f_skip(hpcw_rank2file_tally *tally, const hpcw_error *why);

#endif
