/* SPDX-License-Identifier: BSD-3-Clause */
/* score: what a tool found, against what was injected. */
#include "gen/dataset/score.h"
#include "gen/cli/commands.h"

hpcw_status gen_cli_score(const struct gen_cli_options *o, const char *findings, const char *dir,
                          hpcw_error *err) {
    struct gen_cli_result r;
    gen_cli_result_begin(&r, o->json);
    return gen_cli_result_print(&r, gen_score(findings, dir, &r.json, err), err);
}
