/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log_period.h"

enum { MOST = 64, LEAST_PERIODS = 4 };

/* Periods shorter than others are taken if they hold about as often; if the best one holds seldom, there is none. */
static const double as_often = 0.1, often = 0.75;

/* How often a number is that of `period` calls later. */
static double share(const uint32_t *messages, uint32_t calls, uint32_t period) {
    uint32_t same = 0;
    for (uint32_t i = 0; i + period < calls; i++) {
        same += messages[i] == messages[i + period];
    }
    return (double)same / (calls - period);
}

/* By how much more messages are sent before these calls than before those that precede them. */
static double rise(const uint32_t *messages, uint32_t calls, uint32_t period, uint32_t first) {
    double more = 0;
    for (uint32_t i = first > 0 ? first : period; i < calls; i += period) {
        more += (double)messages[i] - (double)messages[i - 1];
    }
    return more;
}

static uint32_t period_of(const uint32_t *messages, uint32_t calls) {
    const uint32_t fits = (calls - 1) / (LEAST_PERIODS - 1);
    const uint32_t most = fits < MOST ? fits : MOST;
    double best = 0;
    for (uint32_t p = 1; p <= most; p++) {
        const double s = share(messages, calls, p);
        best = s > best ? s : best;
    }
    uint32_t period = 1;
    while (best >= often && share(messages, calls, period) < best - as_often) {
        period++;
    }
    return period;
}

/* The number that most calls of that place in a period share, by votes (Boyer and Moore); UINT32_MAX: there is none. */
static uint32_t usual(const uint32_t *messages, uint32_t calls, uint32_t period, uint32_t place) {
    uint32_t votes = 0;
    uint32_t number = 0;
    uint32_t all = 0;
    uint32_t with_it = 0;
    for (uint32_t i = place; i < calls; i += period) {
        number = votes == 0 ? messages[i] : number;
        votes += messages[i] == number ? 1 : UINT32_MAX;
        all++;
    }
    for (uint32_t i = place; i < calls; i += period) {
        with_it += messages[i] == number;
    }
    return 2 * with_it > all ? number : UINT32_MAX;
}

/* Without the calls that come before all messages and after them. */
struct gen_fit_log_periods gen_fit_log_periods(const uint32_t *messages, uint32_t calls) {
    uint32_t from = 0;
    uint32_t to = calls;
    while (from < to && messages[from] == 0) {
        from++;
    }
    while (to > from && messages[to - 1] == 0) {
        to--;
    }
    if (from == to) {
        return (struct gen_fit_log_periods){0, calls, 1};
    }
    const uint32_t *const m = messages + from;
    const uint32_t period = period_of(m, to - from);
    uint32_t begin = 0;
    for (uint32_t i = 1; i < period; i++) {
        begin = rise(m, to - from, period, i) > rise(m, to - from, period, begin) ? i : begin;
    }
    const uint32_t number = usual(m, to - from, period, begin);
    struct gen_fit_log_periods p = {.calls = period};
    if (number == UINT32_MAX) {
        return (struct gen_fit_log_periods){0, calls, 1};
    }
    for (uint32_t i = from + begin; i < to && i + period <= calls; i += period) {
        if (messages[i] == number) {
            p.first = p.count == 0 ? i : p.first;
            p.count = (i - p.first) / period + 1;
        }
    }
    return p;
}
