/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/linktest/summary.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/bytes.h"

#define PICOSECONDS 1e12 /* picoseconds of a second; exact in a double, so one division rounds once */

void hpcw_i_linktest_range_clear(hpcw_linktest_range *r) {
    *r = (hpcw_linktest_range){.min_ps = UINT64_MAX};
}

static void add_sum(hpcw_linktest_range *r, uint64_t low, uint64_t high) {
    r->sum_low += low;
    r->sum_high += high + (r->sum_low < low);
}

void hpcw_i_linktest_range_add(hpcw_linktest_range *r, uint64_t time_ps) {
    r->count++;
    r->min_ps = time_ps < r->min_ps ? time_ps : r->min_ps;
    r->max_ps = time_ps > r->max_ps ? time_ps : r->max_ps;
    add_sum(r, time_ps, 0);
}

void hpcw_linktest_range_merge(hpcw_linktest_range *into, const hpcw_linktest_range *from) {
    into->count += from->count;
    into->min_ps = from->min_ps < into->min_ps ? from->min_ps : into->min_ps;
    into->max_ps = from->max_ps > into->max_ps ? from->max_ps : into->max_ps;
    add_sum(into, from->sum_low, from->sum_high);
}

double hpcw_i_linktest_seconds(uint64_t time_ps) {
    return (double)time_ps / PICOSECONDS;
}

double hpcw_i_linktest_mean_seconds(const hpcw_linktest_range *r) {
    if (r->count == 0) {
        return 0;
    }
    /* Long division, bit by bit; the quotient is below 2^52, as each time is. */
    uint64_t rest = 0;
    uint64_t quotient = 0;
    for (int bit = 127; bit >= 0; bit--) {
        uint64_t word = bit >= 64 ? r->sum_high : r->sum_low;
        bool carry = rest >> 63 != 0;
        rest = rest << 1 | (word >> (bit % 64) & 1);
        quotient <<= 1;
        if (carry || rest >= r->count) {
            rest -= r->count;
            quotient |= 1;
        }
    }
    return ((double)quotient + (double)rest / (double)r->count) / PICOSECONDS;
}

