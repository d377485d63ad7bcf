/* SPDX-License-Identifier: BSD-3-Clause */
/* What the load model says of an iteration: where the objects are, what the ranks compute, and the messages. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

void model_trace_place(const struct model_trace *m, struct model_trace_scratch *s, uint32_t phase) {
    if (phase < s->phase) {
        for (uint32_t o = 0; o < m->load->objects; o++) {
            s->object[o] = o;
        }
        s->phase = 0;
    }
    while (s->phase < phase) {
        model_load_move(m->load, s->object, ++s->phase);
    }
    model_load_ranks(m->load, s->object, phase, s->where);
}

/* ---- computing ---- */

static hpcw_status interrupt(const struct model_trace *m, struct model_trace_scratch *s, hpcw_error *err) {
    for (uint32_t r = 0; m->load->params.noise > 0 && r < m->ranks; r++) {
        uint32_t slot;
        const struct model_trace_noise noise = {r, model_load_interruption(m->load, r, s->phase, &slot)};
        if (noise.length_ns > 0 && !hpcw_i_buf_append(&s->noise, &noise, sizeof noise)) {
            return hpcw_i_fail_memory(err, "trace", 0, "the interruptions of an iteration");
        }
        s->compute[r] += noise.length_ns;
        s->taken[r] += noise.length_ns;
    }
    return HPCW_OK;
}

/* Adds the times of the objects of slots [first, first + count), by rank and slot. */
static void add_objects(const struct model_trace *m, struct model_trace_scratch *s, uint32_t first,
                        uint32_t count) {
    assert(count > 0 && count <= MODEL_TRACE_AT_ONCE);
    const uint32_t *object = s->object + first;
    double lasting[MODEL_TRACE_AT_ONCE];
    double slowness[MODEL_TRACE_AT_ONCE];
    uint64_t time_ns[MODEL_TRACE_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        lasting[i] = m->lasting[object[i]];
        slowness[i] = s->slowness[s->where[object[i]]];
    }
    model_load_times(m->load, object, lasting, count, s->phase, slowness, time_ns);
    for (uint32_t i = 0; i < count; i++) {
        s->compute[s->where[object[i]]] += m->exists[object[i]] ? time_ns[i] : 0;
    }
}

hpcw_status model_trace_sum_work(const struct model_trace *m, struct model_trace_scratch *s,
                                 struct model_trace_facts *facts, hpcw_error *err) {
    const struct model_load *load = m->load;
    memset(s->compute, 0, m->ranks * sizeof *s->compute);
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->slowness[r] = model_load_system(load, r, s->phase, &s->shares[r]);
    }
    for (uint32_t o = 0; o < load->objects; o += MODEL_TRACE_AT_ONCE) {
        const uint32_t rest = load->objects - o;
        add_objects(m, s, o, rest < MODEL_TRACE_AT_ONCE ? rest : MODEL_TRACE_AT_ONCE);
    }
    for (uint32_t r = 0; r < m->ranks; r += MODEL_TRACE_AT_ONCE) {
        const uint32_t count = m->ranks - r < MODEL_TRACE_AT_ONCE ? m->ranks - r : MODEL_TRACE_AT_ONCE;
        for (uint32_t which = 0; which <= load->params.groups; which++) {
            model_load_add_others(load, r, count, which, s->phase, s->slowness + r, s->compute + r);
        }
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->taken[r] = (uint64_t)((double)s->shares[r].between * (double)s->compute[r]);
        for (uint32_t i = 0; i < MODEL_LOAD_TIMERS; i++) {
            s->timers[MODEL_LOAD_TIMERS * r + i] =
                (uint64_t)((double)s->shares[r].timer[i] * (double)s->compute[r]);
        }
    }
    s->noise.size = 0;
    hpcw_status status = interrupt(m, s, err);
    *facts = (struct model_trace_facts){.checkpoint_ns = {UINT64_MAX, UINT64_MAX}};
    for (uint32_t r = 0; r < m->ranks; r++) {
        facts->compute_ns += s->compute[r];
        if (s->compute[r] > facts->slowest_ns) {
            facts->slowest_ns = s->compute[r];
            facts->slowest_rank = r;
        }
    }
    return status;
}

/* ---- messages ---- */

/* Edges of one kind between ranks: a batch that waits for its bytes. */
struct batch {
    uint32_t count;
    uint32_t owner[MODEL_TRACE_AT_ONCE];
    double ln_bytes[MODEL_TRACE_AT_ONCE];
    struct model_trace_message *edge;
};

static void end_batch(const struct model_trace *m, const struct model_trace_scratch *s, uint32_t kind,
                      struct batch *b) {
    uint64_t bytes[MODEL_TRACE_AT_ONCE];
    model_load_bytes(m->load, b->owner, model_load_shared(kind), b->ln_bytes, b->count, s->phase, bytes);
    for (uint32_t i = 0; i < b->count; i++) {
        b->edge[i].bytes = (uint32_t)bytes[i];
    }
    b->edge += b->count;
    b->count = 0;
}

static inline void add_edge(const struct model_trace *m, const struct model_trace_scratch *s,
                            const struct model_trace_edges *e, uint32_t index, uint32_t owner, uint32_t from,
                            uint32_t to, struct batch *b) {
    b->edge[b->count] = (struct model_trace_message){.from = from, .to = to};
    b->owner[b->count] = owner;
    b->ln_bytes[b->count++] = e->ln_bytes[index];
    if (b->count == MODEL_TRACE_AT_ONCE) {
        end_batch(m, s, e->kind, b);
    }
}

