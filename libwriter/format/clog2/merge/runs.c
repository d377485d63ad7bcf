/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tournament tree (loser tree) over the runs, which are sorted lists of records. Each inner node keeps the run
 * that lost there; the overall winner is known. When the winner advances to its next record, this run is compared
 * with the losers on the way from its leaf to the root. The compiler makes each comparison without a branch,
 * because the outcome cannot be predicted.
 *
 * For each run, the time of the record after the next one is already loaded. So a record waits only for the
 * comparisons of the record before it, and not for memory. While the next records come from two runs only, these
 * two are merged in registers, with one comparison for each record.
 *
 * The functions get the struct as a copy, so that the compiler knows that no store changes its members.
 */
#include "libwriter/format/clog2/merge/runs.h"

#include "libwriter/base/mem.h"

#define NEVER HPCW_I_CLOG2_NEVER

enum { LEAST_RECORD = HPCW_I_CLOG2_HEAD + 8 };

bool hpcw_i_clog2_runs_make(struct hpcw_i_clog2_runs *runs, size_t count) {
    *runs = (struct hpcw_i_clog2_runs){.leaves = 2};
    while (runs->leaves < count) {
        runs->leaves *= 2;
    }
    runs->key = hpcw_i_calloc(runs->leaves, sizeof *runs->key);
    runs->run = hpcw_i_calloc(runs->leaves, sizeof *runs->run);
    runs->loser = hpcw_i_calloc(runs->leaves, sizeof *runs->loser);
    if (runs->key == NULL || runs->run == NULL || runs->loser == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < runs->leaves; i++) {
        runs->key[i] = NEVER;
    }
    return true;
}

void hpcw_i_clog2_runs_free(struct hpcw_i_clog2_runs *runs) {
    hpcw_i_free(runs->key);
    hpcw_i_free(runs->run);
    hpcw_i_free(runs->loser);
}

/* Advances a run to its next record. Returns the time of this record. */
static inline uint64_t advance(struct hpcw_i_clog2_run_state *run) {
    uint64_t time = run->time_after;
    run->next = run->after;
    if (run->next != run->end) {
        run->after = run->next + hpcw_i_clog2_size_at(run->next);
        run->time_after = run->after == run->end ? NEVER : hpcw_i_clog2_time_at(run->after);
    }
    return time;
}

void hpcw_i_clog2_runs_set(struct hpcw_i_clog2_runs *runs, size_t i, const unsigned char *data,
                           const unsigned char *end) {
    uint64_t time = data == end ? NEVER : hpcw_i_clog2_time_at(data);
    runs->run[i] = (struct hpcw_i_clog2_run_state){data, data, end, time};
    runs->key[i] = advance(&runs->run[i]);
}

/* Returns whether the next record of run a comes before that of run b. */
static inline bool comes_before(const struct hpcw_i_clog2_runs r, uint32_t a, uint32_t b) {
    return r.key[a] < r.key[b] + (a < b);
}

static uint32_t first_winner(const struct hpcw_i_clog2_runs r, uint32_t node) {
    if (node >= r.leaves) {
        return node - r.leaves;
    }
    uint32_t a = first_winner(r, 2 * node), b = first_winner(r, 2 * node + 1);
    bool second = comes_before(r, b, a);
    r.loser[node] = second ? a : b;
    return second ? b : a;
}

void hpcw_i_clog2_runs_begin(struct hpcw_i_clog2_runs *runs) {
    runs->winner = first_winner(*runs, 1);
    runs->by_tree = 0;
}

/* Compares a run that has a new key with the losers on the way from its leaf up to the nodes below `top`. Returns
 * the winner of these comparisons. */
static inline uint32_t play_again(const struct hpcw_i_clog2_runs r, uint32_t run, uint32_t top) {
    uint64_t best = r.key[run];
    for (uint32_t node = (r.leaves + run) / 2; node > top; node /= 2) {
        uint32_t other = r.loser[node];
        uint64_t others = r.key[other];
        uint64_t lost = -(uint64_t)(others < best + (other < run)); /* all bits set if `run` lost */
        uint32_t change = (run ^ other) & (uint32_t)lost;
        r.loser[node] = other ^ change;
        run ^= change;
        best ^= (best ^ others) & lost;
    }
    return run;
}

static inline uint32_t step_over(const struct hpcw_i_clog2_runs r, uint32_t winner) {
    r.key[winner] = advance(&r.run[winner]);
    return play_again(r, winner, 0);
}

static inline size_t size_of(const struct hpcw_i_clog2_run_state *run) {
    return (size_t)(run->after - run->next);
}

