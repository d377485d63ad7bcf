/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over everything that was measured in a permutation, with memory in proportion to the number of tasks
 * N. Rule numbers are those of doc/formats/linktest.md, "Rules".
 *
 * The schedule is right if every task meets every other one once (rule 25: its row holds each other rank once)
 * and if in each step the partner of my partner is me (rule 26). The first is checked exactly, row by row. The second relates
 * entries that are far apart in the file; holding them all would take N * N words. Instead every rank r gets
 * two random numbers a(r), b(r), and each step s a sum, modulo 2^64, of a(r) b(q) - b(r) a(q) over all ranks r,
 * q being r's partner. The term changes its sign when r and q change places, so a step of true pairs adds up to
 * zero, always. As a polynomial in the random numbers the sum is zero for no other step: the coefficient of
 * a(r) b(q) is [r meets q] - [q meets r]. A sum that is not the zero polynomial vanishes by chance with a
 * probability of about 2^-59 (linear in the a's, whose coefficients are odd half of the time, divisible by 2^k
 * once in 2^k). The numbers are drawn anew in every run, so a file cannot be made to fit them.
 *
 * The list of slowest connections is the right one (rule 23) if its entries are different measured ones and as many
 * timings are larger than its last entry as the list itself has; that needs a counter instead of a heap.
 */
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Room in front of a row for the head of a stream, so that the row itself is aligned. */
#define LEAD_WORDS ((8 + READ_LINKTEST_MOST_HOST) / 8)
#define MEAN_ERROR 1e-9

struct random_pair {
    uint64_t a, b;
};

/* Extremes, sum and count of timings. */
struct statistics {
    double min, max, sum;
    uint64_t above; /* larger than the last of the slow list */
    uint64_t count;
};

struct read_linktest_pass {
    struct read_linktest *r;
    bool strict;
    struct random_pair *random;      /* [tasks] */
    uint64_t *balance;               /* [steps] */
    unsigned char *met;              /* [tasks] by the rank whose row is looked at */
    unsigned char *present;          /* [tasks] there is such a rank */
    uint32_t *step_of;               /* [tasks] step in which a partner was met; NULL without retests */
    struct read_linktest_slow *slow; /* [retests] */
    uint64_t *words;                 /* head of a stream, a row, END_BLOCK */
    uint64_t *row;                   /* the row in `words` */
    double threshold;                /* last of the slow list */
    struct statistics timings, all_to_all;
    char last_end[33]; /* end time of the permutation before */
};

/* ------------------------------------------------------------------------------------------------------------
 *  Making and freeing
 * --------------------------------------------------------------------------------------------------------- */

static uint64_t split_mix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

hpcw_status read_linktest_pass_new(struct read_linktest *r, bool strict, struct read_linktest_pass **out,
                                   hpcw_error *err) {
    size_t n = r->info.tasks, d = (size_t)r->info.retests;
    struct read_linktest_pass *p = hpcw_i_calloc(1, sizeof *p);
    *out = NULL;
    if (p != NULL) {
        p->r = r;
        p->strict = strict;
        p->random = hpcw_i_calloc(n, sizeof *p->random);
        p->balance = hpcw_i_calloc(r->info.steps, sizeof *p->balance);
        p->met = hpcw_i_calloc(n, 1);
        p->present = hpcw_i_calloc(n, 1);
        p->step_of = d > 0 ? hpcw_i_calloc(n, sizeof *p->step_of) : NULL;
        p->slow = d > 0 ? hpcw_i_calloc(d, sizeof *p->slow) : NULL;
        /* Behind the row: the all-to-all time and END_BLOCK. */
        p->words = hpcw_i_calloc(LEAD_WORDS + 2 * (n - 1) + 3, sizeof *p->words);
    }
    if (p == NULL || p->random == NULL || p->balance == NULL || p->met == NULL || p->present == NULL ||
        p->words == NULL || (d > 0 && (p->step_of == NULL || p->slow == NULL))) {
        read_linktest_pass_free(p);
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: no memory to check the schedule of %zu tasks", r->name, n);
    }
    p->row = p->words + LEAD_WORDS;
    uint64_t state = UINT64_C(0x6a09e667f3bcc908);
    /* Where the system has none to give, numbers known beforehand still find every accident. */
    (void)!getrandom(&state, sizeof state, GRND_NONBLOCK);
    for (size_t i = 0; i < n; i++) {
        p->random[i].a = split_mix(&state);
        p->random[i].b = split_mix(&state);
    }
    *out = p;
    return HPCW_OK;
}

