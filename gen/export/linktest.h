/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a LinkTest result to NumPy arrays or CSV. */
#ifndef HPCW_GEN_EXPORT_LINKTEST_H
#define HPCW_GEN_EXPORT_LINKTEST_H

#include "gen/export/export.h"

/*
 * Writes to a sink, from its beginning; with a null sink it only counts. A row for each task that measured, of
 * first_rank .. last_rank, with a value for each of the N partners: the time of a message in seconds, one way, in one
 * permutation.
 *
 * NPY: little-endian doubles, [rows][N]; NaN where nothing was measured, as between a task and itself. CSV: rank, host,
 * core, and N values, empty where nothing was measured. HOSTS: CSV of rank, host and core alone. NPZ: these numbers as
 * `seconds`, `hosts`, `cores`, and `settings`, one row with what the header says (hpcw_linktest_info).
 *
 * Memory: O(N), one row.
 *
 * HPCW_EINVAL for an empty range of ranks or a permutation that does not exist, HPCW_ENOMEM, errors of the reader and of
 * the sink.
 */
extern const struct gen_exporter gen_export_linktest;

#endif
