/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread works with. */
#include "gen/model/trace/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static size_t ranks_words(const struct model_trace *m) {
    return (size_t)m->ranks + 1;
}

uint64_t model_trace_scratch_size(const struct model_trace *m) {
    const struct model_trace_estimate *e = &m->estimate;
    const uint64_t exchanges = 1 + e->most_messages / (e->most_edges + 1);
    return 32 * e->most_events + 32 * e->most_edges + 32 * e->most_messages + 8 * (uint64_t)m->load->objects +
           (152 + 8 * exchanges) * (uint64_t)m->ranks + sizeof(struct model_trace_scratch);
}

hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err) {
    struct model_trace_scratch *s = hpcw_i_calloc(1, sizeof *s);
    *out = NULL;
    if (s != NULL) {
        s->object = hpcw_i_malloc(m->load->objects * sizeof *s->object);
        s->where = hpcw_i_malloc(m->load->objects * sizeof *s->where);
        s->slowness = hpcw_i_malloc(m->ranks * sizeof *s->slowness);
        s->shares = hpcw_i_malloc(m->ranks * sizeof *s->shares);
        s->compute = hpcw_i_malloc(m->ranks * sizeof *s->compute);
        s->taken = hpcw_i_malloc(m->ranks * sizeof *s->taken);
        s->timers = hpcw_i_malloc((size_t)m->ranks * MODEL_LOAD_TIMERS * sizeof *s->timers);
        s->ticked = hpcw_i_malloc(m->ranks * sizeof *s->ticked);
        s->done = hpcw_i_malloc(m->ranks * sizeof *s->done);
        s->now = hpcw_i_malloc(m->ranks * sizeof *s->now);
        s->ready = hpcw_i_malloc(m->ranks * sizeof *s->ready);
        s->cursor = hpcw_i_malloc(m->ranks * sizeof *s->cursor);
        s->pace = hpcw_i_malloc(m->ranks * sizeof *s->pace);
        s->first_in = hpcw_i_malloc(ranks_words(m) * sizeof *s->first_in);
        s->first_out = hpcw_i_malloc(ranks_words(m) * sizeof *s->first_out);
    }
    if (s == NULL || s->object == NULL || s->where == NULL || s->slowness == NULL || s->shares == NULL ||
        s->compute == NULL || s->taken == NULL || s->timers == NULL || s->ticked == NULL || s->done == NULL ||
        s->now == NULL || s->ready == NULL || s->cursor == NULL || s->pace == NULL || s->first_in == NULL ||
        s->first_out == NULL) {
        model_trace_scratch_free(s);
        return hpcw_i_fail_memory(err, "trace", m->ranks, "ranks");
    }
    s->phase = UINT32_MAX; /* before the first one */
    *out = s;
    return HPCW_OK;
}

void model_trace_scratch_free(struct model_trace_scratch *s) {
    if (s != NULL) {
        hpcw_i_free(s->object);
        hpcw_i_free(s->where);
        hpcw_i_free(s->slowness);
        hpcw_i_free(s->shares);
        hpcw_i_free(s->compute);
        hpcw_i_free(s->taken);
        hpcw_i_free(s->timers);
        hpcw_i_free(s->ticked);
        hpcw_i_free(s->done);
        hpcw_i_free(s->now);
        hpcw_i_free(s->ready);
        hpcw_i_free(s->cursor);
        hpcw_i_free(s->pace);
        hpcw_i_free(s->first_in);
        hpcw_i_free(s->first_out);
        model_trace_free_messages(s);
        model_trace_free_divided(s);
        hpcw_i_free(s->event);
        hpcw_i_free(s->entry < s->other ? s->entry : s->other);
        hpcw_i_buf_free(&s->noise);
        hpcw_i_buf_free(&s->backward);
        hpcw_i_free(s);
    }
}
