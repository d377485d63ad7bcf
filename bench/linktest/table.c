/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "bench/linktest/run.h"
#include "ui/cli/text.h"

static void show_head(const struct bench_linktest *l) {
    static const char *const kernel[] = {
        [HPCW_LINKTEST_SEMIDIRECTIONAL] = "ping-pong",
        [HPCW_LINKTEST_UNIDIRECTIONAL] = "unidirectional",
        [HPCW_LINKTEST_BIDIRECTIONAL] = "bidirectional",
    };
    const hpcw_linktest_params *p = &l->params;
    (void)printf("%" PRIu32 " processes on %" PRIu32 " host%s, %s, %" PRIu64 " messages after %" PRIu64
                 " to warm up%s%s\n\n",
                 p->tasks, l->hosts.count, l->hosts.count == 1 ? "" : "s", kernel[p->kernel], p->messages,
                 p->warmup_messages, p->bisection ? ", bisection" : "",
                 p->serial ? ", one pair at a time" : "");
    (void)printf("%8s  %8s  %8s  %8s  %12s  %15s  %8s\n", "bytes", "fastest", "mean", "slowest", "bandwidth",
                 "slowest pair", "again");
}

static double mean_s(const hpcw_linktest_range *r) {
    return 1e-12 * ((double)r->sum_high * 0x1p64 + (double)r->sum_low) / (double)r->count;
}

static void show_times(const char *what, const hpcw_linktest_range *r) {
    char fastest[UI_TEXT_SIZE], mean[UI_TEXT_SIZE], slowest[UI_TEXT_SIZE];
    (void)printf("%8s  %8s  %8s  %8s", what, ui_text_duration(fastest, 1e-12 * (double)r->min_ps),
                 ui_text_duration(mean, mean_s(r)), ui_text_duration(slowest, 1e-12 * (double)r->max_ps));
}

void bench_linktest_show(struct bench_linktest *l, const hpcw_linktest_range *times,
                         const hpcw_linktest_range *all_to_all) {
    if (l->processes->process != 0 || l->options->quiet) {
        return;
    }
    if (l->shown++ == 0) {
        show_head(l);
    }
    const hpcw_linktest_params *p = &l->params;
    double bytes = (double)p->message_size * (p->kernel == HPCW_LINKTEST_BIDIRECTIONAL ? 2 : 1);
    char text[UI_TEXT_SIZE];
    show_times(ui_text_size(text, p->message_size), times);
    (void)printf("  %10s/s", ui_text_bytes_binary(text, (uint64_t)(bytes / mean_s(times))));
    if (l->slow_count > 0) {
        char pair[UI_TEXT_SIZE];
        (void)snprintf(pair, sizeof pair, "%" PRIu32 " to %" PRIu32, l->slow[0].from, l->slow[0].to);
        (void)printf("  %15s  %8s", pair, ui_text_duration(text, 1e-12 * (double)l->slow[0].retest_ps));
    }
    (void)printf("\n");
    if (p->all_to_all) {
        show_times("all", all_to_all);
        (void)printf("\n");
    }
    (void)fflush(stdout);
}