void read_linktest_pass_free(struct read_linktest_pass *pass) {
    if (pass == NULL) {
        return;
    }
    hpcw_i_free(pass->random);
    hpcw_i_free(pass->balance);
    hpcw_i_free(pass->met);
    hpcw_i_free(pass->present);
    hpcw_i_free(pass->step_of);
    hpcw_i_free(pass->slow);
    hpcw_i_free(pass->words);
    hpcw_i_free(pass);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Numbers
 * --------------------------------------------------------------------------------------------------------- */

/* Bits of a finite double > 0: one comparison on the integer. */
static inline bool is_time(uint64_t bits) {
    return bits - 1 < UINT64_C(0x7fefffffffffffff);
}

static double as_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t as_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static struct statistics no_statistics(void) {
    return (struct statistics){.min = DBL_MAX, .max = 0};
}

#define LANES 4

/* False if one of them is no time. Independent lanes hide the latency of the additions. */
static bool add_times(const uint64_t *bits, size_t count, double threshold, struct statistics *st) {
    double min[LANES], max[LANES], sum[LANES] = {0};
    uint64_t above[LANES] = {0};
    bool good = true;
    for (size_t k = 0; k < LANES; k++) {
        min[k] = st->min;
        max[k] = st->max;
    }
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            double x = as_double(bits[i + k]);
            good &= is_time(bits[i + k]);
            min[k] = x < min[k] ? x : min[k];
            max[k] = x > max[k] ? x : max[k];
            above[k] += x > threshold;
            sum[k] += x;
        }
    }
    for (; i < count; i++) {
        double x = as_double(bits[i]);
        good &= is_time(bits[i]);
        min[0] = x < min[0] ? x : min[0];
        max[0] = x > max[0] ? x : max[0];
        above[0] += x > threshold;
        sum[0] += x;
    }
    for (size_t k = 0; k < LANES; k++) {
        st->min = min[k] < st->min ? min[k] : st->min;
        st->max = max[k] > st->max ? max[k] : st->max;
        st->above += above[k];
        st->sum += sum[k];
    }
    st->count += count;
    return good;
}

/* Rules 21 and 22. */
static hpcw_status same_statistics(const struct read_linktest_pass *p, uint64_t permutation, const char *what,
                                   const struct statistics *st, double min, double avg, double max,
                                   hpcw_error *err) {
    const char *name = p->r->name;
    if (as_bits(min) != as_bits(st->min) || as_bits(max) != as_bits(st->max)) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: summary of permutation %" PRIu64
            ": %s minimum and maximum: expected %.17g and %.17g, the smallest and largest stored, got "
            "%.17g and %.17g",
            name, permutation, what, st->min, st->max, min, max);
    }
    double mean = st->sum / (double)st->count, off = avg > mean ? avg - mean : mean - avg;
    if (!(off <= MEAN_ERROR * mean)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: summary of permutation %" PRIu64
                           ": %s average: expected %.17g within 1e-9, got %.17g",
                           name, permutation, what, mean, avg);
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Summary
 * --------------------------------------------------------------------------------------------------------- */

/* YYYY-MM-DDThh:mm:ssZ */
static bool is_iso(const char *t) {
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    for (size_t i = 0; i < sizeof shape; i++) {
        if (shape[i] == 'd' ? t[i] < '0' || t[i] > '9' : t[i] != shape[i]) {
            return false;
        }
    }
    int month = (t[5] - '0') * 10 + (t[6] - '0'), day = (t[8] - '0') * 10 + (t[9] - '0');
    /* 60: a leap second */
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && memcmp(t + 11, "23", 2) <= 0 &&
           memcmp(t + 14, "59", 2) <= 0 && memcmp(t + 17, "60", 2) <= 0;
}

