/* SPDX-License-Identifier: BSD-3-Clause */
/* fit: writes the configuration of a twin (synthetic copy) of measured data, or tells how alike two data sets
 * are. */
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/standard_output.h"
#include "gen/dataset/directory/directory.h"
#include "gen/fit/compare.h"
#include "gen/fit/twin.h"
#include "gen/format/format.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/text.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

/* Returns where tables for people are printed: to standard error if the output goes to standard output. */
static FILE *beside(const struct gen_cli_options *o) {
    return gen_cli_is_standard(o->output) ? stderr : stdout;
}

/* ---- reading ---- */

/* Finds data of format `f`: the path itself or, if it is a dataset, a file or directory in it. `part` becomes
 * "" if there are none. */
static hpcw_status part_of(const char *path, size_t f, char part[GEN_DIRECTORY_PATH], hpcw_error *err) {
    size_t own;
    part[0] = '\0';
    hpcw_status s = gen_format_of_file(path, &own, err);
    if (s != HPCW_OK || own == gen_format_count) {
        return s == HPCW_OK ? gen_cli_find(path, f, part, err) : s;
    }
    (void)snprintf(part, GEN_DIRECTORY_PATH, "%s", own == f ? path : "");
    return HPCW_OK;
}

/* Checks that a path can be fitted: its format has a function `fit`, or it is a dataset in which one format has
 * it. */
static hpcw_status check(const char *path, hpcw_error *err) {
    char part[GEN_DIRECTORY_PATH], other[GEN_DIRECTORY_PATH];
    const struct gen_format *row, *unfit = NULL;
    bool directory;
    size_t own;
    hpcw_status s = gen_format_of_file(path, &own, err);
    if (s != HPCW_OK || own < gen_format_count) {
        return s != HPCW_OK ? s : gen_cli_find_row(path, GEN_CLI_FIT, &row, err);
    }
    s = read_source_is_directory(path, &directory, err);
    if (s != HPCW_OK || !directory) {
        return s == HPCW_OK ? gen_cli_refuse_file(path, err) : s;
    }
    for (size_t f = 0; f < gen_format_count; f++) {
        s = gen_cli_find(path, f, part, err);
        if (s != HPCW_OK || (part[0] != '\0' && gen_format[f]->fit != NULL)) {
            return s;
        }
        if (part[0] != '\0' && unfit == NULL) {
            unfit = gen_format[f];
            memcpy(other, part, sizeof other);
        }
    }
    return unfit != NULL ? gen_cli_refuse_verb(other, unfit, GEN_CLI_FIT, err)
                         : gen_cli_refuse_verb(path, NULL, GEN_CLI_FIT, err);
}

/* Learns from the data of format `f` in the paths. If several paths have such data, their numbers of ranks must
 * differ. */
static hpcw_status add_format(size_t f, const char *const *path, size_t count, struct gen_fit_facts *facts,
                              struct gen_fit_twin *twin, hpcw_error *err) {
    char(*part)[GEN_DIRECTORY_PATH] = hpcw_i_calloc(count, sizeof *part);
    const char **found = hpcw_i_calloc(count, sizeof *found);
    size_t parts = 0;
    hpcw_status s =
        part == NULL || found == NULL ? hpcw_i_fail_memory(err, "fit", count, "data sets") : HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        found[parts] = part[parts];
        s = part_of(path[i], f, part[parts], err);
        parts += s == HPCW_OK && part[parts][0] != '\0';
    }
    if (s == HPCW_OK && parts > 0 && twin != NULL) {
        twin->formats |= UINT64_C(1) << f;
    }
    if (s == HPCW_OK && parts > 1 && gen_format[f]->fit_sizes == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one data set of each format, got two of %s", found[1],
                        gen_format[f]->name);
    } else if (s == HPCW_OK && parts > 0) {
        s = parts > 1 ? gen_format[f]->fit_sizes(found, parts, twin, err)
                      : gen_format[f]->fit(found[0], facts, twin, err);
    }
    hpcw_i_free(part);
    hpcw_i_free(found);
    return s;
}

/* Sets *others to whether any path has a format that can be fitted together with other formats (not
 * GEN_FIT_ALONE). */
