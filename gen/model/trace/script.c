/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/script.h"

#include <assert.h>
#include <string.h>

struct model_trace_op *model_trace_add(struct model_trace_script *s, enum model_trace_op_kind kind,
                                       uint32_t what, uint32_t ns) {
    assert(s->ops < MODEL_TRACE_MOST_OPS);
    struct model_trace_op *op = &s->op[s->ops++];
    *op = (struct model_trace_op){.kind = kind, .what = what, .ns = ns};
    if (kind == MODEL_TRACE_OP_ALL) {
        op->number = ++s->collectives;
    }
    return op;
}

void model_trace_collect(struct model_trace_script *s, enum model_trace_op_kind kind, uint32_t what,
                         uint32_t ns, uint32_t bytes) {
    model_trace_add(s, kind, what, ns)->bytes = bytes;
}

/* Of a message, and of a rank besides, by what waits for it. */
static void tally_wait(const struct model_trace *m, struct model_trace_tally *t,
                       const struct model_trace_op *op) {
    static const uint64_t receives[MODEL_TRACE_WAITS] = {
        [MODEL_TRACE_WAIT_EACH] = UINT64_C(1) << MODEL_TRACE_WAIT / 2,
        [MODEL_TRACE_WAIT_FEW] = UINT64_C(1) << MODEL_TRACE_WAIT / 2,
        [MODEL_TRACE_WAIT_ANY] = UINT64_C(1) << MODEL_TRACE_WAITANY / 2,
        [MODEL_TRACE_WAIT_RECV] = UINT64_C(1) << MODEL_TRACE_RECV / 2};
    const uint64_t all = UINT64_C(1) << MODEL_TRACE_WAITALL / 2;
    if (op->what == MODEL_TRACE_WAIT_HERE) {
        t->in[op->number]++;
        return;
    }
    const uint64_t mask = receives[op->what];
    const uint32_t ends = m->records & all ? 2 : 0; /* of a call */
    const bool blocks = op->what == MODEL_TRACE_WAIT_RECV;
    const uint32_t all_calls = blocks || op->what == MODEL_TRACE_WAIT_FEW ? 0
                               : op->what == MODEL_TRACE_WAIT_TWICE       ? 2
                                                                          : 1;
    const uint32_t calls = all_calls - (all_calls > 0 ? op->until : 0);
    t->each += calls * ends;
    t->used |= calls > 0 ? all : 0;
    if (op->what == MODEL_TRACE_WAIT_SENT) {
        return;
    }
    t->in[op->number] += 1 + (blocks ? 0 : ends) + (mask != 0 ? ends : 0);
    t->used |= mask | (blocks ? 0 : UINT64_C(1) << MODEL_TRACE_WAITED / 2);
}

void model_trace_tally(const struct model_trace *m, const struct model_trace_script *s,
                       struct model_trace_tally *t) {
    static const uint8_t files[] = {MODEL_TRACE_CHECKPOINT, MODEL_TRACE_OPEN, MODEL_TRACE_WRITE,
                                    MODEL_TRACE_CLOSE};
    t->each = t->root = t->collectives = t->used = 0;
    memset(t->in, 0, s->exchanges * sizeof t->in[0]);
    memset(t->out, 0, s->exchanges * sizeof t->out[0]);
    for (uint32_t i = 0; i < s->ops; i++) {
        const struct model_trace_op *op = &s->op[i];
        const uint64_t mask = UINT64_C(1) << op->what / 2;
        const uint32_t one = (m->records & mask) != 0;
        t->collectives += op->bytes > 0 ? one : 0;
        switch (op->kind) {
        case MODEL_TRACE_OP_LAUNCH:
        case MODEL_TRACE_OP_WORK:
        case MODEL_TRACE_OP_ROOT:
            continue;
        case MODEL_TRACE_OP_STEP:
            t->root += one;
            break;
        case MODEL_TRACE_OP_STATE:
        case MODEL_TRACE_OP_ENTER:
        case MODEL_TRACE_OP_LEAVE:
            t->each += one;
            break;
        case MODEL_TRACE_OP_CALL:
        case MODEL_TRACE_OP_ALL:
        case MODEL_TRACE_OP_DOWN:
        case MODEL_TRACE_OP_UP:
        case MODEL_TRACE_OP_COMPUTE:
            t->each += 2 * one;
            break;
        case MODEL_TRACE_OP_POST:
            t->in[op->number] += 2 * one;
            break;
        case MODEL_TRACE_OP_SEND:
            if (op->what == MODEL_TRACE_SENDRECV) { /* one call of each rank */
                t->each += 2 * one;
                t->out[op->number]++;
            } else {
                t->out[op->number] += 1 + 2 * one;
            }
            break;
        case MODEL_TRACE_OP_WAIT:
            tally_wait(m, t, op);
            continue;
        case MODEL_TRACE_OP_FILES:
            for (size_t k = 0; k < sizeof files; k++) {
                t->each += (m->records >> files[k] / 2 & 1) * 2;
                t->used |= UINT64_C(1) << files[k] / 2;
            }
            continue;
        }
        t->used |= mask;
    }
}
