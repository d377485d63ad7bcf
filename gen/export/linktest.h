/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a LinkTest result to NumPy arrays or CSV. */
#ifndef HPCW_GEN_EXPORT_LINKTEST_H
#define HPCW_GEN_EXPORT_LINKTEST_H

#include "gen/export/export.h"

/* Writes a row for each task of first_rank .. last_rank that measured. A row
 * has a value for each of the N partners: the one-way time of a message in seconds, in one permutation.
 *
 * NPY: little-endian doubles, [rows][N]; NaN where nothing was measured, as between a task and itself. CSV:
 * rank, host, core, and N values, empty where nothing was measured. HOSTS: CSV of rank, host and core only.
 * NPZ: the arrays `seconds`, `hosts` and `cores` with these values, and `settings`, one row with the values of
 * the header (hpcw_linktest_info).
 *
 * Memory: O(N), one row.
 *
 * HPCW_EINVAL: an empty range of ranks, or a permutation that does not exist. HPCW_ENOMEM, and errors of the
 * reader and of the sink. */
extern const struct gen_exporter gen_export_linktest;

#endif