static hpcw_status has_others(const char *const *path, size_t count, bool *others, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *others = false;
    for (size_t i = 0; i < count; i++) {
        for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
            char part[GEN_DIRECTORY_PATH] = "";
            s = gen_format[f]->fit == NULL || gen_format[f]->fit_rule == GEN_FIT_ALONE
                    ? HPCW_OK
                    : part_of(path[i], f, part, err);
            *others = *others || part[0] != '\0';
        }
    }
    return s;
}

/* Returns whether data of a format are ignored. Without a `twin` (synthetic copy), data are only compared: only
 * formats without `fit` are ignored. */
static bool is_left_out(const struct gen_format *row, bool twin, bool others) {
    return row->fit == NULL || (twin && others && row->fit_rule == GEN_FIT_ALONE);
}

/* Learns from all paths, in the order of the formats, not of the paths. Formats of GEN_FIT_LAST come last,
 * since they depend on the results of other formats. */
static hpcw_status add_paths(const char *const *path, size_t count, struct gen_fit_facts *facts,
                             struct gen_fit_twin *twin, hpcw_error *err) {
    bool others;
    hpcw_status s = has_others(path, count, &others, err);
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        s = check(path[i], err);
    }
    for (int last = 0; last < 2; last++) {
        for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
            if (!is_left_out(gen_format[f], twin != NULL, others) &&
                (gen_format[f]->fit_rule == GEN_FIT_LAST) == last) {
                s = add_format(f, path, count, facts, twin, err);
            }
        }
    }
    return s;
}

/* Reports once per format which data are ignored, and why: in the configuration of the twin (synthetic copy)
 * or, if `twin` is NULL, on standard error. */
static hpcw_status leave_out(bool quiet, const char *const *path, size_t count, struct gen_fit_twin *twin,
                             hpcw_error *err) {
    bool others;
    hpcw_status s = has_others(path, count, &others, err);
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        const struct gen_format *row = gen_format[f];
        const char *noun = row->noun != NULL ? row->noun : row->name;
        char why[96] = "its twin has no other format; fit it alone";
        size_t parts = 0;
        for (size_t i = 0; s == HPCW_OK && i < count && is_left_out(row, twin != NULL, others); i++) {
            char part[GEN_DIRECTORY_PATH];
            hpcw_error room;
            s = part_of(path[i], f, part, err);
            if (s == HPCW_OK && part[0] != '\0') {
                if (twin == NULL && !quiet) {
                    (void)fprintf(stderr, "%s%s", parts == 0 ? "hpcgen: " : ", ",
                                  gen_cli_printable(part, &room));
                }
                parts++;
            }
        }
        if (parts > 0 && row->fit == NULL) {
            (void)snprintf(why, sizeof why, "fitting %s %s is not possible in this version",
                           strchr("aeiou", noun[0]) != NULL ? "an" : "a", noun);
        }
        if (parts > 0 && twin != NULL) {
            gen_fit_remark(twin, "%s: the %s was left out: %s", row->name, noun, why);
        } else if (parts > 0 && !quiet) {
            (void)fprintf(stderr, ": left out: %s\n", why);
        }
    }
    return s;
}

/* ---- the twin ---- */

/* Writes all bytes of a file. The file gets its name only when the caller publishes the sink. */
static hpcw_status settle_output(const char *output, const struct hpcw_i_buf *buf, hpcw_sink **sink,
                                 hpcw_error *err) {
    hpcw_status s = gen_cli_open_output(output, HPCW_SYNC_NONE, sink, err);
    s = s == HPCW_OK ? hpcw_sink_write_at(*sink, 0, buf->data, buf->size, err) : s;
    return s == HPCW_OK ? hpcw_i_sink_settle(*sink, err) : s;
}

/* Parameters that each workload written by `hpcgen fit` has. */
static const char *const workload_key[] = {"workload.rest", "workload.together"};
enum { WORKLOAD_PARAMETERS = sizeof workload_key / sizeof workload_key[0] };

/* Writes the learned value of parameter workload_key[i] and, into `usual`, its default in the text of the
 * workload. */
static void workload_parameter(const struct gen_fit_twin *t, size_t i, char value[UI_PARAM_TEXT],
                               char usual[UI_PARAM_TEXT]) {
    (void)snprintf(value, UI_PARAM_TEXT, "%.3g", i == 0 ? t->rest : t->together);
    (void)snprintf(usual, UI_PARAM_TEXT, "%d", i == 0);
}

