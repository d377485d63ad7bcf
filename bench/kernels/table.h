/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels, each defined in the file that is named, and the table of them. */
#ifndef HPCW_BENCH_KERNELS_TABLE_H
#define HPCW_BENCH_KERNELS_TABLE_H

#include "bench/kernels/kernels.h"

/* sion_data.c: records into chunks */
extern const struct bench_kernel bench_large_records, bench_small_records, bench_task_after_task,
    bench_round_robin;

/* sion_meta.c: open and close */
extern const struct bench_kernel bench_million_tasks, bench_open_close;

/* linktest.c: from the model to the file */
extern const struct bench_kernel bench_linktest_parts, bench_linktest_run;

/* particles.c: the model of particle data */
extern const struct bench_kernel bench_particles;

/* numbers.c: numbers as text */
extern const struct bench_kernel bench_doubles, bench_integers;

/* json.c: records of JSON */
extern const struct bench_kernel bench_json_records;

/* vom.c: load-balancing files */
extern const struct bench_kernel bench_vom_plain, bench_vom_compressed, bench_vom_settings, bench_vom_verify;

/* clog2.c: event logs, recorded and known */
extern const struct bench_kernel bench_clog2_event, bench_clog2_threads, bench_clog2_processes,
    bench_clog2_finish, bench_clog2_file, bench_clog2_run;

/* messages.c: what a tool like the wrapper of MPI's calls adds to them */
extern const struct bench_kernel bench_messages;

/* rank2file.c: checkpoints and their maps */
extern const struct bench_kernel bench_map_4096, bench_map_8192, bench_map_million, bench_checkpoint;

extern const struct bench_kernel *const bench_kernel[]; /* NULL-terminated */

#endif
