/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites load data: in another form, or only some phases and ranks. */
#ifndef HPCW_GEN_EXPORT_REWRITE_VOM_H
#define HPCW_GEN_EXPORT_REWRITE_VOM_H

#include "gen/export/rewrite/rewrite.h"

/* Rewrites load data. `from` and `to` are files; or `from` is a directory with the files of all ranks, and `to`
 * is a new directory with files data.RANK.json[.br]. Records keep their order. Numbers get the fewest digits,
 * and keys get the order that vt uses. Metadata about phases without data are restricted to the kept phases.
 * Files of the old form have no metadata; the new files get those of vt, with each rank alone on its node.
 *
 * Reads each file twice, first for the metadata and the ids of the phases. Memory: a reader, a writer, and 8
 * bytes for each phase and iteration of a file.
 *
 * HPCW_EINVAL: an empty range. HPCW_EEXIST: the new directory exists. HPCW_ENOMEM, and errors of the reader and
 * of the writer. The writer refuses data that no program reads, and iterations after the tasks of their phase. */
extern const struct gen_rewriter gen_rewrite_vom;

#endif