static hpcw_status print_learned(const struct gen_fit_twin *t, FILE *to, hpcw_error *err) {
    struct ui_table table = {0};
    char value[UI_PARAM_TEXT];
    char usual[UI_PARAM_TEXT];
    ui_table_column(&table, "parameter", UI_LEFT);
    ui_table_column(&table, "learned", UI_RIGHT);
    ui_table_column(&table, "default", UI_RIGHT);
    ui_table_column(&table, "per", UI_LEFT);
    for (size_t i = 0; i < t->count; i++) {
        gen_fit_learned_text(t, i, value, usual, sizeof value);
        ui_table_cell(&table, "%s", t->learned[i].key);
        ui_table_cell(&table, "%s", strlen(value) > 24 ? "(text)" : value);
        ui_table_cell(&table, "%s", usual);
        ui_table_cell(&table, "%s", gen_fit_scale_name(t->learned[i].scale));
    }
    for (size_t i = 0; t->workload.size > 0 && i < WORKLOAD_PARAMETERS; i++) {
        workload_parameter(t, i, value, usual);
        ui_table_cell(&table, "%s", workload_key[i]);
        ui_table_cell(&table, "%s", value);
        ui_table_cell(&table, "%s", usual);
        ui_table_cell(&table, "%s", gen_fit_scale_name(GEN_FIT_PER_RUN));
    }
    hpcw_status s = ui_table_print(&table, to, 0, err);
    ui_table_free(&table);
    for (size_t i = 0; i < t->remarks; i++) {
        (void)fprintf(to, "%s\n", t->remark[i]);
    }
    return s;
}

/* Adds a number. NaN, which means that the number is not known, becomes null. */
static void put_number(struct hpcw_i_json *json, const char *key, double value) {
    hpcw_i_json_key(json, key);
    if (value == value) {
        hpcw_i_json_f64(json, value);
    } else {
        hpcw_i_json_null(json);
    }
}

static void put_learned(struct hpcw_i_json *json, const char *key, const char *value, const char *usual,
                        enum gen_fit_scale scale) {
    hpcw_i_json_flat_object(json);
    hpcw_i_json_put_str(json, "key", key);
    hpcw_i_json_put_str(json, "value", value);
    hpcw_i_json_put_str(json, "default", usual);
    hpcw_i_json_put_str(json, "per", gen_fit_scale_name(scale));
    hpcw_i_json_end_object(json);
}

static hpcw_status print_learned_json(const struct gen_fit_twin *t, hpcw_error *err) {
    struct gen_cli_result r;
    char value[UI_PARAM_TEXT];
    char usual[UI_PARAM_TEXT];
    gen_cli_result_begin(&r, true);
    hpcw_i_json_put_u64(&r.json, "ranks", t->ranks);
    hpcw_i_json_key_array(&r.json, "parameters");
    for (size_t i = 0; i < t->count; i++) {
        gen_fit_learned_text(t, i, value, usual, sizeof value);
        put_learned(&r.json, t->learned[i].key, value, usual, t->learned[i].scale);
    }
    for (size_t i = 0; t->workload.size > 0 && i < WORKLOAD_PARAMETERS; i++) {
        workload_parameter(t, i, value, usual);
        put_learned(&r.json, workload_key[i], value, usual, GEN_FIT_PER_RUN);
    }
    hpcw_i_json_end_array(&r.json);
    hpcw_i_json_key_array(&r.json, "remarks");
    for (size_t i = 0; i < t->remarks; i++) {
        hpcw_i_json_str(&r.json, t->remark[i]);
    }
    hpcw_i_json_end_array(&r.json);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

/* Makes the path of the workload: the path of the configuration with the ending .lua. Fails with HPCW_EINVAL if
 * the configuration goes to standard output, which has no path. */
static hpcw_status name_workload(const char *output, char workload[GEN_CLI_PATH_SIZE], hpcw_error *err) {
    const char *slash = strrchr(output, '/');
    const char *dot = strrchr(output, '.');
    const size_t length =
        dot != NULL && (slash == NULL || dot > slash + 1) ? (size_t)(dot - output) : strlen(output);
    if (gen_cli_is_standard(output)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "--output: expected a file, as the workload is written beside it, got standard output");
    }
    if (length + sizeof ".lua" > GEN_CLI_PATH_SIZE) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "--output: expected a path with space for .lua at the end, got %zu bytes",
                           strlen(output));
    }
    (void)snprintf(workload, GEN_CLI_PATH_SIZE, "%.*s.lua", (int)length, output);
    return strcmp(workload, output) != 0
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_EINVAL,
                     "--output: expected a name like twin.ini, got %s: the workload gets the name in .lua",
                     output);
}

