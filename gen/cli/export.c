/* SPDX-License-Identifier: BSD-3-Clause */
/* export: converts a file of any format for other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/standard_output.h"
#include "gen/export/export.h"
#include "gen/format/format.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

/* Finds the form of an export by the suffix of the output. Without a suffix, takes the first form of the format. If
 * this is the form `bytes`, any unknown suffix is allowed, too. Other suffixes are refused, since programs that
 * read the file would expect another form. */
static hpcw_status form_of_output(const struct gen_format *row, const char *output, int *form,
                                  hpcw_error *err) {
    static const struct {
        const char *suffix;
        enum gen_export_form form;
    } known[] = {{".csv", GEN_EXPORT_CSV},
                 {".json", GEN_EXPORT_CHROME},
                 {".npy", GEN_EXPORT_NPY},
                 {".npz", GEN_EXPORT_NPZ},
                 {".otf2", GEN_EXPORT_OTF2}};
    const struct gen_offer *offer = &row->export->offer;
    const char *slash = strrchr(output, '/');
    const char *base = slash == NULL ? output : slash + 1;
    const char *suffix = base[0] == '\0' ? NULL : strrchr(base + 1, '.'); /* a name like ".x" has no suffix */
    char list[128] = "";
    bool is_known = false;
    for (size_t i = 0; suffix != NULL && i < sizeof known / sizeof known[0]; i++) {
        const bool same = strcmp(suffix, known[i].suffix) == 0;
        is_known = is_known || same;
        if (gen_cli_has_form(offer, (int)known[i].form)) {
            const size_t used = strlen(list);
            (void)snprintf(list + used, sizeof list - used, "%s%s", used == 0 ? "" : ", ", known[i].suffix);
            if (same) {
                *form = (int)known[i].form;
                return HPCW_OK;
            }
        }
    }
    *form = offer->form[0];
    return suffix == NULL || (!is_known && *form == GEN_EXPORT_BYTES)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one of %s at the end, or --form, for %s, got %s",
                             output, list, row->name, suffix);
}

/* Finds the exporter for a file or directory, and checks that it supports the form and the options of the
 * command line. */
static hpcw_status resolve(const struct gen_cli_options *o, const struct ui_parse *parse,
                           struct gen_export *what, const struct gen_exporter **out, hpcw_error *err) {
    const char *path = parse->args[0];
    const struct gen_format *row;
    hpcw_status s = gen_cli_find_row(path, GEN_CLI_EXPORT, &row, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* A LinkTest result is also a SION container. The exporter of containers is used for --task, and for forms
     * that the exporter of LinkTest results lacks. */
    const struct gen_offer *outer = row->within != NULL ? &row->within->export->offer : NULL;
    const bool inner = gen_cli_has_form(&row->export->offer, what->form);
    if (outer != NULL &&
        ((!inner && gen_cli_has_form(outer, what->form)) || gen_cli_given(parse, outer->takes[0]))) {
        row = row->within;
    }
    *out = row->export;
    if (what->form == GEN_EXPORT_AUTO) {
        s = form_of_output(row, o->output, &what->form, err);
    }
    s = s != HPCW_OK ? s : gen_cli_check_offer(parse, row, "form", gen_cli_form_names, what->form, err);
    if (s == HPCW_OK && what->form == GEN_EXPORT_TASKS) {
        return gen_cli_given(parse, "task") || gen_cli_given(parse, "key")
                   ? hpcw_i_fail(err, HPCW_EINVAL,
                                 "%s: expected neither --task nor --key for the form tasks, got one", path)
                   : HPCW_OK;
    }
    const bool all = what->form == GEN_EXPORT_NPZ && !what->has_key;
    return s == HPCW_OK && gen_cli_takes(&row->export->offer, "task") && !what->has_task && !all
               ? hpcw_i_fail(err, HPCW_EINVAL, "%s: --task: expected the number of a task for %s, got none",
                             path, row->name)
               : s;
}

/* ---- the command ---- */

/* Warns that the exported data are empty, which users seldom want. The warning is printed even with --quiet. */
static void say_empty(const struct gen_cli_options *o, const struct ui_parse *parse,
                      const struct gen_exported *done) {
    char times[64] = "", ranks[64] = "";
    hpcw_error room, room2;
    if (gen_cli_given(parse, "to")) {
        (void)snprintf(times, sizeof times, " from %g to %g s", o->export.from, o->export.to);
    } else if (gen_cli_given(parse, "from")) {
        (void)snprintf(times, sizeof times, " from %g s on", o->export.from);
    }
    if (gen_cli_given(parse, "last-rank")) {
        (void)snprintf(ranks, sizeof ranks, " of ranks %u to %u", o->export.first_rank, o->export.last_rank);
    } else if (gen_cli_given(parse, "first-rank")) {
        (void)snprintf(ranks, sizeof ranks, " of ranks from %u on", o->export.first_rank);
    }
    (void)fprintf(stderr, "hpcgen: %s: empty: no %s of %s%s%s\n", gen_cli_output_name(o->output, &room),
                  done->empty ? "rows" : done->items, gen_cli_printable(parse->args[0], &room2), times, ranks);
}

static void say(const struct gen_cli_options *o, const struct ui_parse *parse,
                const struct gen_exported *done) {
    char text[UI_TEXT_SIZE];
    hpcw_error room;
    gen_cli_warn(&done->warning);
    if (done->count == 0 || done->empty) {
        say_empty(o, parse, done);
        return;
    }
    if (!o->quiet) {
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " %s, %s\n", gen_cli_output_name(o->output, &room),
                      done->count, done->items, ui_text_bytes(text, done->bytes));
    }
}

