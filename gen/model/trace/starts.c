/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"

/* For logs with more events, which take some seconds, and with more ranks, the load model's estimate is good enough. */
enum { MOST_EVENTS = 1 << 24 };

/* Whether the timers take as much from the ranks as when the iteration in the scratch was made. */
static hpcw_status take_the_same(const struct model_trace *m, struct model_trace_scratch *s,
                                 const struct model_trace_facts *made, bool *same, hpcw_error *err) {
    struct model_trace_facts facts;
    hpcw_status status = model_trace_sum_work(m, s, &facts, err);
    *same = facts.compute_ns == made->compute_ns;
    return status;
}

/*
 * An iteration ends later if timers tick in it, and they tick in it if it ends later. So it is made with an end as the load
 * model estimates it, and while its own end says otherwise, with that one. In the end at most one tick is counted in the wrong
 * one of two iterations, and the next one starts when it does. If that does not come to an end, as timers take nearly all of
 * the time, the next one starts where the last ticks were counted to.
 */
static hpcw_status find(const struct model_trace *m, struct model_load *load, struct model_trace_scratch *s,
                        hpcw_error *err) {
    enum { TRIES = 4 };
    struct model_load_phase *phase = load->phase;
    struct model_trace_run run;
    hpcw_status status = HPCW_OK;
    double start_ns = 0, estimated_ns = phase[0].start_ns;
    for (uint32_t k = 0; status == HPCW_OK && k + 1 < m->iterations; k++) {
        const double length_ns = phase[k + 1].start_ns - estimated_ns;
        double end_ns = start_ns + length_ns;
        bool same = false;
        estimated_ns += length_ns;
        for (uint32_t i = 0; status == HPCW_OK && i < TRIES && !same; i++) {
            const double counted_to_ns = end_ns;
            phase[k + 1].start_ns = counted_to_ns;
            status = model_trace_iteration(m, s, k, &run, err);
            end_ns = start_ns + (double)run.facts.duration_ns;
            if (status == HPCW_OK) {
                phase[k + 1].start_ns = end_ns;
                status = take_the_same(m, s, &run.facts, &same, err);
                phase[k + 1].start_ns = same ? end_ns : counted_to_ns;
            }
        }
        start_ns = phase[k + 1].start_ns;
    }
    return status;
}

hpcw_status model_trace_find_starts(const struct model_trace *m, struct model_load *load, hpcw_error *err) {
    struct model_trace_scratch *s = NULL;
    if (!model_trace_finds_starts(load) || m->estimate.most_events * m->iterations > MOST_EVENTS) {
        return HPCW_OK;
    }
    hpcw_status status = model_trace_scratch_new(m, &s, err);
    status = status == HPCW_OK ? find(m, load, s, err) : status;
    model_trace_scratch_free(s);
    if (status != HPCW_OK) {
        model_load_fill_starts(load);
    }
    return status;
}

bool model_trace_finds_starts(const struct model_load *load) {
    return load->ranks <= MODEL_TRACE_FEW_RANKS && load->placements == 0 && model_load_ticks_show(load);
}
