/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of one iteration. Each line of the script goes over all ranks and adds the events of each to the rank's own run
 * of events; between two lines, all ranks know when the others sent or arrived.
 */
#include <assert.h>
#include <string.h>

#include "gen/model/load/system.h"
#include "gen/model/trace/track.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* What a call takes longer for the first time, or one that has little to do; what is before it on one rank or another; and what
 * is before a call after a rank has computed, at most. */
enum {
    FIRST_CALL_NS = 4500,
    FIRST_LITTLE_NS = 70,
    FIRST_MORE_NS = 190,
    FIRST_OWN_NS = 1200,
    AFTER_COMPUTE_NS = 25
};

/* By how much the times of a piece of work differ from its share, as a part of it or of the next one: on a rank in the whole
 * run, and for many iterations, at most; on all ranks for as many, little by little, and in waves of some steps; each time; and
 * each time in nanoseconds, whatever its length: medians over the kernels. Kernels are sharp, then jump to other levels. */
static const double piece_own = 0.04, piece_level = 0.015, piece_common = 0.1, piece_drift = 0.002,
                    piece_wave = 0.006, piece_late = 0.02, piece_ns = 90;
enum { DRIFT = 90, WAVE = 13, RIPPLE = 4, LEAST_LEVEL = 30, LEVELS = 150 };

/* Of the part that is new in each step: what all ranks have, and what each rank has for itself, once as a part of the waves
 * and once of the nanoseconds. */
static const double each_wave = 0.7, own_wave = 1.2, common_ns = 0.45, alone_ns = 0.9;

/* The logarithm of how much more or less a rank scatters at a place than others, at most. */
static const double rank_scatters = 1.4;

/* Of what pieces took longer, what is left after the next one; and the most that one takes longer, over the median. */
static const double piece_left = 0.3, piece_most = 1.6;

/* What of that is left for rank 0, which starts last: another rank has used these pages before. So it is of other code that runs
 * once, and not for longer than this. */
static const double first_shared = 0.6;
enum { FRESH_NS = 5000 };

/* What a call takes longer for the second time; and what is left of it in the next iterations. */
enum { SECOND_CALL_NS = 70 };
static const double second[MODEL_TRACE_WARM] = {0, 1, 0.5, 0.4, 0.2, 0.1};

/* The logarithm of how slow the code at a place is, at most. */
static const double place_own = 1;

/* ---- lines of the script ---- */

/* All ranks do something alone, or the first ones. It takes one program longer than another, and the same code as long. */
static void work(const struct model_trace *m, struct model_trace_scratch *s, uint32_t ranks, uint32_t line) {
    const uint32_t ns = s->script.op[line].ns, number = s->script.op[line].number;
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, number > 0 ? number : line, ns, 1, w);
    const double median_ns =
        ns * (s->script.op[line].step > 0 ? 1 : hpcw_i_exp(0.8 * hpcw_i_normal(w[0], w[1])));
    /* Rank 0 starts last, and finds what others have read before. */
    const bool fresh = s->script.iteration == 0 && median_ns < FRESH_NS && ranks > 1;
    for (uint32_t r = 0; r < ranks; r++) {
        struct track t = track_of(m, s, r);
        works(&t, fresh ? (r == 0 ? first_shared : 2 - first_shared) * median_ns : median_ns);
        end_track(&t);
    }
}

/* A piece of the objects' work: shares of it that are done before and after it, and after the next one; what is done later
 * in this iteration on all ranks; how much its times scatter; and its number. */
struct work_piece {
    uint32_t before, until, next;
    double later, later_ns, late;
    double own_later, own_later_ns; /* deviations of what one rank alone does later */
    uint32_t own;
    uint32_t level; /* number of the stretch of iterations in which its ranks differ in the same way */
};

/* Drawn every `length` steps ... */
static double at_step(const struct model_trace *m, uint32_t step, uint32_t kernel, uint32_t length) {
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CALL, step / length, kernel, 2 + length, w);
    return hpcw_i_normal(w[0], w[1]);
}

/* ... and straight between them. */
static double ripple(const struct model_trace *m, uint32_t step, uint32_t kernel, uint32_t length) {
    const double part = (double)(step % length) / length;
    return (1 - part) * at_step(m, step, kernel, length) + part * at_step(m, step + length, kernel, length);
}

