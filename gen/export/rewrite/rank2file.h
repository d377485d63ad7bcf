/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites the checkpoints of a prefix directory: for another version of SCR, or with sizes and CRC-32. */
#ifndef HPCW_GEN_EXPORT_REWRITE_RANK2FILE_H
#define HPCW_GEN_EXPORT_REWRITE_RANK2FILE_H

#include "gen/export/rewrite/rewrite.h"

/* Rewrites the checkpoints of a prefix directory into a new prefix directory, `to`, with copies of the data
 * files. Copies are needed since SCR finds files only below its prefix directory, and deletes listed files when
 * it prunes. The new directory has each complete dataset that did not fail, with its number, name and
 * description. The dataset with which a restart begins stays the current one. A data file outside its dataset's
 * directory, as SCR 1.2 and 3 allow, moves into the new directory of the dataset, with its path. Copies are
 * checked against the sizes and CRC-32 of the old map, totals against the old summary.
 *
 * Memory: the map of one dataset, twice.
 *
 * HPCW_ENOENT: no such dataset. HPCW_EEXIST: the new directory exists. HPCW_ENOMEM, errors of the reader, even
 * if only one of several datasets is damaged, and errors of the writer. */
extern const struct gen_rewriter gen_rewrite_rank2file;

#endif
