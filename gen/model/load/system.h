/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the operating system does to the ranks (doc/realism.md, "System"): nothing is faster than an undisturbed rank, most
 * of what runs takes a little longer, and some of it much longer. Part of it is the same for all ranks of a host and lasts
 * for some phases. Interruptions that truth.json lists are apart from it, see model_load_interruption.
 */
#ifndef HPCW_GEN_MODEL_LOAD_SYSTEM_H
#define HPCW_GEN_MODEL_LOAD_SYSTEM_H

#include "gen/model/load/load.h"

/* The factor of all times of a rank in a phase: that of its node if it is slow, times what the system adds. */
double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase);

/* The same, and shares of these times: what the system takes at once, by what it runs in between; the timers of the host and
 * of what that runs on; what the system takes for many phases from one place of the work, from 0 to 1, as caches and memory lie;
 * and what is new to the rank, in the first phases. */
enum { MODEL_LOAD_TIMERS = 2 };
struct model_load_shares {
    float between, timer[MODEL_LOAD_TIMERS], apart, fresh, place;
};
double model_load_system(const struct model_load *m, uint32_t rank, uint32_t phase,
                         struct model_load_shares *shares);

/* Whether timers show, as phases are shorter than 4 ms; and how often one does in a phase, first so long after its start. */
struct model_load_ticks {
    double count, after_ns, period_ns;
};
bool model_load_ticks_show(const struct model_load *m);
struct model_load_ticks model_load_ticks(const struct model_load *m, uint32_t rank, uint32_t phase,
                                         uint32_t timer);

/* When the phases start, if timers show: by the load of the slowest rank in them, or in some of very many, before objects
 * migrate, and params.busy. The trace model knows it better, see model_trace_find_starts. */
void model_load_fill_starts(struct model_load *m);

/* How long a rank is off its core that is preempted while it waits for so long, mostly 0. */
uint64_t model_load_absence(const struct model_load *m, uint64_t waits_ns, uint32_t word);

#endif
