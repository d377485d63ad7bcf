/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/figures.h"

static double seconds(const struct bench_samples *samples, struct bench_time t, size_t run) {
    if (t.side == 0) {
        return 0;
    }
    const struct bench_sample *s = &samples->sample[t.side - 1][run];
    return (double)(t.phase == 0 ? s->total_ns : s->phase_ns[t.phase - 1]) * 1e-9;
}

static double peak(const struct bench_samples *samples, struct bench_time t, size_t run) {
    return t.side == 0 ? 0 : (double)samples->sample[t.side - 1][run].peak_bytes;
}

double bench_figure_of(const struct bench_figure *f, const struct bench_samples *samples,
                       const struct bench_amount *amount, size_t run) {
    double of = seconds(samples, f->of, run) - seconds(samples, f->less, run);
    switch (f->kind) {
    case BENCH_RATIO:
        return of / (seconds(samples, f->against, run) - seconds(samples, f->against_less, run));
    case BENCH_PER_ITEM:
        return of * 1e9 / (double)amount->items;
    case BENCH_MEMORY:
        return peak(samples, f->of, run) - peak(samples, f->less, run);
    case BENCH_SIZES:
        return (double)samples->sample[f->of.side - 1][run].size_bytes /
               (double)samples->sample[f->against.side - 1][run].size_bytes;
    case BENCH_RATE:
        return (double)amount->bytes / of;
    default:
        return of;
    }
}
