/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the CLOG-2 row. */
#ifndef HPCW_GEN_FORMAT_CLOG2_H
#define HPCW_GEN_FORMAT_CLOG2_H

#include "gen/format/format.h"
#include "gen/format/trace_log.h"
#include "libwriter/base/buf.h"

#define GEN_CLOG2_PATH "clog2/app.clog2"

/* ---- writing: for `write` and `memory` of the row ---- */

hpcw_status gen_clog2_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);
uint64_t gen_clog2_write_memory(const struct gen_dataset *d, uint32_t jobs);

/* The same for the log of a workload. */
hpcw_status gen_clog2_workload_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);
hpcw_status gen_clog2_workload_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                                     struct hpcw_i_json *json, hpcw_error *err);

/* ---- what iterations inject ---- */

/* Appends what an iteration injects to a list of words. */
hpcw_status gen_clog2_remember(struct hpcw_i_buf *facts, const struct gen_trace_log_part *part,
                               hpcw_error *err);

/* Collective. Adds the lists of all processes, in the order of processes, to `partial` on process 0. */
hpcw_status gen_clog2_collect(hpcw_comm *comm, const struct hpcw_i_buf *facts, struct hpcw_i_json *partial,
                              hpcw_error *err);

/* For `truth` of the row. */
hpcw_status gen_clog2_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                            struct hpcw_i_json *json, hpcw_error *err);

#endif