/* Rule 20. */
static hpcw_status check_time(const struct read_linktest_pass *p, uint64_t permutation, const char *what,
                              const char *text, const char *before, hpcw_error *err) {
    size_t length = strlen(text);
    bool whole = length > 0 && length < READ_LINKTEST_TIME;
    for (size_t i = length; i < READ_LINKTEST_TIME && whole; i++) {
        whole = text[i] == '\0';
    }
    if (!whole || (p->strict && !is_iso(text))) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: %s time of permutation %" PRIu64
                           ": expected %s and zeros, 32 bytes, got \"%.32s\"",
                           p->r->name, what, permutation, p->strict ? "YYYY-MM-DDThh:mm:ssZ" : "a text", text);
    }
    /* Other texts have no known order. */
    if (is_iso(text) && is_iso(before) && strcmp(text, before) < 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: %s time of permutation %" PRIu64 ": expected none before %s, got %s",
                           p->r->name, what, permutation, before, text);
    }
    return HPCW_OK;
}

static int by_pair(const void *a, const void *b) {
    const struct read_linktest_slow *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

/* Reads and checks the slow list, leaves it sorted by pair and the threshold set; `above` of its entries exceed
 * it. */
static hpcw_status slow_list(struct read_linktest_pass *p, uint64_t permutation, uint64_t *above,
                             hpcw_error *err) {
    size_t d = (size_t)p->r->info.retests;
    uint32_t n = p->r->info.tasks;
    *above = 0;
    p->threshold = DBL_MAX;
    if (d == 0) {
        return HPCW_OK;
    }
    hpcw_status status = read_linktest_slow(p->r, permutation, 0, d, p->slow, err);
    if (status != HPCW_OK) {
        return status;
    }
    for (size_t i = 0; i < d; i++) {
        const struct read_linktest_slow *s = &p->slow[i];
        if (!is_time(as_bits(s->retest)) || !is_time(as_bits(s->original)) || s->from >= n || s->to >= n ||
            s->from == s->to) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64
                               ", entry %zu: expected times > 0 and two of %" PRIu32
                               " ranks, got %.17g, %.17g, %" PRIu64 " and %" PRIu64,
                               p->r->name, permutation, i, n, s->retest, s->original, s->from, s->to);
        }
        if (i > 0 && s->original > s[-1].original) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64
                               ", entry %zu: expected at most %.17g, slowest first, got %.17g",
                               p->r->name, permutation, i, s[-1].original, s->original);
        }
    }
    p->threshold = p->slow[d - 1].original;
    while (*above < d && p->slow[*above].original > p->threshold) {
        ++*above;
    }
    qsort(p->slow, d, sizeof *p->slow, by_pair);
    for (size_t i = 1; i < d; i++) {
        if (by_pair(&p->slow[i - 1], &p->slow[i]) == 0) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64
                               ": expected different connections, got %" PRIu64 " to %" PRIu64 " twice",
                               p->r->name, permutation, p->slow[i].from, p->slow[i].to);
        }
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Rows
 * --------------------------------------------------------------------------------------------------------- */

struct place {
    const struct read_sion_task *task;
    uint32_t rank;
    uint64_t permutation;
    uint64_t data; /* offset of the row in the stream */
};

/* Adds the partners of a rank to the sums of all steps, with a look at each only as far as memory safety asks.
 */
static bool add_partners(struct read_linktest_pass *p, const uint64_t *partner, uint32_t rank) {
    const struct random_pair *random = p->random, own = random[rank];
    uint64_t *balance = p->balance;
    unsigned char *met = p->met;
    uint32_t n = p->r->info.tasks, steps = p->r->info.steps;
    memset(met, 0, n);
    for (uint32_t s = 0; s < steps; s++) {
        uint64_t q = partner[s];
        if (q >= n) {
            return false;
        }
        met[q] = 1;
        balance[s] += own.a * random[q].b - own.b * random[q].a;
    }
    return true;
}

