/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of the workloads in the library, in Lua and built into the program. The build makes the table. */
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
