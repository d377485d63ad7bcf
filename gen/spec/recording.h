/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a run, about six bytes each, so that a log needs no second simulation. */
#ifndef HPCW_GEN_SPEC_RECORDING_H
#define HPCW_GEN_SPEC_RECORDING_H

#include "gen/sim/sim.h"

struct gen_recording;

/* most: limit of the recording's memory, bytes. HPCW_ENOMEM. */
hpcw_status gen_recording_new(uint32_t ranks, size_t most, struct gen_recording **out, hpcw_error *err);
void gen_recording_free(struct gen_recording *recording);

/* Callbacks for struct sim_observer. recording: a struct gen_recording, which is dropped if it exceeds its
 * memory limit. */
hpcw_status gen_recording_event(void *recording, const struct sim_event *event, hpcw_error *err);
hpcw_status gen_recording_passed(void *recording, uint64_t time_ns, hpcw_error *err);

/* Returns whether the recording has all events of the run and was not played yet. */
bool gen_recording_is_whole(const struct gen_recording *recording);

/* Reports all recorded events to an observer, and frees their memory meanwhile. Fails as the observer does. */
hpcw_status gen_recording_play(struct gen_recording *recording, const struct sim_observer *observer,
                               hpcw_error *err);

#endif