/* As many steps as possible partners, so a row in which each was met has met none twice and no one else. */
static hpcw_status all_met(const struct read_linktest_pass *p, const struct place *at, hpcw_error *err) {
    uint32_t n = p->r->info.tasks, half = n / 2, rank = at->rank;
    uint32_t from[2] = {0, rank + 1}, to[2] = {rank, n};
    if (p->r->info.flags[READ_LINKTEST_BISECTION] != 0) {
        from[0] = rank < half ? half : 0;
        to[0] = rank < half ? n : half;
        from[1] = to[1] = n;
    }
    for (int i = 0; i < 2; i++) {
        const unsigned char *missed = to[i] > from[i] ? memchr(p->met + from[i], 0, to[i] - from[i]) : NULL;
        if (missed != NULL) {
            return read_linktest_wrong(p->r, at->task, at->data + 8 * (uint64_t)(n - 1), err,
                                       "access pattern of permutation %" PRIu64
                                       ": expected every partner once, got none equal to %td",
                                       at->permutation, missed - p->met);
        }
    }
    return HPCW_OK;
}

static hpcw_status first_bad_time(const struct read_linktest_pass *p, const struct place *at, hpcw_error *err) {
    uint32_t s = 0;
    while (is_time(p->row[s])) {
        s++;
    }
    return read_linktest_wrong(p->r, at->task, at->data + 8 * (uint64_t)s, err,
                               "timing of step %" PRIu32 " in permutation %" PRIu64
                               ": expected a finite number > 0, got %.17g",
                               s, at->permutation, as_double(p->row[s]));
}

static hpcw_status first_bad_partner(const struct read_linktest_pass *p, const struct place *at,
                                     hpcw_error *err) {
    uint32_t s = 0, n = p->r->info.tasks;
    const uint64_t *partner = p->row + (n - 1);
    while (partner[s] < n) {
        s++;
    }
    return read_linktest_wrong(p->r, at->task, at->data + 8 * ((uint64_t)(n - 1) + s), err,
                               "partner in step %" PRIu32 " of permutation %" PRIu64
                               ": expected a rank below %" PRIu32 ", got %" PRIu64,
                               s, at->permutation, n, partner[s]);
}

/* Rule 27. After the steps of a bisection test: no time, and the own rank as partner. */
static hpcw_status unused_slots(const struct read_linktest_pass *p, const struct place *at, hpcw_error *err) {
    uint32_t slots = p->r->info.tasks - 1;
    for (uint32_t s = p->r->info.steps; s < slots; s++) {
        if (p->row[s] != 0 || p->row[slots + s] != at->rank) {
            return read_linktest_wrong(p->r, at->task, at->data + 8 * (uint64_t)s, err,
                                       "unused slot %" PRIu32 " of permutation %" PRIu64
                                       ": expected 0 and the own rank, got %.17g and %" PRIu64,
                                       s, at->permutation, as_double(p->row[s]), p->row[slots + s]);
        }
    }
    return HPCW_OK;
}

/* The originals in the slow list that this rank measured. */
static hpcw_status slow_entries(struct read_linktest_pass *p, const struct place *at, hpcw_error *err) {
    size_t low = 0, high = (size_t)p->r->info.retests, d = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->slow[middle].from < at->rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == d || p->slow[low].from != at->rank) {
        return HPCW_OK;
    }
    uint32_t slots = p->r->info.tasks - 1, steps = p->r->info.steps;
    for (uint32_t s = 0; s < steps; s++) {
        p->step_of[p->row[slots + s]] = s;
    }
    for (; low < d && p->slow[low].from == at->rank; low++) {
        const struct read_linktest_slow *slow = &p->slow[low];
        uint32_t s = p->step_of[slow->to];
        /* step_of has an old value where the two never met: look whether they did. */
        bool known = p->row[slots + s] == slow->to;
        if (!known || p->row[s] != as_bits(slow->original)) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64 ": original of %" PRIu64 " to %" PRIu64
                               ": expected the stored timing %.17g, got %.17g",
                               p->r->name, at->permutation, slow->from, slow->to,
                               known ? as_double(p->row[s]) : 0.0, slow->original);
        }
    }
    return HPCW_OK;
}

