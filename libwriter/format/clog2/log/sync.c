/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the clocks of processes with that of process 0, by the method of MPE's authors. Of several ping-pongs
 * the quickest is the most precise. The partner's answer is taken as its time at the middle of the ping-pong. If
 * several processes read one clock, only the first of them compares it.
 */

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/clog2/log/recording.h"

enum { SEQUENTIAL_MOST = 16 }; /* largest number of clocks that HPCW_CLOG2_SYNC_BEST compares one by one */

static int64_t local_ns(const hpcw_clog2_log *log) {
    return (int64_t)((double)(int64_t)(hpcw_i_clog2_clock_ticks(log) - log->clocks.ticks.base) *
                     log->clocks.ticks.ns);
}

/* Answers each ping-pong of process `to` with the local time. */
static hpcw_status answer(const hpcw_clog2_log *log, int to, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < log->options.sync_rounds; i++) {
        uint64_t word;
        s = hpcw_i_comm_receive(log->comm, &word, 1, to, err);
        if (s == HPCW_OK) {
            word = (uint64_t)local_ns(log);
            s = hpcw_i_comm_send(log->comm, &word, 1, to, err);
        }
    }
    return s;
}

/* Asks a partner for its time. At the local time *at, the partner's time was *at + *offset. */
static hpcw_status ask(const hpcw_clog2_log *log, int whom, int64_t *at, int64_t *offset, uint64_t *round_trip,
                       hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *round_trip = UINT64_MAX;
    for (uint32_t i = 0; s == HPCW_OK && i < log->options.sync_rounds; i++) {
        uint64_t word = 0;
        int64_t before = local_ns(log);
        s = hpcw_i_comm_send(log->comm, &word, 1, whom, err);
        if (s == HPCW_OK) {
            s = hpcw_i_comm_receive(log->comm, &word, 1, whom, err);
        }
        int64_t after = local_ns(log);
        if ((uint64_t)(after - before) < *round_trip) {
            *round_trip = (uint64_t)(after - before);
            *at = before + (after - before) / 2;
            *offset = (int64_t)word - *at;
        }
    }
    return s;
}

/* For each clock, the first process that reads it asks process 0. Process 0 answers one process after the other. */
static hpcw_status sync_sequential(const hpcw_clog2_log *log, int64_t *at, int64_t *offset,
                                   uint64_t *round_trip, hpcw_error *err) {
    if (log->clocks.own != 0) {
        return ask(log, 0, at, offset, round_trip, err);
    }
    hpcw_status s = HPCW_OK;
    for (int c = 1; s == HPCW_OK && c < log->clocks.count; c++) {
        s = answer(log, log->clocks.leader[c], err);
    }
    return s;
}

/* A process that knows its offset to process 0 answers a process that does not, and sends the offset. After k
 * steps, 2^k processes know their offsets. */
static hpcw_status sync_tree(const hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                             hpcw_error *err) {
    const int *leader = log->clocks.leader;
    int me = log->clocks.own, size = log->clocks.count;
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
            s = s == HPCW_OK ? hpcw_i_comm_send(log->comm, &word, 1, leader[me + step], err) : s;
        } else if (me >= step && me < 2 * step) {
            s = ask(log, leader[me - step], at, offset, round_trip, err);
            s = s == HPCW_OK ? hpcw_i_comm_receive(log->comm, &word, 1, leader[me - step], err) : s;
            *offset += s == HPCW_OK ? (int64_t)word : 0;
        }
    }
    return s;
}

/* Compares each clock with the one before. Even clocks ask first, then odd ones, so that half of them work at any
 * time. */
static hpcw_status sync_neighbours(const hpcw_clog2_log *log, int64_t *at, int64_t *offset,
                                   uint64_t *round_trip, hpcw_error *err) {
    int me = log->clocks.own;
    hpcw_status s = HPCW_OK;
    for (int odd = 0; s == HPCW_OK && odd < 2; odd++) {
        if (me > 0 && me % 2 == odd) {
            s = ask(log, log->clocks.leader[me - 1], at, offset, round_trip, err);
        } else if (me + 1 < log->clocks.count && (me + 1) % 2 == odd) {
            s = answer(log, log->clocks.leader[me + 1], err);
        }
    }
    return s;
}

/* Adds up the offsets between neighbouring clocks, which gives the offset from process 0's clock. Unsigned sums
 * wrap around as signed numbers do. */
static hpcw_status add_up(const hpcw_clog2_log *log, int64_t *offset, hpcw_error *err) {
    uint64_t word = (uint64_t)*offset;
    struct hpcw_i_words words = {.sums = 1, .word = &word};
    hpcw_status s = hpcw_i_comm_exscan(log->comm, &words, err);
    *offset += s == HPCW_OK ? (int64_t)word : 0;
    return s;
}

/* Gives the result of the first process that reads a clock to all other processes that read the same clock. */
static hpcw_status share_found(const hpcw_clog2_log *log, int64_t *at, int64_t *offset, uint64_t *round_trip,
                               hpcw_error *err) {
    struct found {
        int64_t at, offset;
        uint64_t round_trip;
    } mine = {*at, *offset, *round_trip};
    struct found *all = hpcw_i_calloc((size_t)log->comm->size, sizeof *all);
    hpcw_status s = all == NULL ? hpcw_i_fail_memory(err, log->path, 0, "clocks") : HPCW_OK;
    s = hpcw_i_agree(log->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(log->comm, &mine, sizeof mine, all, err);
    }
    if (s == HPCW_OK) {
        const struct found *first = &all[log->clocks.leader[log->clocks.own]];
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
        how = log->clocks.count <= SEQUENTIAL_MOST ? HPCW_CLOG2_SYNC_SEQUENTIAL : HPCW_CLOG2_SYNC_TREE;
    }
    *at = local_ns(log);
    *offset = 0;
    *round_trip = 0;
    if (log->clocks.count == 1) {
        return HPCW_OK;
    }
    if (how == HPCW_CLOG2_SYNC_NONE) {
        /* All processes read the same clock, but count local time from different zero points. */
        uint64_t first = log->clocks.ticks.base;
        hpcw_status s = hpcw_i_comm_bcast(log->comm, &first, sizeof first, 0, err);
        *offset = (int64_t)((double)(int64_t)(log->clocks.ticks.base - first) * log->clocks.ticks.ns);
        return s;
    }
    hpcw_status s = HPCW_OK;
    if (log->clocks.leader[log->clocks.own] == log->comm->process) {
        s = how == HPCW_CLOG2_SYNC_SEQUENTIAL ? sync_sequential(log, at, offset, round_trip, err)
            : how == HPCW_CLOG2_SYNC_TREE     ? sync_tree(log, at, offset, round_trip, err)
                                              : sync_neighbours(log, at, offset, round_trip, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, "comparison of clocks");
        hpcw_i_fail_about(err, log->path);
    }
    if (how == HPCW_CLOG2_SYNC_NEIGHBOURS) {
        hpcw_status r = add_up(log, offset, s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? r : s;
    }
    s = hpcw_i_agree(log->comm, s, NULL, err);
    return s == HPCW_OK && log->clocks.count < log->comm->size ? share_found(log, at, offset, round_trip, err)
                                                               : s;
}
