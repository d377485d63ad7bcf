/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces otf2.c in a build without OTF2. */
#include "gen/export/otf2.h"
#include "libwriter/base/status.h"

hpcw_status gen_export_otf2(const char *path, const struct gen_export *what, const char *output, bool sync,
                            struct gen_exported *done, hpcw_error *err) {
    (void)what;
    (void)output;
    (void)sync;
    *done = (struct gen_exported){.items = "events"};
    return hpcw_i_fail(err, HPCW_ENOTSUP,
                       "%s: --form otf2: expected a build with OTF2 (libotf2-trace-dev), got one without",
                       path);
}
