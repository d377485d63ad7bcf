/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <hpcw/version.h>

#include "bench/linktest/run.h"
#include "ui/cli/text.h"

static const char *const kernel[] = {
    [HPCW_LINKTEST_SEMIDIRECTIONAL] = "ping-pong",
    [HPCW_LINKTEST_UNIDIRECTIONAL] = "unidirectional",
    [HPCW_LINKTEST_BIDIRECTIONAL] = "bidirectional",
};

static void show_head(const struct bench_linktest *l) {
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
    (void)printf("%8s  %8s  %8s  %8s", what, ui_text_duration(fastest, (double)r->min_ps / 1e12),
                 ui_text_duration(mean, mean_s(r)), ui_text_duration(slowest, (double)r->max_ps / 1e12));
}

/* Returns the bytes that are transferred in the time of one message; with both directions at once, two messages. */
static double bytes_of(const hpcw_linktest_params *p) {
    return (double)p->message_size * (p->kernel == HPCW_LINKTEST_BIDIRECTIONAL ? 2 : 1);
}

/* ---- as JSON ---- */

hpcw_status bench_linktest_begin_json(struct bench_linktest *l, hpcw_error *err) {
    hpcw_linktest_params *p = &l->params;
    hpcw_status s = bench_json_create(&l->json, NULL, NULL, err);
    if (s == HPCW_OK) {
        struct hpcw_i_json *out = &l->json.out;
        hpcw_i_json_put_str(out, "format", "hpcw-linktest");
        hpcw_i_json_put_u64(out, "version", 1);
        hpcw_i_json_put_str(out, "hpcw", hpcw_version());
        hpcw_i_json_put_u64(out, "processes", p->tasks);
        hpcw_i_json_put_u64(out, "hosts", l->hosts.count);
        hpcw_i_json_put_str(out, "kernel", kernel[p->kernel]);
        hpcw_i_json_put_u64(out, "messages", p->messages);
        hpcw_i_json_put_u64(out, "warmup_messages", p->warmup_messages);
        hpcw_i_json_put_bool(out, "bisection", p->bisection);
        hpcw_i_json_put_bool(out, "serial", p->serial);
        hpcw_i_json_key_array(out, "results");
    }
    return s;
}

hpcw_status bench_linktest_end_json(struct bench_linktest *l, hpcw_status s, hpcw_error *err) {
    hpcw_i_json_end_array(&l->json.out);
    return bench_json_close(&l->json, s, err);
}

static void put_times(struct hpcw_i_json *out, const hpcw_linktest_range *r) {
    hpcw_i_json_put_f64(out, "fastest_s", (double)r->min_ps / 1e12);
    hpcw_i_json_put_f64(out, "mean_s", mean_s(r));
    hpcw_i_json_put_f64(out, "slowest_s", (double)r->max_ps / 1e12);
}

static void put_json(struct bench_linktest *l, const char *path, const hpcw_linktest_range *times,
                     const hpcw_linktest_range *all_to_all) {
    struct hpcw_i_json *out = &l->json.out;
    hpcw_i_json_begin_object(out);
    hpcw_i_json_put_str(out, "file", path);
    hpcw_i_json_put_u64(out, "bytes", l->params.message_size);
    put_times(out, times);
    hpcw_i_json_put_f64(out, "bytes_per_s", bytes_of(&l->params) / mean_s(times));
    hpcw_i_json_key_array(out, "slowest");
    for (size_t i = 0; i < l->slow_count; i++) {
        hpcw_i_json_flat_object(out);
        hpcw_i_json_put_u64(out, "from", l->slow[i].from);
        hpcw_i_json_put_u64(out, "to", l->slow[i].to);
        hpcw_i_json_put_f64(out, "time_s", (double)l->slow[i].time_ps / 1e12);
        hpcw_i_json_put_f64(out, "again_s", (double)l->slow[i].retest_ps / 1e12);
        hpcw_i_json_end_object(out);
    }
    hpcw_i_json_end_array(out);
    if (l->params.all_to_all) {
        hpcw_i_json_key_object(out, "all_to_all");
        put_times(out, all_to_all);
        hpcw_i_json_end_object(out);
    }
    hpcw_i_json_end_object(out);
}

/* ---- either ---- */

void bench_linktest_show(struct bench_linktest *l, const char *path, const hpcw_linktest_range *times,
                         const hpcw_linktest_range *all_to_all) {
    if (l->processes->process == 0 && l->options->json) {
        put_json(l, path, times, all_to_all);
    }
    if (l->processes->process != 0 || l->options->quiet || l->options->json) {
        return;
    }
    if (l->shown++ == 0) {
        show_head(l);
    }
    const hpcw_linktest_params *p = &l->params;
    char text[UI_TEXT_SIZE];
    show_times(ui_text_size(text, p->message_size), times);
    (void)printf("  %10s/s", ui_text_bytes_binary(text, (uint64_t)(bytes_of(p) / mean_s(times))));
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
