/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/linktest/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench/measure/timer.h"
#include "ui/cli/text.h"

#define SECOND UINT64_C(1000000000)

void bench_progress_begin(struct bench_progress *p, uint64_t total) {
    uint64_t now_ns = bench_timer_now();
    *p = (struct bench_progress){.total = total, .begin_ns = now_ns, .next_ns = now_ns + 5 * SECOND};
}

void bench_progress_next(struct bench_progress *p) {
    uint64_t now_ns = p->total > 0 ? bench_timer_now() : 0;
    if (now_ns > p->next_ns && p->done > 0) {
        char left[UI_TEXT_SIZE];
        uint64_t elapsed_ns = now_ns - p->begin_ns;
        double each_s = 1e-9 * (double)elapsed_ns / (double)p->done;
        (void)fprintf(stderr, "hpcw-linktest: %" PRIu64 " of %" PRIu64 " measurements, about %s left\n",
                      p->done, p->total, ui_text_duration(left, each_s * (double)(p->total - p->done)));
        /* The interval between two lines grows with the elapsed time, up to one minute. */
        p->next_ns = now_ns + (elapsed_ns < 60 * SECOND ? elapsed_ns : 60 * SECOND);
    }
    p->done++;
}