/* What all ranks see, as they share data, memory and power: mostly new in each step. */
static double wave(const struct model_trace *m, uint32_t step, uint32_t kernel) {
    return 0.5 * ripple(m, step, kernel, WAVE) + 0.3 * ripple(m, step, kernel, RIPPLE) +
           each_wave * at_step(m, step, kernel, 1);
}

/* What the system takes seldom comes alone: one in so many times a part of it comes a little later. */
enum { TWICE_ONE_IN = 4, LATER_NS = 120000 };

/* What the system has taken from the rank in this iteration up to a share of its work. */
static uint64_t taken_until(const struct track *t, uint64_t all_ns, uint32_t until) {
    const uint64_t taken = t->s->taken[t->rank];
    const uint32_t number = t->s->phase * 40503u + t->rank * 25173u, at = number % MODEL_TRACE_WORK;
    if ((number >> 3) % TWICE_ONE_IN > 0) {
        return at < until ? taken : 0;
    }
    const double later = (double)(number >> 5 & 0xff) * LATER_NS / 0x100;
    return at + later * MODEL_TRACE_WORK / ((double)all_ns + 1) < until ? taken : at < until ? taken / 2 : 0;
}

/* What a timer has taken from it until a time after the start of the iteration. */
static uint64_t timer_until(const struct track *t, uint32_t timer, uint64_t until_ns) {
    const uint64_t all_ns = t->s->timers[MODEL_LOAD_TIMERS * t->rank + timer];
    if (all_ns == 0) {
        return 0;
    }
    const struct model_load_ticks ticks = model_load_ticks(t->model->load, t->rank, t->s->phase, timer);
    const double since_ns = (double)until_ns - ticks.after_ns;
    const double come = since_ns < 0 ? 0 : 1 + (double)(uint64_t)(since_ns / ticks.period_ns);
    return (uint64_t)((double)all_ns * (come < ticks.count ? come / ticks.count : 1));
}

/* What they take until the end of a piece, which is then as much later, so that more of them can tick before it. */
static uint64_t timers_until(const struct track *t, uint64_t own_ns) {
    const uint64_t taken = t->s->ticked[t->rank], done_ns = t->s->done[t->rank] - taken;
    const uint64_t left_ns = own_ns > done_ns ? own_ns - done_ns : 0;
    uint64_t now = taken, before;
    do {
        before = now;
        now = 0;
        for (uint32_t i = 0; i < MODEL_LOAD_TIMERS; i++) {
            now += timer_until(t, i, t->now + left_ns + (before - taken));
        }
        now = now > before ? now : before;
    } while (now > before);
    return now;
}

/* What all ranks see does not show in pieces that are much shorter than this: memory that they share takes longer. */
enum { SHORT_NS = 20000 };

/* Of what is new to a rank, what has come when a share of its work is done: less and less in all of it, and most at a few
 * places: there code and data are new. */
static double fresh_until(const struct model_trace *m, double until) {
    enum { PLACES = 3 };
    double come = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        const uint32_t place = ((uint32_t)m->load->seed + i) * 2654435769u;
        come += (place ^ place >> 15) * 0x1p-32 < until ? 1.0 / PLACES : 0;
    }
    return 0.3 * (1 - (1 - until) * (1 - until) * (1 - until)) + 0.7 * come;
}

/* Nearly normal, with mean 0 and variance 1. */
static double centred(struct model_trace_pace *p) {
    const double a = model_trace_pace_word(p) * 0x1p-32, b = model_trace_pace_word(p) * 0x1p-32,
                 c = model_trace_pace_word(p) * 0x1p-32;
    return 2 * (a + b + c - 1.5);
}

/* What is done of a rank's work after a piece. The pieces sum to the time of its tasks, so what some take longer, the next
 * ones take less, a little each. What the system takes from the rank in this iteration, it takes at once, and timers when they
 * tick, or if the rank does not work then, before the end of its next piece. */
