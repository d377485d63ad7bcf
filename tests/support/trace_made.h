/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace model and the models that it needs. */
#ifndef HPCW_TESTS_TRACE_MADE_H
#define HPCW_TESTS_TRACE_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"

struct trace_made {
    struct model_machine_params machine_params;
    struct model_load_params load_params;
    struct model_trace_params trace_params;
    struct model_machine machine;
    struct model_checkpoint_params checkpoint_params;
    struct model_load load;
    struct model_checkpoint checkpoint;
    struct model_trace trace;
    struct model_trace_scratch *scratch;
};

static inline void trace_begin(struct trace_made *m) {
    assert_int_equal(model_machine_params_init(&m->machine_params, "dfplus-hdr200", NULL), HPCW_OK);
    model_load_params_init(&m->load_params);
    model_checkpoint_params_init(&m->checkpoint_params);
    model_trace_params_init(&m->trace_params);
    m->trace_params.application = MODEL_TRACE_STENCIL;
    m->trace_params.exchanges = 1;
}

static inline void trace_make(struct trace_made *m, uint32_t ranks, uint64_t seed) {
    hpcw_error err;
    if (model_machine_init(&m->machine, &m->machine_params, ranks, seed, &err) != HPCW_OK ||
        model_load_init(&m->load, &m->load_params, &m->machine, &err) != HPCW_OK ||
        model_checkpoint_init(&m->checkpoint, &m->checkpoint_params, &m->load, &err) != HPCW_OK ||
        model_trace_init(&m->trace, &m->trace_params, &m->load, &m->checkpoint, &err) != HPCW_OK ||
        model_trace_scratch_new(&m->trace, &m->scratch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static inline void trace_drop(struct trace_made *m) {
    model_trace_scratch_free(m->scratch);
    model_trace_free(&m->trace);
    model_checkpoint_free(&m->checkpoint);
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

static inline struct model_trace_run trace_run_at(struct trace_made *m, uint32_t iteration, uint64_t start_ns) {
    struct model_trace_run run;
    hpcw_error err;
    if (model_trace_iteration(&m->trace, m->scratch, iteration, &run, &err) != HPCW_OK ||
        model_trace_order(&m->trace, m->scratch, start_ns, &run, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return run;
}

static inline struct model_trace_run trace_run_of(struct trace_made *m, uint32_t iteration) {
    return trace_run_at(m, iteration, 0);
}

/* As in the simplest programs: ranks compute, then wait for all messages at once. */
static inline void trace_make_plain(struct trace_made *m, uint32_t ranks, uint64_t seed) {
    trace_make(m, ranks, seed);
    m->trace.style.wait = MODEL_TRACE_WAIT_ALL;
    m->trace.style.overlaps = m->trace.style.blocks = false;
}

#endif
