/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/tail.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/detmath.h"
#include "libwriter/base/status.h"

/* Number of steps of numeric integrals over a normal deviate y from -5 to 5. */
enum { STEPS = 128, MIDDLE = STEPS / 2 };
static double y_of(int step) {
    return (step - MIDDLE) * (2.0 * 5 / STEPS);
}

static hpcw_status read_table(struct model_load_tail *t, const char *key, const char *table, hpcw_error *err) {
    enum { MOST = 1000000 };
    const char *at = table;
    double last = 0;
    uint32_t numbers = 0;
    for (; *at != '\0'; numbers++) {
        char *end;
        const long value = strtol(at, &end, 10);
        if (end == at || (*end != ' ' && *end != '\0') || value < -MOST || value > MOST ||
            numbers > MODEL_LOAD_KNOTS || (numbers == 0 && (value < 1 || value > 500)) ||
            (numbers > 1 && (double)value < last)) {
            break;
        }
        if (numbers == 0) {
            t->reach = 0.01 * (double)value;
        } else {
            t->knot[numbers - 1] = 0.01 * (double)value;
        }
        last = (double)value;
        at = end + strspn(end, " ");
    }
    t->knots = numbers > 0 ? numbers - 1 : 0;
    const bool varies = t->knots > 0 && t->knot[0] < t->knot[t->knots - 1];
    return *at == '\0' && t->knots >= 3 && t->knots % 2 == 1 && varies
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_EINVAL,
                     "%s: expected none, or a reach of 1 to 500 and an odd number of 3 to %d whole numbers "
                     "that rise, got \"%.100s\"",
                     key, MODEL_LOAD_KNOTS, table);
}

hpcw_status model_load_tail_init(struct model_load_tail *t, double skew, const char *key, const char *table,
                                 hpcw_error *err) {
    double sum = 0, squares = 0, weights = 0;
    *t = (struct model_load_tail){.skew = skew, .scale = 1};
    if (strcmp(table, "none") != 0) {
        return read_table(t, key, table, err);
    }
    for (int i = 0; i <= STEPS; i++) {
        const double weight = hpcw_i_exp(-0.5 * y_of(i) * y_of(i));
        const double z = model_load_bend_by_form(t, y_of(i));
        weights += weight;
        sum += weight * z;
        squares += weight * z * z;
    }
    t->mean = sum / weights;
    t->scale = 1 / sqrt(squares / weights - t->mean * t->mean);
    return HPCW_OK;
}

double model_load_mean_of_exp(const struct model_load_tail *t, double sigma) {
    double sum = 0, weights = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double weight = hpcw_i_exp(-0.5 * y_of(i) * y_of(i));
        sum += weight * hpcw_i_exp(sigma * model_load_bend(t, y_of(i)));
        weights += weight;
    }
    return sum / weights;
}

double model_load_bend_by_table(const struct model_load_tail *t, double y) {
    const double step = 2 * t->reach / (t->knots - 1);
    const double at = (y + t->reach) / step;
    const uint32_t last = t->knots - 2;
    const uint32_t left = at <= 0 ? 0 : at >= last ? last : (uint32_t)at;
    const double rise = t->knot[left + 1] - t->knot[left];
    double value = t->knot[left] + rise * (at - left);
    if (at < 0 || at > last + 1) {
        const double end = at < 0 ? t->knot[0] : t->knot[last + 1];
        value = end + (rise < step ? rise : step) * (at < 0 ? at : at - (last + 1));
    }
    return value;
}
