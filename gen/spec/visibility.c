/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/visibility.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_place(struct hpcw_i_json *json, const char *format, const char *file) {
    hpcw_i_json_flat_object(json);
    hpcw_i_json_put_str(json, "format", format);
    hpcw_i_json_put_str(json, "file", file);
}

void gen_visibility_put(struct hpcw_i_json *json, const char *format, const char *file, double sd) {
    put_place(json, format, file);
    hpcw_i_json_key(json, "sd");
    if (isnan(sd)) {
        hpcw_i_json_null(json);
    } else {
        char text[32];
        (void)snprintf(text, sizeof text, "%.2e", sd);
        hpcw_i_json_f64(json, strtod(text, NULL));
    }
    hpcw_i_json_end_object(json);
}

void gen_visibility_put_certain(struct hpcw_i_json *json, const char *format, const char *file,
                                const char *const *reader) {
    put_place(json, format, file);
    hpcw_i_json_put_bool(json, "certain", true);
    if (reader != NULL) {
        hpcw_i_json_key_object(json, "readers");
        for (; reader[0] != NULL; reader += 2) {
            hpcw_i_json_put_str(json, reader[0], reader[1]);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_object(json);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double gen_visibility_median(double *value, size_t count) {
    qsort(value, count, sizeof *value, by_value);
    return count % 2 != 0 ? value[count / 2] : 0.5 * (value[count / 2 - 1] + value[count / 2]);
}

void gen_visibility_spread(double *value, size_t count, double *middle, double *sd) {
    *middle = *sd = NAN;
    if (count < GEN_VISIBILITY_PEERS) {
        return;
    }
    *middle = gen_visibility_median(value, count);
    for (size_t i = 0; i < count; i++) {
        value[i] = fabs(value[i] - *middle);
    }
    *sd = 1.4826 * gen_visibility_median(value, count);
    *sd = *sd > 0 ? *sd : NAN;
}

size_t gen_visibility_sort(double *value, size_t count) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(value[i])) {
            value[known++] = value[i];
        }
    }
    if (known > 1) {
        qsort(value, known, sizeof *value, by_value);
    }
    return known;
}

/* Ascending values without one of them. */
struct peers {
    const double *value;
    size_t count, without; /* count: number of peers; without: index of the value that is left out */
};

static double peer(const struct peers *p, size_t i) {
    return p->value[i < p->without ? i : i + 1];
}

/* Returns the k-th smallest distance of a peer from `middle`, counted from 0. The k + 1 nearest peers follow each
 * other. */
static double distance(const struct peers *p, double middle, size_t k) {
    size_t first = 0;
    for (size_t high = p->count - 1 - k; first < high;) {
        const size_t at = first + (high - first) / 2;
        if (fabs(peer(p, at) - middle) > fabs(peer(p, at + k + 1) - middle)) {
            first = at + 1;
        } else {
            high = at;
        }
    }
    return fmax(fabs(peer(p, first) - middle), fabs(peer(p, first + k) - middle));
}

double gen_visibility_sd_of(const double *sorted, size_t count, double x) {
    struct peers p = {.value = sorted, .count = count - 1};
    if (isnan(x) || count <= GEN_VISIBILITY_PEERS) {
        return NAN;
    }
    for (size_t high = count; p.without < high;) {
        const size_t at = p.without + (high - p.without) / 2;
        if (sorted[at] < x) {
            p.without = at + 1;
        } else {
            high = at;
        }
    }
    const size_t half = p.count / 2;
    const bool odd = p.count % 2 != 0;
    const double middle = odd ? peer(&p, half) : 0.5 * (peer(&p, half - 1) + peer(&p, half));
    const double far = distance(&p, middle, half);
    const double sd = 1.4826 * (odd ? far : 0.5 * (distance(&p, middle, half - 1) + far));
    return sd > 0 ? fabs(x - middle) / sd : NAN;
}

double gen_visibility_sd(double *value, size_t count, size_t at) {
    const double x = value[at];
    return gen_visibility_sd_of(value, gen_visibility_sort(value, count), x);
}