/* Lists all edges between ranks into s->edge; returns their number. */
static uint32_t list_edges(const struct model_trace *m, struct model_trace_scratch *s) {
    struct batch b = {.edge = s->edge};
    for (uint32_t k = 0; k < m->kinds; k++) {
        const struct model_trace_edges *e = &m->edges[k];
        for (uint32_t to = 0; e->from != NULL && to < m->load->objects; to++) {
            const uint32_t from = e->from[to];
            if (from != UINT32_MAX && s->where[from] != s->where[to]) {
                add_edge(m, s, e, to, model_load_owner(e->kind, from, to), s->where[from], s->where[to], &b);
            }
        }
        for (uint32_t r = 1; e->from == NULL && r < m->ranks; r++) {
            const bool up = e->kind == MODEL_LOAD_UP;
            const uint32_t parent = model_load_parent(r);
            add_edge(m, s, e, r, model_load_handler(r), up ? r : parent, up ? parent : r, &b);
        }
        end_batch(m, s, e->kind, &b);
    }
    return (uint32_t)(b.edge - s->edge);
}

static size_t count_edges(const struct model_trace *m, const struct model_trace_scratch *s) {
    size_t count = 0;
    for (uint32_t k = 0; k < m->kinds; k++) {
        const uint32_t *from = m->edges[k].from;
        for (uint32_t to = 0; from != NULL && to < m->load->objects; to++) {
            count += from[to] != UINT32_MAX && s->where[from[to]] != s->where[to];
        }
        count += from == NULL ? m->ranks - 1 : 0;
    }
    return count;
}

/* Puts the edges into the order of their receivers; s->first_in becomes where those of a receiver begin. */
static void sort_by_receiver(const struct model_trace *m, struct model_trace_scratch *s, uint32_t edges) {
    memset(s->first_in, 0, (m->ranks + (size_t)1) * sizeof *s->first_in);
    for (uint32_t i = 0; i < edges; i++) {
        s->first_in[s->edge[i].to + 1]++;
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->first_in[r + 1] += s->first_in[r];
        s->first_out[r] = s->first_in[r];
    }
    for (uint32_t i = 0; i < edges; i++) {
        s->whole[s->first_out[s->edge[i].to]++] = s->edge[i];
    }
}

/* Sorts a receiver's few messages by their senders, and keeps the order of those of one sender. */
static void sort_by_sender(struct model_trace_message *message, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const struct model_trace_message one = message[i];
        uint32_t at = i;
        for (; at > 0 && message[at - 1].from > one.from; at--) {
            message[at] = message[at - 1];
        }
        message[at] = one;
    }
}

/* Joins edges between the same ranks, in place. */
static hpcw_status join(const struct model_trace *m, struct model_trace_scratch *s, hpcw_error *err) {
    uint32_t kept = 0;
    uint32_t next = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        const uint32_t end = s->first_in[r + 1];
        const uint32_t first = kept;
        sort_by_sender(s->whole + next, end - next);
        for (; next < end; next++) {
            const struct model_trace_message one = s->whole[next];
            if (!m->params.aggregate || kept == first || s->whole[kept - 1].from != one.from) {
                s->whole[kept++] = one;
            } else {
                s->whole[kept - 1].bytes += one.bytes;
            }
            if (s->whole[kept - 1].bytes > INT32_MAX) {
                return hpcw_i_fail(err, HPCW_ERANGE,
                                   "trace: expected at most %" PRId32
                                   " bytes from rank %u to rank %u in iteration %u, got %u (trace.aggregate=no "
                                   "gives each edge a message of its own)",
                                   INT32_MAX, one.from, r, s->phase, s->whole[kept - 1].bytes);
            }
        }
        s->first_in[r] = first;
    }
    s->first_in[m->ranks] = kept;
    return HPCW_OK;
}

static hpcw_status reserve(struct model_trace_scratch *s, size_t edges, hpcw_error *err) {
    if (edges > UINT32_MAX >> MODEL_TRACE_WHAT_BITS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "trace: expected at most %u edges between ranks, got %zu",
                           UINT32_MAX >> MODEL_TRACE_WHAT_BITS, edges);
    }
    /* Never none, so that ranges without an edge begin at an object, too: C defines no NULL + 0. */
    if (edges >= s->capacity) {
        const size_t capacity = edges + edges / 8 + 1;
        model_trace_free_messages(s);
        s->edge = hpcw_i_malloc(capacity * sizeof *s->edge);
        s->whole = hpcw_i_malloc(capacity * sizeof *s->whole);
        s->capacity = capacity;
        if (s->edge == NULL || s->whole == NULL) {
            model_trace_free_messages(s);
            return hpcw_i_fail_memory(err, "trace", edges, "edges");
        }
    }
    return HPCW_OK;
}

void model_trace_free_messages(struct model_trace_scratch *s) {
    hpcw_i_free(s->edge);
    hpcw_i_free(s->whole);
    s->edge = s->whole = NULL;
    s->capacity = 0;
}

hpcw_status model_trace_list_messages(const struct model_trace *m, struct model_trace_scratch *s,
                                      hpcw_error *err) {
    hpcw_status status = reserve(s, count_edges(m, s), err);
    if (status != HPCW_OK) {
        return status;
    }
    sort_by_receiver(m, s, list_edges(m, s));
    return join(m, s, err);
}
