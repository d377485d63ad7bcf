/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts load data to CSV or NumPy arrays. */
#ifndef HPCW_GEN_EXPORT_VOM_H
#define HPCW_GEN_EXPORT_VOM_H

#include "gen/export/export.h"

/* Writes a line of CSV for each task, or each edge, of some ranks. `path` is a
 * file, or a directory with the files of all ranks. Lines are in the order of ranks, phases and records.
 * Iterations, attributes and user-defined values are left out. Numbers of an index and times of subphases are
 * separated by blanks.
 *
 * NPZ: the arrays `tasks` and `edges`, with the rank and the columns of hpcw_vom_reader_tasks and
 * hpcw_vom_reader_edges.
 *
 * Reads each file twice. The first time is for the numbers of the phases: in the file, the number of a phase comes
 * after the edges of this phase. Memory: a reader, and 8 bytes for each phase of a file.
 *
 * HPCW_EINVAL: an empty range of ranks. HPCW_ENOMEM, and errors of the reader and of the sink. */
extern const struct gen_exporter gen_export_vom;

#endif
