/* SPDX-License-Identifier: BSD-3-Clause */
/* What to export, of any format, and how much it was. */
#ifndef HPCW_GEN_EXPORT_EXPORT_H
#define HPCW_GEN_EXPORT_EXPORT_H

#include <stdint.h>

enum gen_export_form { GEN_EXPORT_AUTO, GEN_EXPORT_CHROME, GEN_EXPORT_CSV, GEN_EXPORT_EDGES };

struct gen_export {
    int form;                       /* enum gen_export_form */
    double from_s, to_s;            /* events with from <= time < to */
    uint32_t first_rank, last_rank; /* of the world */
};

struct gen_exported {
    uint64_t events; /* or tasks, or edges: lines of CSV without the heading, or entries of the JSON list */
    uint64_t bytes;
};

#endif
