/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One iteration. It goes from moment to moment, each with a loop over all ranks that makes a column of times. At the end
 * it lists the times rank by rank and sorts them.
 */
#include <assert.h>
#include <string.h>

#include "gen/model/trace/private.h"
#include "gen/model/trace/trace.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Time of a tracer and of the calls themselves, nanoseconds. Never 0, so no two events of a rank have the same time. */
enum { CALL_NS = 40, POST_NS = 60, RETURN_NS = 50 };

/* Ranks in a batch. */
enum { AT_ONCE = 512 };

struct model_trace_scratch {
    uint64_t *entry, *other; /* [events] each, in one allocation */
    uint64_t *time;          /* [columns][stride] */
    size_t stride; /* a little more than ranks, so that a rank's times are not all in the same cache set */
    struct model_trace_column *column; /* [columns] */
    uint32_t columns;                  /* so far */
    uint32_t *list;                    /* [columns] those in which ranks of a pattern have an event */
    uint64_t *now;                     /* [ranks] true time of each rank */
    uint64_t *sent;                    /* [ranks] when it sent its message of this direction */
    uint64_t *shift;                   /* [ranks] what its clock shows in addition to the true time */
    uint64_t *compute;                 /* [ranks] */
    uint64_t *way;                     /* [ranks] transfer time of the message to it */
    uint64_t *part;                    /* [halos][ranks] of computing */
    uint32_t *object;                  /* [objects] by rank and slot, in phase `phase` */
    uint32_t phase;
    struct hpcw_i_buf noise, backward; /* lists of this iteration */
    bool incomplete;                   /* out of memory for an entry of them */
};

void model_trace_scratch_free(struct model_trace_scratch *s) {
    if (s != NULL) {
        hpcw_i_free(s->entry < s->other ? s->entry : s->other);
        hpcw_i_free(s->time);
        hpcw_i_free(s->column);
        hpcw_i_free(s->list);
        hpcw_i_free(s->now);
        hpcw_i_free(s->object);
        hpcw_i_free(s->part);
        hpcw_i_buf_free(&s->noise);
        hpcw_i_buf_free(&s->backward);
        hpcw_i_free(s);
    }
}

static void rewind_objects(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t o = 0; o < m->load->objects; o++) {
        s->object[o] = o;
    }
    s->phase = 0;
}

enum { CLOCKS = 5, LINE = 8 }; /* arrays of [ranks] words; words of a cache line */

static size_t stride_of(const struct model_trace *m) {
    return ((size_t)m->ranks + LINE - 1) / LINE * LINE + LINE;
}

uint64_t model_trace_scratch_size(const struct model_trace *m) {
    return 8 * (2 * (m->events + m->checkpoint_events) + (uint64_t)m->columns * stride_of(m) +
                (uint64_t)m->ranks * (CLOCKS + m->halos)) +
           4 * (uint64_t)m->load->objects;
}

hpcw_status model_trace_scratch_new(const struct model_trace *m, struct model_trace_scratch **out,
                                    hpcw_error *err) {
    const size_t events = (size_t)(m->events + m->checkpoint_events);
    struct model_trace_scratch *s = hpcw_i_calloc(1, sizeof *s);
    *out = NULL;
    if (s != NULL) {
        s->stride = stride_of(m);
        s->entry = hpcw_i_malloc_large(2 * events * sizeof *s->entry);
        s->other = s->entry + events;
        s->time = hpcw_i_malloc_large(m->columns * s->stride * sizeof *s->time);
        s->column = hpcw_i_malloc(m->columns * sizeof *s->column);
        s->list = hpcw_i_malloc(m->columns * sizeof *s->list);
        s->now = hpcw_i_malloc((size_t)m->ranks * CLOCKS * sizeof *s->now);
        s->sent = s->now + m->ranks;
        s->shift = s->sent + m->ranks;
        s->compute = s->shift + m->ranks;
        s->way = s->compute + m->ranks;
        s->part = hpcw_i_malloc((size_t)m->ranks * m->halos * sizeof *s->part);
        s->object = hpcw_i_malloc(m->load->objects * sizeof *s->object);
    }
    if (s == NULL || s->entry == NULL || s->time == NULL || s->column == NULL || s->list == NULL ||
        s->now == NULL || s->part == NULL || s->object == NULL) {
        model_trace_scratch_free(s);
        return hpcw_i_fail_memory(err, "trace", events, "events of an iteration");
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->shift[r] = (uint64_t)((int64_t)m->most_skew_ns + model_trace_skew(m, r));
    }
    rewind_objects(m, s);
    *out = s;
    return HPCW_OK;
}

