/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes damaged and lost files of a finished dataset again. Not collective. */
#ifndef HPCW_GEN_DATASET_REPAIR_H
#define HPCW_GEN_DATASET_REPAIR_H

#include "gen/dataset/generate.h"

struct gen_repair {
    uint64_t files;    /* files of the dataset, including the lists */
    uint64_t repaired; /* files written again; all others are left alone */
    /* Called for each repaired file; may be NULL. why: the reason why the damaged file cannot be read; NULL: it
     * can be read, or is missing. */
    void (*told)(void *context, const char *path, const char *why);
    void *context;
};

/* Returns whether a file that could not be read stops a repair. A file that this process may not or cannot read
 * now is not damaged; a file that the disk fails to return is. */
bool gen_repair_stops(hpcw_status s, const hpcw_error *why);

/* run: has the parameters of the manifest; if the manifest does not prove them, those of the user. manifest: its
 * text; NULL: it is lost. Files made again must match the manifest or, without it, the checksum list. With
 * neither, all files must already be what the parameters give, and only the lists are written. HPCW_ECHECKSUM:
 * they do not match; no file was replaced by an unproven one. */
hpcw_status gen_repair_dataset(struct gen_run *run, const char *manifest, struct gen_repair *repair,
                               hpcw_error *err);

#endif
