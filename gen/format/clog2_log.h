/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the records of clog2/app.clog2 from the run of a workload. */
#ifndef HPCW_GEN_FORMAT_CLOG2_LOG_H
#define HPCW_GEN_FORMAT_CLOG2_LOG_H

#include <hpcw/clog2.h>

#include "gen/sim/sim.h"
#include "gen/spec/dataset.h"

/* Returns the options of the whole log, with its communicators. They borrow `d`. */
hpcw_clog2_options gen_clog2_log_options(const struct gen_dataset *d);

uint64_t gen_clog2_log_records(const struct gen_dataset *d);

/* Estimates the number of blocks of the log. */
uint64_t gen_clog2_log_blocks(const struct gen_dataset *d, uint32_t block_size);

/* Puts the records before the first event: communicators of each rank, and the definitions, by rank 0. */
hpcw_status gen_clog2_log_put_prologue(hpcw_clog2_slice *slice, const struct gen_dataset *d, hpcw_error *err);

/* Takes the events of a run and puts them into a slice of the log in the order of time. Memory: 56 bytes for
 * each event between the times of the slowest and of the fastest rank. */
struct gen_clog2_log;
hpcw_status gen_clog2_log_new(const struct gen_dataset *d, hpcw_clog2_slice *slice, struct gen_clog2_log **out,
                              hpcw_error *err);
void gen_clog2_log_free(struct gen_clog2_log *log);

/* Callback for struct sim_observer. context: a struct gen_clog2_log. */
hpcw_status gen_clog2_log_event(void *context, const struct sim_event *event, hpcw_error *err);
hpcw_status gen_clog2_log_passed(void *context, uint64_t time_ns, hpcw_error *err);

/* Puts the remaining events. Call it after the run. */
hpcw_status gen_clog2_log_finish(struct gen_clog2_log *log, hpcw_error *err);

#endif
