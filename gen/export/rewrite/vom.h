/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes load data again: in another form, or only some phases and ranks. */
#ifndef HPCW_GEN_EXPORT_REWRITE_VOM_H
#define HPCW_GEN_EXPORT_REWRITE_VOM_H

#include "gen/export/rewrite/rewrite.h"

/*
 * `from` is a file, then so is `to`; or a directory with the files of all ranks, then `to` is a new directory with files
 * data.RANK.json[.br]. Records stay in their order, numbers get their fewest digits, keys vt's order. What the metadata says
 * of phases without data is cut to the phases that are kept. Files of the old form get the metadata of vt's, with each rank
 * alone on its node.
 *
 * Reads each file twice: the first time for the metadata and the numbers of the phases. Memory: a reader, a writer, and 8
 * bytes for each phase and iteration of a file.
 *
 * HPCW_EINVAL for an empty range; HPCW_EEXIST if there is something of the new directory's name; HPCW_ENOMEM; errors of the
 * reader; and of the writer, which refuses what no program reads, and iterations after the tasks of their phase.
 */
extern const struct gen_rewriter gen_rewrite_vom;

#endif
