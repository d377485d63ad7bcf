/* SPDX-License-Identifier: BSD-3-Clause */
/* Extracts the bytes of a task from a container. */
#ifndef HPCW_GEN_EXPORT_SION_H
#define HPCW_GEN_EXPORT_SION_H

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "gen/export/export.h"

/* Writes the stream of a task to a sink, from its beginning. With a key, writes the values of records with this
 * key, one after the other. NPZ: the same bytes as an array, for one task or all, named "task.000000" and so
 * on. Bytes are copied without swapping.
 *
 * HPCW_EINVAL: the task does not exist. HPCW_ENOENT: no record has the key. HPCW_ENOTSUP: a key for a container
 * without records. HPCW_ENOMEM, and errors of the reader and of the sink. */
extern const struct gen_exporter gen_export_sion;

/* Writes the streams of all tasks to files in a new directory, named "task.000000" and so on by rank.
 *
 * HPCW_EEXIST: the output exists. HPCW_ERANGE: more than HPCW_SION_READER_MAX_SHARE tasks. HPCW_ENOMEM, and
 * errors of the reader and of the files. */
hpcw_status gen_export_sion_tasks(const char *path, const struct gen_export *what, const char *output,
                                  bool sync, struct gen_exported *done, hpcw_error *err);

#endif
