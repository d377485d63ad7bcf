/* SPDX-License-Identifier: BSD-3-Clause */
/* A load model and its machine. */
#ifndef HPCW_TESTS_LOAD_MADE_H
#define HPCW_TESTS_LOAD_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/model/load/load.h"

struct load_made {
    struct model_machine machine;
    struct model_load load;
};

static inline void load_make(struct load_made *m, uint32_t ranks, uint64_t seed,
                             const struct model_load_params *params) {
    struct model_machine_params machine;
    hpcw_error err;
    if (model_machine_params_init(&machine, "dfplus-hdr200", &err) != HPCW_OK ||
        model_machine_init(&m->machine, &machine, ranks, seed, &err) != HPCW_OK ||
        model_load_init(&m->load, params, &m->machine, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static inline void load_drop(struct load_made *m) {
    model_load_free(&m->load);
    model_machine_free(&m->machine);
}

static inline struct model_load_params load_defaults(void) {
    struct model_load_params p;
    model_load_params_init(&p);
    p.objects = 8;
    p.fill = 1;
    p.course = MODEL_COURSE_RAMP;
    return p;
}

#endif
