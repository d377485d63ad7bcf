/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes one task's bytes out of a container. */
#ifndef HPCW_GEN_EXPORT_SION_H
#define HPCW_GEN_EXPORT_SION_H

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "gen/export/export.h"

/*
 * Writes the stream of a task to a sink, from its beginning; with a key only the values of its records that have the key,
 * one after the other. NPZ: the same as an array of bytes with the name of the file below, of a task or of all. With a null sink
 * it only counts. The bytes are as they were written: nothing is swapped.
 *
 * HPCW_EINVAL for a task that does not exist, HPCW_ENOENT if no record has the key, HPCW_ENOTSUP for a key and a container
 * without records, HPCW_ENOMEM, errors of the reader and of the sink.
 */
extern const struct gen_exporter gen_export_sion;

/*
 * Writes the streams of all tasks to files of their own, "task.000000" and so on by their ranks, in a new directory.
 *
 * HPCW_EEXIST if there is something of the output's name, HPCW_ERANGE for more than HPCW_SION_READER_MAX_SHARE tasks,
 * HPCW_ENOMEM, errors of the reader and of the files.
 */
hpcw_status gen_export_sion_tasks(const char *path, const struct gen_export *what, const char *output,
                                  bool sync, struct gen_exported *done, hpcw_error *err);

#endif
