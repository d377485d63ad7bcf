/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/report/command.h"

#include <stdio.h>
#include <string.h>

#include "bench/measure/workdir.h"
#include "bench/report/results.h"
#include "ui/page/page.h"

hpcw_status bench_report_command(const char *results, const char *output, hpcw_error *err) {
    char beside[BENCH_PATH + 32];
    const char *slash = strrchr(results, '/');
    (void)snprintf(beside, sizeof beside, "%.*sreport.html", slash == NULL ? 0 : (int)(slash + 1 - results),
                   results);
    struct bench_results r;
    hpcw_status s = ui_page_available(err);
    s = s == HPCW_OK ? bench_results_read(&r, results, err) : s;
    if (s == HPCW_OK) {
        s = bench_report_page(&r, output[0] == '\0' ? beside : output, err);
        bench_results_free(&r);
    }
    return s;
}