static hpcw_status print(const char *output, const struct gen_exported *done, hpcw_error *err) {
    struct gen_cli_result r;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_put_str(&r.json, "output", output);
    hpcw_i_json_put_u64(&r.json, done->items, done->count);
    hpcw_i_json_put_u64(&r.json, "bytes", done->bytes);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

static hpcw_status to_standard_output(const struct gen_cli_options *o, const struct ui_parse *parse,
                                      const struct gen_exporter *x, const struct gen_export *what,
                                      hpcw_error *err) {
    const char *path = parse->args[0];
    hpcw_sink *sink;
    struct gen_exported done;
    hpcw_status s = gen_cli_standard_output(&sink, err);
    /* Progress is not shown if the output itself goes to the terminal. */
    struct ui_progress *progress = ui_text_is_terminal(stdout) ? NULL : gen_cli_show_reading(o);
    s = s == HPCW_OK ? x->run(path, what, sink, &done, err) : s;
    ui_progress_stop(progress);
    hpcw_sink_free(sink);
    if (s == HPCW_OK) {
        say(o, parse, &done);
    }
    return s;
}

static hpcw_status to_file(const struct gen_cli_options *o, const struct ui_parse *parse,
                           const struct gen_exporter *x, const struct gen_export *what, hpcw_error *err) {
    const char *path = parse->args[0];
    hpcw_sink *sink;
    struct gen_exported done;
    struct ui_progress *progress = gen_cli_show_reading(o);
    hpcw_status s = hpcw_sink_open_file(o->output, o->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE, &sink, err);
    if (s == HPCW_OK) {
        s = x->run(path, what, sink, &done, err);
        s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
        hpcw_sink_free(sink);
    }
    ui_progress_stop(progress);
    if (s == HPCW_OK) {
        say(o, parse, &done);
    }
    return s == HPCW_OK && o->json ? print(o->output, &done, err) : s;
}

static hpcw_status to_directory(const struct gen_cli_options *o, const struct ui_parse *parse,
                                const struct gen_exporter *x, const struct gen_export *what, hpcw_error *err) {
    const char *path = parse->args[0];
    struct gen_exported done;
    struct ui_progress *progress = gen_cli_show_reading(o);
    hpcw_status s = x->directory(path, what, o->output, o->sync, &done, err);
    ui_progress_stop(progress);
    if (s == HPCW_OK) {
        say(o, parse, &done);
    }
    return s == HPCW_OK && o->json ? print(o->output, &done, err) : s;
}

hpcw_status gen_cli_export(const struct gen_cli_options *o, const struct ui_parse *parse, hpcw_error *err) {
    struct gen_export what = {.form = o->export.form,
                              .from_s = o->export.from,
                              .to_s = o->export.to,
                              .first_rank = o->export.first_rank,
                              .last_rank = o->export.last_rank,
                              .permutation = o->export.permutation,
                              .has_task = gen_cli_given(parse, "task"),
                              .task = o->export.task,
                              .has_key = gen_cli_given(parse, "key"),
                              .key = o->export.key};
    const struct gen_exporter *x = NULL;
    const bool standard = gen_cli_is_standard(o->output);
    hpcw_status s = standard ? HPCW_OK : gen_cli_check_output(o->output, parse->args, 1, err);
    s = s == HPCW_OK ? resolve(o, parse, &what, &x, err) : s;
    const bool directory = s == HPCW_OK && what.form == x->directory_form;
    if (s == HPCW_OK && standard && directory) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "--output: expected a new directory for %s, got standard output",
                        gen_cli_form_names[what.form]);
    }
    return s != HPCW_OK ? s
           : directory  ? to_directory(o, parse, x, &what, err)
           : standard   ? to_standard_output(o, parse, x, &what, err)
                        : to_file(o, parse, x, &what, err);
}