/* ---- moments ---- */

/* Adds a column, for times by the ranks' clocks. */
static uint64_t *next_column(struct model_trace_scratch *s, const struct model_trace_column *column) {
    s->column[s->columns] = *column;
    return s->time + s->stride * s->columns++;
}

/* The next event of all ranks. */
static void happens(const struct model_trace *m, struct model_trace_scratch *s, uint32_t what,
                    uint64_t later_ns) {
    uint64_t *time = next_column(s, &(struct model_trace_column){.what = (uint16_t)what});
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->now[r] += later_ns;
        time[r] = s->now[r] + s->shift[r];
    }
}

static void begin(const struct model_trace *m, struct model_trace_scratch *s, uint32_t state) {
    happens(m, s, state, CALL_NS);
}
static void end(const struct model_trace *m, struct model_trace_scratch *s, uint32_t state) {
    happens(m, s, state + 1, RETURN_NS);
}

/* ---- computing ---- */

/* Adds the times of object[count] to those of their ranks. */
static void add_work(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                     const uint32_t *object, const uint32_t *rank, const double *slowness, uint32_t count) {
    const struct model_load *load = m->load;
    uint64_t left[MODEL_LOAD_AT_ONCE];
    uint64_t part[4][MODEL_LOAD_AT_ONCE];
    model_load_times(load, object, count, iteration, slowness, left);
    for (uint32_t i = 0; i < count; i++) {
        s->compute[rank[i]] += left[i];
    }
    for (uint32_t h = 0; h < m->halos; h += 4) {
        const uint64_t *next = left;
        if (load->params.subphases > 0) {
            model_load_next_parts(load, object, count, h, left, part[0]);
            next = part[0];
        }
        for (uint32_t k = h; k < h + 4 && k < m->halos; k++, next += count) {
            uint64_t *sum = s->part + (size_t)k * m->ranks;
            for (uint32_t i = 0; i < count; i++) {
                sum[rank[i]] += next[i];
            }
        }
    }
}

/* The work of all ranks: the parts of their objects' times. */
static void plan_work(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration) {
    const struct model_load *load = m->load;
    uint32_t rank[MODEL_LOAD_AT_ONCE];
    double slowness[MODEL_LOAD_AT_ONCE];
    uint32_t count = 0;
    if (iteration < s->phase) {
        rewind_objects(m, s);
    }
    while (s->phase < iteration) {
        model_load_move(load, s->object, ++s->phase);
    }
    memset(s->part, 0, (size_t)m->ranks * m->halos * sizeof *s->part);
    memset(s->compute, 0, m->ranks * sizeof *s->compute);
    const uint32_t *object = s->object;
    for (uint32_t r = 0; r < m->ranks; r++) {
        double of_node = model_machine_slowness(load->machine, model_machine_node(load->machine, r));
        for (uint32_t slot = 0; slot < load->per_rank; slot++) {
            rank[count] = r;
            slowness[count++] = of_node;
            if (count == MODEL_LOAD_AT_ONCE) {
                add_work(m, s, iteration, object, rank, slowness, count);
                object += count;
                count = 0;
            }
        }
    }
    if (count > 0) {
        add_work(m, s, iteration, object, rank, slowness, count);
    }
}

static uint64_t interruption(const struct model_trace *m, struct model_trace_scratch *s, uint32_t rank,
                             uint32_t iteration, uint32_t halo) {
    const struct model_trace_params *p = &m->params;
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_NOISE, rank, iteration, halo, w);
    double ms = p->noise_min_ms + (p->noise_max_ms - p->noise_min_ms) * hpcw_i_uniform(w[1]);
    const struct model_trace_noise noise = {rank, (uint64_t)(ms * 1e6)};
    s->incomplete = !hpcw_i_buf_append(&s->noise, &noise, sizeof noise) || s->incomplete;
    return noise.length_ns;
}

static uint32_t number_ranks(const struct model_trace *m, uint32_t first, uint32_t rank[AT_ONCE]) {
    const uint32_t count = m->ranks - first < AT_ONCE ? m->ranks - first : AT_ONCE;
    for (uint32_t i = 0; i < count; i++) {
        rank[i] = first + i;
    }
    return count;
}

