/* SPDX-License-Identifier: BSD-3-Clause */
/* export: an event log for other viewers. A first pass finds the size, a second one writes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/export/clog2.h"
#include "gen/format/format.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"
#include "ui/cli/text.h"

hpcw_status gen_cli_export(const struct gen_cli_options *o, const char *path, hpcw_error *err) {
    size_t f = gen_format_of_file(path);
    if (f < gen_format_count && gen_format[f] != &gen_format_clog2) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected an event log (clog2), got %s", path,
                           gen_format[f]->name);
    }
    const struct gen_export what = {.form = o->form,
                                    .from_s = o->from,
                                    .to_s = o->to,
                                    .first_rank = o->first_rank,
                                    .last_rank = o->last_rank};
    struct gen_exported size;
    struct gen_exported done;
    hpcw_sink *sink;
    hpcw_status s = hpcw_sink_open_null(&sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = gen_export_clog2(path, &what, sink, &size, err);
    hpcw_sink_free(sink);
    if (s != HPCW_OK) {
        return s;
    }
    if (!o->quiet) {
        char text[UI_TEXT_SIZE];
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " events, %s\n", o->output, size.events,
                      ui_text_bytes(text, size.bytes));
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
    s = gen_export_clog2(path, &what, sink, &done, err);
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_free(sink);
    if (s == HPCW_OK && o->json) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, true);
        hpcw_i_json_put_str(&r.json, "output", o->output);
        hpcw_i_json_put_u64(&r.json, "events", done.events);
        hpcw_i_json_put_u64(&r.json, "bytes", done.bytes);
        s = gen_cli_result_print(&r, s, err);
    }
    return s;
}
