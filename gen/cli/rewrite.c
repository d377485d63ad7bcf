/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite: files of a format again, in another form of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/export/rewrite_vom.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

hpcw_status gen_cli_rewrite(const struct gen_cli_options *o, const char *from, const char *to,
                            hpcw_error *err) {
    const struct gen_rewrite what = {.form = o->as,
                                     .first_phase = o->first_phase,
                                     .last_phase = o->last_phase,
                                     .first_rank = o->first_rank,
                                     .last_rank = o->last_rank,
                                     .sync = o->sync};
    const size_t f = gen_format_of_file(from);
    struct gen_rewritten done;
    if (f == gen_format_count) {
        return gen_cli_refuse_file(from, err);
    }
    if (gen_format[f] != &gen_format_vom) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected load data (vom), got %s", from,
                           gen_format[f]->name);
    }
    hpcw_status s = gen_rewrite_vom(from, to, &what, &done, err);
    if (s == HPCW_OK && !o->quiet) {
        char text[UI_TEXT_SIZE];
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " files, %" PRIu64 " phases, %s\n", to, done.files,
                      done.phases, ui_text_bytes(text, done.bytes));
    }
    if (s == HPCW_OK && o->json) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, true);
        hpcw_i_json_put_str(&r.json, "output", to);
        hpcw_i_json_put_u64(&r.json, "files", done.files);
        hpcw_i_json_put_u64(&r.json, "phases", done.phases);
        hpcw_i_json_put_u64(&r.json, "bytes", done.bytes);
        s = gen_cli_result_print(&r, s, err);
    }
    return s;
}