/* Adds the system's interruptions to the work of the ranks. */
static void interrupt(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                      uint32_t halo) {
    const uint64_t threshold = hpcw_i_threshold(m->params.noise);
    uint32_t count = 0;
    for (uint32_t r = 0; threshold > 0 && r < m->ranks; r += count) {
        uint32_t rank[AT_ONCE];
        uint32_t word[AT_ONCE];
        count = number_ranks(m, r, rank);
        const struct model_draws draws = {m->load->seed, HPCW_I_FOR_TRACE_NOISE, count, rank, iteration, halo};
        m->load->lanes->words(&draws, 1, word);
        for (uint32_t i = 0; i < count; i++) {
            if (word[i] < threshold) {
                s->part[(size_t)halo * m->ranks + r + i] += interruption(m, s, r + i, iteration, halo);
            }
        }
    }
}

static void compute(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration,
                    uint32_t halo) {
    const uint64_t *part = s->part + (size_t)halo * m->ranks;
    interrupt(m, s, iteration, halo);
    begin(m, s, MODEL_TRACE_COMPUTE);
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->now[r] += part[r];
    }
    end(m, s, MODEL_TRACE_COMPUTE);
}

/* ---- messages ---- */

/* Draws times of base[i] times a log-normal factor, nanoseconds. */
static void draw_times(const struct model_trace *m, const struct model_draws *draws, double sigma,
                       const double *base, uint64_t *time_ns) {
    double x[AT_ONCE];
    m->load->lanes->normals(draws, x);
    for (uint32_t i = 0; i < draws->count; i++) {
        x[i] *= sigma;
    }
    m->load->lanes->exps(x, draws->count);
    for (uint32_t i = 0; i < draws->count; i++) {
        time_ns[i] = (uint64_t)(base[i] * x[i]);
    }
}

/* Draws the transfer times of the messages that the ranks receive. */
static void draw_ways(const struct model_trace *m, struct model_trace_scratch *s, uint32_t number,
                      uint32_t direction) {
    const size_t row = (size_t)direction * m->ranks;
    for (uint32_t r = 0; r < m->ranks; r += AT_ONCE) {
        const uint32_t count = m->ranks - r < AT_ONCE ? m->ranks - r : AT_ONCE;
        const struct model_draws draws = {
            m->load->seed, HPCW_I_FOR_TRACE_TIME, count, m->from + row + r, direction, number};
        draw_times(m, &draws, m->params.transfer_sigma, m->base_ns + row + r, s->way + r);
    }
}

/* Lists the messages that by skewed clocks arrive before they are sent. */
static void compare_clocks(const struct model_trace *m, struct model_trace_scratch *s, uint32_t direction,
                           const uint64_t *came) {
    const size_t row = (size_t)direction * m->ranks;
    for (uint32_t r = 0; m->most_skew_ns > 0 && r < m->ranks; r++) {
        const uint32_t from = m->from[row + r];
        const uint64_t left = s->sent[from] + s->shift[from];
        if ((m->use[row + r] & MODEL_TRACE_RECEIVES) != 0 && came[r] < left) {
            const struct model_trace_backward b = {from, r, left - came[r]};
            s->incomplete = !hpcw_i_buf_append(&s->backward, &b, sizeof b) || s->incomplete;
        }
    }
}

/* `value` if `use` has any of these bits, otherwise 0. Without a branch, which ranks at the grid's ends would mispredict. */
static inline uint64_t where(uint8_t use, uint8_t any, uint64_t value) {
    return (0 - (uint64_t)((use & any) != 0)) & value;
}

/* All ranks send in one direction and receive from the other side. */
static void exchange(const struct model_trace *m, struct model_trace_scratch *s, uint32_t number,
                     uint32_t direction) {
    const uint8_t calls = MODEL_TRACE_SENDS | MODEL_TRACE_RECEIVES;
    const uint8_t *use = m->use + (size_t)direction * m->ranks;
    const uint32_t *from = m->from + (size_t)direction * m->ranks;
    struct model_trace_column column = {.kind = MODEL_TRACE_OF_CALL, .direction = (uint8_t)direction};
    uint64_t *time = next_column(s, &column);
    column.kind = MODEL_TRACE_OF_SENDER;
    column.what = MODEL_TRACE_SEND;
    column.tag = (uint16_t)(number % 1000 * MODEL_TRACE_MOST_DIRECTIONS + direction);
    uint64_t *left = next_column(s, &column);
    draw_ways(m, s, number, direction);
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint64_t now = s->now[r] + where(use[r], calls, CALL_NS);
        time[r] = now + s->shift[r];
        now += where(use[r], MODEL_TRACE_SENDS, POST_NS);
        left[r] = now + s->shift[r];
        s->now[r] = s->sent[r] = now;
    }
    column.kind = MODEL_TRACE_OF_RECEIVER;
    column.what = MODEL_TRACE_RECEIVE;
    uint64_t *came = next_column(s, &column);
    column =
        (struct model_trace_column){.what = 1, .kind = MODEL_TRACE_OF_CALL, .direction = (uint8_t)direction};
    time = next_column(s, &column);
    for (uint32_t r = 0; r < m->ranks; r++) {
        const uint64_t ready = s->now[r] + POST_NS;
        const uint64_t sent = s->sent[from[r]];
        /* A large message waits until its receiver has a buffer (rendezvous). */
        const uint64_t buffer = where(use[r], MODEL_TRACE_LARGE, ready);
        const uint64_t arrives = (buffer > sent ? buffer : sent) + 1 + s->way[r];
        const uint64_t received = arrives > ready ? arrives : ready;
        uint64_t now = s->now[r] + where(use[r], MODEL_TRACE_RECEIVES, received - s->now[r]);
        came[r] = now + s->shift[r];
        now += where(use[r], calls, RETURN_NS);
        time[r] = now + s->shift[r];
        s->now[r] = now;
    }
    compare_clocks(m, s, direction, came);
}

