/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the clock and measures its ticks. All processes of a host read the same CPU counter and the same
 * CLOCK_MONOTONIC. So they use the zero point and tick length that the host's first process has measured. */
#include "libwriter/format/clog2/log/recording.h"

#include <stdlib.h>
#include <time.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CALIBRATION_NS = 2 * 1000 * 1000, READINGS = 8 };

uint64_t hpcw_i_clog2_system_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double system_seconds(void) {
    return (double)hpcw_i_clog2_system_ns() * 1e-9;
}

uint64_t hpcw_clog2_timeline_time(const hpcw_clog2_timeline *timeline) {
    /* Read the system's clock as whole nanoseconds: a double would lose the last digits. */
    return timeline->now == system_seconds ? hpcw_i_clog2_system_ns() : (uint64_t)(timeline->now() * 1e9);
}

uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log) {
    const hpcw_clog2_timeline timeline = {.now = log->options.now};
    return hpcw_clog2_timeline_clock(&timeline);
}

/* Returns whether the counter has a constant rate, at any CPU frequency and in any sleep state. */
static bool counter_is_invariant(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#else
    return HPCW_CLOG2_HAVE_COUNTER != 0; /* the specification of ARM's generic timer demands a constant rate */
#endif
}

struct hpcw_i_clog2_reading hpcw_i_clog2_read_both(const hpcw_clog2_log *log) {
    struct hpcw_i_clog2_reading best = {0};
    uint64_t shortest = UINT64_MAX, before = hpcw_i_clog2_system_ns();
    for (int i = 0; i < READINGS; i++) {
        uint64_t ticks = hpcw_i_clog2_clock_ticks(log), after = hpcw_i_clog2_system_ns();
        if (after - before < shortest) {
            shortest = after - before;
            best = (struct hpcw_i_clog2_reading){.system_ns = before + shortest / 2, .ticks = ticks};
        }
        before = after;
    }
    return best;
}

/* Measures the tick of the counter. Ticks of other clocks are nanoseconds. */
static void calibrate(hpcw_clog2_log *log) {
    struct hpcw_i_clog2_ticks *t = &log->clocks.ticks;
    if (log->clocks.kind != HPCW_CLOG2_CLOCK_COUNTER) {
        t->system_base_ns = hpcw_i_clog2_system_ns();
        t->base = hpcw_i_clog2_clock_ticks(log);
        t->ns = 1;
        return;
    }
    struct hpcw_i_clog2_reading begin = hpcw_i_clog2_read_both(log), end;
    do {
        end = hpcw_i_clog2_read_both(log);
    } while (end.system_ns - begin.system_ns < CALIBRATION_NS || end.ticks == begin.ticks);
    t->system_base_ns = begin.system_ns;
    t->base = begin.ticks;
    t->ns = (double)(end.system_ns - begin.system_ns) / (double)(end.ticks - begin.ticks);
}

hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err) {
    hpcw_clog2_clock clock = log->options.clock;
    bool counter = counter_is_invariant();
    if (clock == HPCW_CLOG2_CLOCK_COUNTER && !counter) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: expected the CPU's counter, got a CPU without an invariant one", log->path);
    }
    if (clock == HPCW_CLOG2_CLOCK_BEST) {
        clock = counter ? HPCW_CLOG2_CLOCK_COUNTER : HPCW_CLOG2_CLOCK_SYSTEM;
    }
    log->clocks.kind = clock;
    if (clock != HPCW_CLOG2_CLOCK_CALLER) {
        log->options.now = clock == HPCW_CLOG2_CLOCK_COUNTER ? NULL : system_seconds;
    }
    return HPCW_OK;
}

static int by_number(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Lists the first process of each clock. Before the call, leader[p] is the first process that reads the same clock
 * as process p. */
static void list_leaders(hpcw_clog2_log *log, int mine) {
    int n = log->comm->size;
    qsort(log->clocks.leader, (size_t)n, sizeof *log->clocks.leader, by_number);
    log->clocks.count = 0;
    for (int p = 0; p < n; p++) {
        if (p == 0 || log->clocks.leader[p] != log->clocks.leader[log->clocks.count - 1]) {
            log->clocks.own = log->clocks.leader[p] == mine ? log->clocks.count : log->clocks.own;
            log->clocks.leader[log->clocks.count++] = log->clocks.leader[p];
        }
    }
}

hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err) {
    int mine = log->comm->process;
    hpcw_comm *host = NULL;
    hpcw_status s = HPCW_OK;
    if (log->clocks.kind != HPCW_CLOG2_CLOCK_CALLER) {
        s = hpcw_i_comm_split_host(log->comm, &host, err);
    }
    if (s == HPCW_OK && (host == NULL || host->process == 0)) {
        calibrate(log);
    }
    if (s == HPCW_OK && host != NULL) {
        s = hpcw_i_comm_bcast(host, &log->clocks.ticks, sizeof log->clocks.ticks, 0, err);
    }
    if (s == HPCW_OK && host != NULL) {
        s = hpcw_i_comm_bcast(host, &mine, sizeof mine, 0, err);
    }
    hpcw_comm_free(host);
    log->clocks.leader = hpcw_i_calloc((size_t)log->comm->size, sizeof *log->clocks.leader);
    if (s == HPCW_OK && log->clocks.leader == NULL) {
        s = hpcw_i_fail_memory(err, log->path, 0, "the clocks of all processes");
    }
    s = hpcw_i_agree(log->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(log->comm, &mine, sizeof mine, log->clocks.leader, err);
    }
    if (s == HPCW_OK) {
        list_leaders(log, mine);
    }
    return s;
}
