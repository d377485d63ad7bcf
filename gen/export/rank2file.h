/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the maps of checkpoints to CSV or a NumPy array. */
#ifndef HPCW_GEN_EXPORT_RANK2FILE_H
#define HPCW_GEN_EXPORT_RANK2FILE_H

#include "gen/export/export.h"

/* Writes a line of CSV for each data file of some ranks. `path` is a prefix
 * directory, or the root file of a map. For a prefix directory, the lines are of all datasets in its index, in
 * the order in which a restart tries them. For a root file, lines have no dataset. Paths of files are relative
 * to the prefix directory; for a root file of SCR 1.1 they are relative to its dataset. The data files need not
 * exist. Size and CRC-32 are empty if the map has none.
 *
 * NPZ: the array `files` with the same columns, and whether the map has size and CRC-32.
 *
 * Memory: the map of one dataset.
 *
 * HPCW_EINVAL: an empty range of ranks. HPCW_ENOMEM, and errors of the reader, even if only one of several
 * datasets cannot be read, and of the sink. */
extern const struct gen_exporter gen_export_rank2file;

#endif
