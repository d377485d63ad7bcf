/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/vom_again.h"

#include <stdlib.h>

#include <hpcw/vom_read.h>

enum { MOST_IDS = 4096 };

struct again {
    const char *to;
    hpcw_vom_options *options;
    hpcw_vom *v;
    hpcw_error *err;
    /* Ids of phases and iterations, from a first pass: the writer needs an id before the records of its phase, but
     * vt's files have the id after the edges. */
    uint64_t phase[MOST_IDS], iteration[MOST_IDS];
    size_t phases, iterations, next_iteration;
};

static hpcw_status keep_phase(void *context, const hpcw_vom_section *phase) {
    struct again *a = context;
    if (a->phases == MOST_IDS) {
        return HPCW_ERANGE;
    }
    a->phase[a->phases++] = phase->id;
    return HPCW_OK;
}

static hpcw_status keep_iteration(void *context, const hpcw_vom_section *iteration) {
    struct again *a = context;
    if (a->iterations == MOST_IDS) {
        return HPCW_ERANGE;
    }
    a->iteration[a->iterations++] = iteration->id;
    return HPCW_OK;
}

static hpcw_status go(void *context, uint64_t number) {
    (void)context;
    (void)number;
    return HPCW_OK;
}

static hpcw_status again_open(void *context, const hpcw_vom_metadata *m) {
    struct again *a = context;
    hpcw_vom_options *o = a->options;
    if (a->v != NULL) {
        return HPCW_OK; /* metadata after the phases */
    }
    o->node = m->node;
    o->skipped = m->skipped;
    o->skipped_count = m->skipped_count;
    o->identical = m->identical;
    o->identical_count = m->identical_count;
    o->phase_count = m->phase_count;
    o->attributes = m->attributes;
    o->attribute_count = m->attribute_count;
    o->has_rank_alpha = m->has_rank_alpha;
    o->rank_alpha = m->rank_alpha;
    return hpcw_vom_open(a->to, o, &a->v, a->err);
}

static hpcw_status again_begin(void *context, uint64_t number) {
    struct again *a = context;
    hpcw_status status = a->v != NULL ? HPCW_OK : hpcw_vom_open(a->to, a->options, &a->v, a->err);
    return status == HPCW_OK ? hpcw_vom_begin_phase(a->v, a->phase[number], a->err) : status;
}

static hpcw_status again_begin_iteration(void *context, uint64_t number) {
    (void)number;
    struct again *a = context;
    return hpcw_vom_begin_iteration(a->v, a->iteration[a->next_iteration++], a->err);
}

static hpcw_status again_edge(void *context, const hpcw_vom_edge *edge) {
    struct again *a = context;
    return hpcw_vom_edge_add(a->v, edge, a->err);
}

static hpcw_status again_task(void *context, const hpcw_vom_task *task) {
    struct again *a = context;
    return hpcw_vom_task_add(a->v, task, a->err);
}

static hpcw_status again_end(void *context, const hpcw_vom_section *phase) {
    struct again *a = context;
    return hpcw_vom_end_phase(a->v, phase->values, phase->value_count, a->err);
}

static hpcw_status again_end_iteration(void *context, const hpcw_vom_section *iteration) {
    struct again *a = context;
    return hpcw_vom_end_iteration(a->v, iteration->values, iteration->value_count, a->err);
}

static hpcw_status pass(const char *from, const hpcw_vom_watch *watch, hpcw_error *err) {
    hpcw_vom_reader *r;
    hpcw_status status = hpcw_vom_reader_open(from, &r, err);
    if (status == HPCW_OK) {
        /* If the writer failed, its own message is more specific. */
        hpcw_error read = {.code = HPCW_OK};
        err->code = HPCW_OK;
        status = hpcw_vom_reader_watch(r, UINT64_MAX, watch, &read);
        if (status != HPCW_OK && err->code == HPCW_OK) {
            *err = read;
        }
    }
    hpcw_vom_reader_free(r);
    return status;
}

hpcw_status vom_again(const char *from, const char *to, hpcw_vom_options *options, hpcw_error *err) {
    struct again *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return HPCW_ENOMEM;
    }
    a->to = to;
    a->options = options;
    a->err = err;
    const hpcw_vom_watch ids = {
        .context = a, .end_phase = keep_phase, .begin_iteration = go, .end_iteration = keep_iteration};
    const hpcw_vom_watch all = {.context = a,
                                .metadata = again_open,
                                .begin_phase = again_begin,
                                .edge = again_edge,
                                .task = again_task,
                                .end_phase = again_end,
                                .begin_iteration = again_begin_iteration,
                                .end_iteration = again_end_iteration};
    hpcw_status status = pass(from, &ids, err);
    if (status == HPCW_OK) {
        status = pass(from, &all, err);
    }
    if (status == HPCW_OK) {
        status = hpcw_vom_close(a->v, err);
    }
    hpcw_vom_free(a->v);
    free(a);
    return status;
}
