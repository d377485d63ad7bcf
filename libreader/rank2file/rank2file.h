/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads checkpoints and KVTree files (doc/formats/rank2file.md). The restart reader of the library, which uses no
 * code of the writers, checks one map. This reader also checks all datasets of a prefix directory ("Index"), both
 * maps of a shared dataset against each other ("Layouts"), and the sums of the summary. */
#ifndef HPCW_LIBREADER_RANK2FILE_RANK2FILE_H
#define HPCW_LIBREADER_RANK2FILE_RANK2FILE_H

#include <stdbool.h>

#include <hpcw/status.h>

struct hpcw_i_json;

/* Finds whether a path is a KVTree file, or a directory with an index below it. Fails if the path cannot be
 * examined. */
hpcw_status read_rank2file_probe(const char *path, bool *is, hpcw_error *err);

/* Checks a prefix directory (or its index) with everything below it, a map by the path of its root file, or any
 * other KVTree file. Also checks the data files of a map, unless all of them are missing. */
hpcw_status read_rank2file_verify(const char *path, hpcw_error *err);

/* Adds the content of a path to an open JSON object. */
hpcw_status read_rank2file_info(const char *path, struct hpcw_i_json *json, hpcw_error *err);

/*
 * Calls `dataset` for every dataset in the index of a prefix directory, in the reverse order of a restart: from the
 * lowest id to the highest, and the current one last. `restart` is the dataset with all ranks loaded, valid during
 * the call. If the dataset is damaged, `restart` is NULL, and `why` is the error. The loop stops when `dataset` does
 * not return HPCW_OK, and returns that status. It also stops at an error of the system.
 */
struct hpcw_rank2file_restart;
typedef hpcw_status read_rank2file_dataset(void *context, const char *name,
                                           struct hpcw_rank2file_restart *restart, const hpcw_error *why,
                                           hpcw_error *err);
hpcw_status read_rank2file_tour(const char *prefix, read_rank2file_dataset *dataset, void *context,
                                hpcw_error *err);

#endif
