/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the slowest connections (rule 23). The list is right under two conditions: its entries are different
 * measured connections, and the list and the rows have the same number of timings larger than its last entry. So a
 * counter is enough, and the slowest connections need not be collected. */
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

static int by_pair(const void *a, const void *b) {
    const struct read_linktest_slow *x = a, *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

hpcw_status read_linktest_slow_list(struct read_linktest_pass *p, uint64_t permutation, uint64_t *above,
                                    hpcw_error *err) {
    size_t d = (size_t)p->r->info.retests;
    *above = 0;
    p->threshold = DBL_MAX;
    if (d == 0) {
        return HPCW_OK;
    }
    hpcw_status status = read_linktest_slow(p->r, permutation, 0, d, p->slow, err);
    if (status == HPCW_OK) {
        status = read_linktest_slow_check(p->r, permutation, 0, p->slow, d, err);
    }
    if (status != HPCW_OK) {
        return status;
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

hpcw_status read_linktest_slow_entries(struct read_linktest_pass *p, const struct read_linktest_row *row,
                                       hpcw_error *err) {
    size_t low = 0, high = (size_t)p->r->info.retests, d = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->slow[middle].from < row->rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == d || p->slow[low].from != row->rank) {
        return HPCW_OK;
    }
    uint32_t slots = p->r->info.tasks - 1, steps = p->r->info.steps;
    for (uint32_t s = 0; s < steps; s++) {
        p->step_of[p->row[slots + s]] = s;
    }
    for (; low < d && p->slow[low].from == row->rank; low++) {
        const struct read_linktest_slow *slow = &p->slow[low];
        uint32_t s = p->step_of[slow->to];
        /* If the rank never met `slow->to`, the value in step_of comes from an earlier row. */
        bool known = p->row[slots + s] == slow->to;
        if (!known || p->row[s] != read_linktest_bits(slow->original)) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64 ": original of %" PRIu64 " to %" PRIu64
                               ": expected the stored timing %.17g, got %.17g",
                               p->r->name, row->permutation, slow->from, slow->to,
                               known ? read_linktest_double(p->row[s]) : 0.0, slow->original);
        }
    }
    return HPCW_OK;
}