/* Host and core, in front of the first row: rules 17 to 19. */
static hpcw_status check_head(struct read_linktest_pass *p, const struct read_sion_task *task,
                              const struct read_linktest_head *head, const unsigned char *bytes,
                              hpcw_error *err) {
    int32_t core;
    hpcw_status status = read_linktest_head_check(p->r, task, head, bytes, NULL, &core, err);
    if (status != HPCW_OK) {
        return status;
    }
    for (size_t i = 4; i < head->size - 5; i++) {
        if (bytes[i] <= 0x20 || bytes[i] > 0x7e) {
            return read_linktest_wrong(p->r, task, head->offset + i, err,
                                       "host name: expected printable ASCII, got %02x", bytes[i]);
        }
    }
    if (head->size < 8 + 2) {
        return read_linktest_wrong(p->r, task, head->offset, err, "host name: expected one, got an empty text");
    }
    if (core < 0) {
        return read_linktest_wrong(p->r, task, head->offset + head->size - 4, err,
                                   "core number: expected >= 0, got %" PRId32, core);
    }
    return HPCW_OK;
}

/* Reads what a task has of a permutation in one go, and what surrounds it at the first and the last one. */
static hpcw_status read_row(struct read_linktest_pass *p, struct place *at, hpcw_error *err) {
    struct read_linktest *r = p->r;
    const struct read_sion_task *task = at->task;
    struct read_linktest_head head;
    hpcw_status status = read_linktest_head_of(r, task, &head, err);
    if (status != HPCW_OK) {
        return status;
    }
    at->data = read_linktest_data_at(r, task, &head, at->permutation);
    bool first = at->permutation == 0, last = at->permutation + 1 == r->info.permutations;
    /* In task 0 the summary, any number of bytes, stands between head and row. */
    size_t lead = first && at->rank != 0 ? (size_t)head.size : 0;
    size_t trail = last ? READ_LINKTEST_END_BLOCK : 0;
    unsigned char *bytes = (unsigned char *)p->row - lead;
    if (first && at->rank == 0) {
        unsigned char *in_front = (unsigned char *)p->words;
        status = read_sion_read(r->sion, task, head.offset, in_front, (size_t)head.size, err);
        if (status == HPCW_OK) {
            status = check_head(p, task, &head, in_front, err);
        }
    }
    if (status == HPCW_OK) {
        status =
            read_sion_read(r->sion, task, at->data - lead, bytes, lead + (size_t)r->data_size + trail, err);
    }
    if (status == HPCW_OK && lead > 0) {
        status = check_head(p, task, &head, bytes, err);
    }
    if (status == HPCW_OK && last && memcmp(bytes + lead + r->data_size, "END_BLOCK", trail) != 0) {
        status = read_linktest_wrong(r, task, at->data + r->data_size, err,
                                     "expected \"END_BLOCK\", got something else");
    }
    size_t words = (size_t)r->data_size / 8;
    for (size_t i = 0; i < words && r->info.data_big != HPCW_I_HOST_BIG; i++) {
        p->row[i] = __builtin_bswap64(p->row[i]);
    }
    return status;
}

static hpcw_status check_row(struct read_linktest_pass *p, struct place *at, hpcw_error *err) {
    struct read_linktest *r = p->r;
    uint32_t slots = r->info.tasks - 1;
    hpcw_status status = read_row(p, at, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (!add_times(p->row, r->info.steps, p->threshold, &p->timings)) {
        return first_bad_time(p, at, err);
    }
    if (!add_partners(p, p->row + slots, at->rank)) {
        return first_bad_partner(p, at, err);
    }
    if ((status = all_met(p, at, err)) != HPCW_OK) {
        return status;
    }
    if (p->strict && (status = unused_slots(p, at, err)) != HPCW_OK) {
        return status;
    }
    if (r->all_to_all != 0 && !add_times(p->row + 2 * (size_t)slots, 1, DBL_MAX, &p->all_to_all)) {
        return read_linktest_wrong(r, at->task, at->data + 16 * (uint64_t)slots, err,
                                   "all-to-all time of permutation %" PRIu64
                                   ": expected a finite number > 0, got %.17g",
                                   at->permutation, as_double(p->row[2 * (size_t)slots]));
    }
    return slow_entries(p, at, err);
}

/* Streams may come in any order; the ranks must be 0 .. N-1, each in one chunk: rules 3 and 4. */
static hpcw_status check_task(struct read_linktest_pass *p, const struct read_sion_task *task,
                              hpcw_error *err) {
    uint32_t n = p->r->info.tasks;
    if (task->rank >= (int64_t)n || p->present[task->rank]) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " in file %" PRIu32
                           ": expected one of 0..%" PRIu32 " that no other task has, got %" PRId64,
                           p->r->name, task->index, task->file, n - 1, task->rank);
    }
    p->present[task->rank] = 1;
    if (task->blocks != 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: stream of rank %" PRId64 ": expected it in one chunk, got %" PRIu32 " blocks",
                           p->r->name, task->rank, task->blocks);
    }
    return HPCW_OK;
}

