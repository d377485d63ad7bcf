/* SPDX-License-Identifier: BSD-3-Clause */
/* recover: merges the local files of the processes of a run that died into an event log. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/clog2_log.h>

#include "gen/cli/commands.h"

hpcw_status gen_cli_recover(const struct gen_cli_options *o, const char *const *path, size_t count,
                            hpcw_error *err) {
    hpcw_clog2_recovered found;
    hpcw_status s = gen_cli_check_output(o->output, path, count, err);
    s = s == HPCW_OK ? hpcw_clog2_recover(o->output, path, count, o->partial, &found, err) : s;
    if (s == HPCW_EMISMATCH) {
        size_t length = strlen(err->message);
        (void)snprintf(err->message + length, sizeof err->message - length,
                       "; collect all files, whole, or make a log of what is there with --partial");
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (o->json) {
        (void)printf("{\"files\":%u,\"records\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"truncated\":%u,"
                     "\"missing\":%u}\n",
                     found.files, found.records, found.left_out, found.truncated, found.missing);
    } else if (!o->quiet) {
        hpcw_error room;
        (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " records of %u local files",
                      gen_cli_printable(o->output, &room), found.records, found.files);
        if (found.truncated > 0) {
            (void)fprintf(stderr, ", %u of them truncated", found.truncated);
        }
        if (found.missing > 0) {
            (void)fprintf(stderr, "; without those of %u ranks", found.missing);
        }
        if (found.left_out > 0) {
            (void)fprintf(stderr, "; %" PRIu64 " left out, without a definition or a beginning",
                          found.left_out);
        }
        (void)fprintf(stderr, "\n");
    }
    return HPCW_OK;
}
