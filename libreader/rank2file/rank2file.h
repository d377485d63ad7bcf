/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: checkpoints and KVTree files read. The library's restart reader is as strict as a reader can be; it shares the
 * cursor over stored trees with nothing that writes. What is added here (doc/formats/rank2file.md, "Index" and
 * "Layouts"): all datasets of a prefix, both maps of a shared one against each other, the summary's sums.
 */
#ifndef HPCW_LIBREADER_RANK2FILE_RANK2FILE_H
#define HPCW_LIBREADER_RANK2FILE_RANK2FILE_H

#include <stdbool.h>

#include <hpcw/status.h>

struct hpcw_i_json;

/* Whether a path is a KVTree file, or a directory with an index below it. */
bool read_rank2file_probe(const char *path);

/* A prefix directory or its index: everything. The root of a map: the map. Any other tree: itself. Data files are
 * looked at where any of a map is there. */
hpcw_status read_rank2file_verify(const char *path, bool ours, hpcw_error *err);

/* What is in it, as members of an open object. */
hpcw_status read_rank2file_info(const char *path, struct hpcw_i_json *json, hpcw_error *err);

/*
 * Tells of every dataset that the index of a prefix directory names, in its order: `restart` with all ranks loaded, valid
 * for the call; or NULL and why it cannot be read. What it returns, if not HPCW_OK, ends the tour and is its result.
 */
struct hpcw_rank2file_restart;
typedef hpcw_status read_rank2file_tell(void *context, const char *name, struct hpcw_rank2file_restart *restart,
                                        const hpcw_error *why, hpcw_error *err);
hpcw_status read_rank2file_tour(const char *prefix, read_rank2file_tell *tell, void *context, hpcw_error *err);

#endif