/* A collective call: no rank leaves it before the last one has entered it. Their ends differ by some nanoseconds. */
static void together(const struct model_trace *m, struct model_trace_scratch *s, uint32_t state,
                     double takes_ns) {
    uint64_t last = 0;
    begin(m, s, state);
    for (uint32_t r = 0; r < m->ranks; r++) {
        last = s->now[r] > last ? s->now[r] : last;
    }
    last += 1 + (uint64_t)takes_ns;
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->now[r] = last + (r * UINT32_C(2654435761) >> 23);
    }
    end(m, s, state);
}

static double reduction_ns(const struct model_trace *m) {
    uint32_t levels = 0;
    while (levels < 31 && (UINT32_C(1) << levels) < m->ranks) {
        levels++;
    }
    return levels * m->load->machine->params.latency_us[MODEL_OTHER_GROUP] * 1e3;
}

static void write_checkpoints(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration) {
    const struct model_trace_params *p = &m->params;
    uint32_t count = 0;
    begin(m, s, MODEL_TRACE_WRITE);
    for (uint32_t r = 0; r < m->ranks; r += count) {
        uint32_t rank[AT_ONCE];
        double base[AT_ONCE];
        uint64_t takes[AT_ONCE];
        count = number_ranks(m, r, rank);
        for (uint32_t i = 0; i < count; i++) {
            base[i] = (double)p->checkpoint_bytes / p->write_gbs;
        }
        const struct model_draws draws = {m->load->seed, HPCW_I_FOR_TRACE_WRITE, count, rank, iteration, 0};
        draw_times(m, &draws, p->write_sigma, base, takes);
        for (uint32_t i = 0; i < count; i++) {
            s->now[r + i] += takes[i];
        }
    }
    end(m, s, MODEL_TRACE_WRITE);
}

static void checkpoint(const struct model_trace *m, struct model_trace_scratch *s, uint32_t iteration) {
    begin(m, s, MODEL_TRACE_CHECKPOINT);
    together(m, s, MODEL_TRACE_OPEN, 1e6 + reduction_ns(m));
    write_checkpoints(m, s, iteration);
    together(m, s, MODEL_TRACE_CLOSE, 2e5 + reduction_ns(m));
    end(m, s, MODEL_TRACE_CHECKPOINT);
    together(m, s, MODEL_TRACE_BARRIER, reduction_ns(m));
}

static void step_done(struct model_trace_scratch *s) {
    uint64_t *time =
        next_column(s, &(struct model_trace_column){.what = MODEL_TRACE_STEP, .kind = MODEL_TRACE_OF_FIRST});
    s->now[0] += CALL_NS;
    time[0] = s->now[0] + s->shift[0];
}

/* ---- order ---- */

static bool has_event(const struct model_trace_column *c, uint32_t pattern, uint8_t directs) {
    const bool sends = directs >> c->direction & 1, receives = directs >> (c->direction ^ 1) & 1;
    switch ((enum model_trace_kind)c->kind) {
    case MODEL_TRACE_OF_CALL:
        return sends || receives;
    case MODEL_TRACE_OF_SENDER:
        return sends;
    case MODEL_TRACE_OF_RECEIVER:
        return receives;
    case MODEL_TRACE_OF_FIRST:
        return pattern == 0;
    case MODEL_TRACE_OF_ALL:
        break;
    }
    return true;
}

