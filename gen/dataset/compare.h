/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks that compare what is written with the existing file, and write nothing. No writer writes
 * a byte twice. Bytes that are never written must be zero in the file. */
#ifndef HPCW_GEN_DATASET_COMPARE_H
#define HPCW_GEN_DATASET_COMPARE_H

#include <hpcw/sink.h>

#include "gen/dataset/faults.h"

struct gen_compare {
    const char *directory;
    /* receives differing and missing files, which are not errors of the calls */
    struct gen_faults *faults;
    /* Sets the sort order of a path's faults. Returns false if the path is not to be compared. */
    bool (*order)(void *context, const char *name, uint64_t *order);
    void *context;
};

/* `compare` must outlive the sinks. Threads may open sinks at the same time. */
hpcw_sink_source gen_compare_source(const struct gen_compare *compare);

#endif
