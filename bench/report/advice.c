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
