/* SPDX-License-Identifier: BSD-3-Clause */
/* The library of workloads: texts in Lua, in the program itself. The build makes the table. */
#ifndef HPCW_GEN_WORKLOADS_WORKLOADS_H
#define HPCW_GEN_WORKLOADS_WORKLOADS_H

#include <stddef.h>

struct gen_workload_file {
    const char *name;
    const unsigned char *data; /* [size] */
    size_t size;
};
extern const struct gen_workload_file gen_workload_file[];
extern const size_t gen_workload_files;

#endif
