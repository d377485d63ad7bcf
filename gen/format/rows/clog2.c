/* SPDX-License-Identifier: BSD-3-Clause */
/* clog2/app.clog2: the event log of the simulated application, as MPE would merge it from its ranks. */
#include "gen/export/clog2.h"
#include "gen/format/clog2.h"

#include <stdio.h>
#include <string.h>

#include "gen/fit/log/learn.h"
#include "gen/format/clog2_facts.h"
#include "gen/format/clog2_log.h"
#include "gen/report/report.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    /* MOST: most ranks. Viewers in Java need fewer than 2^31 timelines, and have one for each rank in each
     * communicator. */
    enum { MOST = 46340 };
    return d->ranks <= MOST
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE,
                             "clog2: expected 1 to %u ranks (readers number timelines in 31 bits), got %u",
                             MOST, d->ranks);
}

static uint64_t units(const struct gen_dataset *d) {
    (void)d;
    return 1;
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    (void)index;
    (void)err;
    const hpcw_clog2_options o = gen_clog2_log_options(d);
    const uint64_t blocks = gen_clog2_log_blocks(d, o.block_size);
    (void)snprintf(u->path, sizeof u->path, GEN_CLOG2_PATH);
    u->apparent = hpcw_clog2_file_size(blocks, o.block_size, o.comms);
    u->allocated = hpcw_i_align_up(u->apparent, 4096);
    return HPCW_OK;
}

/* Estimates 200 ns for each record. The run is simulated twice: the first time to check it and to count its
 * events. */
static double seconds(const struct gen_dataset *d) {
    return (double)gen_clog2_log_records(d) * 200e-9;
}

/* Estimates the events of 70 calls of each rank, and the coroutine of each rank. */
static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    (void)jobs;
    return (UINT64_C(64) << 20) + (UINT64_C(32) << 10) * d->ranks;
}

static bool owns(const char *path) {
    return strcmp(path, GEN_CLOG2_PATH) == 0;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    *files = 1;
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s == HPCW_OK) {
        /* A log does not say whether its clocks were meant to differ, so no error of a clock is reported. */
        s = read_clog2_verify(reader, ours ? READ_CLOG2_STRICT | READ_CLOG2_ANY_CLOCK : 0, err);
        read_clog2_free(reader);
    }
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_report(reader, json, err);
        read_clog2_free(reader);
    }
    return s;
}

static const struct gen_injected injected[] = {
    {"interruptions", "clog2.interruptions"}, {"wrong_clocks", "clog2.clocks"}, {NULL, NULL}};

const struct gen_format gen_format_clog2 = {
    .name = "clog2",
    .version = "CLOG-02.44",
    .help = "event log of the simulated application, merged as MPE does it, for Jumpshot",
    .limits = limits,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .write = gen_clog2_write,
    .truth = gen_clog2_facts_truth,
    .injected = injected,
    .probe = read_clog2_probe,
    .verify = verify,
    .info = info,
    .report = gen_report_clog2,
    .export = &gen_export_clog2,
    .fit = gen_fit_log,
    .fit_sizes = gen_fit_logs,
    .fit_rule = GEN_FIT_ALONE,
    .noun = "event log",
};
