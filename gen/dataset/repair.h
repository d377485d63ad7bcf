/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the damaged and lost files of a finished dataset again. Not collective. */
#ifndef HPCW_GEN_DATASET_REPAIR_H
#define HPCW_GEN_DATASET_REPAIR_H

#include "gen/dataset/generate.h"

struct gen_repair {
    uint64_t files;    /* of the dataset, with its lists */
    uint64_t repaired; /* written again; all others are not touched */
    /* Called for each of them; may be NULL. `why`: the damaged file cannot be read; NULL: it can, or is missing. */
    void (*told)(void *context, const char *path, const char *why);
    void *context;
};

/* Whether a file that could not be read stops a repair: what this process may not or cannot read now is not damaged; what the
 * disk does not give back is. */
bool gen_repair_stops(hpcw_status s, const hpcw_error *why);

/*
 * `run` has the parameters of the manifest, or those that the user says, if `manifest` (its text, NULL if it is lost) does
 * not prove them. What is made again must be what the manifest lists, or without it the list of checksums; with neither,
 * all files must already be what the parameters give, and only the lists are written. HPCW_ECHECKSUM if not: then no file
 * was replaced by anything unproven.
 */
hpcw_status gen_repair_dataset(struct gen_run *run, const char *manifest, struct gen_repair *repair,
                               hpcw_error *err);

#endif
