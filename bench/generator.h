/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: hpcgen as a side of a kernel: the program from its start to its end. */
#ifndef HPCW_BENCH_GENERATOR_H
#define HPCW_BENCH_GENERATOR_H

#include "kernels.h"

/*
 * Makes a dataset, without checksums. `arguments` end with NULL; `peak` learns how many bytes of memory the program had in use
 * at most. HPCW_ENOTSUP: it was not found, see bench_place; HPCW_EIO: it failed.
 */
hpcw_status bench_generate(const struct bench_place *place, const char *dataset, const char *const *arguments,
                           uint64_t *peak, hpcw_error *err);

#endif