/* Checks the file that the workload would replace. The user did not choose the name of this file, so it is
 * replaced only if `hpcgen fit` wrote it. Fails with HPCW_EEXIST for any other file, and for a symbolic link,
 * which may lead elsewhere. */
static hpcw_status check_workload(const char *workload, hpcw_error *err) {
    struct hpcw_i_entry entry;
    struct hpcw_i_text text;
    char line[sizeof GEN_FIT_TWIN_OF_LOG] = "";
    int e = hpcw_i_sys_look(workload, false, &entry);
    if (e == 0 && entry.kind == HPCW_I_NOTHING) {
        return HPCW_OK;
    }
    const bool is_file = e == 0 && entry.kind == HPCW_I_FILE;
    e = is_file ? hpcw_i_text_open(workload, &text) : e;
    if (e == 0 && is_file) {
        e = hpcw_i_text_line(&text, line, sizeof line);
        hpcw_i_text_close(&text);
    }
    return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read what has the name of the workload", workload)
           : strcmp(line, GEN_FIT_TWIN_OF_LOG) == 0
               ? HPCW_OK
               : hpcw_i_fail(
                     err, HPCW_EEXIST,
                     "%s: expected no file, or a workload that fit wrote, got another file: choose another "
                     "--output",
                     workload);
}

/* Most bytes of a workload's name, so that its line in a configuration is not too long. */
enum { MOST_NAME = 180 };

static hpcw_status write_twin(const struct gen_cli_options *o, const struct gen_fit_twin *twin,
                              hpcw_error *err) {
    struct hpcw_i_buf buf = {0};
    char workload[GEN_CLI_PATH_SIZE] = "";
    hpcw_sink *file[2] = {NULL, NULL};
    hpcw_status s = HPCW_OK;
    if (twin->workload.size > 0) {
        s = name_workload(o->output, workload, err);
        s = s == HPCW_OK ? check_workload(workload, err) : s;
    }
    const char *slash = strrchr(workload, '/');
    const char *name = slash != NULL ? slash + 1 : workload;
    if (s == HPCW_OK && strlen(name) > MOST_NAME) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "--output: expected a name of at most %d bytes, got %zu", MOST_NAME,
                        strlen(name));
    }
    s = s == HPCW_OK ? gen_fit_twin_print(twin, name, &buf, err) : s;
    if (s == HPCW_OK && twin->workload.size > 0) {
        s = settle_output(workload, &twin->workload, &file[0], err);
    }
    s = s == HPCW_OK ? settle_output(o->output, &buf, &file[1], err) : s;
    /* A configuration must never be beside the workload of another fit, as if they belonged together. So both files
     * are written completely before the first gets its name, and an older configuration is removed before that. If
     * this program dies in between, there is no configuration. */
    if (s == HPCW_OK && file[0] != NULL) {
        int e = hpcw_i_sink_retire(file[1]);
        s = e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot remove the older file of this name", o->output);
    }
    for (size_t i = 0; i < 2; i++) {
        s = s == HPCW_OK && file[i] != NULL ? hpcw_sink_publish(file[i], err) : s;
    }
    for (size_t i = 0; i < 2; i++) {
        hpcw_sink_free(file[i]);
    }
    hpcw_i_buf_free(&buf);
    return s;
}

static hpcw_status make_twin(const struct gen_cli_options *o, const char *const *path, size_t count,
                             hpcw_error *err) {
    struct gen_fit_facts facts = {0};
    struct gen_fit_twin twin;
    hpcw_status s = gen_fit_twin_init(&twin, err);
    twin.partial = o->partial;
    struct ui_progress *progress = gen_cli_show_reading(o);
    s = s == HPCW_OK ? add_paths(path, count, &facts, &twin, err) : s;
    ui_progress_stop(progress);
    s = s == HPCW_OK ? leave_out(o->quiet, path, count, &twin, err) : s;
    s = s == HPCW_OK ? write_twin(o, &twin, err) : s;
    if (s == HPCW_OK) {
        s = o->json    ? print_learned_json(&twin, err)
            : o->quiet ? HPCW_OK
                       : print_learned(&twin, beside(o), err);
    }
    gen_fit_twin_free(&twin);
    gen_fit_facts_free(&facts);
    return s;
}

