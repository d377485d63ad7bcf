/* SPDX-License-Identifier: BSD-3-Clause */
/* A log as a program: roles with loops, times of their steps, and the machine that the messages show. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_PROGRAM_H
#define HPCW_GEN_FIT_LOG_PROGRAM_PROGRAM_H

#include "gen/fit/log/program/draws.h"
#include "gen/fit/log/program/fold.h"
#include "gen/fit/log/program/grid.h"
#include "gen/fit/log/program/history.h"
#include "gen/fit/log/program/meetings.h"
#include "gen/fit/log/program/steps.h"

/* Times of a step over all ranks of a role. rest: time in its calls beyond what the simulator gives them. */
struct fit_site {
    uint32_t inner;           /* as in struct fit_place */
    struct fit_draws gap;     /* time before the first call */
    struct fit_draws between; /* time before each later call */
    struct fit_draws rest;
};

/* Most loops in each other whose turns are counted. */
enum { FIT_NEST = 8 };

/* Ranks with equal sequences of step numbers. */
struct fit_role {
    uint32_t *rank; /* [ranks] ascending */
    uint32_t ranks;
    struct fit_tree tree;
    /* [tree.sites + 1] the last one has the common distribution of short times */
    struct fit_site *site;
    /* loop whose turns are the phases of the run; FIT_LOOP: none */
    uint32_t loop;
    uint32_t turns; /* total turns of that loop; at least 1 */
    /* [nests] total turns of the loops with most of the calls: the outermost one, then those inside */
    uint32_t nest[FIT_NEST], nests;
    /* a turn begins with the first step of the loop, not with the time before it */
    bool late;
    /* common factor of a rank's times before calls in one turn */
    struct fit_draws luck;
    double *lucks; /* [ranks][groups of the course]; NULL: luck is drawn */
};

/* Course of the times before calls: their mean in each group of turns of the longest loop, divided by the
 * overall mean. */
enum { FIT_MOST_COURSE = 64, FIT_MOST_LUCKS = 8192 };
struct fit_course {
    double factor[FIT_MOST_COURSE];
    uint32_t turns, width; /* turns of the loop; turns that share a factor */
    uint32_t groups;       /* factors */
};

/* Speed of messages on this machine, as far as the log shows it. */
struct fit_machine {
    double latency; /* seconds */
    double rate;    /* bytes per second */
    /* size of the largest message whose sender does not wait for the receive, bytes; 0: not known */
    uint32_t eager;
};

struct fit_program {
    struct fit_history history;
    struct fit_steps *steps; /* [ranks] */
    struct fit_role *role;   /* [roles] */
    uint32_t *role_of;       /* [ranks] */
    uint32_t roles;
    struct fit_meetings *meetings; /* [history.comms] */
    /* turns of the longest loop if all roles have it; otherwise 1 */
    uint32_t phases;
    uint32_t nest[FIT_NEST], nests; /* those of the roles, as far as they are equal */
    bool
        outer; /* in fit_program_fold: phases are turns of an outer loop, even if it has little beside an inner one */
    struct fit_course course; /* course.turns is 0: unknown */
    /* In fit_program_fold: for other numbers of ranks. Ranks at different places of the grid have different roles, and no
     * loop is unrolled for the times of some ranks. */
    bool scales;
    struct fit_grid grid;
    struct fit_machine machine;
    struct fit_lack *lack; /* [history.names] */
    /* true: tags are needed, since messages between two ranks are received in another order than sent;
     * false: all are 0 */
    bool tags;
};

/* Returns the first step of a rank with this number, and one of its items. */
static inline const struct fit_step *fit_step_of(const struct fit_program *p, uint32_t rank, uint32_t number) {
    return &p->steps[rank].step[p->steps[rank].sample[number]];
}

static inline const struct fit_item *fit_item_of(const struct fit_program *p, uint32_t rank, uint32_t number,
                                                 uint32_t item) {
    return &p->steps[rank].item[fit_step_of(p, rank, number)->first + item];
}

/* Reads a log; roles are not found yet. Free *p also after a failure. HPCW_EINVAL: the log is incomplete.
 * Otherwise fails as fit_history_read. */
hpcw_status fit_program_read(const char *path, struct fit_program *p, hpcw_error *err);

/* Finds the roles; may be called again. versions > 0: ranks with the same calls share a role and its loops, even
 * if their partners and bytes change at different times. Then a step of the text has up to `versions` lists of
 * messages, used one after the other. HPCW_EINVAL: more roles than a text can have. HPCW_ENOMEM. */
hpcw_status fit_program_fold(struct fit_program *p, uint32_t versions, hpcw_error *err);
void fit_program_free(struct fit_program *p);

#endif