/* All rows in the order of the files, which is the order on disk. */
static hpcw_status all_rows(struct read_linktest_pass *p, uint64_t permutation, hpcw_error *err) {
    struct read_sion *sion = p->r->sion;
    uint32_t files = read_sion_files(sion), count = 0;
    for (uint32_t file = 0; file < files; file++) {
        struct read_sion_info info;
        hpcw_status status = read_sion_info(sion, file, &info, err);
        for (uint32_t index = 0; status == HPCW_OK && index < info.tasks; index++) {
            struct read_sion_task task;
            status = read_sion_task(sion, file, index, &task, err);
            if (status != HPCW_OK || task.rank < 0) {
                continue; /* collectors of buddy copies hold nothing */
            }
            if (permutation == 0) {
                status = check_task(p, &task, err);
            }
            if (status == HPCW_OK) {
                struct place at = {.task = &task, .rank = (uint32_t)task.rank, .permutation = permutation};
                status = check_row(p, &at, err);
            }
            count++;
        }
        if (status != HPCW_OK) {
            return status;
        }
    }
    if (count != p->r->info.tasks) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: tasks in all files: expected %" PRIu32 ", got %" PRIu32,
                           p->r->name, p->r->info.tasks, count);
    }
    return HPCW_OK;
}

hpcw_status read_linktest_pass_run(struct read_linktest_pass *pass, uint64_t permutation, hpcw_error *err) {
    struct read_linktest *r = pass->r;
    struct read_linktest_summary summary;
    uint64_t above;
    hpcw_status status = read_linktest_summary(r, permutation, &summary, err);
    if (status != HPCW_OK ||
        (status = check_time(pass, permutation, "start", summary.start, pass->last_end, err)) != HPCW_OK ||
        (status = check_time(pass, permutation, "end", summary.end, summary.start, err)) != HPCW_OK ||
        (status = slow_list(pass, permutation, &above, err)) != HPCW_OK) {
        return status;
    }
    memcpy(pass->last_end, summary.end, sizeof pass->last_end);

    pass->timings = pass->all_to_all = no_statistics();
    memset(pass->balance, 0, r->info.steps * sizeof *pass->balance);
    if ((status = all_rows(pass, permutation, err)) != HPCW_OK) {
        return status;
    }
    for (uint32_t s = 0; s < r->info.steps; s++) {
        if (pass->balance[s] != 0) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: step %" PRIu32 " of permutation %" PRIu64
                               ": expected pairs that name each other, got a rank whose partner names a third",
                               r->name, s, permutation);
        }
    }
    if (pass->timings.above != above) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: slow list of permutation %" PRIu64 ": expected all %" PRIu64
                           " timings above its last entry %.17g in it, got %" PRIu64,
                           r->name, permutation, pass->timings.above, pass->threshold, above);
    }
    status = same_statistics(pass, permutation, "timing", &pass->timings, summary.min, summary.avg, summary.max,
                             err);
    if (status == HPCW_OK && r->all_to_all != 0) {
        status = same_statistics(pass, permutation, "all-to-all", &pass->all_to_all, summary.all_to_all_min,
                                 summary.all_to_all_avg, summary.all_to_all_max, err);
    }
    return status;
}
