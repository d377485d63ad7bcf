/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/links/timings.h"

#include <math.h>

#include "libwriter/base/mem.h"

/* Nodes are near if their numbers differ by at most this. */
enum { NEAR = 8 };

enum gen_fit_place gen_fit_place_of(uint32_t node_a, uint32_t node_b) {
    const uint32_t apart = node_a > node_b ? node_a - node_b : node_b - node_a;
    return apart == 0 ? GEN_FIT_IN_NODE : apart <= NEAR ? GEN_FIT_NEAR : GEN_FIT_FAR;
}

bool gen_fit_timings_init(struct gen_fit_timings *t) {
    bool good = true;
    *t = (struct gen_fit_timings){.sketch = {NULL}};
    for (size_t i = 0; good && i < GEN_FIT_TIMINGS; i++) {
        t->sketch[i] = gen_fit_sketch_new(GEN_FIT_LEAST_TIMING);
        good = t->sketch[i] != NULL;
    }
    return good;
}

void gen_fit_timings_clear(struct gen_fit_timings *t) {
    for (size_t i = 0; i < GEN_FIT_TIMINGS; i++) {
        *t->sketch[i] = (struct gen_fit_sketch){.least = GEN_FIT_LEAST_TIMING};
    }
    t->step = (struct gen_fit_pairs){0};
}

void gen_fit_timings_free(struct gen_fit_timings *t) {
    for (size_t i = 0; i < GEN_FIT_TIMINGS; i++) {
        hpcw_i_free(t->sketch[i]);
        t->sketch[i] = NULL;
    }
}

void gen_fit_timings_add(struct gen_fit_timings *t, struct gen_fit_row_so_far *row, enum gen_fit_place place,
                         double seconds) {
    gen_fit_sketch_add(t->sketch[place], seconds);
    if (place == GEN_FIT_IN_NODE) {
        row->before = NAN;
        return;
    }
    const double ln = gen_fit_ln(fmax(GEN_FIT_LEAST_TIMING, seconds));
    if (!isnan(row->before)) {
        gen_fit_pair(&t->step, row->before, ln);
    }
    row->before = ln;
    row->fastest = fmin(row->fastest, ln);
    row->sum += seconds;
    row->count++;
}

void gen_fit_timings_end(struct gen_fit_timings *t, const struct gen_fit_row_so_far *row) {
    if (row->count > 0) {
        gen_fit_sketch_add(t->sketch[GEN_FIT_OF_RANK], row->sum / row->count);
    }
}
