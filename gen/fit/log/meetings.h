/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of a log: who came when, and who was the root. */
#ifndef HPCW_GEN_FIT_LOG_MEETINGS_H
#define HPCW_GEN_FIT_LOG_MEETINGS_H

#include "gen/fit/log/history.h"
#include "gen/fit/log/steps.h"

/* Those of a communicator, in order. */
struct fit_meetings {
    uint32_t size, calls;
    double *begin;  /* [calls][size] seconds, by place */
    uint32_t *root; /* [calls] place */
};

/* meetings: [comms] of the history. Free them also after a failure. HPCW_EINVAL: some ranks made more of these calls than others;
 * HPCW_ENOMEM. */
hpcw_status fit_meetings_find(const struct fit_history *h, struct fit_steps *steps, struct fit_meetings **out,
                              hpcw_error *err);
void fit_meetings_free(struct fit_meetings *meetings, uint32_t comms);

/* When the last member came. */
double fit_meetings_last(const struct fit_meetings *m, uint32_t serial);

/* Until when a member waits for others in a call, whatever algorithm MPI has, in the simulator's binomial trees: seconds. */
double fit_meetings_wait(const struct fit_meetings *m, uint32_t serial, uint32_t place, enum sim_call call);

/* The communicator of a step, as index of the history, and the rank's place there. */
uint32_t fit_comm_of(const struct fit_history *h, uint32_t rank, const struct fit_step *step, uint32_t *place);

#endif