static inline unsigned char *copy_record(unsigned char *to, const unsigned char *record, size_t size) {
    memcpy(to, record, LEAST_RECORD);
    if (__builtin_expect(size > LEAST_RECORD, 0)) {
        memcpy(to + LEAST_RECORD, record + LEAST_RECORD, size - LEAST_RECORD);
    }
    return to + size;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Two runs
 * --------------------------------------------------------------------------------------------------------- */

/* Returns the time from which on a record of run `third` comes before a record of run `run`. */
static uint64_t bound_of(const struct hpcw_i_clog2_runs r, uint32_t run, uint32_t third) {
    return third == r.leaves ? NEVER : r.key[third] + (run < third);
}

/* Returns the node at which the second run lost: the run that comes next after the winner. *third becomes the run
 * after the second one; r.leaves if there is none. */
static uint32_t next_ones(const struct hpcw_i_clog2_runs r, uint32_t winner, uint32_t *third) {
    uint32_t at = (r.leaves + winner) / 2, after = r.leaves;
    for (uint32_t node = at / 2; node > 0; node /= 2) {
        bool second = comes_before(r, r.loser[node], r.loser[at]);
        uint32_t later = second ? r.loser[at] : r.loser[node];
        after = after == r.leaves || comes_before(r, later, after) ? later : after;
        at = second ? node : at;
    }
    for (uint32_t node = (r.leaves + r.loser[at]) / 2; node > at; node /= 2) {
        uint32_t run = r.loser[node];
        after = after == r.leaves || comes_before(r, run, after) ? run : after;
    }
    *third = after;
    return at;
}

/*
 * Takes records of the first two runs until the next record is in a third run or there is no room. Often only two
 * runs have records in a time span, because processes take turns on a processor. *number is the largest number of
 * records, and becomes the number of records taken. Returns the new winner.
 */
static uint32_t take_two(const struct hpcw_i_clog2_runs r, unsigned char **to, const unsigned char *end,
                         size_t *number) {
    uint32_t third, at = next_ones(r, r.winner, &third), other = r.loser[at];
    struct hpcw_i_clog2_run_state a = r.run[r.winner], b = r.run[other];
    uint64_t a_key = r.key[r.winner], b_key = r.key[other];
    const uint64_t a_bound = bound_of(r, r.winner, third), b_bound = bound_of(r, other, third);
    const uint64_t tie = other < r.winner;
    unsigned char *p = *to;
    size_t n = 0;
    for (size_t most = *number; n < most; n++) {
        bool second = b_key < a_key + tie;
        struct hpcw_i_clog2_run_state run = second ? b : a;
        size_t size = size_of(&run);
        if ((second ? b_key : a_key) >= (second ? b_bound : a_bound) || size > (size_t)(end - p)) {
            break;
        }
        p = copy_record(p, run.next, size);
        uint64_t key = advance(&run);
        a_key = second ? a_key : key;
        b_key = second ? key : b_key;
        a = second ? a : run;
        b = second ? run : b;
    }
    r.run[r.winner] = a;
    r.key[r.winner] = a_key;
    r.run[other] = b;
    r.key[other] = b_key;
    r.loser[at] = play_again(r, other, at);
    *to = p;
    *number = n;
    return play_again(r, r.winner, 0);
}

/* ------------------------------------------------------------------------------------------------------------
 *  All
 * --------------------------------------------------------------------------------------------------------- */

void hpcw_i_clog2_runs_skip(struct hpcw_i_clog2_runs *runs, uint64_t number) {
    const struct hpcw_i_clog2_runs r = *runs;
    uint32_t winner = r.winner;
    for (uint64_t i = 0; i < number; i++) {
        winner = step_over(r, winner);
    }
    runs->winner = winner;
}

/* Returns whether the next record fits into `room` bytes. There must be a next record. */
static inline bool fits(const struct hpcw_i_clog2_runs r, size_t room) {
    return size_of(&r.run[r.winner]) <= room;
}

size_t hpcw_i_clog2_runs_take(struct hpcw_i_clog2_runs *runs, unsigned char *to, size_t room, size_t *number) {
    enum { WORTH_IT = 16, PATIENCE = 256 };
    struct hpcw_i_clog2_runs r = *runs;
    const unsigned char *const end = to + room;
    unsigned char *p = to;
    size_t left = *number;
    while (left > 0 && fits(r, (size_t)(end - p))) {
        size_t n = left;
        if (r.by_tree == 0) {
            r.winner = take_two(r, &p, end, &n);
            bool third = n < left && fits(r, (size_t)(end - p));
            r.by_tree = third && n < WORTH_IT ? PATIENCE : 0;
        } else {
            n = 1;
            p = copy_record(p, r.run[r.winner].next, size_of(&r.run[r.winner]));
            r.winner = step_over(r, r.winner);
            r.by_tree--;
        }
        left -= n;
    }
    runs->winner = r.winner;
    runs->by_tree = r.by_tree;
    *number -= left;
    return (size_t)(p - to);
}
