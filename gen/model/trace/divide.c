/* SPDX-License-Identifier: BSD-3-Clause */
/* How what ranks send to each other in an iteration is divided over its exchanges. */
#include <inttypes.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/model/trace/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Messages carry whole numbers of these bytes. */
enum { ELEMENT = 8 };

/* The bytes of each part: multiples of one size, and in the first one, which is that of the whole mesh, the rest. If there is
 * enough, they are multiples of `row`. */
static void divide_bytes(const struct model_trace_script *script, uint32_t bytes, uint32_t row,
                         uint32_t *part) {
    const uint32_t parts = script->parts + script->more_parts;
    uint32_t weights = 0;
    for (uint32_t i = 0; i < parts; i++) {
        weights += script->weight[i];
    }
    const uint32_t of = bytes % (ELEMENT * weights) != 0 && bytes / row >= weights ? row : ELEMENT;
    const uint32_t unit = bytes / of / weights * of;
    uint32_t rest = bytes;
    for (uint32_t i = 1; i < parts; i++) {
        part[i] = unit * script->weight[i];
        rest -= part[i];
    }
    part[0] = rest;
}

/* The bytes of message k of several that have a part together: the first one has the rest. */
static uint32_t share_of(uint32_t bytes, uint32_t k, uint32_t more) {
    const uint32_t share = bytes / (more + 1) / ELEMENT * ELEMENT;
    return k > 0 ? share : bytes - more * share;
}

/* The first dimension of the grid of ranks in which two are apart, and whether the receiver is above the sender. */
static uint32_t direction_of(const struct model_trace *m, uint32_t from, uint32_t to) {
    uint32_t a[3];
    uint32_t b[3];
    uint32_t d = 0;
    model_grid_position(m->load->grid, from, a);
    model_grid_position(m->load->grid, to, b);
    while (d + 1 < m->load->params.dims && a[d] == b[d]) {
        d++;
    }
    return 2 * d + (b[d] > a[d]);
}

/* Goes through all messages of all exchanges: counts them in count[exchanges], or lists them if there are places. */
static void go_through(const struct model_trace *m, struct model_trace_scratch *s, uint32_t *next, bool lists) {
    const struct model_trace_script *script = &s->script;
    uint32_t part[MODEL_TRACE_MOST_PARTS + MODEL_TRACE_MORE_PARTS];
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t x = 0; lists && x < script->exchanges; x++) {
            model_trace_in(m, s, x)[r] = next[x];
        }
        for (uint32_t i = s->first_in[r]; i < s->first_in[r + 1]; i++) {
            const struct model_trace_message *whole = &s->whole[i];
            const uint32_t direction = direction_of(m, whole->from, whole->to);
            divide_bytes(script, whole->bytes, m->load->params.edge_unit, part);
            for (uint32_t x = 0; x < script->exchanges; x++) {
                const struct model_trace_exchange *one = &script->exchange[x];
                if ((one->directions >> direction & 1) == 0 || part[one->part] == 0) {
                    continue;
                }
                for (uint32_t k = 0; lists && k <= one->more; k++) {
                    const uint32_t of_lists =
                        one->part >= script->parts && m->program[MODEL_TRACE_AT_START].statements == 0
                            ? m->style.lists_tag
                            : 0;
                    const uint32_t tag = one->tag != MODEL_TRACE_DIRECTIONS
                                             ? one->tag
                                             : m->style.first_tag + direction + of_lists;
                    s->message[next[x] + k] = (struct model_trace_message){
                        whole->from, whole->to, share_of(part[one->part], k, one->more), tag};
                }
                next[x] += 1 + one->more;
            }
        }
    }
    for (uint32_t x = 0; lists && x < script->exchanges; x++) {
        model_trace_in(m, s, x)[m->ranks] = next[x];
    }
}

/* Lists the numbers of an exchange's messages by sender. */
static void sort_out(const struct model_trace *m, struct model_trace_scratch *s, uint32_t exchange) {
    const uint32_t *in = model_trace_in(m, s, exchange);
    uint32_t *first = model_trace_out(m, s, exchange);
    memset(first, 0, (m->ranks + (size_t)1) * sizeof *first);
    for (uint32_t i = in[0]; i < in[m->ranks]; i++) {
        first[s->message[i].from + 1]++;
    }
    first[0] = in[0];
    for (uint32_t r = 0; r < m->ranks; r++) {
        first[r + 1] += first[r];
    }
    for (uint32_t i = in[0]; i < in[m->ranks]; i++) {
        s->out[first[s->message[i].from]++] = i;
    }
    for (uint32_t r = m->ranks; r > 0; r--) {
        first[r] = first[r - 1];
    }
    first[0] = in[0];
}

static hpcw_status reserve(const struct model_trace *m, struct model_trace_scratch *s, uint64_t messages,
                           hpcw_error *err) {
    const size_t bounds = (size_t)s->script.exchanges * 2 * (m->ranks + (size_t)1);
    if (messages > UINT32_MAX >> MODEL_TRACE_WHAT_BITS) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "trace: expected at most %u messages in an iteration, got %" PRIu64
                           " (fewer trace.exchanges make fewer)",
                           UINT32_MAX >> MODEL_TRACE_WHAT_BITS, messages);
    }
    if (messages > s->message_capacity || bounds > s->bounds_capacity) {
        const size_t capacity = (size_t)(messages + messages / 8);
        model_trace_free_divided(s);
        s->message = hpcw_i_malloc(capacity * sizeof *s->message);
        s->out = hpcw_i_malloc(capacity * sizeof *s->out);
        s->word = hpcw_i_malloc(capacity * sizeof *s->word);
        s->sent = hpcw_i_malloc(capacity * sizeof *s->sent);
        s->bounds = hpcw_i_malloc(bounds * sizeof *s->bounds);
        s->message_capacity = capacity;
        s->bounds_capacity = bounds;
        if (s->message == NULL || s->out == NULL || s->word == NULL || s->sent == NULL || s->bounds == NULL) {
            model_trace_free_divided(s);
            return hpcw_i_fail_memory(err, "trace", capacity, "messages");
        }
    }
    return HPCW_OK;
}

void model_trace_free_divided(struct model_trace_scratch *s) {
    hpcw_i_free(s->message);
    hpcw_i_free(s->out);
    hpcw_i_free(s->word);
    hpcw_i_free(s->sent);
    hpcw_i_free(s->bounds);
    s->message = NULL;
    s->out = s->word = s->bounds = NULL;
    s->sent = NULL;
    s->message_capacity = s->bounds_capacity = 0;
}

hpcw_status model_trace_divide(const struct model_trace *m, struct model_trace_scratch *s, hpcw_error *err) {
    uint32_t next[MODEL_TRACE_MOST_EXCHANGES] = {0};
    uint64_t messages = 0;
    go_through(m, s, next, false);
    for (uint32_t x = 0; x < s->script.exchanges; x++) {
        const uint32_t count = next[x];
        next[x] = (uint32_t)messages;
        messages += count;
    }
    hpcw_status status = reserve(m, s, messages, err);
    if (status == HPCW_OK) {
        s->messages = (uint32_t)messages;
        go_through(m, s, next, true);
        for (uint32_t x = 0; x < s->script.exchanges; x++) {
            sort_out(m, s, x);
        }
    }
    return status;
}
