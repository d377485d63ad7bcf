/* SPDX-License-Identifier: BSD-3-Clause */
/* Files beside the load data: statistics that vt's rank 0 writes about all ranks, and lists of the
 * longest-first placements. */
#ifndef HPCW_GEN_FORMAT_VOM_BALANCE_H
#define HPCW_GEN_FORMAT_VOM_BALANCE_H

#include <hpcw/vom.h>

#include "gen/format/format.h"

#define GEN_VOM_BALANCE_FOLDER "vom_balance"

/* Returns the number of files beside the load data. As units, they follow the files of the ranks. */
uint32_t gen_vom_balance_files(const struct gen_dataset *d);

/* gen_vom_balance_unit: describes a file beside the load data by its path below the dataset's directory and its
 * approximate size. gen_vom_balance_owns: returns whether a path is that of such a file, for any parameters. */
void gen_vom_balance_unit(const struct gen_dataset *d, uint32_t file, struct gen_unit *unit);
bool gen_vom_balance_owns(const char *path);

/* Writes a file beside the load data. options: for the statistics. */
hpcw_status gen_vom_balance_write(const struct gen_write *w, const hpcw_vom_options *options, uint32_t file,
                                  hpcw_error *err);

/* gen_vom_balance_is_list: returns whether a path is that of a list of placements. gen_vom_balance_verify_list:
 * checks such a list. HPCW_EFORMAT, and errors of reading. */
bool gen_vom_balance_is_list(const char *path);
hpcw_status gen_vom_balance_verify_list(const char *path, hpcw_error *err);

/* Returns the memory for writing the files beside the load data, bytes. */
uint64_t gen_vom_balance_memory(const struct gen_dataset *d);

#endif
