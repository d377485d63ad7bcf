/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the hosts of the processes, and checks that each process has a processor of its own. */
#ifndef HPCW_BENCH_LINKTEST_HOSTS_H
#define HPCW_BENCH_LINKTEST_HOSTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/processes.h"

struct bench_hosts {
    uint32_t count;               /* number of processes */
    char name[HOST_NAME_MAX + 1]; /* host of this process */
};

/* Fills in the hosts. HPCW_EINVAL: a host has more processes than processors for them, and `oversubscribe` is not
 * set. Collective. */
hpcw_status bench_hosts_find(struct bench_hosts *h, const struct bench_processes *processes, bool oversubscribe,
                             hpcw_error *err);

#endif
