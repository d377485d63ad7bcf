/* SPDX-License-Identifier: BSD-3-Clause */
/* Load-balancing data summed up per phase, over all ranks. */
#ifndef HPCW_LIBREADER_VOM_SET_SUMMARY_H
#define HPCW_LIBREADER_VOM_SET_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libreader/vom/figures.h"

enum read_vom_quantity {
    READ_VOM_OBJECT_LOAD, /* time of every task except id 0 */
    READ_VOM_RANK_LOAD,   /* sum of the times of a rank's tasks, except id 0 */
    READ_VOM_OBJECT_COMM, /* bytes of every SendRecv between two entities */
    /* Bytes that left a rank by vt's rule: the bytes of each SendRecv to a handler or group on another rank, of
     * messages to another node, and of shared memory. Messages to elements do not count. */
    READ_VOM_RANK_COMM,
    READ_VOM_QUANTITIES
};
const char *read_vom_quantity_name(enum read_vom_quantity quantity);

struct read_vom_phase_summary {
    uint64_t id;
    uint64_t tasks, migratable, communications, messages;
    double bytes;
    struct read_vom_moments quantity[READ_VOM_QUANTITIES];
};
struct read_vom_summary {
    uint32_t ranks, compressed;
    uint64_t file_bytes, text_bytes;
    struct read_vom_phase_summary *phase; /* [phases], freed with the summary */
    size_t phases;
    hpcw_error warning; /* first fault in the files that read_vom_verify would refuse; code HPCW_OK: no fault */
};

/* Sums up a data file or a set of data files, and checks no rules between records. Call read_vom_summary_free even
 * after a failure. */
hpcw_status read_vom_summarise(const char *path, struct read_vom_summary *summary, hpcw_error *err);
void read_vom_summary_free(struct read_vom_summary *summary);

#endif
