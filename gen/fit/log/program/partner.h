/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners of messages as functions of the rank and of the number of ranks. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_PARTNER_H
#define HPCW_GEN_FIT_LOG_PROGRAM_PARTNER_H

#include "gen/fit/log/program/grid.h"
#include "gen/fit/log/program/program.h"

struct fit_partner {
    enum {
        FIT_PARTNER_TABLE, /* no function was found */
        FIT_PARTNER_SAME,  /* one rank, or nobody: `value` */
        FIT_PARTNER_LAST,  /* the last rank */
        FIT_PARTNER_SUM,   /* step[0] ranks further */
        FIT_PARTNER_GRID   /* so many steps away in each dimension of a grid of all ranks */
    } kind;
    uint32_t value;
    struct fit_grid grid;
    int32_t step[3]; /* [grid.dims] */
    bool wraps;      /* the last rank and the first one are neighbours; otherwise nobody is beyond the border */
};

/* A message of a step on the ranks of a role. */
struct fit_partner_seen {
    const struct fit_program *p;
    const struct fit_role *role;
    uint32_t number, item;
};

/* Returns a function that gives the partners of all roles seen. */
struct fit_partner fit_partner_find(const struct fit_partner_seen *seen, size_t count);

/* A new communicator of the ranks that are on one line of a grid, along one dimension, or of all ranks. */
struct fit_grid_line {
    struct fit_grid grid; /* of one dimension: all ranks */
    uint32_t along;       /* dimension, from 0 */
};

/* Finds a line whose first rank leads the new communicator, and in whose order its ranks are, on the ranks of all roles seen;
 * `item` is not used. Returns false if there is none. */
bool fit_line_find(const struct fit_partner_seen *seen, size_t count, struct fit_grid_line *line);

#endif
