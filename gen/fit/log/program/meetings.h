/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of a log: when each member arrived, and which member was the root. */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_MEETINGS_H
#define HPCW_GEN_FIT_LOG_PROGRAM_MEETINGS_H

#include "gen/fit/log/program/history.h"
#include "gen/fit/log/program/steps.h"

/* Collective calls of one communicator, in order. */
struct fit_meetings {
    uint32_t size, calls;
    double *begin;  /* [calls][size] time at which each member arrived, by rank in the communicator, seconds */
    double *last;   /* [calls] time at which the last member arrived, seconds */
    uint32_t *root; /* [calls] place */
};

/* Fills meetings[comms] with the collective calls of each communicator of the history. Free *out also after a
 * failure. HPCW_EINVAL: the ranks of a communicator made different numbers of collective calls. HPCW_ENOMEM. */
hpcw_status fit_meetings_find(const struct fit_history *h, struct fit_steps *steps, struct fit_meetings **out,
                              hpcw_error *err);
void fit_meetings_free(struct fit_meetings *meetings, uint32_t comms);

/* Returns the time until which a member waits for others in a call, seconds on the log's clock. Assumes the
 * simulator's binomial trees, whatever algorithm MPI used. */
double fit_meetings_wait(const struct fit_meetings *m, uint32_t serial, uint32_t place, enum sim_call call);

/* Sets serial[comms] to 0 for the communicators of a rank's collective calls. A log may have many more than those of
 * one rank. */
void fit_serial_clear(const struct fit_history *h, uint32_t rank, const struct fit_steps *steps,
                      uint32_t *serial);

/* Returns the communicator of a step, as an index into fit_history.comm. *place: rank of `rank` in the
 * communicator. */
uint32_t fit_comm_of(const struct fit_history *h, uint32_t rank, const struct fit_step *step, uint32_t *place);

#endif
