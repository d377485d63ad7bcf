/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges sorted runs of encoded records by time. If two records have the same time, that of the lower run is
 * first. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_RUNS_H
#define HPCW_FORMAT_CLOG2_MERGE_RUNS_H

#include <stdbool.h>

#include "libwriter/format/clog2/file/records.h"

/* The time of an exhausted run. Times are compared as words: they are not negative, so their bits have the same
 * order. */
#define HPCW_I_CLOG2_NEVER ((uint64_t)INT64_MAX)

static inline uint64_t hpcw_i_clog2_time_at(const unsigned char *record) {
    return hpcw_i_get_u64(record, true);
}

static inline uint32_t hpcw_i_clog2_size_at(const unsigned char *record) {
    return hpcw_i_clog2_size(record[HPCW_I_CLOG2_HEAD - 1]);
}

struct hpcw_i_clog2_run_state {
    const unsigned char *next, *after; /* the next record, and the record after it */
    const unsigned char *end;
    uint64_t time_after; /* time of the record at `after` */
};

struct hpcw_i_clog2_runs {
    uint64_t *key;                      /* [leaves] time of the next record of each run */
    struct hpcw_i_clog2_run_state *run; /* [leaves] */
    uint32_t *loser; /* [leaves] run that lost at each inner node; nodes are numbered from 1 */
    uint32_t leaves; /* a power of two */
    uint32_t winner; /* number of the run whose record is next */
    /* number of records to take from the tree before the merge of only two runs is tried again */
    uint32_t by_tree;
};

/* Allocates `count` empty runs. False: out of memory. Free them in any case. */
bool hpcw_i_clog2_runs_make(struct hpcw_i_clog2_runs *runs, size_t count);
void hpcw_i_clog2_runs_free(struct hpcw_i_clog2_runs *runs);

/* Sets the records of run i, which remain memory of the caller. Call runs_begin after all runs are set. */
void hpcw_i_clog2_runs_set(struct hpcw_i_clog2_runs *runs, size_t i, const unsigned char *data,
                           const unsigned char *end);
void hpcw_i_clog2_runs_begin(struct hpcw_i_clog2_runs *runs);

/* Return time and size of the next record. The time is HPCW_I_CLOG2_NEVER if there is no record; the size is then
 * undefined. */
static inline uint64_t hpcw_i_clog2_runs_time(const struct hpcw_i_clog2_runs *runs) {
    return runs->key[runs->winner];
}
static inline uint32_t hpcw_i_clog2_runs_size(const struct hpcw_i_clog2_runs *runs) {
    return (uint32_t)(runs->run[runs->winner].after - runs->run[runs->winner].next);
}

/* Skips the next `number` records, which must exist. */
void hpcw_i_clog2_runs_skip(struct hpcw_i_clog2_runs *runs, uint64_t number);

/* Copies the next *number records, which must exist, as far as they fit into `room` bytes. *number becomes the
 * number of copied records. Returns their size in bytes. */
size_t hpcw_i_clog2_runs_take(struct hpcw_i_clog2_runs *runs, unsigned char *to, size_t room, size_t *number);

#endif
