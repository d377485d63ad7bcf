/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: hpcgen as a side of a kernel: the program from its start to its end, beside plain writes of as many bytes. */
#ifndef HPCW_BENCH_KERNELS_GENERATOR_H
#define HPCW_BENCH_KERNELS_GENERATOR_H

#include "bench/kernels/kernels.h"

/* First member of what such a kernel works on. Its first file is the dataset. */
struct bench_generator {
    struct bench_common common;
    /* Of hpcgen, besides the directory, and without checksums; NULL after the last one. */
    const char *argument[8];
    uint64_t bytes; /* that the plain side writes */
    uint64_t peak;  /* bytes of memory that hpcgen had in use at most */
};

/* Removes the files of both sides. */
hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err);

/* The side of hpcgen, all of it, and its memory. Also for the setup, so that it can read what is in the dataset.
 * HPCW_ENOTSUP: hpcgen was not found, see bench_site; HPCW_EIO: it failed. */
hpcw_status bench_generator_run(void *generator, hpcw_error *err);
uint64_t bench_generator_peak(const void *generator);

#endif
