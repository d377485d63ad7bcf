/* SPDX-License-Identifier: BSD-3-Clause */
/* F4: the records of clog2/app.clog2, as the model of the application's trace says what happens. */
#ifndef HPCW_GEN_FORMAT_TRACE_LOG_H
#define HPCW_GEN_FORMAT_TRACE_LOG_H

#include <stdint.h>

#include <hpcw/clog2.h>

#include "gen/spec/dataset.h"

/* Of the whole log, its communicators included. `d` must live as long as these are used. */
hpcw_clog2_options gen_trace_log_options(const struct gen_dataset *d);

/* Records before an iteration, those in front of the first one included. */
uint64_t gen_trace_log_records_before(const struct gen_dataset *d, uint32_t iteration);

/* Blocks of the whole log, about. */
uint64_t gen_trace_log_blocks(const struct gen_dataset *d, uint32_t block_size);

/* Records on their way into a slice: those that come next, of which the ones before `begin` and from `end` on in the order
 * of the whole log are left out. */
struct gen_trace_log_out {
    hpcw_clog2_slice *slice;
    uint64_t number; /* of the next record */
    uint64_t begin, end;
    size_t count;
    hpcw_clog2_record record[256];
};

/* Puts what is in front of the first iteration: who is who, then rank 0's definitions, by time and rank. */
hpcw_status gen_trace_log_put_prologue(struct gen_trace_log_out *o, const struct gen_dataset *d,
                                       hpcw_error *err);

/* An iteration, and which of its records are put: those from `from` to `to` in its own order. */
struct gen_trace_log_part {
    const struct model_trace_run *run;
    uint32_t iteration;
    uint64_t start_ns;
    uint64_t first;    /* number of the iteration's first record in the whole log */
    uint64_t from, to; /* what this process writes */
    uint64_t cut;      /* from there on, up to `to`, they belong into a slice of their own */
    uint64_t ahead;    /* and up to there they are in it before the iteration's turn has come */
};

/* When record `index` of the iteration stands, seconds. */
double gen_trace_log_time(const struct gen_trace_log_part *part, uint64_t index);

/* Puts records `from` to `to` of an iteration into a slice; `begin`, `end` and `number` are not looked at. */
hpcw_status gen_trace_log_put_events(struct gen_trace_log_out *o, hpcw_clog2_slice *slice,
                                     const struct gen_dataset *d, const struct gen_trace_log_part *part,
                                     uint64_t from, uint64_t to, hpcw_error *err);

#endif
