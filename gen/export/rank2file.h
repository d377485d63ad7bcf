/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the maps of checkpoints to CSV or a NumPy array. */
#ifndef HPCW_GEN_EXPORT_RANK2FILE_H
#define HPCW_GEN_EXPORT_RANK2FILE_H

#include "gen/export/export.h"

/*
 * Writes a line of CSV for each data file of some ranks to a sink, from its beginning; with a null sink it only counts. `path` is a
 * prefix directory: all datasets of its index, in the order in which a restart tries them; or the root of a map, whose lines
 * have no dataset. Paths of files are below the prefix; those of a root of SCR 1.1 are below its dataset. The data files need
 * not exist. Size and CRC-32 are empty where the map has none.
 *
 * NPZ: `files`, with the same and whether the map has size and CRC-32.
 *
 * Memory: the map of one dataset.
 *
 * HPCW_EINVAL for an empty range of ranks, HPCW_ENOMEM, errors of the reader and of the sink: also if one dataset of several
 * cannot be read.
 */
extern const struct gen_exporter gen_export_rank2file;

#endif