static uint64_t work_until(struct track *t, const struct work_piece *p) {
    const struct model_trace *m = t->model;
    const uint64_t *timers = t->s->timers + (size_t)MODEL_LOAD_TIMERS * t->rank;
    const uint64_t all = t->s->compute[t->rank] - t->s->taken[t->rank] - timers[0] - timers[1];
    if (p->until == MODEL_TRACE_WORK) {
        return t->s->compute[t->rank];
    }
    const uint32_t shorter =
        p->next - p->until < p->until - p->before ? p->next - p->until : p->until - p->before;
    const double late = model_trace_late(m->delays->call, model_trace_pace_word(t->pace)),
                 scatters = hpcw_i_exp(rank_scatters * model_trace_own(t->rank, p->own + 4));
    t->pace->behind = piece_left * t->pace->behind +
                      shorter * scatters * p->late * ((late < piece_most ? late : piece_most) - 1);
    const double ns = (double)all * shorter / MODEL_TRACE_WORK, shared = ns / (ns + SHORT_NS);
    const double own_later = scatters * p->own_later * centred(t->pace),
                 own_later_ns = scatters * p->own_later_ns * centred(t->pace);
    double more = shared * (p->later + own_later + (p->later_ns + own_later_ns) / (ns + 1)) +
                  t->pace->behind / shorter + piece_own * model_trace_own(t->rank, p->own) +
                  piece_level * model_trace_own(t->rank, p->own + p->level) +
                  m->style.parity * model_trace_own(t->rank, p->own + 2 + (t->s->phase & 1));
    more = more < 0.45 ? more > -0.45 ? more : -0.45 : 0.45;
    const struct model_load_shares *share = &t->s->shares[t->rank];
    const double until = (double)p->until / MODEL_TRACE_WORK;
    const double done = (1 - share->apart - share->fresh) * until + (until > share->place ? share->apart : 0) +
                        share->fresh * fresh_until(m, until);
    const uint64_t own_ns =
        (uint64_t)((double)all * (done + shorter * more / MODEL_TRACE_WORK)) + taken_until(t, all, p->until);
    t->s->ticked[t->rank] = timers[0] + timers[1] > 0 ? timers_until(t, own_ns) : 0;
    return own_ns + t->s->ticked[t->rank];
}

static void compute(const struct model_trace *m, struct model_trace_scratch *s, const struct model_trace_op *op,
                    struct work_piece *p) {
    uint32_t own[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CALL, UINT32_MAX, op->number, 2, own);
    const double waves = m->style.shared * piece_wave * hpcw_i_exp(0.5 * hpcw_i_normal(own[2], own[3]));
    p->later = waves * wave(m, m->before[s->phase] + op->step, op->number);
    p->own_later = own_wave * waves;
    p->late = m->style.uneven * piece_late * hpcw_i_exp(0.5 * hpcw_i_normal(own[0], own[1]));
    p->later +=
        piece_drift * hpcw_i_exp(hpcw_i_normal(own[1], own[2])) * ripple(m, s->phase, op->number, DRIFT);
    const double all_ns = piece_ns * hpcw_i_exp(0.5 * hpcw_i_normal(own[2], own[3]));
    p->later_ns = common_ns * all_ns * at_step(m, m->before[s->phase] + op->step, op->number ^ own[1], 1);
    p->own_later_ns = alone_ns * all_ns;
    p->own = own[0] ^ own[3];
    p->level = 1 + (s->phase + own[3] % LEVELS) / (LEAST_LEVEL + own[2] % LEVELS);
    p->later += piece_common * model_trace_own(UINT32_MAX, p->own + p->level);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        const uint64_t done = work_until(&t, p);
        after_pause(&t, MODEL_TRACE_COMPUTE, 0);
        t.now += done > s->done[r] + TRACER_NS ? done - s->done[r] : TRACER_NS;
        s->done[r] = done;
        happens(&t, MODEL_TRACE_COMPUTE + 1, 0);
        model_trace_chill(t.pace, AFTER_COMPUTE_NS);
        end_track(&t);
    }
}

/* The piece at a line of the script. */
static struct work_piece piece_at(const struct model_trace_script *script, uint32_t line) {
    struct work_piece p = {.until = script->op[line].until, .next = MODEL_TRACE_WORK};
    for (uint32_t i = 0; i < line; i++) {
        p.before = script->op[i].kind == MODEL_TRACE_OP_COMPUTE ? script->op[i].until : p.before;
    }
    for (uint32_t i = script->ops; --i > line;) {
        p.next = script->op[i].kind == MODEL_TRACE_OP_COMPUTE ? script->op[i].until : p.next;
    }
    return p;
}

