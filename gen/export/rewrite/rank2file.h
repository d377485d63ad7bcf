/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the checkpoints of a prefix directory again: for another version of SCR, and with sizes and CRC-32. */
#ifndef HPCW_GEN_EXPORT_REWRITE_RANK2FILE_H
#define HPCW_GEN_EXPORT_REWRITE_RANK2FILE_H

#include "gen/export/rewrite/rewrite.h"

/*
 * `to` is a new prefix directory with copies of the data files: SCR finds files only below its prefix, and deletes those that
 * it lists when it prunes. It gets every dataset that is complete and did not fail, with its number, name and description; the
 * one from which a restart begins stays the current one. A data file outside the directory of its dataset, as SCR 1.2 and 3
 * allow it, gets the same path inside it. Copies are compared with the sizes and CRC-32 that the old map has, and so are the
 * totals of the old summary.
 *
 * Memory: the map of one dataset, twice.
 *
 * HPCW_ENOENT if there is no such dataset; HPCW_EEXIST if there is something of the new directory's name; HPCW_ENOMEM; errors
 * of the reader, also if one dataset of several is damaged; and of the writer.
 */
extern const struct gen_rewriter gen_rewrite_rank2file;

#endif
