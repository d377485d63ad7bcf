/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

#define MEAN_ERROR 1e-9

bool read_linktest_timings_add(struct read_linktest_timings *t, const uint64_t *bits, size_t count,
                               double threshold) {
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        double x = read_linktest_double(bits[i]);
        good &= read_linktest_is_time(bits[i]);
        t->min = x < t->min ? x : t->min;
        t->max = x > t->max ? x : t->max;
        t->above += x > threshold;
        t->sum += x;
    }
    t->count += count;
    return good;
}

hpcw_status read_linktest_timings_check(const struct read_linktest_pass *p, uint64_t permutation,
                                        const char *what, const struct read_linktest_timings *t, double min,
                                        double avg, double max, hpcw_error *err) {
    const char *name = p->r->name;
    if (read_linktest_bits(min) != read_linktest_bits(t->min) ||
        read_linktest_bits(max) != read_linktest_bits(t->max)) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: summary of permutation %" PRIu64
            ": %s minimum and maximum: expected %.17g and %.17g, the smallest and largest stored, got "
            "%.17g and %.17g",
            name, permutation, what, t->min, t->max, min, max);
    }
    double mean = t->sum / (double)t->count, off = avg > mean ? avg - mean : mean - avg;
    if (!(off <= MEAN_ERROR * mean)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: summary of permutation %" PRIu64
                           ": %s average: expected %.17g within 1e-9, got %.17g",
                           name, permutation, what, mean, avg);
    }
    return HPCW_OK;
}
