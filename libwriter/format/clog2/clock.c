/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks: which one, how long its ticks are, and what it lacks to that of process 0. Offsets are found as MPE's authors
 * describe it: of several messages to and fro the quickest says most, and the partner's answer was given in the middle
 * of it, as far as anyone can tell.
 *
 * The counter and the system's clock are the same for all processes of a host, whatever a comparison would say. So these
 * take over the zero and the length of a tick from the first one of them, and only one process of a host compares.
 */
#include <stdlib.h>
#include <time.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/clog2/log.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    SEQUENTIAL_MOST = 16, /* processes that process 0 asks one by one */
    CALIBRATION_NS = 2 * 1000 * 1000
};

uint64_t hpcw_i_clog2_system_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double system_seconds(void) {
    return (double)hpcw_i_clog2_system_ns() * 1e-9;
}

uint64_t hpcw_clog2_line_time(const hpcw_clog2_line *line) {
    /* The system's clock in whole nanoseconds, without a detour over doubles. */
    return line->now == system_seconds ? hpcw_i_clog2_system_ns() : (uint64_t)(line->now() * 1e9);
}

uint64_t hpcw_i_clog2_clock_ticks(const hpcw_clog2_log *log) {
    const hpcw_clog2_line line = {.now = log->options.now};
    return hpcw_clog2_line_clock(&line);
}

/* Whether the counter runs at one speed whatever the core does, and on while it sleeps. */
static bool counter_is_invariant(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#else
    return HPCW_CLOG2_HAVE_COUNTER != 0; /* what ARM calls the generic timer is made for it */
#endif
}

/* The length of a tick, from two pairs of readings some time apart. */
static void calibrate(hpcw_clog2_log *log) {
    struct hpcw_i_clog2_ticks *t = &log->ticks;
    t->system_base_ns = hpcw_i_clog2_system_ns();
    t->base = hpcw_i_clog2_clock_ticks(log);
    t->ns = 1;
    if (log->clock != HPCW_CLOG2_CLOCK_COUNTER) {
        return;
    }
    uint64_t now;
    do {
        now = hpcw_i_clog2_system_ns();
    } while (now - t->system_base_ns < CALIBRATION_NS);
    uint64_t ticks = hpcw_i_clog2_clock_ticks(log) - t->base;
    t->ns = (double)(now - t->system_base_ns) / (double)(ticks == 0 ? 1 : ticks);
}

hpcw_status hpcw_i_clog2_clock_begin(hpcw_clog2_log *log, hpcw_error *err) {
    hpcw_clog2_clock clock = log->options.clock;
    bool counter = counter_is_invariant();
    if (clock == HPCW_CLOG2_CLOCK_COUNTER && !counter) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: wanted the CPU's counter, got a CPU without an invariant one", log->path);
    }
    if (clock == HPCW_CLOG2_CLOCK_BEST) {
        clock = counter ? HPCW_CLOG2_CLOCK_COUNTER : HPCW_CLOG2_CLOCK_SYSTEM;
    }
    log->clock = clock;
    if (clock != HPCW_CLOG2_CLOCK_CALLER) {
        log->options.now = clock == HPCW_CLOG2_CLOCK_COUNTER ? NULL : system_seconds;
    }
    return HPCW_OK;
}

