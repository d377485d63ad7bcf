/* SPDX-License-Identifier: BSD-3-Clause */
/* A strict, independent reader of vt's statistics file (JSON of type LBStatsfile), written from
 * doc/formats/vom.md alone. */
#ifndef HPCW_LIBREADER_VOM_STATISTICS_H
#define HPCW_LIBREADER_VOM_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libreader/source.h"
#include "libreader/vom/figures.h"

/* Callbacks, with the rules of struct read_vom_events. */
struct read_vom_statistics_events {
    void *context;
    /* Called for a quantity such as "Object_load_raw", of "pre-LB" (after = false) or "post-LB". */
    hpcw_status (*quantity)(void *context, bool after, const char *quantity,
                            const double figure[READ_VOM_FIGURES], hpcw_error *err);
    /* Called at the end of a phase. `groups` is the number of groups read (pre-LB and post-LB). `migrations` is
     * UINT64_MAX if the file has no number of migrations. */
    hpcw_status (*phase_end)(void *context, uint64_t id, uint64_t migrations, unsigned groups, hpcw_error *err);
};

/* Reads and checks a whole file. Fails as read_vom_open and read_vom_run do. */
hpcw_status read_vom_statistics_read(const char *path, const struct read_vom_statistics_events *events,
                                     hpcw_error *err);
hpcw_status read_vom_statistics_source(const struct read_source *source,
                                       const struct read_vom_statistics_events *events, hpcw_error *err);

#endif
