/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls, and when ranks leave them. */
#include <string.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"
#include "libwriter/base/detmath.h"

/* How late a rank leaves, the median; and at least, a rank that the system held while it waited, or that has seldom run what
 * comes then: the tail of doc/realism.md, "Calls". */
enum { EXIT_NS = 12, HELD_NS = 1000 };

/* The share of those in an iteration, and the part of them that the shortest one has of the longest one. */
struct held {
    double share, reach;
};
static struct held held_in(uint32_t iteration) {
    static const struct held first = {0.15, 0.97}, early = {0.03, 0.97}, usual = {0.0015, 0.999};
    return iteration == 0 ? first : iteration < MODEL_TRACE_WARM ? early : usual;
}

/* By how much the places in the code differ, a deviation of the logarithm: in what caches hold then, and for how long all
 * take. */
static const double place_rough = 0.7;

/* How long a rank waits in a collective call, as a share of the mean work in an iteration [A]. */
static const double waited_share = 0.02;

/* What is late by about that does not delay the ranks below it in the tree: it had sent before. */
enum { AHEAD_NS = 4000 };

void model_trace_draw(const struct model_trace *m, enum hpcw_i_purpose purpose, uint32_t first, uint32_t count,
                      uint32_t iteration, uint32_t part, uint32_t words, uint32_t *word) {
    uint32_t number[MODEL_TRACE_AT_ONCE];
    for (uint32_t i = 0; i < count; i++) {
        number[i] = first + i;
    }
    m->load->lanes->words(&(struct model_draws){m->load->seed, purpose, count, number, iteration, part}, words,
                          word);
}

uint32_t model_trace_latest(const struct model_trace *m, const uint64_t *time_ns) {
    uint32_t late = 0;
    for (uint32_t r = 1; r < m->ranks; r++) {
        late = time_ns[r] > time_ns[late] ? r : late;
    }
    return late;
}

uint64_t model_trace_last(const struct model_trace *m, const struct model_trace_scratch *s) {
    return s->now[model_trace_latest(m, s->now)] + 1;
}

/* At most, and half of it after so long. */
static const double cold_ns = 1500, cold_after_ns = 3e6;

uint64_t model_trace_cold_ns(const struct model_trace *m, uint32_t iteration, double share) {
    const double ns = share * m->load->phase[iteration].mean_ns * model_load_mean_objects(m->load);
    return (uint64_t)(cold_ns * ns / (ns + cold_after_ns));
}

/* Mostly 0: how long the system holds a rank back that others do not wait for. */
static uint64_t held_ns(const struct model_trace *m, uint32_t iteration, uint32_t whether, uint32_t away) {
    const struct held held = held_in(iteration);
    const uint64_t threshold = hpcw_i_threshold(held.share);
    const double part = (double)whether / (double)threshold;
    const double waits_ns = waited_share * m->load->phase[iteration].mean_ns * model_load_mean_objects(m->load);
    return model_load_absence(m->load, (uint64_t)waits_ns, away) +
           (whether < threshold ? (uint64_t)(HELD_NS / (1 - held.reach * part)) : 0);
}

/* Ranks look whether it is their turn, so see it up to a step later. */
static uint64_t step_ns(uint64_t step, uint32_t word) {
    return (word >> 8) * step >> 24;
}

/* Some calls take longer for all ranks: the result goes through the same few ranks to all others. A rank that is held is as
 * likely to have sent the result on before as after it. */
void model_trace_leave(const struct model_trace *m, uint32_t iteration, uint32_t number, uint64_t last,
                       uint64_t *time_ns) {
    uint32_t word[4 * MODEL_TRACE_AT_ONCE], place[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, number, 0, 4, place);
    const double rough = m->style.rough * hpcw_i_exp(place_rough * hpcw_i_normal(place[0], place[1]));
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_EXIT, 0, iteration, 2 * number + 1, word);
    /* The tree has another root each time: who came last, which the next iteration does not know. */
    const uint32_t root = word[1] % m->ranks;
    last += m->guard_ns + (uint64_t)(rough * (double)model_trace_late_ns(m, (double)m->guard_ns / 3, word[0])) +
            step_ns(m->hop_ns / 2, word[2]);
    for (uint32_t first = 0, count; first < m->ranks; first += count) {
        count = batch_of(first, m->ranks);
        model_trace_draw(m, HPCW_I_FOR_TRACE_EXIT, first, count, iteration, 2 * number, 4, word);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t r = first + i;
            const uint64_t depth_ns = (uint64_t)__builtin_popcount(r ^ root) * m->hop_ns / 4 +
                                      step_ns(m->hop_ns / 5, word[count + i]);
            time_ns[r] = last + depth_ns + model_trace_late_ns(m, 0.25 * (double)depth_ns, word[count + i]) +
                         model_trace_late_ns(m, EXIT_NS, word[i]) +
                         held_ns(m, iteration, word[2 * count + i], word[3 * count + i]);
            const uint64_t above = r > 0 && (word[i] & 1) ? time_ns[model_trace_parent(r)] : 0;
            const uint64_t ahead = AHEAD_NS / 4 + word[2 * count + i] % (2 * AHEAD_NS);
            time_ns[r] = time_ns[r] + ahead > above ? time_ns[r] : above - ahead;
        }
    }
}

