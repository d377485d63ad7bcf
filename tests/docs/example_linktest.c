/* SPDX-License-Identifier: BSD-3-Clause */
/* The examples of doc/formats/linktest.md. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/linktest.h>

#include "libreader/linktest/linktest.h"
#include "libwriter/base/status.h"
#include "tests/docs/example.h"

#define HASH "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"
#define START "2024-05-01T10:00:00Z"
#define END "2024-05-01T10:00:01Z"

static hpcw_linktest_params params_of(uint32_t tasks) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = p.count = tasks;
    p.git_hash = HASH;
    p.messages = 100;
    p.message_size = 8;
    p.fs_block_size = 512;
    return p;
}

/* Task r runs on core r of node "n1" and measured times_ps[r][step]. A retest gives the mean of the first time and
 * 1.75 microseconds. */
static hpcw_status write_result(const char *directory, const char *name, const hpcw_linktest_params *p,
                                const uint64_t times_ps[][2], hpcw_error *err) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    hpcw_linktest *lt;
    hpcw_status s = hpcw_linktest_open(path, NULL, p, &lt, err);
    for (uint32_t r = 0; s == HPCW_OK && r < p->tasks; r++) {
        s = hpcw_linktest_task(lt, r, "n1", (int32_t)r, err);
        if (s == HPCW_OK) {
            s = hpcw_linktest_timings(lt, r, times_ps[r], NULL, (r + 1) * UINT64_C(1000000), err);
        }
    }
    hpcw_linktest_slow slow[1];
    size_t n = 0;
    if (s == HPCW_OK) {
        s = hpcw_linktest_slowest(lt, slow, &n, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < n; i++) {
        slow[i].retest_ps = (slow[i].time_ps + 1750000) / 2;
    }
    if (s == HPCW_OK) {
        s = hpcw_linktest_end_permutation(lt, START, END, slow, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_linktest_close(lt, err);
    }
    hpcw_linktest_free(lt);
    return s;
}

static hpcw_status write_pair(const char *directory, hpcw_error *err) {
    static const uint64_t times[2][2] = {{2000000}, {2500000}};
    hpcw_linktest_params p = params_of(2);
    p.retests = 1;
    return write_result(directory, "pair.sion", &p, times, err);
}

static hpcw_status write_halves(const char *directory, hpcw_error *err) {
    static const uint64_t times[4][2] = {
        {1000000, 2000000}, {3000000, 4000000}, {1250000, 4250000}, {3250000, 2250000}};
    hpcw_linktest_params p = params_of(4);
    p.retests = 0;
    p.bisection = p.all_to_all = true;
    return write_result(directory, "halves.sion", &p, times, err);
}

static hpcw_status verify(const char *path, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = read_linktest_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_linktest_verify(reader, READ_SION_STRICT | READ_SION_GAPS, err);
        read_linktest_free(reader);
    }
    return s;
}

/* Checks the numbers in the notes of the first example. */
static bool pair_is_as_noted(struct read_linktest *reader, hpcw_error *err) {
    struct read_linktest_summary sum;
    struct read_linktest_slow slow;
    char host[READ_LINKTEST_MOST_HOST];
    double time;
    uint64_t partner;
    int32_t core;
    const hpcw_linktest_info *info = read_linktest_info(reader);
    return strcmp(info->git_hash, HASH) == 0 && strcmp(info->mode, "mpi") == 0 && info->messages == 100 &&
           info->message_size == 8 && info->warmup_messages == 3 &&
           read_linktest_summary(reader, 0, &sum, err) == HPCW_OK && strcmp(sum.start, START) == 0 &&
           strcmp(sum.end, END) == 0 && sum.min == 2.00e-6 && sum.avg == 2.25e-6 && sum.max == 2.50e-6 &&
           read_linktest_slow(reader, 0, 0, 1, &slow, err) == HPCW_OK && slow.retest == 2.125e-6 &&
           slow.original == 2.50e-6 && slow.from == 1 && slow.to == 0 &&
           read_linktest_host(reader, 1, host, &core, err) == HPCW_OK && strcmp(host, "n1") == 0 && core == 1 &&
           read_linktest_row(reader, 1, 0, &time, &partner, NULL, err) == HPCW_OK && time == 2.50e-6 &&
           partner == 0;
}

static hpcw_status verify_pair(const char *path, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = verify(path, err);
    if (s == HPCW_OK) {
        s = read_linktest_open(path, &reader, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (!pair_is_as_noted(reader, err)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected the values in the notes, got others", path);
    }
    read_linktest_free(reader);
    return s;
}

const struct docs_example docs_linktest[] = {
    {"linktest.md", "hex pair.sion", write_pair, verify_pair},
    {"linktest.md", "hex halves.sion", write_halves, verify},
    {NULL, NULL, NULL, NULL},
};
