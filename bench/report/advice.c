/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/results.h"

void bench_advice_say(struct bench_advice *a, const char *fmt, ...) {
    const size_t n = strlen(a->text);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(a->text + n, sizeof a->text - n, fmt, args);
    va_end(args);
}

void bench_advice_where(struct bench_advice *a, const struct bench_results *r) {
    enum { MOST = 200 }; /* bytes of a path in a sentence; of a longer path, only the end is shown */
    const size_t n = strlen(r->directory);
    const char *end = r->directory + (n > MOST ? n - MOST : 0);
    while (((unsigned char)*end & 0xc0) == 0x80) { /* skip a UTF-8 character whose begin was cut */
        end++;
    }
    bench_advice_say(a, "On %s%s (%s, ", n > MOST ? "..." : "", end, r->fs.type);
    if (r->hosts > 1) {
        bench_advice_say(a, "%d hosts, ", r->hosts);
    } else {
        bench_advice_say(a, "host %s, ", r->host);
    }
    bench_advice_say(a, "%.10s) ", r->time);
}
