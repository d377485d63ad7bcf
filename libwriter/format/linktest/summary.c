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

enum { BLOCK = 2048 }; /* number of timings that are added in one 64-bit sum; each is below 2^52 */

size_t hpcw_i_linktest_encode_times(const uint64_t *time_ps, size_t count, unsigned char *out,
                                    hpcw_linktest_range *range) {
    for (size_t done = 0; done < count;) {
        const size_t end = count - done < BLOCK ? count : done + BLOCK;
        hpcw_linktest_range r = {.count = end - done, .min_ps = UINT64_MAX};
        for (size_t i = done; i < end; i++) {
            const uint64_t t = time_ps[i];
            if (t - 1 >= HPCW_I_LINKTEST_TIME_LIMIT - 1) {
                return i;
            }
            r.sum_low += t;
            r.min_ps = t < r.min_ps ? t : r.min_ps;
            r.max_ps = t > r.max_ps ? t : r.max_ps;
            hpcw_i_put_f64(out + 8 * i, (double)(int64_t)t / PICOSECONDS, false);
        }
        hpcw_linktest_range_merge(range, &r);
        done = end;
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