void model_trace_let_go(const struct model_trace *m, uint32_t late, uint32_t word, uint64_t *time_ns) {
    if (m->ranks > MODEL_TRACE_FEW_RANKS || word % 3 == 0) {
        return;
    }
    uint32_t first = 0;
    for (uint32_t r = 1; r < m->ranks; r++) {
        first = time_ns[r] < time_ns[first] ? r : first;
    }
    const uint64_t earliest = time_ns[first];
    time_ns[first] = time_ns[late];
    time_ns[late] = earliest;
}

/* Of the objects' work, the share since the last time that the ranks met in this iteration. */
static double share_before(const struct model_trace_scratch *s, const struct model_trace_op *op) {
    uint32_t met = 0, now = 0;
    for (const struct model_trace_op *o = s->script.op; o < op; o++) {
        now = o->kind == MODEL_TRACE_OP_COMPUTE ? o->until : now;
        met = o->kind == MODEL_TRACE_OP_ALL ? now : met;
    }
    return (double)(now - met) / MODEL_TRACE_WORK;
}

void model_trace_meet(const struct model_trace *m, struct model_trace_scratch *s,
                      const struct model_trace_op *op) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, op->what, 0);
        t.now += (uint64_t)t.pace->cold_call_ns;
        t.pace->cold_call_ns = 0;
        if (op->ns > 0) {
            takes(&t, op->ns);
        }
        end_track(&t);
    }
    const uint32_t late = model_trace_latest(m, s->now);
    model_trace_leave(m, s->script.iteration, op->number,
                      s->now[late] + 1 + model_trace_cold_ns(m, s->script.iteration, share_before(s, op)),
                      s->now);
    model_trace_let_go(m, late, model_trace_pace_word(&s->pace[late]) >> 8, s->now);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        happens(&t, op->what + 1, op->bytes);
        end_track(&t);
    }
}

/* The result comes down the tree: a rank has it after the one above, which has a lower number. */
void model_trace_broadcast(const struct model_trace *m, struct model_trace_scratch *s,
                           const struct model_trace_op *op) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, op->what, 0);
        const uint64_t come = r > 0 ? s->now[model_trace_parent(r)] + m->hop_ns : 0;
        takes(&t, op->ns);
        t.now = come > t.now ? come : t.now;
        happens(&t, op->what + 1, op->bytes);
        end_track(&t);
    }
}

/* The parts come up the tree. */
void model_trace_gather(const struct model_trace *m, struct model_trace_scratch *s,
                        const struct model_trace_op *op) {
    memset(s->ready, 0, m->ranks * sizeof *s->ready);
    for (uint32_t r = m->ranks; r-- > 0;) {
        struct track t = track_of(m, s, r);
        after_pause(&t, op->what, 0);
        t.now = s->ready[r] > t.now ? s->ready[r] : t.now;
        takes(&t, op->ns);
        happens(&t, op->what + 1, op->bytes);
        if (r > 0 && s->ready[model_trace_parent(r)] < t.now + m->hop_ns) {
            s->ready[model_trace_parent(r)] = t.now + m->hop_ns;
        }
        end_track(&t);
    }
}

/* ---- for truth.json ---- */

static bool is_exit(const struct model_trace_op *op) {
    return op->kind == MODEL_TRACE_OP_ALL &&
           (op->what == MODEL_TRACE_ALLREDUCE || op->what == MODEL_TRACE_BARRIER);
}

uint32_t model_trace_exits(const struct model_trace *m, uint32_t iteration,
                           struct model_trace_exit exit[MODEL_TRACE_MOST_EXITS]) {
    struct model_trace_script script;
    uint32_t count = 0;
    double at = 0;
    model_trace_write_script(m, iteration, &script);
    for (uint32_t i = 0; i < script.ops && count < MODEL_TRACE_MOST_EXITS - 1; i++) {
        const struct model_trace_op *op = &script.op[i];
        at = op->kind == MODEL_TRACE_OP_COMPUTE ? (double)op->until / MODEL_TRACE_WORK : at;
        if (is_exit(op)) {
            exit[count++] = (struct model_trace_exit){iteration, op->number, at};
        }
    }
    if (!model_trace_program_is_silent(&m->program[MODEL_TRACE_IN_LOOP])) {
        exit[count++] = (struct model_trace_exit){iteration, 0, 1};
    }
    return count;
}

void model_trace_exit_times(const struct model_trace *m, const struct model_trace_exit *exit,
                            uint64_t *time_ns) {
    model_trace_leave(m, exit->iteration, exit->number, 0, time_ns);
}
