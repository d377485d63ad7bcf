/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "libreader/linktest/pass.h"
#include "libwriter/base/status.h"

#define LANES 4
#define MEAN_ERROR 1e-9

/* Adds in independent lanes, which hides the latency of the additions. */
bool read_linktest_timings_add(struct read_linktest_timings *t, const uint64_t *bits, size_t count,
                               double threshold) {
    double min[LANES], max[LANES], sum[LANES] = {0};
    uint64_t above[LANES] = {0};
    bool good = true;
    for (size_t k = 0; k < LANES; k++) {
        min[k] = t->min;
        max[k] = t->max;
    }
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            double x = read_linktest_double(bits[i + k]);
            good &= read_linktest_is_time(bits[i + k]);
            min[k] = x < min[k] ? x : min[k];
            max[k] = x > max[k] ? x : max[k];
            above[k] += x > threshold;
            sum[k] += x;
        }
    }
    for (; i < count; i++) {
        double x = read_linktest_double(bits[i]);
        good &= read_linktest_is_time(bits[i]);
        min[0] = x < min[0] ? x : min[0];
        max[0] = x > max[0] ? x : max[0];
        above[0] += x > threshold;
        sum[0] += x;
    }
    for (size_t k = 0; k < LANES; k++) {
        t->min = min[k] < t->min ? min[k] : t->min;
        t->max = max[k] > t->max ? max[k] : t->max;
        t->above += above[k];
        t->sum += sum[k];
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