/* What a call with little to set up takes besides the looks at the clock: mostly nothing, in 1 of 17 calls a few steps. */
static double little_ns(double u) {
    return u < 0.94 ? 0 : 8 / (1.08 - u) - 56;
}

static void call(const struct model_trace *m, struct model_trace_scratch *s, const struct model_trace_op *op,
                 bool first) {
    const bool fresh = first && m->style.between < 1 && m->style.first_ns < FIRST_CALL_NS;
    const double new_ns = fresh ? s->line & 16 ? FIRST_LITTLE_NS : FIRST_MORE_NS : 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, op->what, 0);
        const double u = model_trace_pace_word(t.pace) * 0x1p-32;
        t.pace->cold_call_ns = little_ns(model_trace_pace_word(t.pace) * 0x1p-32) +
                               new_ns * (0.9 + 0.2 * u + (u > 0.93 ? 1.5 : 0));
        takes(&t, op->ns);
        happens(&t, op->what + 1, 0);
        end_track(&t);
    }
}

/* A single event of the first ranks. */
static void mark(const struct model_trace *m, struct model_trace_scratch *s, uint32_t ranks, uint32_t what,
                 uint32_t number) {
    for (uint32_t r = 0; r < ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, what, number);
        end_track(&t);
    }
}

/* The ranks leave the last reduction of this iteration, or of the one before. */
static void leave(const struct model_trace *m, struct model_trace_scratch *s, const struct model_trace_op *op) {
    const uint32_t of_this = op->number;
    const uint64_t last = of_this ? model_trace_last(m, s) : 0;
    if (model_trace_program_is_silent(&m->program[MODEL_TRACE_IN_LOOP])) {
        for (uint32_t r = 0; r < m->ranks; r++) {
            s->now[r] = last + m->guard_ns; /* no call, so nothing that takes another time each time */
        }
    } else {
        const uint32_t late = of_this ? model_trace_latest(m, s->now) : s->late;
        model_trace_leave(m, s->phase - 1 + of_this, 0,
                          last + model_trace_cold_ns(m, s->phase - 1 + of_this, 1), s->now);
        if (late != UINT32_MAX) {
            model_trace_let_go(m, late, model_trace_pace_word(&s->pace[late]) >> 8, s->now);
        }
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        happens(&t, op->what, op->bytes);
        end_track(&t);
    }
}

static bool is_call(enum model_trace_op_kind kind) {
    return kind == MODEL_TRACE_OP_CALL || kind == MODEL_TRACE_OP_ALL || kind == MODEL_TRACE_OP_DOWN ||
           kind == MODEL_TRACE_OP_UP || kind == MODEL_TRACE_OP_POST || kind == MODEL_TRACE_OP_SEND ||
           kind == MODEL_TRACE_OP_WAIT || kind == MODEL_TRACE_OP_FILES;
}

/* Whether the ranks make this call for the first time in an iteration. */
static bool is_first(const struct model_trace_script *script, uint32_t line) {
    bool first = script->iteration < MODEL_TRACE_WARM;
    for (uint32_t i = 0; first && i < line; i++) {
        first = script->op[i].kind != script->op[line].kind || script->op[i].what != script->op[line].what;
    }
    return first;
}

/* The first time is much slower, the next few ones a little. Most of that is a matter of the place in the code: before a call
 * ranks differ by a tenth, or by about a microsecond, in it by more, and in 1 of 8 a rank finds all that it needs. What a
 * program says that it does before a call has that in it. */
