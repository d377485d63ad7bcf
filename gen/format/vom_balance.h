/* SPDX-License-Identifier: BSD-3-Clause */
/* Files beside the load data: what vt's rank 0 writes about all ranks, and the longest-first placements. */
#ifndef HPCW_GEN_FORMAT_VOM_BALANCE_H
#define HPCW_GEN_FORMAT_VOM_BALANCE_H

#include <hpcw/vom.h>

#include "gen/format/format.h"

#define GEN_VOM_BALANCE_FOLDER "vom_balance"

/* Returns the number of these files. As units, they follow those of the ranks. */
uint32_t gen_vom_balance_files(const struct gen_dataset *d);

/* Describes such a file: its path below the dataset's directory and its approximate size. The other function
 * returns whether a path is one of them, for any parameters. */
void gen_vom_balance_unit(const struct gen_dataset *d, uint32_t file, struct gen_unit *unit);
bool gen_vom_balance_owns(const char *path);

/* Writes such a file. options: for vt's file. */
hpcw_status gen_vom_balance_write(const struct gen_write *w, const hpcw_vom_options *options, uint32_t file,
                                  hpcw_error *err);

/* Returns whether a path is that of a list of placements; checks such a list. HPCW_EFORMAT, and errors of
 * reading. */
bool gen_vom_balance_is_list(const char *path);
hpcw_status gen_vom_balance_verify_list(const char *path, hpcw_error *err);

/* Returns the memory that writing takes. */
uint64_t gen_vom_balance_memory(const struct gen_dataset *d);

#endif
