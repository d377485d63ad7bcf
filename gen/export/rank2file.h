/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the maps of checkpoints to CSV or a NumPy array. */
#ifndef HPCW_GEN_EXPORT_RANK2FILE_H
#define HPCW_GEN_EXPORT_RANK2FILE_H

#include "gen/export/export.h"

/* Writes a line of CSV for each data file of some ranks to a sink, from its beginning. With a null sink it only
 * counts. `path` is a prefix directory, or the root of a map. For a prefix it takes all datasets of the index,
 * in the order in which a restart tries them. For a root, lines have no dataset. Paths of files are relative to
 * the prefix; those of an SCR 1.1 root are relative to its dataset. The data files need not exist. Size and
 * CRC-32 are empty if the map has none.
 *
 * NPZ: the array `files` with the same columns, and whether the map has size and CRC-32.
 *
 * Memory: the map of one dataset.
 *
 * HPCW_EINVAL: an empty range of ranks. HPCW_ENOMEM, and errors of the reader and of the sink, even if only one
 * of several datasets cannot be read. */
extern const struct gen_exporter gen_export_rank2file;

#endif
