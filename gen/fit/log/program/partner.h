/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners of messages as functions of the rank and of the number of ranks. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_PARTNER_H
#define HPCW_GEN_FIT_LOG_PROGRAM_PARTNER_H

#include "gen/fit/log/program/grid.h"
#include "gen/fit/log/program/program.h"

struct fit_partner {
    enum {
        FIT_PARTNER_TABLE, /* no function was found; the text needs a table */
        FIT_PARTNER_SAME,  /* the same rank for all: `value`, which can be FIT_NOBODY */
        FIT_PARTNER_LAST,  /* the last rank */
        FIT_PARTNER_SUM,   /* own rank + step[0] */
        FIT_PARTNER_GRID   /* step[d] steps away in dimension d of a grid of all ranks */
    } kind;
    uint32_t value;
    struct fit_grid grid;
    int32_t step[3]; /* [grid.dims] */
    /* true: the first and the last position are neighbours; false: there is no partner beyond the border */
    bool wraps;
};

/* Message number `item` of the step `number`, on all ranks of a role. */
struct fit_partner_seen {
    const struct fit_program *p;
    const struct fit_role *role;
    uint32_t number, item;
};

/* Returns a function that gives the partners of a message for all ranks of seen[count], which may be of
 * different logs. */
struct fit_partner fit_partner_find(const struct fit_partner_seen *seen, size_t count);

/* A new communicator of the ranks that are on one line of a grid, along one dimension. */
struct fit_grid_line {
    struct fit_grid grid; /* a grid of one dimension: the line has all ranks */
    uint32_t along;       /* dimension, from 0 */
};

/* Finds the grid and the dimension with which all ranks of seen[count] are split into lines. The first rank of a
 * line must lead the new communicator, whose ranks must have the order of the line. `item` must be 0, the only
 * item of a split. Returns false if there is no such grid. */
bool fit_line_find(const struct fit_partner_seen *seen, size_t count, struct fit_grid_line *line);

#endif
