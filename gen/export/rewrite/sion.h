/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites a SION container: in another layout, or with another number of files. */
#ifndef HPCW_GEN_EXPORT_REWRITE_SION_H
#define HPCW_GEN_EXPORT_REWRITE_SION_H

#include "gen/export/rewrite/rewrite.h"

/* Rewrites a container. Each task gets one chunk as large as its stream, so that no unused space between chunks
 * remains. Content, byte orders, file system block size and ranks stay the same. Where the old chunks ended is
 * lost.
 *
 * Memory: a reader of all tasks, the buffers of the writer, 1 MiB, and the largest value of a key.
 *
 * HPCW_EINVAL: more files than tasks. HPCW_ERANGE: too many tasks for one process. HPCW_ENOMEM, and errors of
 * the reader and of the writer. */
extern const struct gen_rewriter gen_rewrite_sion;

#endif