/* ---- the comparison ---- */

static void value_cell(struct ui_table *table, double value) {
    if (value == value) {
        ui_table_cell(table, "%.3g", value);
    } else {
        ui_table_cell(table, "-");
    }
}

static const struct gen_fit_fact *fact_of(const struct gen_fit_row *row) {
    return row->real != NULL ? row->real : row->twin;
}

/* Returns the data set that lacks the whole format of a row; NULL: neither. *first: this is the first row of the
 * format. */
static const char *lacking(const struct gen_fit_row *row, size_t count, size_t at, bool *first) {
    bool real = false, twin = false;
    *first = true;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fact_of(&row[i])->format, fact_of(&row[at])->format) == 0) {
            real = real || row[i].real != NULL;
            twin = twin || row[i].twin != NULL;
            *first = *first && i >= at;
        }
    }
    return !twin ? "the twin" : !real ? "the real data" : NULL;
}

/* Prints a line that names the statistics that differ, the most noticeable ones first. A format that one data set
 * lacks is named once in place of all its statistics. */
static void print_different(const struct gen_fit_row *row, size_t count, FILE *to) {
    const char *before = "different: ";
    for (size_t i = 0; i < count; i++) {
        bool first;
        const char *lacks = lacking(row, count, i, &first);
        if (row[i].verdict == GEN_FIT_DIFFERENT && (lacks == NULL || first)) {
            const struct gen_fit_fact *f = fact_of(&row[i]);
            if (lacks == NULL) {
                (void)fprintf(to, "%s%s", before, f->name);
            } else {
                (void)fprintf(to, "%sall of %s (none in %s)", before, f->format, lacks);
            }
            before = ", ";
        }
    }
}

static hpcw_status print_rows(const char *lacks, const struct gen_fit_row *row, size_t count, FILE *to,
                              hpcw_error *err) {
    static const char *const title[] = {"format",   "statistic", "real",   "twin",
                                        "distance", "allowed",   "verdict"};
    struct ui_table table = {0};
    size_t verdicts[GEN_FIT_VERDICTS] = {0};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&table, title[i], i < 2 || i == 6 ? UI_LEFT : UI_RIGHT);
    }
    for (size_t i = 0; i < count; i++) {
        const struct gen_fit_fact *f = fact_of(&row[i]);
        ui_table_cell(&table, "%s", f->format);
        ui_table_cell(&table, "%s%s", f->kind == GEN_FIT_MARGINAL ? "median " : "", f->name);
        value_cell(&table, row[i].value[0]);
        value_cell(&table, row[i].value[1]);
        value_cell(&table, row[i].distance);
        value_cell(&table, row[i].allowed);
        ui_table_cell(&table, "%s", gen_fit_verdict_name(row[i].verdict));
        verdicts[row[i].verdict]++;
    }
    if (lacks != NULL) {
        hpcw_error room;
        (void)fprintf(to, "a partial twin: %s\n", gen_cli_printable(lacks, &room));
    }
    print_different(row, count, to);
    (void)fputs(verdicts[GEN_FIT_DIFFERENT] > 0 ? "\n\n" : "", to);
    hpcw_status s = ui_table_print(&table, to, 0, err);
    ui_table_free(&table);
    (void)fprintf(to, "%zu of %zu rows are alike\n", verdicts[GEN_FIT_ALIKE],
                  count - verdicts[GEN_FIT_UNKNOWN]);
    if (verdicts[GEN_FIT_UNKNOWN] > 0) {
        (void)fprintf(to, "%zu rows: too few ranks to tell\n", verdicts[GEN_FIT_UNKNOWN]);
    }
    return s;
}

