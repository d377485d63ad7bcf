/* SPDX-License-Identifier: BSD-3-Clause */
/* rewrite: files of a format again, in another form of it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/dataset/directory.h"
#include "gen/export/rewrite_rank2file.h"
#include "gen/export/rewrite_sion.h"
#include "gen/export/rewrite_vom.h"
#include "gen/format/format.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

typedef hpcw_status rewriter(const char *from, const char *to, const struct gen_rewrite *what,
                             struct gen_rewritten *done, hpcw_error *err);

/* What can be written again: its forms, and its options beside --as. */
struct rewritable {
    const char *name, *forms;
    int first, last; /* enum gen_rewrite_form */
    const char *options[4];
    rewriter *rewrite;
};

static const struct rewritable vom = {.name = "vom",
                                      .forms = "plain, brotli or lbaf",
                                      .first = GEN_REWRITE_PLAIN,
                                      .last = GEN_REWRITE_LBAF,
                                      .options = {"first-rank", "last-rank", "first-phase", "last-phase"},
                                      .rewrite = gen_rewrite_vom},
                               sion = {.name = "sion",
                                       .forms = "aligned or packed",
                                       .first = GEN_REWRITE_ALIGNED,
                                       .last = GEN_REWRITE_PACKED,
                                       .options = {"files"},
                                       .rewrite = gen_rewrite_sion},
                               rank2file = {.name = "rank2file",
                                            .forms = "scr-1.1, scr-1.2, scr-3 or shared",
                                            .first = GEN_REWRITE_SCR_1_1,
                                            .last = GEN_REWRITE_SHARED,
                                            .rewrite = gen_rewrite_rank2file};

static const struct rewritable *find(const struct gen_format *f) {
    return f == &gen_format_vom                                 ? &vom
           : f == &gen_format_sion || f == &gen_format_linktest ? &sion
           : f == &gen_format_rank2file                         ? &rank2file
                                                                : NULL;
}

static bool has_option(const struct rewritable *r, const char *name) {
    bool has = false;
    for (size_t i = 0; i < sizeof r->options / sizeof r->options[0] && r->options[i] != NULL; i++) {
        has = has || strcmp(r->options[i], name) == 0;
    }
    return has;
}

/* Refuses what a format does not have. */
static hpcw_status check(const struct gen_cli_options *o, const struct ui_parse *parse,
                         const struct rewritable *r, hpcw_error *err) {
    static const char *const of_some[] = {"first-rank", "last-rank", "first-phase", "last-phase", "files"};
    const char *path = parse->args[0];
    for (size_t i = 0; i < sizeof of_some / sizeof of_some[0]; i++) {
        if (gen_cli_given(parse, of_some[i]) && !has_option(r, of_some[i])) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: --%s: expected none for %s, got one", path, of_some[i],
                               r->name);
        }
    }
    return o->as == GEN_REWRITE_AUTO || (o->as >= r->first && o->as <= r->last)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: --as: expected %s for %s, got %s", path, r->forms, r->name,
                             gen_cli_rewrite_names[o->as]);
}

/* Of load data and of a container: all files that get a name. */
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
    const struct gen_rewrite what = {.form = o->as,
                                     .first_phase = o->first_phase,
                                     .last_phase = o->last_phase,
                                     .first_rank = o->first_rank,
                                     .last_rank = o->last_rank,
                                     .files = o->files,
                                     .sync = o->sync};
    const char *from = parse->args[0], *to = parse->args[1];
    size_t f;
    struct gen_rewritten done;
    hpcw_status s = gen_format_of_file(from, &f, err);
    if (s != HPCW_OK || f == gen_format_count) {
        return s == HPCW_OK ? gen_cli_refuse_file(from, err) : s;
    }
    const struct rewritable *r = find(gen_format[f]);
    if (r == NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected load data (vom), a SION container or checkpoints, got %s", from,
                           gen_format[f]->name);
    }
    s = check(o, parse, r, err);
    s = s == HPCW_OK ? check_outputs(from, to, r == &sion ? o->files : 1, err) : s;
    s = s == HPCW_OK ? r->rewrite(from, to, &what, &done, err) : s;
    if (s == HPCW_OK) {
        gen_cli_warn(&done.warning);
    }
    if (s == HPCW_OK && !o->quiet) {
        say(to, &done);
    }
    return s == HPCW_OK && o->json ? print(to, &done, err) : s;
}
