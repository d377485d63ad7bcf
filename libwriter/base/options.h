/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs of options, which begin with their size: a program that was compiled with another version of the header
 * has a shorter or a longer one. An option that a later version adds stands at the end.
 */
#ifndef HPCW_BASE_OPTIONS_H
#define HPCW_BASE_OPTIONS_H

#include <stddef.h>

#include <hpcw/status.h>

/* Fills a program's struct of `size` bytes with the defaults, as far as they are known here, and zeros. */
void hpcw_i_options_fill(void *options, size_t size, const void *defaults, size_t known);

/*
 * Copies a program's options over the defaults, `own` of `known` bytes. Options that the program does not know keep
 * their defaults; those that only the program knows must be zero.
 *
 * HPCW_EINVAL: they are not, or no `init` has filled in the struct. `name`: that of its type.
 */
hpcw_status hpcw_i_options_take(void *own, size_t known, const void *options, const char *name,
                                hpcw_error *err);

#endif