static hpcw_status print_rows_json(const char *lacks, const struct gen_fit_row *row, size_t count,
                                   hpcw_error *err) {
    static const char *const kind[] = {[GEN_FIT_MARGINAL] = "marginal", [GEN_FIT_CORRELATION] = "correlation",
                                       [GEN_FIT_SHARE] = "share",       [GEN_FIT_FACTOR] = "factor",
                                       [GEN_FIT_RATIO] = "ratio",       [GEN_FIT_AMOUNT] = "amount",
                                       [GEN_FIT_MIX] = "mix",           [GEN_FIT_MATRIX] = "matrix",
                                       [GEN_FIT_LARGEST] = "largest",   [GEN_FIT_NEST] = "nest"};
    struct gen_cli_result r;
    size_t verdicts[GEN_FIT_VERDICTS] = {0};
    gen_cli_result_begin(&r, true);
    if (lacks != NULL) {
        hpcw_i_json_put_str(&r.json, "lacks", lacks);
    }
    hpcw_i_json_key_array(&r.json, "rows");
    for (size_t i = 0; i < count; i++) {
        const struct gen_fit_fact *f = fact_of(&row[i]);
        hpcw_i_json_flat_object(&r.json);
        hpcw_i_json_put_str(&r.json, "format", f->format);
        hpcw_i_json_put_str(&r.json, "statistic", f->name);
        hpcw_i_json_put_str(&r.json, "kind", kind[f->kind]);
        const struct {
            const char *key;
            double value;
        } number[] = {{"real", row[i].value[0]},
                      {"twin", row[i].value[1]},
                      {"distance", row[i].distance},
                      {"allowed", row[i].allowed}};
        for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) {
            put_number(&r.json, number[k].key, number[k].value);
        }
        hpcw_i_json_put_str(&r.json, "verdict", gen_fit_verdict_name(row[i].verdict));
        hpcw_i_json_end_object(&r.json);
        verdicts[row[i].verdict]++;
    }
    hpcw_i_json_end_array(&r.json);
    for (size_t v = 0; v < GEN_FIT_VERDICTS; v++) {
        hpcw_i_json_put_u64(&r.json, gen_fit_verdict_name((enum gen_fit_verdict)v), verdicts[v]);
    }
    return gen_cli_result_print(&r, HPCW_OK, err);
}

/* Reads truth.json of a dataset. *truth becomes NULL if the path has none. */
static hpcw_status read_truth(const char *dir, cJSON **truth, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    bool is;
    uint64_t size;
    *truth = NULL;
    hpcw_status s = read_source_is_directory(dir, &is, err);
    if (s != HPCW_OK || !is) {
        return s;
    }
    gen_directory_path(dir, GEN_TRUTH, path);
    s = gen_directory_find(path, &is, &size, err);
    return s == HPCW_OK && is ? gen_directory_read_json(path, truth, err) : s;
}

/* path[2] */
static hpcw_status compare(const struct gen_cli_options *o, const char *const *path, hpcw_error *err) {
    struct gen_fit_facts facts[2] = {{0}};
    struct gen_fit_row *row = NULL;
    hpcw_sink *page;
    cJSON *truth;
    hpcw_status s = read_truth(path[1], &truth, err);
    const char *lacks = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(truth, "clog2"), "lacks"));
    struct ui_progress *progress = gen_cli_show_reading(o);
    for (size_t i = 0; s == HPCW_OK && i < 2; i++) {
        s = add_paths(&path[i], 1, &facts[i], NULL, err);
    }
    ui_progress_stop(progress);
    size_t rows = facts[0].count + facts[1].count;
    if (s == HPCW_OK && (row = hpcw_i_calloc(rows, sizeof *row)) == NULL) {
        s = hpcw_i_fail_memory(err, "comparison", rows, "rows");
    }
    if (s == HPCW_OK) {
        rows = gen_fit_compare(&facts[0], &facts[1], row);
        s = o->json    ? print_rows_json(lacks, row, rows, err)
            : o->quiet ? HPCW_OK
                       : print_rows(lacks, row, rows, beside(o), err);
    }
    s = s == HPCW_OK ? leave_out(o->quiet, path, 2, NULL, err) : s;
    if (s == HPCW_OK && o->output[0] != '\0') {
        s = gen_cli_open_output(o->output, HPCW_SYNC_NONE, &page, err);
        s = s == HPCW_OK ? gen_fit_compare_page(page, path, lacks, row, rows, err) : s;
    }
    hpcw_i_free(row);
    cJSON_Delete(truth);
    gen_fit_facts_free(&facts[0]);
    gen_fit_facts_free(&facts[1]);
    return s;
}

hpcw_status gen_cli_fit(const struct gen_cli_options *o, const char *const *path, size_t count,
                        hpcw_error *err) {
    const bool file = o->output[0] != '\0' && !gen_cli_is_standard(o->output);
    hpcw_status s = file ? gen_cli_check_output(o->output, path, count, err) : HPCW_OK;
    return s != HPCW_OK ? s : o->compare ? compare(o, path, err) : make_twin(o, path, count, err);
}
