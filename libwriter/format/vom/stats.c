/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the statistics file (doc/formats/vom.md, "Statistics file"). Its figures were checked against a file that
 * vt wrote. */
#include <inttypes.h>
#include <math.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"

/* ---- Figures --------------------------------------------------------------------------------------------- */

hpcw_vom_figures hpcw_vom_figures_of(const double *value, size_t count) {
    hpcw_vom_figures f = {0};
    if (value == NULL || count == 0) {
        return f;
    }
    double n = (double)count;
    f.car = n;
    f.min = f.max = value[0];
    for (size_t i = 0; i < count; i++) {
        f.sum += value[i];
        f.npr += value[i] != 0;
        f.min = value[i] < f.min ? value[i] : f.min;
        f.max = value[i] > f.max ? value[i] : f.max;
    }
    f.avg = f.sum / n;
    f.imb = f.avg != 0 ? f.max / f.avg - 1 : 0;
    double m2 = 0;
    double m3 = 0;
    double m4 = 0;
    for (size_t i = 0; i < count; i++) {
        double d = value[i] - f.avg;
        m2 += d * d;
        m3 += d * d * d;
        m4 += d * d * d * d;
    }
    f.var = m2 / n;
    f.std = sqrt(f.var);
    double sample = count > 1 ? m2 / (n - 1) : 0;
    if (sample > 0) {
        f.skw = m3 / n / (sample * sqrt(sample));
        f.kur = m4 / n / (sample * sample) - 3;
    }
    return f;
}

/* ---- The file -------------------------------------------------------------------------------------------- */

struct hpcw_vom_stats {
    struct hpcw_i_vom_output out;
    bool any; /* at least one phase was written; `id` is the number of the last one */
    uint64_t id;
};

static const char *const quantities[HPCW_VOM_QUANTITIES] = {
    [HPCW_VOM_OBJECT_COMM] = "Object_comm",
    [HPCW_VOM_OBJECT_LOAD_MODELED] = "Object_load_modeled",
    [HPCW_VOM_OBJECT_LOAD_RAW] = "Object_load_raw",
    [HPCW_VOM_OBJECT_STRATEGY_LOAD] = "Object_strategy_specific_load_modeled",
    [HPCW_VOM_RANK_COMM] = "Rank_comm",
    [HPCW_VOM_RANK_LOAD_MODELED] = "Rank_load_modeled",
    [HPCW_VOM_RANK_LOAD_RAW] = "Rank_load_raw",
    [HPCW_VOM_RANK_STRATEGY_LOAD] = "Rank_strategy_specific_load_modeled",
};

enum { FIGURES = 11 };

struct figure {
    const char *name;
    double value;
};

static void list_figures(const hpcw_vom_figures *f, struct figure figure[FIGURES]) {
    const struct figure all[FIGURES] = {{"avg", f->avg}, {"car", f->car}, {"imb", f->imb}, {"kur", f->kur},
                                        {"max", f->max}, {"min", f->min}, {"npr", f->npr}, {"skw", f->skw},
                                        {"std", f->std}, {"sum", f->sum}, {"var", f->var}};
    for (int i = 0; i < FIGURES; i++) {
        figure[i] = all[i];
    }
}

static bool is_written(const hpcw_vom_balance *b, int quantity) {
    return b->has_strategy_loads ||
           (quantity != HPCW_VOM_OBJECT_STRATEGY_LOAD && quantity != HPCW_VOM_RANK_STRATEGY_LOAD);
}

static hpcw_status check_balance(const hpcw_vom_stats *stats, uint64_t id, const hpcw_vom_balance *b,
                                 hpcw_error *err) {
    for (int q = 0; q < HPCW_VOM_QUANTITIES; q++) {
        struct figure figure[FIGURES];
        list_figures(&b->figures[q], figure);
        for (int i = 0; i < FIGURES && is_written(b, q); i++) {
            if (!isfinite(figure[i].value)) {
                return hpcw_i_fail(err, HPCW_EINVAL,
                                   "%s: phase %" PRIu64 ": %s of %s: expected a finite number, got %g",
                                   stats->out.path, id, figure[i].name, quantities[q], figure[i].value);
            }
        }
    }
    return HPCW_OK;
}

