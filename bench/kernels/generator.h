/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: hpcgen as a side of a kernel: the program from its start to its end, beside plain writes of as many bytes. */
#ifndef HPCW_BENCH_KERNELS_GENERATOR_H
#define HPCW_BENCH_KERNELS_GENERATOR_H

#include "bench/kernels/kernels.h"

/* First member of what such a kernel works on: the functions of sides below take that for it. */
struct bench_generator {
    const struct bench_site *place;
    const char *const
        *arguments; /* of hpcgen, besides the directory, and without checksums; NULL after the last one */
    char dataset[BENCH_PATH];
    char plain[BENCH_PATH];
    uint64_t bytes; /* that the plain side writes */
    uint64_t peak;  /* bytes of memory that hpcgen had in use at most */
    int fd;         /* of the plain file */
};

/* Makes the dataset once, so that the kernel can read its content. `generator` is zeroed but for its arguments, which
 * live as long as it. HPCW_ENOTSUP: hpcgen was not found, see bench_site; HPCW_EIO: it failed. End it in any case. */
hpcw_status bench_generator_begin(struct bench_generator *generator, const struct bench_site *place,
                                  hpcw_error *err);
void bench_generator_end(struct bench_generator *generator);

/* Removes the files of both sides. */
hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err);

/* The side of hpcgen, all of it, and its memory. */
hpcw_status bench_generator_run(void *generator, hpcw_error *err);
uint64_t bench_generator_peak(const void *generator);

/* The plain side, around the writes. */
hpcw_status bench_generator_open(void *generator, hpcw_error *err);
hpcw_status bench_generator_close(void *generator, hpcw_error *err);

#endif