static void warm_up(const struct model_trace *m, struct model_trace_scratch *s, uint32_t line) {
    const uint32_t iteration = s->script.iteration;
    const struct model_trace_op *before = line > 0 ? &s->script.op[line - 1] : NULL;
    const bool said = before != NULL && before->step > 0 &&
                      (before->kind == MODEL_TRACE_OP_WORK || before->kind == MODEL_TRACE_OP_ROOT);
    const double call_ns = iteration == 0 ? FIRST_CALL_NS : SECOND_CALL_NS * second[iteration];
    const double gap_ns = iteration > 0 ? m->style.second_ns * second[iteration] : said ? 0 : m->style.first_ns;
    const double own_ns = iteration > 0 || said ? 0 : FIRST_OWN_NS;
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, iteration, line, 3, w);
    const double gap_here_ns = gap_ns * (0.5 + 0.5 * hpcw_i_uniform(w[0])),
                 call_here_ns = call_ns * (0.7 + 0.6 * hpcw_i_uniform(w[1]));
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct model_trace_pace *p = &s->pace[r];
        const double u = model_trace_pace_word(p) * 0x1p-32, v = model_trace_pace_word(p) * 0x1p-32;
        p->cold_ns += (r == 0 ? first_shared : 1) * gap_here_ns * (0.93 + 0.14 * u) + own_ns * (u * u);
        p->cold_call_ns = call_here_ns * (v < 0.125 ? 0.03 : 0.4 + v);
    }
}

static void run_line(const struct model_trace *m, struct model_trace_scratch *s, uint32_t line,
                     struct model_trace_facts *facts) {
    const struct model_trace_op *op = &s->script.op[line];
    const bool first = is_first(&s->script, line);
    struct work_piece piece;
    s->place = hpcw_i_exp(place_own * model_trace_own(line, m->style.every));
    s->line = line * 40503u + (uint32_t)m->load->seed;
    if (first && is_call(op->kind)) {
        warm_up(m, s, line);
    }
    switch (op->kind) {
    case MODEL_TRACE_OP_LAUNCH:
        model_trace_launch(m, s);
        break;
    case MODEL_TRACE_OP_STATE:
    case MODEL_TRACE_OP_ENTER:
        mark(m, s, m->ranks, op->what, 0);
        break;
    case MODEL_TRACE_OP_STEP:
        mark(m, s, 1, op->what, op->number);
        break;
    case MODEL_TRACE_OP_WORK:
        work(m, s, m->ranks, line);
        break;
    case MODEL_TRACE_OP_ROOT:
        work(m, s, 1, line);
        break;
    case MODEL_TRACE_OP_CALL:
        call(m, s, op, first && s->script.iteration == 0);
        break;
    case MODEL_TRACE_OP_LEAVE:
        leave(m, s, op);
        break;
    case MODEL_TRACE_OP_ALL:
        model_trace_meet(m, s, op);
        break;
    case MODEL_TRACE_OP_DOWN:
        model_trace_broadcast(m, s, op);
        break;
    case MODEL_TRACE_OP_UP:
        model_trace_gather(m, s, op);
        break;
    case MODEL_TRACE_OP_COMPUTE:
        piece = piece_at(&s->script, line);
        compute(m, s, op, &piece);
        break;
    case MODEL_TRACE_OP_POST:
        model_trace_post(m, s, op->number);
        break;
    case MODEL_TRACE_OP_SEND:
        model_trace_send(m, s, op);
        break;
    case MODEL_TRACE_OP_WAIT:
        model_trace_wait(m, s, op);
        break;
    case MODEL_TRACE_OP_FILES:
        facts->checkpoint_ns[facts->checkpoint_ns[0] != UINT64_MAX] =
            model_trace_write_files(m, s, s->phase - 1 + op->number, op->number);
        break;
    }
}

/* ---- the iteration ---- */

static void draw_calls(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t i = 0, count; i < s->messages; i += count) {
        count = batch_of(i, s->messages);
        model_trace_draw(m, HPCW_I_FOR_TRACE_CALL, i, count, s->phase, 0, 1, s->word + i);
    }
    for (uint32_t r = 0, count; r < m->ranks; r += count) {
        uint32_t word[4 * MODEL_TRACE_AT_ONCE];
        count = batch_of(r, m->ranks);
        model_trace_draw(m, HPCW_I_FOR_TRACE_CALL, r, count, s->phase, 1, 4, word);
        for (uint32_t i = 0; i < count; i++) {
            model_trace_pace_begin(
                &s->pace[r + i], m->style.tempo,
                (const uint32_t[]){word[i], word[count + i], word[2 * count + i], word[3 * count + i]});
        }
    }
}