static void put_balance(struct hpcw_i_json *j, const char *key, const hpcw_vom_balance *b) {
    hpcw_i_json_key_object(j, key);
    for (int q = 0; q < HPCW_VOM_QUANTITIES; q++) {
        if (!is_written(b, q)) {
            continue;
        }
        struct figure figure[FIGURES];
        list_figures(&b->figures[q], figure);
        hpcw_i_json_key_object(j, quantities[q]);
        for (int i = 0; i < FIGURES; i++) {
            hpcw_i_json_put_f64(j, figure[i].name, figure[i].value);
        }
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_object(j);
}

hpcw_status hpcw_vom_stats_open(const char *path, const hpcw_vom_options *options, hpcw_vom_stats **out,
                                hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected a pointer for the handle, got NULL");
    }
    *out = NULL;
    hpcw_vom_options own;
    hpcw_vom_options_init(&own);
    hpcw_status s =
        options == NULL ? HPCW_OK : hpcw_i_options_take(&own, sizeof own, options, "hpcw_vom_options", err);
    options = &own;
    if (s == HPCW_OK) {
        s = hpcw_i_vom_check_output(path, options, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_vom_stats *stats = hpcw_i_calloc(1, sizeof *stats);
    if (stats == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    s = hpcw_i_vom_output_open(&stats->out, path, options, err);
    if (s != HPCW_OK) {
        hpcw_vom_stats_free(stats);
        return s;
    }
    struct hpcw_i_json *j = &stats->out.json;
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key_object(j, "metadata");
    hpcw_i_json_put_str(j, "type", "LBStatsfile");
    hpcw_i_json_end_object(j);
    hpcw_i_json_key_array(j, "phases");
    *out = stats;
    return HPCW_OK;
}

static hpcw_status usable(const hpcw_vom_stats *stats, hpcw_error *err) {
    return stats == NULL ? hpcw_i_fail(err, HPCW_EINVAL, "vom: expected an open statistics file, got NULL")
                         : hpcw_i_vom_output_usable(&stats->out, err);
}

hpcw_status hpcw_vom_stats_phase(hpcw_vom_stats *stats, uint64_t id, const uint64_t *migrations,
                                 const hpcw_vom_balance *before, const hpcw_vom_balance *after,
                                 hpcw_error *err) {
    hpcw_status s = usable(stats, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (before == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: phase %" PRIu64 ": expected the figures before, got NULL",
                           stats->out.path, id);
    }
    if (stats->any && id <= stats->id) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a phase above %" PRIu64 ", got %" PRIu64,
                           stats->out.path, stats->id, id);
    }
    s = check_balance(stats, id, before, err);
    if (s == HPCW_OK && after != NULL) {
        s = check_balance(stats, id, after, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    stats->any = true;
    stats->id = id;
    struct hpcw_i_json *j = &stats->out.json;
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_u64(j, "id", id);
    if (migrations != NULL) {
        hpcw_i_json_put_u64(j, "migration count", *migrations);
    }
    if (after != NULL) {
        put_balance(j, "post-LB", after);
    }
    put_balance(j, "pre-LB", before);
    hpcw_i_json_end_object(j);
    return hpcw_i_vom_output_status(&stats->out, err);
}

hpcw_status hpcw_vom_stats_close(hpcw_vom_stats *stats, hpcw_error *err) {
    hpcw_status s = usable(stats, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_end_array(&stats->out.json);
    hpcw_i_json_end_object(&stats->out.json);
    s = hpcw_i_vom_output_finish(&stats->out, err);
    return s == HPCW_OK ? hpcw_i_vom_output_publish(&stats->out, err) : s;
}

void hpcw_vom_stats_free(hpcw_vom_stats *stats) {
    if (stats != NULL) {
        hpcw_i_vom_output_free(&stats->out);
        hpcw_i_free(stats);
    }
}
