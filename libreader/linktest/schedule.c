/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the schedule. A schedule is right if two rules hold. Rule 25: every task meets every other task once, so
 * its row has each other rank once. Rule 26: in each step, if q is the partner of r, then r is the partner of q.
 * Rule 25 is checked exactly, row by row.
 *
 * Rule 26 relates entries that are far apart in the file, and holding all entries would take N * N words. Instead
 * every rank r gets two random numbers a(r) and b(r). Each step s has a sum, modulo 2^64, of a(r) b(q) - b(r) a(q)
 * over all ranks r, where q is r's partner. A term changes its sign if r and q change places, so the sum is zero
 * for a step of true pairs.
 *
 * For any other step, the sum is not zero as a polynomial in the random numbers: the coefficient of a(r) b(q) is [r
 * meets q] - [q meets r]. The sum is still zero by chance with a probability of about 2^-59: it is linear in each
 * a(r), and the coefficient of a(r) is a multiple of 2^k with a probability of 2^-k. The random numbers are new in
 * every run, so nobody can make a wrong file that has sums of zero.
 */
#include <inttypes.h>
#include <sys/random.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

static uint64_t split_mix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void read_linktest_schedule_randomize(struct read_linktest_pass *p) {
    uint64_t state = UINT64_C(0x6a09e667f3bcc908);
    /* If the system has no random numbers, fixed numbers still find every accidental fault. */
    (void)!getrandom(&state, sizeof state, GRND_NONBLOCK);
    for (size_t i = 0; i < p->r->info.tasks; i++) {
        p->random[i].a = split_mix(&state);
        p->random[i].b = split_mix(&state);
    }
}

/* Adds the partners of a rank to the sums of all steps. False if a partner is not a rank of the run. */
static bool add_partners(struct read_linktest_pass *p, const uint64_t *partner, uint32_t rank) {
    const struct read_linktest_random *random = p->random, own = random[rank];
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

/* Checks that a row has all partners. A row has as many steps as there are partners. So if each partner occurs, no
 * partner occurs twice and no other rank occurs. */
static hpcw_status all_met(const struct read_linktest_pass *p, const struct read_linktest_row *row,
                           hpcw_error *err) {
    uint32_t n = p->r->info.tasks, half = n / 2, rank = row->rank;
    uint32_t from[2] = {0, rank + 1}, to[2] = {rank, n};
    if (p->r->info.bisection) {
        from[0] = rank < half ? half : 0;
        to[0] = rank < half ? n : half;
        from[1] = to[1] = n;
    }
    for (int i = 0; i < 2; i++) {
        const unsigned char *missed = memchr(p->met + from[i], 0, to[i] - from[i]);
        if (missed != NULL) {
            return read_linktest_wrong(p->r, row->task, row->data + 8 * (uint64_t)(n - 1), err,
                                       "access pattern of permutation %" PRIu64
                                       ": expected every partner once, got none equal to %td",
                                       row->permutation, missed - p->met);
        }
    }
    return HPCW_OK;
}

static hpcw_status first_bad_partner(const struct read_linktest_pass *p, const struct read_linktest_row *row,
                                     hpcw_error *err) {
    uint32_t s = 0, n = p->r->info.tasks;
    const uint64_t *partner = p->row + (n - 1);
    while (partner[s] < n) {
        s++;
    }
    return read_linktest_wrong(p->r, row->task, row->data + 8 * ((uint64_t)(n - 1) + s), err,
                               "partner in step %" PRIu32 " of permutation %" PRIu64
                               ": expected a rank below %" PRIu32 ", got %" PRIu64,
                               s, row->permutation, n, partner[s]);
}

/* Checks rule 27: the slots after the steps of a bisection test are unused. */
static hpcw_status unused_slots(const struct read_linktest_pass *p, const struct read_linktest_row *row,
                                hpcw_error *err) {
    uint32_t slots = p->r->info.tasks - 1;
    for (uint32_t s = p->r->info.steps; s < slots; s++) {
        if (p->row[s] != 0 || p->row[slots + s] != row->rank) {
            return read_linktest_wrong(p->r, row->task, row->data + 8 * (uint64_t)s, err,
                                       "unused slot %" PRIu32 " of permutation %" PRIu64
                                       ": expected 0 and the own rank, got %.17g and %" PRIu64,
                                       s, row->permutation, read_linktest_double(p->row[s]), p->row[slots + s]);
        }
    }
    return HPCW_OK;
}

hpcw_status read_linktest_schedule_add(struct read_linktest_pass *p, const struct read_linktest_row *row,
                                       hpcw_error *err) {
    if (!add_partners(p, p->row + (p->r->info.tasks - 1), row->rank)) {
        return first_bad_partner(p, row, err);
    }
    hpcw_status status = all_met(p, row, err);
    return status == HPCW_OK && p->strict ? unused_slots(p, row, err) : status;
}

hpcw_status read_linktest_schedule_check(const struct read_linktest_pass *p, uint64_t permutation,
                                         hpcw_error *err) {
    for (uint32_t s = 0; s < p->r->info.steps; s++) {
        if (p->balance[s] != 0) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: step %" PRIu32 " of permutation %" PRIu64
                               ": expected pairs that name each other, got a rank whose partner names a third",
                               p->r->name, s, permutation);
        }
    }
    return HPCW_OK;
}