/* Gives each rank a run of events. */
static void divide(const struct model_trace *m, struct model_trace_scratch *s) {
    uint64_t next = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->cursor[r] = next;
        next += s->tally.each + (r == 0 ? s->tally.root : 0);
        for (uint32_t x = 0; x < s->script.exchanges; x++) {
            const uint32_t *in = model_trace_in(m, s, x);
            const uint32_t *out = model_trace_out(m, s, x);
            next += (uint64_t)s->tally.in[x] * (in[r + 1] - in[r]) +
                    (uint64_t)s->tally.out[x] * (out[r + 1] - out[r]);
        }
    }
}

/* Files of a checkpoint are sorted by rank in the same space. */
static hpcw_status reserve_events(const struct model_trace *m, struct model_trace_scratch *s, uint64_t count,
                                  hpcw_error *err) {
    count = count > m->ranks ? count : m->ranks;
    if (count > s->event_capacity) {
        const size_t capacity = (size_t)(count + count / 8);
        hpcw_i_free(s->event);
        hpcw_i_free(s->entry < s->other ? s->entry : s->other);
        s->event = hpcw_i_malloc_large(capacity * sizeof *s->event);
        s->entry = hpcw_i_malloc_large(2 * capacity * sizeof *s->entry);
        s->other = s->entry != NULL ? s->entry + capacity : NULL;
        s->event_capacity = s->event != NULL && s->entry != NULL ? capacity : 0;
    }
    return count <= s->event_capacity && count <= UINT32_MAX
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "trace", (size_t)count, "events of an iteration");
}

uint64_t model_trace_events(const struct model_trace *m, const struct model_trace_scratch *s) {
    uint64_t events = s->tally.each * m->ranks + s->tally.root;
    for (uint32_t x = 0; x < s->script.exchanges; x++) {
        const uint32_t *in = model_trace_in(m, s, x);
        events += (uint64_t)(s->tally.in[x] + s->tally.out[x]) * (in[m->ranks] - in[0]);
    }
    return events;
}

hpcw_status model_trace_count(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                              uint64_t *events, hpcw_error *err) {
    model_trace_place(m, s, iteration);
    model_trace_write_script(m, iteration, &s->script);
    model_trace_tally(m, &s->script, &s->tally);
    hpcw_status status = model_trace_list_messages(m, s, err);
    status = status == HPCW_OK ? model_trace_divide(m, s, err) : status;
    *events = status == HPCW_OK ? model_trace_events(m, s) : 0;
    return status;
}

static hpcw_status make(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                        struct model_trace_run *run, hpcw_error *err) {
    *run = (struct model_trace_run){.model = m};
    hpcw_status status = model_trace_count(m, s, iteration, &run->count, err);
    if (status == HPCW_OK) {
        status = model_trace_sum_work(m, s, &run->facts, err);
    }
    if (status == HPCW_OK) {
        status = reserve_events(m, s, run->count, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    divide(m, s);
    draw_calls(m, s);
    memset(s->now, 0, m->ranks * sizeof *s->now);
    memset(s->done, 0, m->ranks * sizeof *s->done);
    memset(s->ticked, 0, m->ranks * sizeof *s->ticked);
    s->met = false;
    for (uint32_t i = 0; i < s->script.ops; i++) {
        run_line(m, s, i, &run->facts);
    }
    run->facts.duration_ns = model_trace_last(m, s);
    assert(s->cursor[m->ranks - 1] == run->count);
    run->event = s->event;
    run->message = s->message;
    run->messages = s->messages;
    run->noise = (const void *)s->noise.data;
    run->noises = s->noise.size / sizeof *run->noise;
    return HPCW_OK;
}

/* Of few ranks, the iteration before is made again to know who came last to its reduction, as if that one had begun as drawn.
 * With more ranks each iteration is made once. */
hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err) {
    hpcw_status status = HPCW_OK;
    s->late = UINT32_MAX;
    if (iteration > 0 && m->ranks <= MODEL_TRACE_FEW_RANKS) {
        status = make(m, s, iteration - 1, run, err);
        s->late = model_trace_latest(m, s->now);
    }
    return status == HPCW_OK ? make(m, s, iteration, run, err) : status;
}
