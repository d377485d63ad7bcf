/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the hosts, which give the times in the event log. */
#ifndef HPCW_GEN_SPEC_CLOCKS_H
#define HPCW_GEN_SPEC_CLOCKS_H

#include "gen/model/machine/machine.h"
#include "ui/param/param.h"

/* Parameters with the keys "trace.skew" and "trace.drift". */
struct gen_clock_params {
    double skew_us, drift_ppm;
};
extern const struct ui_param gen_clock_param[];
extern const size_t gen_clock_param_count;

/* A clock shows t + offset_ns + drift * t, for t nanoseconds after the start of the run. */
struct gen_clock {
    double offset_ns, drift;
};

struct gen_clocks {
    struct gen_clock *clock; /* [nodes] NULL: all clocks are right */
    /* Time that a right clock shows at the start of the run, ns. It is so large that no clock ever shows a time
     * below 0. */
    uint64_t start_ns;
};

/* Time that all clocks show at the start of the run if they are right. It is not 0, since a tracer starts
 * before the run. */
#define GEN_CLOCKS_START_NS UINT64_C(10000)

/* Draws the clocks of all nodes. The clock of rank 0 is right, since the tracer corrects all others to it.
 * HPCW_ENOMEM. */
hpcw_status gen_clocks_init(struct gen_clocks *c, const struct gen_clock_params *params,
                            const struct model_machine *machine, hpcw_error *err);
void gen_clocks_free(struct gen_clocks *c);

/* Returns how far the clock of a node is ahead at `time_ns` after the start of the run, ns. `time_ns` plus this
 * error never falls. */
static inline int64_t gen_clock_error(const struct gen_clocks *c, uint32_t node, uint64_t time_ns) {
    const struct gen_clock *k = c->clock == NULL ? NULL : &c->clock[node];
    return k == NULL ? 0 : (int64_t)(k->offset_ns + k->drift * (double)time_ns);
}

#endif