static int by_number(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Every process's first one of its host, into those of all. */
static void list_leaders(hpcw_clog2_log *log, int mine) {
    int n = log->comm->size;
    qsort(log->leader, (size_t)n, sizeof *log->leader, by_number);
    log->clocks = 0;
    for (int p = 0; p < n; p++) {
        if (p == 0 || log->leader[p] != log->leader[log->clocks - 1]) {
            log->own_clock = log->leader[p] == mine ? log->clocks : log->own_clock;
            log->leader[log->clocks++] = log->leader[p];
        }
    }
}

hpcw_status hpcw_i_clog2_clock_share(hpcw_clog2_log *log, hpcw_error *err) {
    int mine = log->comm->process;
    hpcw_comm *host = NULL;
    hpcw_status s = HPCW_OK;
    if (log->clock != HPCW_CLOG2_CLOCK_CALLER) {
        s = hpcw_i_comm_split_host(log->comm, &host, err);
    }
    if (s == HPCW_OK && (host == NULL || host->process == 0)) {
        calibrate(log);
    }
    if (s == HPCW_OK && host != NULL) {
        s = hpcw_i_comm_bcast(host, &log->ticks, sizeof log->ticks, 0, err);
    }
    if (s == HPCW_OK && host != NULL) {
        s = hpcw_i_comm_bcast(host, &mine, sizeof mine, 0, err);
    }
    hpcw_comm_free(host);
    log->leader = hpcw_i_calloc((size_t)log->comm->size, sizeof *log->leader);
    if (s == HPCW_OK && log->leader == NULL) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for the clocks of all processes", log->path);
    }
    s = hpcw_i_agree(log->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(log->comm, &mine, sizeof mine, log->leader, err);
    }
    if (s == HPCW_OK) {
        list_leaders(log, mine);
    }
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Comparison
 * --------------------------------------------------------------------------------------------------------- */

static int64_t local_ns(const hpcw_clog2_log *log) {
    return (int64_t)((double)(int64_t)(hpcw_i_clog2_clock_ticks(log) - log->ticks.base) * log->ticks.ns);
}

static hpcw_status failed(const hpcw_clog2_log *log, int code, hpcw_error *err) {
    if (code == 0) {
        return HPCW_OK;
    }
    char text[256];
    log->comm->ops->text(code, text, sizeof text);
    return hpcw_i_fail(err, HPCW_ECOMM, "%s: comparison of clocks failed: %s", log->path, text);
}

/* The side that answers: with its time. */
static hpcw_status answer(const hpcw_clog2_log *log, int to, hpcw_error *err) {
    const struct hpcw_i_comm_ops *ops = log->comm->ops;
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < log->options.sync_rounds; i++) {
        uint64_t word;
        code = ops->receive(log->comm, &word, 1, to);
        if (code == 0) {
            word = (uint64_t)local_ns(log);
            code = ops->send(log->comm, &word, 1, to);
        }
    }
    return failed(log, code, err);
}

/* The side that asks, and then knows: at its time *at its clock lacked *offset to the partner's. */
static hpcw_status ask(const hpcw_clog2_log *log, int whom, int64_t *at, int64_t *offset, uint64_t *round_trip,
                       hpcw_error *err) {
    const struct hpcw_i_comm_ops *ops = log->comm->ops;
    int code = 0;
    *round_trip = UINT64_MAX;
    for (uint32_t i = 0; code == 0 && i < log->options.sync_rounds; i++) {
        uint64_t word = 0;
        int64_t before = local_ns(log);
        code = ops->send(log->comm, &word, 1, whom);
        if (code == 0) {
            code = ops->receive(log->comm, &word, 1, whom);
        }
        int64_t after = local_ns(log);
        if ((uint64_t)(after - before) < *round_trip) {
            *round_trip = (uint64_t)(after - before);
            *at = before + (after - before) / 2;
            *offset = (int64_t)word - *at;
        }
    }
    return failed(log, code, err);
}

/* The first processes of all clocks ask process 0 in turn. */
static hpcw_status sync_sequential(const hpcw_clog2_log *log, int64_t *at, int64_t *offset,
                                   uint64_t *round_trip, hpcw_error *err) {
    if (log->own_clock != 0) {
        return ask(log, 0, at, offset, round_trip, err);
    }
    hpcw_status s = HPCW_OK;
    for (int c = 1; s == HPCW_OK && c < log->clocks; c++) {
        s = answer(log, log->leader[c], err);
    }
    return s;
}

/* Whoever knows its offset answers the next one: after k steps 2^k processes do. The offset of the one that answered
 * follows. */
static hpcw_status sync_tree(const hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                             hpcw_error *err) {
    const struct hpcw_i_comm_ops *ops = log->comm->ops;
    const int *leader = log->leader;
    int me = log->own_clock, size = log->clocks;
    hpcw_status s = HPCW_OK;
    int top = 1;
    while (top < size) {
        top *= 2;
    }
    for (int step = 1; s == HPCW_OK && step < top; step *= 2) {
        uint64_t word;
        if (me < step && me + step < size) {
            s = answer(log, leader[me + step], err);
            word = (uint64_t)*offset;
            s = s == HPCW_OK ? failed(log, ops->send(log->comm, &word, 1, leader[me + step]), err) : s;
        } else if (me >= step && me < 2 * step) {
            s = ask(log, leader[me - step], at, offset, round_trip, err);
            s = s == HPCW_OK ? failed(log, ops->receive(log->comm, &word, 1, leader[me - step]), err) : s;
            *offset += s == HPCW_OK ? (int64_t)word : 0;
        }
    }
    return s;
}

