/* SPDX-License-Identifier: BSD-3-Clause */
/* export: an event log for other viewers, load data as CSV. A first pass finds the size, a second one writes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/export/clog2.h"
#include "gen/export/vom.h"
#include "gen/format/format.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"
#include "ui/cli/text.h"

/* A format that can be exported. */
struct gen_exporter {
    const struct gen_format *format;
    hpcw_status (*run)(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err);
    enum gen_export_form automatic;
    const char *forms;    /* for messages */
    const char *items[4]; /* by form: what is counted; NULL: the format does not have the form */
};

static const struct gen_exporter exporters[] = {
    {&gen_format_clog2,
     gen_export_clog2,
     GEN_EXPORT_CHROME,
     "chrome or csv",
     {[GEN_EXPORT_CHROME] = "events", [GEN_EXPORT_CSV] = "events"}},
    {&gen_format_vom,
     gen_export_vom,
     GEN_EXPORT_CSV,
     "csv or edges",
     {[GEN_EXPORT_CSV] = "tasks", [GEN_EXPORT_EDGES] = "edges"}},
};

/* The one for a file or directory, and the form if the user named none. */
static hpcw_status find_exporter(const char *path, struct gen_export *what, const struct gen_exporter **out,
                                 hpcw_error *err) {
    const size_t f = gen_format_of_file(path), count = sizeof exporters / sizeof exporters[0];
    size_t i = what->form == GEN_EXPORT_EDGES ? 1 : 0; /* of an unknown file: its reader says what is wrong */
    if (f < gen_format_count) {
        i = 0;
        while (i < count && exporters[i].format != gen_format[f]) {
            i++;
        }
        if (i == count) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected an event log (clog2) or load data (vom), got %s", path,
                               gen_format[f]->name);
        }
    }
    const struct gen_exporter *x = &exporters[i];
    what->form = what->form == GEN_EXPORT_AUTO ? (int)x->automatic : what->form;
    if (x->items[what->form] == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --form: expected %s for %s, got %s", path, x->forms,
                           x->format->name, gen_cli_form_names[what->form]);
    }
    if (x->format == &gen_format_vom && (what->from_s > 0 || what->to_s < 1e8)) { /* not the defaults */
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --from, --to: expected none for load data, got %g to %g s",
                           path, what->from_s, what->to_s);
    }
    *out = x;
    return HPCW_OK;
}

hpcw_status gen_cli_export(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    struct gen_export what = {.form = o->form,
                              .from_s = o->from,
                              .to_s = o->to,
                              .first_rank = o->first_rank,
                              .last_rank = o->last_rank};
    const struct gen_exporter *exporter = NULL;
    struct gen_exported size;
    struct gen_exported done;
    hpcw_sink *sink;
    hpcw_status s = find_exporter(path, &what, &exporter, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_open_null(&sink, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    s = exporter->run(path, &what, sink, &size, err);
    hpcw_sink_free(sink);
    if (s != HPCW_OK) {
        return s;
    }
    if (!o->quiet) {
        char text[UI_TEXT_SIZE];
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " %s, %s\n", o->output, size.events,
                      exporter->items[what.form], ui_text_bytes(text, size.bytes));
    }
    uint64_t space = UINT64_MAX;
    char *directory = hpcw_i_sys_directory_of(o->output); /* the file need not exist */
    bool fits = directory == NULL || hpcw_i_fs_space(directory, &space, NULL) != HPCW_OK || space >= size.bytes;
    hpcw_i_free(directory);
    if (!fits) {
        return hpcw_i_fail(err, HPCW_ENOSPC, "%s: expected %" PRIu64 " bytes of free space, got %" PRIu64,
                           o->output, size.bytes, space);
    }
    s = hpcw_sink_open_file(o->output, o->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE, &sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = exporter->run(path, &what, sink, &done, err);
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_free(sink);
    if (s == HPCW_OK && o->json) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, true);
        hpcw_i_json_put_str(&r.json, "output", o->output);
        hpcw_i_json_put_u64(&r.json, exporter->items[what.form], done.events);
        hpcw_i_json_put_u64(&r.json, "bytes", done.bytes);
        s = gen_cli_result_print(&r, s, err);
    }
    return s;
}
