/* SPDX-License-Identifier: BSD-3-Clause */
/* An event log as a program: roles with loops, the times of their steps, and the machine, whose speed follows
 * from the messages. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_PROGRAM_H
#define HPCW_GEN_FIT_LOG_PROGRAM_PROGRAM_H

#include "gen/fit/log/program/draws.h"
#include "gen/fit/log/program/fold.h"
#include "gen/fit/log/program/grid.h"
#include "gen/fit/log/program/history.h"
#include "gen/fit/log/program/meetings.h"
#include "gen/fit/log/program/steps.h"

/* Times of a step over all ranks of a role. */
struct fit_site {
    uint32_t inner;           /* innermost loop around the step, as in struct fit_place */
    struct fit_draws gap;     /* times before the first call of the step */
    struct fit_draws between; /* times before each later call of the step */
    struct fit_draws rest;    /* times in calls of the step, beyond what the simulator gives them */
};

/* Most nested loops whose turns are counted. */
enum { FIT_NEST = 8 };

/* Ranks with equal sequences of step numbers. */
struct fit_role {
    uint32_t *rank; /* [ranks] ascending */
    uint32_t ranks;
    struct fit_tree tree;
    /* [tree.sites + 1] times of each step; the last element is for all minor (short) steps together */
    struct fit_site *site;
    /* main loop, whose turns are the phases of the run; FIT_LOOP: there is none */
    uint32_t loop;
    uint32_t turns; /* total number of turns of the main loop; at least 1 */
    /* [nests] total turns of nested loops, outermost first; each loop has most of the calls of the one around
     * it */
    uint32_t nest[FIT_NEST], nests;
    /* true: the time before the first step of a turn belongs to the previous turn */
    bool late;
    /* [ranks][groups of the course] luck: the factor of a rank's times before calls in one turn; NULL: none */
    double *lucks;
};

/* Course of the times before calls: their mean in each group of turns of the main loop, divided by the overall
 * mean. */
enum { FIT_MOST_COURSE = 64, FIT_MOST_LUCKS = 8192 };
struct fit_course {
    double factor[FIT_MOST_COURSE];
    /* turns: number of turns of the main loop. width: number of turns that share a factor. */
    uint32_t turns, width;
    uint32_t groups; /* factors */
};

/* Speed of messages on the machine of the log, as far as the log shows it. */
struct fit_machine {
    double latency; /* seconds */
    double rate;    /* bytes per second */
    /* largest message whose sender does not wait for the receive, bytes; 0: not known */
    uint32_t eager;
};

struct fit_program {
    struct fit_history history;
    struct fit_steps *steps; /* [ranks] */
    struct fit_role *role;   /* [roles] */
    uint32_t *role_of;       /* [ranks] */
    uint32_t roles;
    struct fit_meetings *meetings; /* [history.comms] */
    /* number of turns of the main loop if it is the same in all roles; otherwise 1 */
    uint32_t phases;
    /* numbers of turns of nested loops, as far as they are the same in all roles */
    uint32_t nest[FIT_NEST], nests;
    /* for fit_program_fold; true: prefers an outer loop as the main loop, even if nearly all of its calls are
     * in an inner loop */
    bool outer;
    struct fit_course course; /* course.turns is 0 if there is no course */
    /* for fit_program_fold; true: the text is for any number of ranks. Then ranks at different places of the
     * grid have different roles, and no loop is unrolled because of its times. */
    bool scales;
    struct fit_grid grid;
    struct fit_machine machine;
    struct fit_lack *lack; /* [history.names] */
    /* true: tags are needed, since messages between two ranks are received in another order than they are sent;
     * false: all tags are 0 */
    bool tags;
};

/* fit_step_of: returns a rank's first step with the given number. fit_item_of: returns an item of that step. */
static inline const struct fit_step *fit_step_of(const struct fit_program *p, uint32_t rank, uint32_t number) {
    return &p->steps[rank].step[p->steps[rank].sample[number]];
}

static inline const struct fit_item *fit_item_of(const struct fit_program *p, uint32_t rank, uint32_t number,
                                                 uint32_t item) {
    return &p->steps[rank].item[fit_step_of(p, rank, number)->first + item];
}

/* Reads a log, but does not find the roles yet. Free *p also after a failure; `path` must stay valid until then.
 * HPCW_EINVAL: the log is incomplete. Otherwise fails as fit_history_read. */
hpcw_status fit_program_read(const char *path, struct fit_program *p, hpcw_error *err);

/* Finds the roles. May be called again. versions = 0: steps are equal only if their messages are. versions > 0:
 * ranks with the same calls share a role, even if their partners and bytes change at different times; a step of
 * the text then has up to `versions` lists of messages, one after the other. HPCW_EINVAL: more roles than a
 * text can have. HPCW_ENOMEM. */
hpcw_status fit_program_fold(struct fit_program *p, uint32_t versions, hpcw_error *err);
void fit_program_free(struct fit_program *p);

#endif
