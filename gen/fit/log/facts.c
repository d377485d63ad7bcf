/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/facts.h"

#include <math.h>
#include <stdlib.h>

#include "gen/fit/pairs.h"
#include "gen/waits/waits.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

#define FORMAT "clog2"

/* Tolerances: the facts of two logs are alike if they differ by at most this. */
#define OF_LENGTH 0.1
#define OF_AMOUNTS 0.05
#define OF_SHARES 0.05
#define OF_MATRIX 0.05 /* tolerance of 1 - correlation */

/* A shorter time, in seconds, counts as 0. */
#define LEAST_SECONDS 1e-9

/* Fewest pairs of values from which a correlation is computed. */
enum { LEAST_STEPS = 8 };

struct facts {
    const struct fit_program *p;
    struct gen_fit_facts *facts;
    hpcw_error *err;
    hpcw_status status;
};

static void add(struct facts *f, struct gen_fit_fact fact) {
    fact.format = FORMAT;
    if (f->status == HPCW_OK) {
        f->status = gen_fit_facts_add(f->facts, &fact, f->err);
    } else {
        hpcw_i_free(fact.half[0]);
        hpcw_i_free(fact.half[1]);
        hpcw_i_free(fact.piece);
    }
}

static void fail(struct facts *f) {
    f->status =
        f->status == HPCW_OK ? hpcw_i_fail_memory(f->err, "log", f->p->history.calls, "calls") : f->status;
}

static void add_number(struct facts *f, const char *name, const char *unit, enum gen_fit_kind kind,
                       double value, double allowed) {
    add(f,
        (struct gen_fit_fact){
            .name = name, .unit = unit, .kind = kind, .value = value, .part = {NAN, NAN}, .allowed = allowed});
}

/* ---- distributions ---- */

struct halves {
    struct gen_fit_sketch *half[2];
};

static struct halves new_halves(struct facts *f, double least) {
    const struct halves h = {{gen_fit_sketch_new(least), gen_fit_sketch_new(least)}};
    if (h.half[0] == NULL || h.half[1] == NULL) {
        fail(f);
    }
    return h;
}

static void add_halves(struct facts *f, const char *name, const char *unit, struct halves h) {
    if (h.half[0] == NULL || h.half[1] == NULL) {
        hpcw_i_free(h.half[0]);
        hpcw_i_free(h.half[1]);
        return;
    }
    add(f, (struct gen_fit_fact){
               .name = name, .unit = unit, .kind = GEN_FIT_MARGINAL, .half = {h.half[0], h.half[1]}});
}

static void add_correlation(struct facts *f, const char *name, const struct gen_fit_pairs half[2]) {
    struct gen_fit_pairs both = half[0];
    gen_fit_pairs_merge(&both, &half[1]);
    add(f, (struct gen_fit_fact){.name = name,
                                 .unit = "",
                                 .kind = GEN_FIT_CORRELATION,
                                 .value = both.n >= LEAST_STEPS ? gen_fit_correlation(&both) : NAN,
                                 .part = {gen_fit_correlation(&half[0]), gen_fit_correlation(&half[1])},
                                 .samples = both.n});
}

/* ---- amounts by key ---- */

