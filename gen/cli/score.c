/* SPDX-License-Identifier: BSD-3-Clause */
/* score: compares the findings of a tool with the faults that were injected. */
#include "gen/dataset/score.h"
#include "gen/cli/commands.h"
#include "ui/cli/progress.h"

hpcw_status gen_cli_score(const struct gen_cli_options *o, const char *findings, const char *dir,
                          hpcw_error *err) {
    struct gen_cli_result r;
    gen_cli_result_begin(&r, o->json);
    struct ui_progress *progress = gen_cli_show_reading(o);
    hpcw_status s = gen_score(findings, dir, &r.json, err);
    ui_progress_stop(progress);
    return gen_cli_result_print(&r, s, err);
}
