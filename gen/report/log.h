/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of an event log's section share. */
#ifndef HPCW_GEN_REPORT_LOG_H
#define HPCW_GEN_REPORT_LOG_H

#include <string.h>

#include "gen/report/report.h"
#include "gen/waits/waits.h"
#include "libreader/clog2/clog2.h"
#include "ui/page/timeline.h"

enum {
    LOG_MOST_STATES = 64,               /* that have a profile; further ones count as the last */
    LOG_SHOWN_STATES = 11,              /* with a colour of their own; the others share one */
    LOG_COLOURS = LOG_SHOWN_STATES + 2, /* the others, and computing */
    LOG_GREY = 12,                      /* the colour of computing */
    LOG_GROUPS = 32,                    /* of ranks */
    LOG_PLACES = 8,                     /* of a state: its longest occurrences */
};

struct log_place {
    uint32_t rank;
    double from, to;
};

struct log_state {
    char name[40];
    double own, whole; /* seconds over all threads: as the innermost state, and with nested ones */
    double main;       /* own, of main threads */
    uint64_t count;
    double group[LOG_GROUPS];           /* own, of main threads, by ranks */
    struct log_place place[LOG_PLACES]; /* the longest first */
    uint32_t places;
};

/* Seconds of the main thread of a rank. */
struct log_rank {
    double in_states, in_mpi;
    double last; /* end of the last piece of a state */
};

struct log_profile {
    uint32_t ranks, threads;
    uint32_t group_ranks;
    struct log_state state[LOG_MOST_STATES];
    struct log_rank *rank; /* [ranks] */
    double begin, end;
    uint64_t cases[READ_CLOG2_RULES];

    uint32_t order[LOG_MOST_STATES]; /* states that occur, the one that takes most time first */
    uint32_t states;
    uint32_t colour_of[LOG_MOST_STATES]; /* by profile */
    const char *name[LOG_COLOURS];       /* of colours */
    unsigned colour[LOG_COLOURS];
    uint32_t colours; /* computing is the last one */

    struct gen_waits waits;
    struct gen_waits_wait longest;         /* of the waits */
    struct ui_raster waiting, cause, sent; /* time of waits, time that others wait for a rank, bytes */
    struct ui_timeline timeline;
    struct log_detail *detail; /* NULL: none */
};

static inline uint32_t log_profile_of(uint32_t state) {
    return state < LOG_MOST_STATES ? state : LOG_MOST_STATES - 1;
}

/* Whether a state is a call of MPI, as gen/waits knows them. */
static inline bool log_is_mpi(const char *name) {
    return strncmp(name, "MPI_", strlen("MPI_")) == 0;
}

/* ---- Findings and evidence of what ranks wait for ---- */

void gen_report_log_find(const struct gen_report *r, const struct log_profile *p);
hpcw_status gen_report_log_draw_waits(const struct gen_report *r, const struct log_profile *p, hpcw_error *err);

/* ---- Single events in script files beside the page ---- */

/* Starts the directory r->detail. HPCW_EEXIST: it is there; HPCW_ENOMEM, and what the system says. */
hpcw_status gen_report_detail_open(const struct gen_report *r, const struct log_profile *p,
                                   struct log_detail **out, hpcw_error *err);
void gen_report_detail_state(struct log_detail *d, uint32_t rank, uint32_t state, double from, double to);
void gen_report_detail_message(struct log_detail *d, uint32_t from_rank, uint32_t to_rank, double from,
                               double to, uint64_t bytes);
/* Writes what is left and gives the directory its name. Returns the first failure of all calls. */
hpcw_status gen_report_detail_publish(struct log_detail *d, hpcw_error *err);
/* What the page has to know; lives as long as `d`. */
const struct ui_page_script *gen_report_detail_scripts(const struct log_detail *d, size_t *count);
void gen_report_detail_free(struct log_detail *d);

#endif
