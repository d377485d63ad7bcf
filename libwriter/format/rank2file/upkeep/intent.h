/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datasets are removed in steps: write an intent that lists their files, write the index without them, remove the
 * files, remove the intent. If the program dies, the next program that changes the prefix finishes the removal, or
 * undoes it if the index still lists the dataset.
 */
#ifndef HPCW_FORMAT_RANK2FILE_INTENT_H
#define HPCW_FORMAT_RANK2FILE_INTENT_H

#include "libwriter/format/rank2file/upkeep/removal.h"

/*
 * Locks the index for a change, and finishes what dead programs were removing. *fd as for hpcw_i_r2f_lock_index.
 *
 * own   a dataset whose lock the caller has; NULL: none
 * tally counts what could not be finished as skipped; NULL: that is not reported
 */
hpcw_status hpcw_i_r2f_begin_change(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_dataset *own,
                                    hpcw_rank2file_tally *tally, int *fd, bool *locked, hpcw_error *err);

/* Removes the intent of this id, for a writer that nothing refuses any more: its dataset replaces files that could
 * not be removed. */
void hpcw_i_r2f_forget_intent(const struct hpcw_i_r2f_prefix *p, uint64_t id);

/* Finds out whether somebody is removing this dataset, or began to. */
hpcw_status hpcw_i_r2f_is_being_removed(const struct hpcw_i_r2f_prefix *p, uint64_t id, bool *is,
                                        hpcw_error *err);

/*
 * Takes a dataset out of the index, after an intent that lists what to remove. The caller holds the locks of the
 * index and of the dataset. `index` does not have the dataset any more. After a failure the index is unchanged, or
 * the next change finishes the removal.
 */
hpcw_status hpcw_i_r2f_take_out(const struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                const hpcw_kvtree *index, hpcw_durability durability, hpcw_error *err);

/* Removes the files of a dataset that was taken out, and then its intent. Only the lock of the dataset is
 * needed. */
hpcw_status hpcw_i_r2f_finish_removal(const struct hpcw_i_r2f_removal *r, const struct hpcw_i_r2f_dataset *d,
                                      bool sync, hpcw_error *err);

/* Counts a dataset that is left alone. The reason of the first one is kept. */
void hpcw_i_r2f_skip(hpcw_rank2file_tally *tally, const hpcw_error *why);

#endif
