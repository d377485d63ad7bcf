/* SPDX-License-Identifier: BSD-3-Clause */
/* What to export, of any format, and how much it was. */
#ifndef HPCW_GEN_EXPORT_EXPORT_H
#define HPCW_GEN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

enum gen_export_form {
    GEN_EXPORT_AUTO,
    GEN_EXPORT_CHROME,
    GEN_EXPORT_CSV,
    GEN_EXPORT_EDGES,
    GEN_EXPORT_NPY,
    GEN_EXPORT_HOSTS,
    GEN_EXPORT_BYTES,
    GEN_EXPORT_OTF2,
    GEN_EXPORT_TASKS,
};

struct gen_export {
    int form;                       /* enum gen_export_form */
    double from_s, to_s;            /* events with from <= time < to */
    uint32_t first_rank, last_rank; /* of the world */
    uint64_t permutation;           /* of a LinkTest result */
    uint32_t task;                  /* of a container */
    bool has_key;                   /* only the values with this key */
    uint64_t key;
    bool measure; /* only count: what is known without reading need not be read */
};

struct gen_exported {
    const char *items; /* what is counted */
    uint64_t count;    /* lines of CSV without the heading, or entries of the JSON list */
    uint64_t bytes;
    hpcw_error warning; /* why what was exported may be wrong; code HPCW_OK: nothing is known */
};

#endif
