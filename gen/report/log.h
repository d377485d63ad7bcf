/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the source files that draw the section of an event log. */
#ifndef HPCW_GEN_REPORT_LOG_H
#define HPCW_GEN_REPORT_LOG_H

#include <string.h>

#include "gen/report/report.h"
#include "gen/waits/waits.h"
#include "libreader/clog2/clog2.h"
#include "ui/page/timeline.h"

enum {
    LOG_MOST_STATES = 64,  /* states with a profile; all further states share the last profile */
    LOG_SHOWN_STATES = 11, /* states with a colour of their own; the others share one */
    /* the last two colours are those of all other states, and of computing outside of states */
    LOG_COLOURS = LOG_SHOWN_STATES + 2,
    LOG_GREY = 12,   /* index of the colour of computing outside of states */
    LOG_GROUPS = 32, /* most groups of ranks in a bar chart */
    LOG_PLACES = 8,  /* longest occurrences that are kept of each state */
};

struct log_place {
    uint32_t rank;
    double from, to;
};

struct log_state {
    char name[40];
    /* Seconds in the state, over all threads. `own` leaves out the states nested in it, `whole` includes them. */
    double own, whole;
    double main; /* seconds in the state itself, in main threads only */
    uint64_t count;
    double group[LOG_GROUPS];           /* seconds of `main` in each group of ranks */
    struct log_place place[LOG_PLACES]; /* [places] longest occurrences, the longest first */
    uint32_t places;
};

/* Times of the main thread of a rank, s. */
struct log_rank {
    double in_states, in_mpi;
    double last; /* end of the rank's last state, s */
};

struct log_profile {
    uint32_t ranks, threads;
    uint32_t group_ranks;
    struct log_state state[LOG_MOST_STATES];
    struct log_rank *rank; /* [ranks] */
    double begin, end;
    uint64_t cases[READ_CLOG2_RULES];

    uint32_t order[LOG_MOST_STATES]; /* [states] indices in `state`; the state with the most time comes first */
    uint32_t states;
    uint32_t colour_of[LOG_MOST_STATES]; /* for each member of `state`: its index in `name` and `colour` */
    const char *name[LOG_COLOURS];       /* [colours] names in the legend; the last one is computing */
    unsigned colour[LOG_COLOURS];
    uint32_t colours;

    struct gen_waits waits;
    struct gen_waits_wait longest;
    /* Rasters of ranks over time.
     * waiting: seconds in which the rank waits.
     * cause: seconds in which other ranks wait for the rank.
     * sent: bytes that the rank sends. */
    struct ui_raster waiting, cause, sent;
    struct ui_timeline timeline;
    struct log_detail *detail; /* NULL: none */
};

static inline uint32_t log_profile_of(uint32_t state) {
    return state < LOG_MOST_STATES ? state : LOG_MOST_STATES - 1;
}

/* Returns the seconds in which a rank is in no state, from the begin of the log to the end of the rank's last
 * state. */
static inline double log_computing(const struct log_profile *p, uint32_t rank) {
    const double computing = p->rank[rank].last - p->begin - p->rank[rank].in_states;
    return computing > 1e-9 * (p->end - p->begin) ? computing : 0; /* less is a rounding error */
}

/* Returns the seconds of all ranks after their last states. */
static inline double log_ended(const struct log_profile *p) {
    double ended = 0;
    for (uint32_t k = 0; k < p->ranks; k++) {
        ended += p->end - p->rank[k].last;
    }
    return ended;
}

/* Returns whether a state is a call of MPI: its name begins with "MPI_". */
static inline bool log_is_mpi(const char *name) {
    return strncmp(name, "MPI_", strlen("MPI_")) == 0;
}

/* ---- Findings and evidence of what ranks wait for ---- */

void gen_report_log_find(const struct gen_report *r, const struct log_profile *p);
hpcw_status gen_report_log_draw_waits(const struct gen_report *r, const struct log_profile *p, hpcw_error *err);

/* ---- Single events in script files beside the page ---- */

/* Makes the directory r->detail under a temporary name. HPCW_EEXIST: a file or directory has its final name.
 * HPCW_ENOMEM, and errors of the system. */
hpcw_status gen_report_detail_open(const struct gen_report *r, const struct log_profile *p,
                                   struct log_detail **out, hpcw_error *err);
void gen_report_detail_state(struct log_detail *d, uint32_t rank, uint32_t state, double from, double to);
void gen_report_detail_message(struct log_detail *d, uint32_t from_rank, uint32_t to_rank, double from,
                               double to, uint64_t bytes);
/* Writes the remaining events to script files. Returns the first failure of all functions called with `d`. */
hpcw_status gen_report_detail_finish(struct log_detail *d, hpcw_error *err);
/* Returns the script files, which the page lists. They are valid until `d` is freed. */
const struct ui_page_script *gen_report_detail_scripts(const struct log_detail *d, size_t *count);

#endif
