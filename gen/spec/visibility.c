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

double gen_visibility_sd(double *value, size_t count, size_t at) {
    const double x = value[at];
    size_t peers = 0;
    for (size_t i = 0; i < count; i++) {
        if (i != at && !isnan(value[i])) {
            value[peers++] = value[i];
        }
    }
    double middle;
    double sd;
    gen_visibility_spread(value, peers, &middle, &sd);
    return fabs(x - middle) / sd;
}
