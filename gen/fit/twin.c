/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/twin.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

enum { VALUE = UI_PARAM_TEXT };

const char *gen_fit_scale_name(enum gen_fit_scale scale) {
    static const char *const name[] = {
        [GEN_FIT_PER_RUN] = "run",       [GEN_FIT_PER_RANK] = "rank", [GEN_FIT_PER_NODE] = "node",
        [GEN_FIT_PER_OBJECT] = "object", [GEN_FIT_PER_EDGE] = "edge", [GEN_FIT_PER_LINK] = "link",
    };
    return name[scale];
}

static hpcw_status defaults(struct gen_dataset *d, const char *preset, hpcw_error *err) {
    return gen_dataset_init(d, preset, GEN_SCALE_MEDIUM, err);
}

hpcw_status gen_fit_twin_init(struct gen_fit_twin *t, hpcw_error *err) {
    memset(t, 0, sizeof *t);
    return defaults(&t->dataset, model_machine_preset[0].name, err);
}

void gen_fit_twin_free(struct gen_fit_twin *t) {
    hpcw_i_buf_free(&t->workload);
}

hpcw_status gen_fit_twin_preset(struct gen_fit_twin *t, const char *preset, hpcw_error *err) {
    t->has_preset = true;
    (void)snprintf(t->dataset.preset, sizeof t->dataset.preset, "%s", preset);
    return model_machine_params_init(&t->dataset.machine_params, preset, err);
}

static const struct ui_param *find(const char *key, size_t *offset) {
    const struct gen_dataset_group *group;
    const struct ui_param *param;
    for (size_t i = 0; (param = gen_dataset_param(i, &group)) != NULL; i++) {
        if (strcmp(param->key, key) == 0) {
            *offset = group->offset;
            return param;
        }
    }
    return NULL;
}

/* Returns the index of a parameter; t->count: it was not learned. */
static size_t index_of(const struct gen_fit_twin *t, const char *key) {
    size_t i = 0;
    while (i < t->count && strcmp(t->learned[i].key, key) != 0) {
        i++;
    }
    return i;
}

hpcw_status gen_fit_learn_text(struct gen_fit_twin *t, const char *key, const char *text,
                               enum gen_fit_scale scale, hpcw_error *err) {
    size_t offset = 0;
    const struct ui_param *param = find(key, &offset);
    const size_t i = index_of(t, key);
    if (param == NULL || i == GEN_FIT_MOST_LEARNED) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "%s: expected a parameter, and at most %d of them", key,
                           GEN_FIT_MOST_LEARNED);
    }
    t->learned[i].key = param->key;
    t->learned[i].scale = scale;
    t->count = i == t->count ? i + 1 : t->count;
    return ui_param_set(param, (char *)&t->dataset + offset, text, err);
}

hpcw_status gen_fit_learn(struct gen_fit_twin *t, const char *key, double value, enum gen_fit_scale scale,
                          hpcw_error *err) {
    size_t offset;
    const struct ui_param *param = find(key, &offset);
    char text[VALUE] = "";
    if (param != NULL && param->type == UI_PARAM_F64) {
        /* Three digits of a value, or two decimals of a logarithm, do not disclose a measured value. */
        const bool is_logarithm = strcmp(key, "load.edge_bytes_mean") == 0;
        (void)snprintf(text, sizeof text, is_logarithm && value >= 10 ? "%.2f" : "%.3g", value);
        double rounded;
        if (hpcw_i_parse_f64(key, text, param->min, param->max, &rounded, NULL) != HPCW_OK) {
            *hpcw_i_fmt_f64(text, value > param->min ? param->max : param->min, HPCW_I_FLOAT_COMPACT) = '\0';
        }
    } else if (param != NULL) {
        double whole = fmax(param->min, fmin(param->max, value));
        /* Large sizes are measured values and are rounded. Small numbers stay exact. */
        const double unit = whole < 1000 ? 1 : pow(10, floor(log10(whole)) - 2);
        whole = fmax(param->min, fmin(param->max, round(whole / unit) * unit));
        (void)snprintf(text, sizeof text, "%.0f", whole);
    }
    return gen_fit_learn_text(t, key, text, scale, err);
}

void gen_fit_remark(struct gen_fit_twin *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (t->remarks < GEN_FIT_MOST_REMARKS) {
        (void)vsnprintf(t->remark[t->remarks++], GEN_FIT_REMARK, fmt, args);
    }
    va_end(args);
}

void gen_fit_remark_first(struct gen_fit_twin *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    t->remarks += t->remarks < GEN_FIT_MOST_REMARKS;
    memmove(t->remark[1], t->remark[0], (t->remarks - 1) * sizeof t->remark[0]);
    (void)vsnprintf(t->remark[0], GEN_FIT_REMARK, fmt, args);
    va_end(args);
}

