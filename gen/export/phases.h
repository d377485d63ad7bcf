/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether all files of a set of load data have the same phases. A rank that was killed has fewer. */
#ifndef HPCW_GEN_EXPORT_PHASES_H
#define HPCW_GEN_EXPORT_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

/* Phases of the first file of a set. A zeroed struct has no file yet. Free with gen_phases_free. */
struct gen_phases {
    uint64_t *id; /* [count] ids of the phases, ascending; NULL: no file yet */
    size_t count;
    uint32_t rank; /* rank of the first file */
};

/* Compares the phases of a file with those of the first file. `id` is ascending. *warning receives the first
 * difference. HPCW_ENOMEM. */
hpcw_status gen_phases_add(struct gen_phases *p, const char *path, uint32_t rank, const uint64_t *id,
                           size_t count, hpcw_error *warning, hpcw_error *err);
void gen_phases_free(struct gen_phases *p);

#endif
