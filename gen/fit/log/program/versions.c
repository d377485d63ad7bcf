/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/versions.h"

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

static bool same_items(const struct fit_steps *s, const struct fit_step *a, const struct fit_step *b) {
    bool same = a->items == b->items;
    for (uint32_t i = 0; same && i < a->items; i++) {
        const struct fit_item *x = &s->item[a->first + i], *y = &s->item[b->first + i];
        same = x->peer == y->peer && x->bytes == y->bytes && x->tag == y->tag;
    }
    return same;
}

/* Returns whether the messages of two steps differ on some rank of the role. */
static bool items_change(const struct fit_program *p, const struct fit_role *r, uint32_t from, uint32_t to) {
    for (uint32_t m = 0; m < r->ranks; m++) {
        const struct fit_steps *s = &p->steps[r->rank[m]];
        if (!same_items(s, &s->step[from], &s->step[to])) {
            return true;
        }
    }
    return false;
}

/* Appends a version to a step of the text: a new number, used from execution `time` of the step on, with the
 * messages of step `step`. */
static bool add_number(const struct fit_program *p, const struct fit_role *r, struct fit_node *n, uint32_t time,
                       uint32_t step) {
    uint32_t *start = hpcw_i_realloc(n->start, (n->versions + 1) * sizeof *start);
    n->start = start != NULL ? start : n->start;
    bool good = start != NULL;
    for (uint32_t m = 0; good && m < r->ranks; m++) {
        struct fit_steps *s = &p->steps[r->rank[m]];
        uint32_t *sample = hpcw_i_grow(s->sample, &s->sample_capacity, s->numbers + 1, sizeof *sample);
        good = sample != NULL;
        if (good) {
            s->sample = sample;
            s->sample[s->numbers++] = step;
        }
    }
    if (good) {
        n->start[n->versions++] = time;
    }
    return good;
}

/* Numbers the versions of a step of the text. first: its first execution. next: the execution after each
 * one. If there are more than `most` versions, the executions are divided into ranges of equal length. A range uses
 * the messages of its middle execution. So senders and receivers choose the same execution. */
static bool number_place(const struct fit_program *p, const struct fit_role *r, struct fit_node *n,
                         uint32_t first, const uint32_t *next, uint32_t most) {
    uint32_t times = 0, changes = 0, last = first;
    bool good = true;
    for (uint32_t k = first; k != UINT32_MAX; k = next[k]) {
        changes += items_change(p, r, last, k);
        last = k;
        times++;
    }
    n->number = (uint32_t)p->steps[r->rank[0]].numbers;
    uint32_t time = 0;
    last = first;
    for (uint32_t k = first; good && k != UINT32_MAX && changes < most; k = next[k], time++) {
        if (time == 0 || items_change(p, r, last, k)) {
            good = add_number(p, r, n, time, k);
        }
        last = k;
    }
    uint32_t middle = first, at = 0;
    for (uint32_t v = 0; good && changes >= most && v < most; v++) {
        const uint32_t from = (uint32_t)((uint64_t)times * v / most),
                       to = (uint32_t)((uint64_t)times * (v + 1) / most);
        while (at < (from + to) / 2 && next[middle] != UINT32_MAX) {
            middle = next[middle];
            at++;
        }
        good = from == to || add_number(p, r, n, from, middle);
    }
    n->versions = n->versions > 1 ? n->versions : 0;
    return good;
}

/* Numbers the versions of all steps of a role. next: [count] next execution of the same line of the text, or
 * UINT32_MAX. first: [sites] first execution of each line. */
bool fit_versions_number(const struct fit_program *p, struct fit_role *r, const struct fit_place *place,
                         uint32_t most) {
    const size_t count = p->steps[r->rank[0]].count;
    const uint32_t sites = r->tree.sites;
    uint32_t *next = hpcw_i_malloc((count + 1) * sizeof *next);
    uint32_t *first = hpcw_i_malloc((sites + (size_t)1) * sizeof *first);
    bool good = next != NULL && first != NULL;
    for (uint32_t i = 0; good && i < sites; i++) {
        first[i] = UINT32_MAX;
    }
    for (size_t k = count; good && k-- > 0;) {
        next[k] = first[place[k].site];
        first[place[k].site] = (uint32_t)k;
    }
    /* The versions of one line of the text get consecutive numbers. */
    for (size_t i = 0; good && i < r->tree.nodes; i++) {
        struct fit_node *n = &r->tree.node[i];
        if (n->used && n->number != FIT_LOOP) {
            good = number_place(p, r, n, first[n->site], next, most);
        }
    }
    hpcw_i_free(next);
    hpcw_i_free(first);
    return good;
}
