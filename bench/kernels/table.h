/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: the rows of the kernel table, each defined in the file that is named. */
#ifndef HPCW_BENCH_KERNELS_TABLE_H
#define HPCW_BENCH_KERNELS_TABLE_H

#include "bench/kernels/kernels.h"

/* kernel_data.c: records into chunks */
extern const struct bench_kernel bench_large_records, bench_small_records, bench_task_after_task,
    bench_round_robin;

/* kernel_meta.c: open and close */
extern const struct bench_kernel bench_million_tasks, bench_open_close;

/* kernel_linktest.c: from the model to the file */
extern const struct bench_kernel bench_linktest_parts, bench_linktest_run;

/* kernel_numbers.c: doubles as text */
extern const struct bench_kernel bench_doubles;

/* kernel_vom.c: load-balancing files */
extern const struct bench_kernel bench_vom_plain, bench_vom_compressed, bench_vom_settings, bench_vom_verify;

/* kernel_clog2.c: event logs, recorded and known */
extern const struct bench_kernel bench_clog2_event, bench_clog2_threads, bench_clog2_processes,
    bench_clog2_finish, bench_clog2_file, bench_clog2_run;

/* kernel_messages.c: what a tool like the wrapper of MPI's calls adds to them */
extern const struct bench_kernel bench_messages;

/* kernel_rank2file.c: checkpoints and their maps */
extern const struct bench_kernel bench_map_4096, bench_map_8192, bench_map_million, bench_checkpoint;

#endif
