/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes damaged and lost files of a finished dataset again. Not collective. */
#ifndef HPCW_GEN_DATASET_REPAIR_H
#define HPCW_GEN_DATASET_REPAIR_H

#include "gen/dataset/generate.h"

struct gen_repair {
    uint64_t files;    /* files of the dataset, with truth.json, manifest and checksum list */
    uint64_t repaired; /* files written again; all others stay as they are */
    /* Called for each repaired file; may be NULL. `why`: the reason why the damaged file cannot be read; NULL:
     * it can be read, or is missing. */
    void (*told)(void *context, const char *path, const char *why);
    void *context;
};

/* Returns whether a repair must stop after a file could not be read: if this process lacks permission, memory
 * or descriptors. A file that the disk fails to return counts as damaged, and the repair goes on. */
bool gen_repair_stops(hpcw_status s, const hpcw_error *why);

/* Repairs a dataset. `run`: has the parameters of the manifest or, if it is lost or damaged, those of the user.
 * `manifest`: its text; NULL: it is lost. Files made again must match their digests in the manifest or checksum
 * list. Without digests, no data file is repaired: all must have the bytes that the parameters give, and only
 * manifest and checksum list are written. HPCW_ECHECKSUM: files do not match; no existing file was replaced by
 * one that does not match. */
hpcw_status gen_repair_dataset(struct gen_run *run, const char *manifest, struct gen_repair *repair,
                               hpcw_error *err);

#endif
