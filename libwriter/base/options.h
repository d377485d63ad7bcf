/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs of options begin with their size. A program compiled with another version of the header has a shorter or
 * a longer struct. Later versions add options at the end.
 */
#ifndef HPCW_BASE_OPTIONS_H
#define HPCW_BASE_OPTIONS_H

#include <stddef.h>

#include <hpcw/status.h>

/* Fills a program's struct of `size` bytes: first the defaults that this version knows, then zeros. */
void hpcw_i_options_fill(void *options, size_t size, const void *defaults, size_t known);

/*
 * Copies a program's options over the defaults in `own`, which has `known` bytes. Options that the program does not
 * know keep their defaults. Options that only the program knows must be zero. `name` is the name of the struct's
 * type.
 *
 * HPCW_EINVAL: an option that only the program knows is not zero, or the struct was not initialised.
 */
hpcw_status hpcw_i_options_take(void *own, size_t known, const void *options, const char *name,
                                hpcw_error *err);

#endif
