/* SPDX-License-Identifier: BSD-3-Clause */
/* The files beside the load data: what vt's rank 0 writes about all ranks, and the placements longest object first. */
#ifndef HPCW_GEN_FORMAT_VOM_BALANCE_H
#define HPCW_GEN_FORMAT_VOM_BALANCE_H

#include <hpcw/vom.h>

#include "gen/format/format.h"

#define GEN_VOM_BALANCE_FOLDER "vom_balance"

/* How many of these files the dataset has: they are the units after those of the ranks. */
uint32_t gen_vom_balance_files(const struct gen_dataset *d);

/* The path of one below the dataset's directory, about its size, and whether a path is one with whatever parameters. */
void gen_vom_balance_unit(const struct gen_dataset *d, uint32_t file, struct gen_unit *unit);
bool gen_vom_balance_owns(const char *path);

/* Writes one. `options`: for vt's file. */
hpcw_status gen_vom_balance_write(const struct gen_write *w, const hpcw_vom_options *options, uint32_t file,
                                  hpcw_error *err);

/* Whether a path is that of a list of placements, and checks such a list. HPCW_EFORMAT, and what reading gives. */
bool gen_vom_balance_is_list(const char *path);
hpcw_status gen_vom_balance_verify_list(const char *path, hpcw_error *err);

/* Memory that this takes. */
uint64_t gen_vom_balance_memory(const struct gen_dataset *d);

#endif
