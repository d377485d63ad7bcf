/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of clog2/app.clog2, from the model of the application's trace. */
#ifndef HPCW_GEN_FORMAT_TRACE_LOG_H
#define HPCW_GEN_FORMAT_TRACE_LOG_H

#include <stdint.h>

#include <hpcw/clog2.h>

#include "gen/spec/dataset.h"

/* Options of the whole log, with its communicators. They use `d`. */
hpcw_clog2_options gen_trace_log_options(const struct gen_dataset *d);

/* The table of communicators, with a dataset as context: the world, then that of each rank alone. */
void gen_trace_log_comm(void *context, uint32_t index, hpcw_clog2_comm_entry *entry);
/* The identity of a further one, which `root` made as its first rank at `time_ns`, after `number` others. */
void gen_trace_log_further_comm(const struct gen_dataset *d, uint32_t root, uint32_t number, uint64_t time_ns,
                                hpcw_clog2_comm_id *id);

/* The number of records before the first iteration. */
uint64_t gen_trace_log_prologue(const struct gen_dataset *d);

/* About how many records the log has. */
uint64_t gen_trace_log_records(const struct gen_dataset *d);

/* About how many blocks the log has. */
uint64_t gen_trace_log_blocks(const struct gen_dataset *d, uint32_t block_size);

/* The same of any log, from the number and the bytes of its records: adds the mean loss at ends of blocks and of segments. */
uint64_t gen_trace_log_blocks_of(double bytes, uint64_t records, uint32_t block_size);

/* Buffers records for a slice. Of those that gen_trace_log_put_prologue makes, only numbers [begin, end) in the whole log
 * go into the slice. */
struct gen_trace_log_out {
    hpcw_clog2_slice *slice;
    uint64_t number; /* of the next record */
    uint64_t begin, end;
    size_t count;
    hpcw_clog2_record record[256];
};

/* Puts the records before the first iteration, as the wrapper has them: communicators of each rank, definitions of rank 0. */
hpcw_status gen_trace_log_put_prologue(struct gen_trace_log_out *o, const struct gen_dataset *d,
                                       hpcw_error *err);

/* An iteration, and which of its records this process puts, numbered in the iteration. */
struct gen_trace_log_part {
    const struct model_trace_run *run;
    uint32_t iteration;
    uint64_t start_ns;
    uint64_t first;    /* number of the iteration's first record in the whole log */
    uint64_t from, to; /* records [from, to) */
    uint64_t cut;      /* records [cut, to) go into a new slice */
    uint64_t ahead;    /* of which [cut, ahead) are put before the iteration's turn */
};

/* The time of record `index` of the iteration, seconds. */
double gen_trace_log_time(const struct gen_trace_log_part *part, uint64_t index);

/* Puts records [from, to) of an iteration into a slice; does not use o->begin, o->end and o->number. */
hpcw_status gen_trace_log_put_events(struct gen_trace_log_out *o, hpcw_clog2_slice *slice,
                                     const struct gen_dataset *d, const struct gen_trace_log_part *part,
                                     uint64_t from, uint64_t to, hpcw_error *err);

#endif