/* Returns whether a comes before b. Slower connections come first; equal ones are ordered by ranks. */
static bool before(const hpcw_linktest_slow *a, const hpcw_linktest_slow *b) {
    if (a->time_ps != b->time_ps) {
        return a->time_ps > b->time_ps;
    }
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

void hpcw_i_linktest_slowest_add(struct hpcw_i_linktest_slowest *s, const hpcw_linktest_slow *entry) {
    hpcw_linktest_slow *e = s->entry;
    if (s->count < s->wanted) {
        size_t i = s->count++;
        while (i > 0 && before(&e[(i - 1) / 2], entry)) {
            e[i] = e[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        e[i] = *entry;
        return;
    }
    if (s->wanted == 0 || !before(entry, &e[0])) {
        return;
    }
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->count) {
            break;
        }
        if (child + 1 < s->count && before(&e[child], &e[child + 1])) {
            child++;
        }
        if (!before(entry, &e[child])) {
            break;
        }
        e[i] = e[child];
        i = child;
    }
    e[i] = *entry;
}

static int in_order(const void *a, const void *b) {
    return before(a, b) ? -1 : before(b, a) ? 1 : 0;
}

void hpcw_linktest_sort_slow(hpcw_linktest_slow *slow, size_t count) {
    if (count > 0) {
        qsort(slow, count, sizeof *slow, in_order);
    }
}

/*
 * BLOCK: number of timings that are added in one 64-bit sum; each is below 2^52.
 * LANES: independent sums, so that compilers can vectorise the inner loop without changing the order.
 */
enum { BLOCK = 2048, LANES = 8 };

size_t hpcw_i_linktest_encode_times(const uint64_t *time_ps, size_t count, unsigned char *out,
                                    hpcw_linktest_range *range) {
    const uint64_t exponent = UINT64_C(0x4330000000000000); /* 2^52 */
    size_t done = 0;
    while (done < count) {
        size_t n = count - done < BLOCK ? count - done : BLOCK;
        uint64_t sum = 0;
        double min = 0x1p53;
        double max = 0;
        size_t i = 0;
        double low[LANES];
        double high[LANES];
        uint64_t sums[LANES] = {0};
        uint64_t all[LANES] = {0};
        for (size_t k = 0; k < LANES; k++) {
            low[k] = 0x1p53;
            high[k] = 0;
        }
        for (; i + LANES <= n; i += LANES) {
            double seconds[LANES];
            for (size_t k = 0; k < LANES; k++) {
                uint64_t t = time_ps[done + i + k];
                uint64_t bits = t | exponent;
                double v;
                memcpy(&v, &bits, sizeof v);
                v -= 0x1p52;
                sums[k] += t;
                all[k] |= t;
                low[k] = v < low[k] ? v : low[k];
                high[k] = v > high[k] ? v : high[k];
                seconds[k] = v / PICOSECONDS;
            }
            if (!HPCW_I_HOST_BIG) {
                memcpy(out + 8 * (done + i), seconds, sizeof seconds);
            } else {
                for (size_t k = 0; k < LANES; k++) {
                    hpcw_i_put_f64(out + 8 * (done + i + k), seconds[k], false);
                }
            }
        }
        uint64_t any = 0;
        for (size_t k = 0; k < LANES; k++) {
            sum += sums[k];
            any |= all[k];
            min = low[k] < min ? low[k] : min;
            max = high[k] > max ? high[k] : max;
        }
        for (; i < n; i++) {
            uint64_t t = time_ps[done + i];
            double v = (double)t;
            sum += t;
            any |= t;
            min = v < min ? v : min;
            max = v > max ? v : max;
            hpcw_i_put_f64(out + 8 * (done + i), v / PICOSECONDS, false);
        }
        if (any >= HPCW_I_LINKTEST_TIME_LIMIT || min == 0) {
            for (i = 0; i < n; i++) {
                if (time_ps[done + i] == 0 || time_ps[done + i] >= HPCW_I_LINKTEST_TIME_LIMIT) {
                    return done + i;
                }
            }
        }
        hpcw_linktest_range r = {n, (uint64_t)min, (uint64_t)max, sum, 0};
        hpcw_linktest_range_merge(range, &r);
        done += n;
    }
    return count;
}

static unsigned char *put_range(const hpcw_linktest_range *r, unsigned char *q) {
    hpcw_i_put_f64(q, hpcw_i_linktest_seconds(r->min_ps), false);
    hpcw_i_put_f64(q + 8, hpcw_i_linktest_mean_seconds(r), false);
    hpcw_i_put_f64(q + 16, hpcw_i_linktest_seconds(r->max_ps), false);
    return q + 24;
}

/* Encodes a summary: doc/formats/linktest.md, "Summary". */
void hpcw_i_linktest_encode_summary(const hpcw_linktest_params *p, const char *start, const char *end,
                                    const hpcw_linktest_range *times, const hpcw_linktest_range *all_to_all,
                                    const hpcw_linktest_slow *slow, unsigned char *out) {
    size_t d = (size_t)hpcw_i_linktest_retests(p);
    unsigned char *q = out;
    memset(q, 0, HPCW_LINKTEST_TIME_SIZE);
    memcpy(q, start, strlen(start));
    q = put_range(times, q + HPCW_LINKTEST_TIME_SIZE);
    if (p->all_to_all) {
        q = put_range(all_to_all, q);
    }
    for (size_t i = 0; i < d; i++) {
        hpcw_i_put_f64(q + 8 * i, hpcw_i_linktest_seconds(slow[i].retest_ps), false);
        hpcw_i_put_f64(q + 8 * (d + i), hpcw_i_linktest_seconds(slow[i].time_ps), false);
        hpcw_i_put_u64(q + 8 * (2 * d + i), slow[i].from, false);
        hpcw_i_put_u64(q + 8 * (3 * d + i), slow[i].to, false);
    }
    q += 32 * d;
    memset(q, 0, HPCW_LINKTEST_TIME_SIZE);
    memcpy(q, end, strlen(end));
}