void gen_fit_learned_text(const struct gen_fit_twin *t, size_t index, char *value, char *usual, size_t size) {
    struct gen_dataset d;
    size_t offset = 0;
    const struct ui_param *param = find(t->learned[index].key, &offset);
    ui_param_get(param, (const char *)&t->dataset + offset, value, size);
    usual[0] = '\0';
    if (defaults(&d, t->dataset.preset, NULL) == HPCW_OK) {
        ui_param_get(param, (const char *)&d + offset, usual, size);
    }
}

/* A twin has the formats that were fitted; --formats can add others. */
static bool print_formats(uint64_t formats, struct hpcw_i_buf *buf) {
#define NAME(number, name) #name,
    static const char *const names[] = {GEN_FORMAT_LIST(NAME)};
    const char *before = "formats = ";
    bool good = true;
    for (size_t f = 0; f < GEN_FORMATS; f++) {
        if (formats >> f & 1) {
            good = good && hpcw_i_buf_append_str(buf, before) && hpcw_i_buf_append_str(buf, names[f]);
            before = ",";
        }
    }
    return good && hpcw_i_buf_append_str(buf, "\n");
}

/* Parameters are printed in the order of their table, where each group is contiguous. */
hpcw_status gen_fit_twin_print(const struct gen_fit_twin *t, const char *workload, struct hpcw_i_buf *buf,
                               hpcw_error *err) {
    char line[512];
    const struct gen_dataset_group *group;
    const struct ui_param *param;
    size_t section = 0; /* length of the current section's name */
    const char *last = "";
    bool good = hpcw_i_buf_append_str(
        buf,
        t->workload.size > 0
            ? "; A synthetic twin of an event log, by hpcgen fit. Read its workload, too, before you publish "
              "it:\n"
              "; what a rank does once keeps its time.\n"
            : "; A synthetic twin of measured data, by hpcgen fit: parameters and quantile tables, no measured "
              "value.\n");
    good = good &&
           hpcw_i_buf_append_str(buf, "; \"per\" after a parameter says what it is for: with another number of "
                                      "ranks, this stays the same.\n");
    for (size_t i = 0; i < t->remarks; i++) {
        (void)snprintf(line, sizeof line, "; %.190s\n", t->remark[i]);
        good = good && hpcw_i_buf_append_str(buf, line);
    }
    (void)snprintf(line, sizeof line, "\n[hpcgen]\nranks = %u\n", t->ranks);
    good = good && hpcw_i_buf_append_str(buf, line);
    good = good && print_formats(t->formats, buf);
    if (t->seed != 0) {
        (void)snprintf(line, sizeof line, "seed = %" PRIu64 "\n", t->seed);
        good = good && hpcw_i_buf_append_str(buf, line);
    }
    (void)snprintf(line, sizeof line, "preset = %s\n", t->dataset.preset);
    good = good && (!t->has_preset || hpcw_i_buf_append_str(buf, line));
    if (t->workload.size > 0) {
        (void)snprintf(line, sizeof line, "workload = %.190s\n", workload);
        good = good && hpcw_i_buf_append_str(buf, line);
    } else if (t->formats >> GEN_FORMAT_VOM & 1) {
        /* The workload "stencil" sends the messages of the load model, so loads come from the model as well. Loads
         * from a simulated run would have noise twice, since the measured times contain it already. */
        good = good && hpcw_i_buf_append_str(buf, "workload = stencil\n");
    }
    for (size_t p = 0; (param = gen_dataset_param(p, &group)) != NULL; p++) {
        size_t i = 0;
        while (i < t->count && t->learned[i].key != param->key) {
            i++;
        }
        if (i == t->count) {
            continue;
        }
        const size_t dot = strcspn(param->key, ".");
        if (dot != section || strncmp(last, param->key, dot) != 0) {
            (void)snprintf(line, sizeof line, "\n[%.*s]\n", (int)dot, param->key);
            good = good && hpcw_i_buf_append_str(buf, line);
            section = dot;
            last = param->key;
        }
        char value[VALUE];
        ui_param_get(param, (const char *)&t->dataset + group->offset, value, sizeof value);
        const char *name = param->key + dot + 1;
        const char *scale = gen_fit_scale_name(t->learned[i].scale);
        if (strlen(name) + strlen(value) < 100) {
            (void)snprintf(line, sizeof line, "%s = %s ; per %s\n", name, value, scale);
            good = good && hpcw_i_buf_append_str(buf, line);
        } else {
            (void)snprintf(line, sizeof line, "; per %s:\n", scale);
            good = good && hpcw_i_buf_append_str(buf, line) && ui_param_line(name, value, buf);
        }
    }
    if (t->workload.size > 0) {
        (void)snprintf(line, sizeof line, "\n[workload]\nrest = %.3g ; per run\ntogether = %.3g ; per run\n",
                       t->rest, t->together);
        good = good && hpcw_i_buf_append_str(buf, line);
    }
    return good ? HPCW_OK : hpcw_i_fail_memory(err, "configuration", 0, NULL);
}