static int by_key(const void *a, const void *b) {
    const struct gen_fit_part *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Adds the amounts of a table as a fact, and empties the table. */
static void add_table(struct facts *f, const char *name, enum gen_fit_kind kind, double allowed,
                      struct hpcw_i_table *table) {
    struct gen_fit_part *piece = hpcw_i_malloc((table->count + 1) * sizeof *piece);
    size_t at = 0, count = 0;
    uint64_t key[HPCW_I_TABLE_KEY];
    const double *amount;
    while (piece != NULL && (amount = hpcw_i_table_next(table, &at, key)) != NULL) {
        piece[count++] = (struct gen_fit_part){key[0], *amount};
    }
    if (count > 0) {
        qsort(piece, count, sizeof *piece, by_key);
    }
    if (piece == NULL) {
        fail(f);
    } else {
        add(f, (struct gen_fit_fact){.name = name,
                                     .unit = "",
                                     .kind = kind,
                                     .value = NAN,
                                     .part = {NAN, NAN},
                                     .allowed = allowed,
                                     .piece = piece,
                                     .pieces = count});
    }
    hpcw_i_table_free(table);
}

static struct hpcw_i_table new_table(void) {
    return (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(double)};
}

static void count_in(struct facts *f, struct hpcw_i_table *table, uint64_t key, double amount) {
    double *sum = hpcw_i_table_add(table, &key, NULL);
    if (sum == NULL) {
        fail(f);
    } else {
        *sum += amount;
    }
}

/* Returns a hash of a name that is the same for every log. */
static uint64_t key_of_name(const char *name) {
    uint64_t key = 0;
    for (const char *c = name; *c != '\0'; c++) {
        key = hpcw_i_table_mix(key * 257 + (unsigned char)*c);
    }
    return key;
}

/* ---- calls and messages ---- */

static void add_calls(struct facts *f) {
    const struct fit_history *h = &f->p->history;
    struct hpcw_i_table names = new_table();
    struct halves compute = new_halves(f, LEAST_SECONDS), share = new_halves(f, 1e-6);
    struct gen_fit_pairs next[2] = {{.n = 0}};
    for (uint32_t r = 0; f->status == HPCW_OK && r < h->ranks; r++) {
        const struct fit_rank *rank = &h->rank[r];
        double in_calls = 0, before = NAN;
        for (size_t c = 0; c < rank->calls; c++) {
            const struct fit_call *call = &rank->call[c];
            count_in(f, &names, key_of_name(h->name[call->name]), 1);
            in_calls += call->end - call->begin;
            if (c > 0) {
                const double seconds = fmax(0, call->begin - rank->call[c - 1].end);
                const double ln = gen_fit_ln(fmax(LEAST_SECONDS, seconds));
                gen_fit_sketch_add(compute.half[r & 1], seconds);
                if (before == before) {
                    gen_fit_pair(&next[r & 1], before, ln);
                }
                before = ln;
            }
        }
        gen_fit_sketch_add(share.half[r & 1], in_calls / fmax(LEAST_SECONDS, h->end - h->begin));
    }
    add_table(f, "calls by name", GEN_FIT_MIX, OF_SHARES, &names);
    add_halves(f, "compute time", "s", compute);
    add_correlation(f, "compute time and the next", next);
    add_halves(f, "share of a rank's time in MPI", "", share);
}

static void add_messages(struct facts *f) {
    const struct fit_history *h = &f->p->history;
    struct hpcw_i_table pairs = new_table();
    struct halves size = new_halves(f, 1);
    for (uint32_t r = 0; f->status == HPCW_OK && r < h->ranks; r++) {
        for (size_t e = 0; e < h->rank[r].ends; e++) {
            const struct fit_end *end = &h->rank[r].end[e];
            if (end->send) {
                gen_fit_sketch_add(size.half[r & 1], end->bytes);
                count_in(f, &pairs, (uint64_t)r << 32 | end->peer, end->bytes);
            }
        }
    }
    add_number(f, "messages", "", GEN_FIT_RATIO, (double)h->messages, OF_AMOUNTS);
    add_number(f, "bytes of messages", "bytes", GEN_FIT_RATIO, (double)h->bytes, OF_AMOUNTS);
    add_table(f, "bytes between pairs of ranks", GEN_FIT_MATRIX, OF_MATRIX, &pairs);
    add_halves(f, "bytes of a message", "bytes", size);
}

/* ---- collective calls ---- */

/* Adds the correlation of the compute times of a rank and of the next rank, each between two successive
 * collective calls of all ranks. */
static void add_across(struct facts *f) {
    const struct fit_program *p = f->p;
    const uint32_t calls = p->meetings[0].calls;
    struct gen_fit_pairs across[2] = {{.n = 0}};
    double *of[2] = {hpcw_i_calloc(calls + (size_t)1, sizeof **of),
                     hpcw_i_calloc(calls + (size_t)1, sizeof **of)};
    if (of[0] == NULL || of[1] == NULL) {
        fail(f);
    }
    for (uint32_t r = 0; f->status == HPCW_OK && r < p->history.ranks; r++) {
        double *seconds = of[r & 1];
        const struct fit_rank *rank = &p->history.rank[r];
        const struct fit_steps *s = &p->steps[r];
        uint32_t serial = 0;
        double sum = 0;
        for (size_t i = 0; i < s->count; i++) {
            const struct fit_step *step = &s->step[i];
            for (uint32_t k = 0; k < step->calls; k++) {
                const size_t c = step->call_index + k;
                sum += c > 0 ? fmax(0, rank->call[c].begin - rank->call[c - 1].end) : 0;
            }
            if ((step->verb == FIT_MEET || step->verb == FIT_SPLIT) && step->comm == 0 && serial < calls) {
                seconds[serial++] = gen_fit_ln(fmax(LEAST_SECONDS, sum));
                sum = 0;
            }
        }
        for (uint32_t k = 0; r > 0 && k < calls; k++) {
            gen_fit_pair(&across[r & 1], of[0][k], of[1][k]);
        }
    }
    hpcw_i_free(of[0]);
    hpcw_i_free(of[1]);
    add_correlation(f, "compute time and that of the next rank", across);
}

static void add_meetings(struct facts *f) {
    const struct fit_program *p = f->p;
    struct halves wait = new_halves(f, LEAST_SECONDS);
    uint32_t *serial = hpcw_i_calloc(p->history.comms, sizeof *serial);
    if (serial == NULL) {
        fail(f);
    }
    for (uint32_t r = 0; f->status == HPCW_OK && r < p->history.ranks; r++) {
        fit_serial_clear(&p->history, r, &p->steps[r], serial);
        for (size_t i = 0; i < p->steps[r].count; i++) {
            const struct fit_step *step = &p->steps[r].step[i];
            uint32_t place;
            if (step->verb == FIT_MEET || step->verb == FIT_SPLIT) {
                const uint32_t comm = fit_comm_of(&p->history, r, step, &place);
                const struct fit_call *call = &p->history.rank[r].call[step->call_index];
                const double last = p->meetings[comm].last[serial[comm]++];
                gen_fit_sketch_add(wait.half[r & 1], fmin(last, call->end) - call->begin);
            }
        }
    }
    hpcw_i_free(serial);
    add_halves(f, "wait in a collective call", "s", wait);
}

/* ---- wait states ---- */

static void add_waits(struct facts *f, const char *path) {
    static const char *const name[GEN_WAITS_KINDS] = {[GEN_WAITS_LATE_SENDER] = "time lost to late senders",
                                                      [GEN_WAITS_LATE_RECEIVER] = "time lost to late receivers",
                                                      [GEN_WAITS_COLLECTIVE] = "time lost in collective calls"};
    struct gen_waits waits;
    f->status = gen_waits_read(path, &waits, f->err);
    if (f->status != HPCW_OK) {
        return;
    }
    const double length = fmax(LEAST_SECONDS, f->p->history.end - f->p->history.begin);
    struct hpcw_i_table ranks = new_table();
    double sum[GEN_WAITS_KINDS] = {0};
    for (uint32_t r = 0; r < waits.ranks; r++) {
        double all = 0;
        for (size_t k = 0; k < GEN_WAITS_KINDS; k++) {
            const double share = (double)waits.rank[r].kind[k].time_ns / 1e9 / length;
            sum[k] += share / waits.ranks;
            all += share;
        }
        count_in(f, &ranks, r, all);
    }
    for (size_t k = 0; k < GEN_WAITS_KINDS; k++) {
        add_number(f, name[k], "", GEN_FIT_AMOUNT, sum[k], OF_SHARES);
    }
    add_table(f, "rank that waits longest", GEN_FIT_LARGEST, OF_SHARES, &ranks);
    gen_waits_free(&waits);
}

/* Adds the numbers of turns of the main loop, of the loops around it and of the loops inside it. */
static void add_turns(struct facts *f) {
    const struct fit_program *p = f->p;
    struct gen_fit_part *piece = hpcw_i_malloc((p->nests + (size_t)1) * sizeof *piece);
    for (uint32_t i = 0; piece != NULL && i < p->nests; i++) {
        piece[i] = (struct gen_fit_part){i, p->nest[i]};
    }
    if (piece == NULL) {
        fail(f);
    } else {
        add(f, (struct gen_fit_fact){.name = "turns of the main loop",
                                     .unit = "",
                                     .kind = GEN_FIT_NEST,
                                     .value = p->phases,
                                     .part = {NAN, NAN},
                                     .piece = piece,
                                     .pieces = p->nests});
    }
}

hpcw_status fit_log_facts(const char *path, const struct fit_program *p, struct gen_fit_facts *facts,
                          hpcw_error *err) {
    struct facts f = {.p = p, .facts = facts, .err = err};
    add_number(&f, "length of the run", "s", GEN_FIT_RATIO, p->history.end - p->history.begin, OF_LENGTH);
    add_calls(&f);
    add_messages(&f);
    add_across(&f);
    add_meetings(&f);
    add_waits(&f, path);
    add_turns(&f);
    return f.status;
}