/* Lists the events of each rank in their order; returns their number. */
static uint64_t list_events(const struct model_trace *m, struct model_trace_scratch *s) {
    uint64_t count = 0;
    uint32_t listed = UINT32_MAX; /* pattern whose columns s->list has */
    uint32_t columns = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        const uint32_t pattern = m->pattern[r];
        if (pattern != listed) {
            listed = pattern;
            columns = 0;
            for (uint32_t c = 0; c < s->columns; c++) {
                if (has_event(&s->column[c], pattern, m->directs[pattern])) {
                    s->list[columns++] = c;
                }
            }
        }
        for (uint32_t i = 0; i < columns; i++) {
            const uint32_t c = s->list[i];
            const uint32_t low = (uint32_t)s->time[c * s->stride + r];
            s->entry[count++] = (uint64_t)(r << m->column_bits | c) << 32 | low;
        }
    }
    return count;
}

static uint32_t bits_of(uint64_t x) {
    return x == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(x);
}

static void use_entries(struct model_trace_scratch *s, uint64_t *sorted) {
    if (sorted != s->entry) {
        s->other = s->entry;
        s->entry = sorted;
    }
}

/* Sorts by time, at most `last`, and keeps the order of equal times. Long iterations are sorted by the low half, then by
 * the high one. */
static void sort(const struct model_trace *m, struct model_trace_scratch *s, uint64_t count, uint64_t last) {
    const uint32_t bits = bits_of(last);
    use_entries(s, model_trace_sort(s->entry, s->other, count, bits < 32 ? bits : 32));
    if (bits > 32) {
        const uint32_t mask = ((uint32_t)1 << m->column_bits) - 1;
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t id = (uint32_t)(s->entry[i] >> 32);
            const uint64_t time = s->time[(id & mask) * s->stride + (id >> m->column_bits)];
            s->entry[i] = (uint64_t)id << 32 | time >> 32;
        }
        use_entries(s, model_trace_sort(s->entry, s->other, count, bits - 32));
    }
}

/* ---- the iteration ---- */

static void sum_up(const struct model_trace *m, const struct model_trace_scratch *s,
                   struct model_trace_facts *facts) {
    *facts = (struct model_trace_facts){0};
    for (uint32_t r = 0; r < m->ranks; r++) {
        facts->compute_ns += s->compute[r];
        if (s->compute[r] > facts->slowest_ns) {
            facts->slowest_ns = s->compute[r];
            facts->slowest_rank = r;
        }
    }
}

hpcw_status model_trace_iteration(const struct model_trace *m, struct model_trace_scratch *s,
                                  uint32_t iteration, struct model_trace_run *run, hpcw_error *err) {
    s->noise.size = s->backward.size = 0;
    s->incomplete = false;
    s->columns = 0;
    memset(s->now, 0, m->ranks * sizeof *s->now);
    plan_work(m, s, iteration);
    sum_up(m, s, &run->facts);
    begin(m, s, MODEL_TRACE_ITERATION);
    for (uint32_t h = 0; h < m->halos; h++) {
        compute(m, s, iteration, h);
        begin(m, s, MODEL_TRACE_HALO);
        for (uint32_t k = 0; k < m->directions; k++) {
            exchange(m, s, iteration * m->halos + h, k);
        }
        end(m, s, MODEL_TRACE_HALO);
    }
    together(m, s, MODEL_TRACE_ALLREDUCE, reduction_ns(m));
    if (model_trace_is_checkpoint(m, iteration)) {
        checkpoint(m, s, iteration);
    }
    step_done(s);
    end(m, s, MODEL_TRACE_ITERATION);
    assert(s->columns <= m->columns);
    uint64_t last = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        last = s->now[r] > last ? s->now[r] : last;
    }
    run->facts.duration_ns = last + m->gap_ns;
    run->count = list_events(m, s);
    assert(run->count == model_trace_events(m, iteration));
    last += 2 * m->most_skew_ns;
    sort(m, s, run->count, last);
    run->model = m;
    run->order = s->entry;
    run->column = s->column;
    run->time = s->time;
    run->stride = s->stride;
    run->wide = last > UINT32_MAX;
    run->noise = (const void *)s->noise.data;
    run->noises = s->noise.size / sizeof *run->noise;
    run->backward = (const void *)s->backward.data;
    run->backwards = s->backward.size / sizeof *run->backward;
    return s->incomplete ? hpcw_i_fail_memory(err, "trace", 0, "the faults of an iteration") : HPCW_OK;
}
