/* SPDX-License-Identifier: BSD-3-Clause */
/* A log as a program: roles with loops, how long each of their steps takes, and the machine that its messages show. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_H
#define HPCW_GEN_FIT_LOG_PROGRAM_H

#include "gen/fit/log/draws.h"
#include "gen/fit/log/fold.h"
#include "gen/fit/log/history.h"
#include "gen/fit/log/meetings.h"
#include "gen/fit/log/steps.h"

/* How long a step takes, on all ranks of a role: before its calls, and in them beyond what the simulator gives them. */
struct fit_site {
    uint32_t step;            /* of the role's first rank */
    uint32_t inner;           /* as in struct fit_place */
    struct fit_draws gap;     /* before the first call */
    struct fit_draws between; /* before its other calls */
    struct fit_draws rest;
};

/* Ranks whose steps have the same numbers. */
struct fit_role {
    uint32_t *rank; /* [ranks] ascending */
    uint32_t ranks;
    struct fit_tree tree;
    struct fit_site *site; /* [tree.sites + 1]: the last one has what short times have in common */
    uint32_t loop;         /* the one whose turns are phases of the run; FIT_LOOP: there is none */
    bool keeps;            /* some call waits for a part of the requests */
    uint32_t turns;        /* of that, all together; at least 1 */
    bool late;             /* a turn begins with the first step of the loop, not before it */
    struct fit_draws luck; /* of a rank in a turn: what its times before calls have in common */
    double *lucks;         /* [ranks][groups of the course]; NULL: it is drawn */
};

/* How times before calls change in the course of the run: over their mean, by turns of the longest loop. */
enum { FIT_MOST_COURSE = 64, FIT_MOST_LUCKS = 8192 };
struct fit_course {
    double factor[FIT_MOST_COURSE];
    uint32_t turns, width; /* of the loop; so many have one factor */
    uint32_t groups;       /* factors */
};

/* What messages on this machine take, as far as the log shows. */
struct fit_machine {
    double latency; /* seconds */
    double rate;    /* bytes a second */
    uint32_t eager; /* bytes of the largest message whose sender does not wait for the receive */
};

struct fit_program {
    struct fit_history history;
    struct fit_steps *steps; /* [ranks] */
    struct fit_role *role;   /* [roles] */
    uint32_t *role_of;       /* [ranks] */
    uint32_t roles;
    struct fit_meetings *meetings; /* [history.comms] */
    uint32_t phases;               /* turns of the longest loop, if all roles have it; otherwise 1 */
    struct fit_course course;      /* turns is 0: unknown */
    struct fit_machine machine;
    struct fit_lack *lack; /* [history.names] */
    bool
        tags; /* needed, as messages between two ranks are not received in the order in which they are sent; otherwise all are 0 */
};

/* Reads a log, without roles. Free also after a failure. HPCW_EINVAL for a log that is not whole; as fit_history_read. */
hpcw_status fit_program_read(const char *path, struct fit_program *p, hpcw_error *err);

/* Finds the roles, or finds them anew. `versions` > 0: ranks that make the same calls have one role and the same loops, even if whom they
 * send to, and how much, changes at other times on each. Then a step of the text has up to so many lists of messages, one after the
 * other. HPCW_EINVAL: there are more roles than a text can have; HPCW_ENOMEM. */
hpcw_status fit_program_fold(struct fit_program *p, uint32_t versions, hpcw_error *err);
void fit_program_free(struct fit_program *p);

#endif
