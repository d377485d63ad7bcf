/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels/table.h"

#include <stddef.h>

const struct bench_kernel *const bench_kernel[] = {
    &bench_large_records, &bench_small_records,  &bench_task_after_task, &bench_round_robin,
    &bench_million_tasks, &bench_open_close,     &bench_linktest_parts,  &bench_linktest_run,
    &bench_particles,     &bench_doubles,        &bench_integers,        &bench_json_records,
    &bench_vom_plain,     &bench_vom_compressed, &bench_vom_settings,    &bench_vom_verify,
    &bench_clog2_event,   &bench_clog2_threads,  &bench_clog2_processes, &bench_clog2_finish,
    &bench_clog2_file,    &bench_clog2_run,      &bench_messages,        &bench_map_4096,
    &bench_map_8192,      &bench_map_million,    &bench_checkpoint,      NULL,
};
