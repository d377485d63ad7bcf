/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite: files of a format again, in another form of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/export/rewrite_sion.h"
#include "gen/export/rewrite_vom.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* Refuses what a format does not have. */
static hpcw_status check(const struct gen_cli_options *o, const struct ui_parse *parse, bool sion,
                         hpcw_error *err) {
    static const char *const of_vom[] = {"first-rank", "last-rank", "first-phase", "last-phase"};
    const char *path = parse->args[0], *wrong = !sion && gen_cli_given(parse, "files") ? "files" : NULL;
    for (size_t i = 0; sion && i < sizeof of_vom / sizeof of_vom[0]; i++) {
        wrong = gen_cli_given(parse, of_vom[i]) ? of_vom[i] : wrong;
    }
    if (wrong != NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --%s: expected none for %s, got one", path, wrong,
                           sion ? "sion" : "vom");
    }
    return o->as == GEN_REWRITE_AUTO || (o->as >= GEN_REWRITE_ALIGNED) == sion
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: --as: expected %s, got %s", path,
                             sion ? "aligned or packed for sion" : "plain, brotli or lbaf for vom",
                             gen_cli_rewrite_names[o->as]);
}

hpcw_status gen_cli_rewrite(const struct gen_cli_options *o, const struct ui_parse *parse, hpcw_error *err) {
    const struct gen_rewrite what = {.form = o->as,
                                     .first_phase = o->first_phase,
                                     .last_phase = o->last_phase,
                                     .first_rank = o->first_rank,
                                     .last_rank = o->last_rank,
                                     .files = o->files,
                                     .sync = o->sync};
    const char *from = parse->args[0], *to = parse->args[1];
    const size_t f = gen_format_of_file(from);
    struct gen_rewritten done;
    if (f == gen_format_count) {
        return gen_cli_refuse_file(from, err);
    }
    const bool sion = gen_format[f] == &gen_format_sion || gen_format[f] == &gen_format_linktest;
    if (!sion && gen_format[f] != &gen_format_vom) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected load data (vom) or a SION container, got %s", from,
                           gen_format[f]->name);
    }
    hpcw_status s = check(o, parse, sion, err);
    if (s == HPCW_OK) {
        s = (sion ? gen_rewrite_sion : gen_rewrite_vom)(from, to, &what, &done, err);
    }
    if (s == HPCW_OK && !o->quiet) {
        char text[UI_TEXT_SIZE];
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " files, %" PRIu64 " %s, %s\n", to, done.files, done.count,
                      done.items, ui_text_bytes(text, done.bytes));
    }
    if (s == HPCW_OK && o->json) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, true);
        hpcw_i_json_put_str(&r.json, "output", to);
        hpcw_i_json_put_u64(&r.json, "files", done.files);
        hpcw_i_json_put_u64(&r.json, done.items, done.count);
        hpcw_i_json_put_u64(&r.json, "bytes", done.bytes);
        s = gen_cli_result_print(&r, s, err);
    }
    return s;
}
