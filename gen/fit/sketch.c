/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/sketch.h"

#include <math.h>
#include <stddef.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"

double gen_fit_ln(double x) {
    return hpcw_i_log2(x) * (HPCW_I_LN2_HIGH + HPCW_I_LN2_LOW);
}

struct gen_fit_sketch *gen_fit_sketch_new(double least) {
    struct gen_fit_sketch *s = hpcw_i_calloc(1, sizeof *s);
    if (s != NULL) {
        s->least = least;
    }
    return s;
}

void gen_fit_sketch_add(struct gen_fit_sketch *s, double value) {
    s->count++;
    if (!(value >= s->least)) {
        s->zeros++;
        return;
    }
    const double at = gen_fit_ln(value / s->least) / GEN_FIT_BIN_WIDTH;
    s->bin[at < GEN_FIT_BINS - 1 ? (size_t)at : GEN_FIT_BINS - 1]++;
}

void gen_fit_sketch_merge(struct gen_fit_sketch *s, const struct gen_fit_sketch *from, double factor) {
    const double shift = gen_fit_ln(from->least * factor / s->least) / GEN_FIT_BIN_WIDTH;
    const long move = lround(fmax(-GEN_FIT_BINS, fmin(GEN_FIT_BINS, shift)));
    s->count += from->count;
    s->zeros += from->zeros;
    for (long i = 0; i < GEN_FIT_BINS; i++) {
        const long to = i + move;
        if (to < 0) {
            s->zeros += from->bin[i];
        } else {
            s->bin[to < GEN_FIT_BINS ? to : GEN_FIT_BINS - 1] += from->bin[i];
        }
    }
}

double gen_fit_sketch_quantile(const struct gen_fit_sketch *s, double share) {
    double below = s->zeros;
    if (s->count == 0 || below > share * s->count) {
        return 0;
    }
    size_t i = 0;
    while (i + 1 < GEN_FIT_BINS && below + s->bin[i] <= share * s->count) {
        below += s->bin[i++];
    }
    return s->least * hpcw_i_exp(((double)i + 0.5) * GEN_FIT_BIN_WIDTH);
}

double gen_fit_sketch_distance(const struct gen_fit_sketch *a, const struct gen_fit_sketch *b) {
    if (a->count == 0 || b->count == 0) {
        return 1;
    }
    /* Cumulative shares up to this bin and up to the next one. */
    double a_here = a->zeros / a->count;
    double b_here = b->zeros / b->count;
    double most = 0;
    for (size_t i = 0; i < GEN_FIT_BINS; i++) {
        const double a_next = a_here + a->bin[i] / a->count;
        const double b_next = b_here + b->bin[i] / b->count;
        most = fmax(most, fmax(a_here - b_next, b_here - a_next));
        a_here = a_next;
        b_here = b_next;
    }
    return most;
}
