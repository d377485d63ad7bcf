/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/common/common.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

struct ui_progress *gen_cli_show_reading(const struct gen_cli_options *o) {
    struct ui_progress *progress = NULL;
    if (!o->quiet && ui_text_is_terminal(stderr)) {
        const hpcw_status s = ui_progress_start(&(struct ui_progress_options){.reads = true}, &progress, NULL);
        /* Without memory for the display, no progress is shown. */
        ui_progress_label(s == HPCW_OK ? progress : NULL, "read");
    }
    return progress;
}
