/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite: writes files again, in another form of the same format. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "gen/cli/commands.h"
#include "gen/dataset/directory/directory.h"
#include "gen/export/rewrite/rewrite.h"
#include "gen/format/format.h"
#include "ui/cli/text.h"

/* Checks all files that will be written: TO, and for a container of several files also TO.NUMBER. */
static hpcw_status check_outputs(const char *from, const char *to, uint32_t files, hpcw_error *err) {
    char name[GEN_DIRECTORY_PATH];
    hpcw_status s = gen_cli_check_output(to, &from, 1, err);
    for (uint32_t i = 1; s == HPCW_OK && i < files; i++) {
        (void)snprintf(name, sizeof name, "%s.%06" PRIu32, to, i);
        s = gen_cli_check_output(name, &from, 1, err);
    }
    return s;
}

static void say(const char *to, const struct gen_rewritten *done) {
    char text[UI_TEXT_SIZE];
    hpcw_error room;
    (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " files, %" PRIu64 " %s, %s", gen_cli_printable(to, &room),
                  done->files, done->count, done->items, ui_text_bytes(text, done->bytes));
    if (done->left_out > 0) {
        (void)fprintf(stderr, "; left out, as they failed or are not complete: %" PRIu64, done->left_out);
    }
    (void)fputc('\n', stderr);
}

static hpcw_status print(const char *to, const struct gen_rewritten *done, hpcw_error *err) {
    struct gen_cli_result r;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_put_str(&r.json, "output", to);
    hpcw_i_json_put_u64(&r.json, "files", done->files);
    hpcw_i_json_put_u64(&r.json, done->items, done->count);
    hpcw_i_json_put_u64(&r.json, "bytes", done->bytes);
    if (done->left_out > 0) {
        hpcw_i_json_put_u64(&r.json, "left_out", done->left_out);
    }
    return gen_cli_result_print(&r, HPCW_OK, err);
}

hpcw_status gen_cli_rewrite(const struct gen_cli_options *o, const struct ui_parse *parse, hpcw_error *err) {
    const struct gen_rewrite what = {.form = o->export.as,
                                     .first_phase = o->export.first_phase,
                                     .last_phase = o->export.last_phase,
                                     .first_rank = o->export.first_rank,
                                     .last_rank = o->export.last_rank,
                                     .files = o->layout.files,
                                     .sync = o->sync};
    const char *from = parse->args[0], *to = parse->args[1];
    const struct gen_format *row;
    struct gen_rewritten done;
    hpcw_status s = gen_cli_find_row(from, GEN_CLI_REWRITE, &row, err);
    s = s == HPCW_OK ? gen_cli_check_offer(parse, row, "as", gen_cli_rewrite_names, o->export.as, err) : s;
    s = s == HPCW_OK ? check_outputs(from, to, o->layout.files, err) : s;
    s = s == HPCW_OK ? row->rewrite->run(from, to, &what, &done, err) : s;
    if (s == HPCW_OK) {
        gen_cli_warn(&done.warning);
    }
    if (s == HPCW_OK && !o->quiet) {
        say(to, &done);
    }
    return s == HPCW_OK && o->json ? print(to, &done, err) : s;
}