/* Every one asks the one below; the even ones first, so that half of them are at work at any time. */
static hpcw_status sync_neighbours(const hpcw_clog2_log *log, int64_t *at, int64_t *offset,
                                   uint64_t *round_trip, hpcw_error *err) {
    int me = log->own_clock;
    hpcw_status s = HPCW_OK;
    for (int odd = 0; s == HPCW_OK && odd < 2; odd++) {
        if (me > 0 && me % 2 == odd) {
            s = ask(log, log->leader[me - 1], at, offset, round_trip, err);
        } else if (me + 1 < log->clocks && (me + 1) % 2 == odd) {
            s = answer(log, log->leader[me + 1], err);
        }
    }
    return s;
}

/* Offsets to the one below add up: sums of words wrap around as signed numbers do. */
static hpcw_status add_up(const hpcw_clog2_log *log, int64_t *offset, hpcw_error *err) {
    uint64_t word = (uint64_t)*offset;
    struct hpcw_i_words words = {.sums = 1, .word = &word};
    hpcw_status s = hpcw_i_comm_exscan(log->comm, &words, err);
    *offset += s == HPCW_OK ? (int64_t)word : 0;
    return s;
}

/* What the first process of a clock found out is true for all that read it. */
static hpcw_status tell_others(const hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                               hpcw_error *err) {
    struct found {
        int64_t at, offset;
        uint64_t round_trip;
    } mine = {*at, *offset, *round_trip};
    struct found *all = hpcw_i_calloc((size_t)log->comm->size, sizeof *all);
    hpcw_status s =
        all == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory to compare clocks", log->path) : HPCW_OK;
    s = hpcw_i_agree(log->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(log->comm, &mine, sizeof mine, all, err);
    }
    if (s == HPCW_OK) {
        const struct found *first = &all[log->leader[log->own_clock]];
        *at = first->at;
        *offset = first->offset;
        *round_trip = first->round_trip;
    }
    hpcw_i_free(all);
    return s;
}

hpcw_status hpcw_i_clog2_sync(hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                              hpcw_error *err) {
    hpcw_clog2_sync how = log->options.sync;
    if (how == HPCW_CLOG2_SYNC_BEST) {
        how = log->clocks <= SEQUENTIAL_MOST ? HPCW_CLOG2_SYNC_SEQUENTIAL : HPCW_CLOG2_SYNC_TREE;
    }
    *at = local_ns(log);
    *offset = 0;
    *round_trip = 0;
    if (log->clocks == 1) {
        return HPCW_OK;
    }
    if (how == HPCW_CLOG2_SYNC_NONE) {
        /* The clocks are one, but local times count from different moments. */
        uint64_t first = log->ticks.base;
        hpcw_status s = hpcw_i_comm_bcast(log->comm, &first, sizeof first, 0, err);
        *offset = (int64_t)((double)(int64_t)(log->ticks.base - first) * log->ticks.ns);
        return s;
    }
    hpcw_status s = HPCW_OK;
    if (log->leader[log->own_clock] == log->comm->process) {
        s = how == HPCW_CLOG2_SYNC_SEQUENTIAL ? sync_sequential(log, at, offset, round_trip, err)
            : how == HPCW_CLOG2_SYNC_TREE     ? sync_tree(log, at, offset, round_trip, err)
                                              : sync_neighbours(log, at, offset, round_trip, err);
    }
    if (how == HPCW_CLOG2_SYNC_NEIGHBOURS) {
        hpcw_status r = add_up(log, offset, s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? r : s;
    }
    s = hpcw_i_agree(log->comm, s, NULL, err);
    return s == HPCW_OK && log->clocks < log->comm->size ? tell_others(log, at, offset, round_trip, err) : s;
}
