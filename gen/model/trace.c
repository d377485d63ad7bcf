/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/trace.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/detmath.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "model/grid.h"

#define FIELD(f) offsetof(struct hpcw_i_trace_params, f)
#define REAL(name, f, lo, hi, u, text)                                                                         \
    {                                                                                                          \
        .key = "trace." name, .type = HPCW_I_PARAM_F64, .offset = FIELD(f), .min = lo, .max = hi, .unit = u,   \
        .help = text                                                                                           \
    }
#define BYTES(name, f, most, text)                                                                             \
    {                                                                                                          \
        .key = "trace." name, .type = HPCW_I_PARAM_SIZE, .offset = FIELD(f), .min = 1, .max = most,            \
        .unit = "bytes", .help = text                                                                          \
    }

/* M: measured, see the load and link models; A: assumption. */
const struct hpcw_i_param hpcw_i_trace_param[] = {
    {.key = "trace.dims",
     .type = HPCW_I_PARAM_U32,
     .offset = FIELD(dims),
     .min = 1,
     .max = 3,
     .help = "dimensions of the grid of ranks that exchange halos"},
    {.key = "trace.periodic",
     .type = HPCW_I_PARAM_BOOL,
     .offset = FIELD(periodic),
     .help = "ranks at opposite ends of the grid are neighbours"},
    BYTES("message_bytes", message_bytes, 0x1p30, "median size of a halo message [A]"),
    REAL("message_sigma", message_sigma, 0, 3, NULL, "standard deviation of ln(size of a halo message) [A]"),
    REAL("transfer_sigma", transfer_sigma, 0, 1, NULL, "standard deviation of ln(time on the way) [M]"),
    REAL("noise", noise, 0, 1, NULL, "chance that the system interrupts a rank while it computes [A]"),
    REAL("noise_min", noise_min_ms, 0, 1e6, "ms", "shortest interruption [M]"),
    REAL("noise_max", noise_max_ms, 0, 1e6, "ms", "longest interruption [M]"),
    {.key = "trace.checkpoint_every",
     .type = HPCW_I_PARAM_U32,
     .offset = FIELD(checkpoint_every),
     .min = 0,
     .max = 1048576,
     .help = "iterations from one checkpoint to the next; 0: none [A]"},
    BYTES("checkpoint_bytes", checkpoint_bytes, 0x1p40, "size of a rank's checkpoint"),
    REAL("write_rate", write_gbs, 1e-6, 1e3, "GB/s", "rate at which a rank writes its checkpoint [A]"),
    REAL("write_sigma", write_sigma, 0, 2, NULL, "standard deviation of ln(time to write) [A]"),
    REAL("skew", skew_us, 0, 1e6, "us",
         "standard deviation of the ranks' clock offsets; messages may then seem to arrive before they were "
         "sent"),
};
const size_t hpcw_i_trace_param_count = sizeof hpcw_i_trace_param / sizeof hpcw_i_trace_param[0];

void hpcw_i_trace_params_init(struct hpcw_i_trace_params *params) {
    *params = (struct hpcw_i_trace_params){
        .dims = 2,
        .message_bytes = 256 << 10,
        .message_sigma = 0.3,
        .transfer_sigma = 0.12,
        .noise = 1e-4,
        .noise_min_ms = 2,
        .noise_max_ms = 8,
        .checkpoint_every = 10,
        .checkpoint_bytes = 32 << 10,
        .write_gbs = 0.1,
        .write_sigma = 0.5,
    };
}

/* What a tracer and the calls themselves take, nanoseconds. Never 0: no two events of a rank share a time. */
enum { CALL_NS = 40, POST_NS = 60, RETURN_NS = 50, GAP_NS = 1000, MOST_DIRECTIONS = 6 };

/* ---- building ---- */

/* Where a rank's message goes in a direction: 2 d up, 2 d + 1 down along dimension d. */
static uint32_t neighbour(const struct hpcw_i_trace_model *m, uint32_t rank, uint32_t direction) {
    uint32_t d = direction / 2;
    bool up = direction % 2 == 0;
    uint32_t at[3];
    hpcw_i_grid_place(m->grid, rank, at);
    bool outside = up ? at[d] + 1 == m->grid[d] : at[d] == 0;
    if (m->grid[d] == 1 || (outside && !m->params.periodic)) {
        return UINT32_MAX;
    }
    at[d] = outside ? (up ? 0 : m->grid[d] - 1) : up ? at[d] + 1 : at[d] - 1;
    return hpcw_i_grid_cell(m->grid, at);
}

/* Time of an undisturbed message: bad ports and cables, the cards that the ranks of a node share, and the usual
 * congestion beyond a switch. */
static double base_ns(const struct hpcw_i_machine *m, uint32_t from, uint32_t to, uint32_t bytes) {
    enum hpcw_i_class class = hpcw_i_machine_class(m, from, to);
    struct hpcw_i_message_cost cost = hpcw_i_machine_cost(m, class, bytes);
    uint32_t a = hpcw_i_machine_node(m, from);
    uint32_t b = hpcw_i_machine_node(m, to);
    double slower = 1;
    if (class >= HPCW_I_SAME_SWITCH) {
        slower = m->out_slowdown[a] > m->in_slowdown[b] ? m->out_slowdown[a] : m->in_slowdown[b];
        slower /= hpcw_i_machine_cable(m, hpcw_i_machine_switch(m, a), hpcw_i_machine_switch(m, b));
        slower *= m->params.ppn > m->params.nics ? (double)m->params.ppn / m->params.nics : 1;
    }
    if (class >= HPCW_I_SAME_GROUP) {
        slower /= bytes >= m->params.heavy_size ? m->params.heavy.mean : m->params.light.mean;
    }
    uint32_t hops = hpcw_i_machine_distance(m, a, b);
    double hop_ns = hops > 1 ? (hops - 1) * m->params.hop_us * 1e3 : 0;
    return (cost.fixed_ps + cost.transfer_ps * slower) * 1e-3 + hop_ns;
}

static void link_ranks(struct hpcw_i_trace_model *m) {
    const struct hpcw_i_trace_params *p = &m->params;
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t k = 0; k < m->directions; k++) {
            struct hpcw_i_trace_link *link = &m->link[(size_t)r * m->directions + k];
            uint32_t w[4];
            hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_MESSAGE, r, k, 0, w);
            double bytes =
                (double)p->message_bytes * hpcw_i_exp(p->message_sigma * hpcw_i_normal(w[0], w[1])) + 0.5;
            link->to = neighbour(m, r, k);
            link->bytes = bytes < 1 ? 1 : bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
            link->base_ns = link->to == UINT32_MAX ? 0 : base_ns(m->load->machine, r, link->to, link->bytes);
        }
    }
}

/* Ends of messages of a rank in one exchange with all its neighbours, and the calls for them. */
static void count_exchange(const struct hpcw_i_trace_model *m, uint32_t rank, uint32_t *ends, uint32_t *calls) {
    const struct hpcw_i_trace_link *link = &m->link[(size_t)rank * m->directions];
    *ends = *calls = 0;
    for (uint32_t k = 0; k < m->directions; k++) {
        uint32_t here = (uint32_t)(link[k].to != UINT32_MAX) + (uint32_t)(link[k ^ 1].to != UINT32_MAX);
        *ends += here;
        *calls += here > 0;
    }
}

/* Events of a rank: iteration, computations, exchanges, reduction. */
static uint32_t events_of(const struct hpcw_i_trace_model *m, uint32_t rank) {
    uint32_t ends;
    uint32_t calls;
    count_exchange(m, rank, &ends, &calls);
    return 2 + m->halos * (2 + 2 + 2 * calls + ends) + 2 + (rank == 0);
}

/* Checkpoint, open, write, close, barrier. */
enum { CHECKPOINT_EVENTS = 10 };

hpcw_status hpcw_i_trace_init(struct hpcw_i_trace_model *m, const struct hpcw_i_trace_params *params,
                              const struct hpcw_i_load_model *load, hpcw_error *err) {
    memset(m, 0, sizeof *m);
    if (params->noise_min_ms > params->noise_max_ms) {
        return hpcw_i_fail(err, HPCW_EINVAL, "trace.noise_min: wanted at most trace.noise_max = %g ms, got %g",
                           params->noise_max_ms, params->noise_min_ms);
    }
    m->params = *params;
    m->load = load;
    m->ranks = load->ranks;
    m->iterations = load->params.phases;
    m->halos = load->params.subphases > 0 ? load->params.subphases : 1;
    m->directions = 2 * params->dims;
    hpcw_i_grid_shape(m->ranks, params->dims, m->grid);
    m->most_skew_ns = (uint64_t)(params->skew_us * 1e3 * HPCW_I_NORMAL_MAX) + (params->skew_us > 0);
    m->gap_ns = GAP_NS + 2 * m->most_skew_ns;
    m->link = hpcw_i_calloc((size_t)m->ranks * m->directions, sizeof *m->link);
    if (m->link == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "trace: out of memory for the neighbours of %u ranks", m->ranks);
    }
    link_ranks(m);
    for (uint32_t r = 0; r < m->ranks; r++) {
        m->events += events_of(m, r);
    }
    m->checkpoint_events = (uint64_t)CHECKPOINT_EVENTS * m->ranks;
    if (m->events + m->checkpoint_events > UINT32_MAX) {
        hpcw_i_trace_free(m);
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "trace: wanted fewer than 2^32 events in an iteration, got %u ranks with %u subphases", m->ranks,
            m->halos);
    }
    return HPCW_OK;
}

void hpcw_i_trace_free(struct hpcw_i_trace_model *m) {
    hpcw_i_free(m->link);
    m->link = NULL;
}

bool hpcw_i_trace_is_checkpoint(const struct hpcw_i_trace_model *m, uint32_t iteration) {
    uint32_t every = m->params.checkpoint_every;
    return every > 0 && (iteration + 1) % every == 0;
}

uint64_t hpcw_i_trace_events(const struct hpcw_i_trace_model *m, uint32_t iteration) {
    return m->events + (hpcw_i_trace_is_checkpoint(m, iteration) ? m->checkpoint_events : 0);
}

int64_t hpcw_i_trace_skew(const struct hpcw_i_trace_model *m, uint32_t rank) {
    if (m->most_skew_ns == 0) {
        return 0;
    }
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, rank, 0, 0, w);
    return (int64_t)(m->params.skew_us * 1e3 * hpcw_i_normal(w[0], w[1]));
}

/* ---- one iteration ---- */

struct hpcw_i_trace_scratch {
    struct hpcw_i_trace_event *event;
    struct hpcw_i_trace_order *order, *other; /* two halves of one allocation */
    uint64_t *now;                            /* [ranks] clocks of the ranks, as they really run */
    uint64_t *sent;                           /* [ranks] when the message of this direction left */
    uint64_t *shift;                          /* [ranks] what the rank's own clock shows on top of it */
    uint64_t *compute;                        /* [ranks] */
    uint64_t *part;                           /* [ranks][halos] of computing */
    uint32_t *next;                           /* [ranks] where its next event goes */
    uint32_t *object;                         /* [objects] by rank and slot, in phase `phase` */
    uint32_t phase;
    struct hpcw_i_buf noise, backward; /* lists of this iteration */
    bool incomplete;                   /* no memory for an entry of them */
};

void hpcw_i_trace_scratch_free(struct hpcw_i_trace_scratch *s) {
    if (s != NULL) {
        hpcw_i_free(s->event);
        hpcw_i_free(s->order < s->other ? s->order : s->other);
        hpcw_i_free(s->now);
        hpcw_i_free(s->next);
        hpcw_i_free(s->object);
        hpcw_i_free(s->part);
        hpcw_i_buf_free(&s->noise);
        hpcw_i_buf_free(&s->backward);
        hpcw_i_free(s);
    }
}

static void rewind_objects(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s) {
    for (uint32_t o = 0; o < m->load->objects; o++) {
        s->object[o] = o;
    }
    s->phase = 0;
}

hpcw_status hpcw_i_trace_scratch_new(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch **out,
                                     hpcw_error *err) {
    const size_t events = (size_t)(m->events + m->checkpoint_events);
    struct hpcw_i_trace_scratch *s = hpcw_i_calloc(1, sizeof *s);
    *out = NULL;
    if (s != NULL) {
        s->event = hpcw_i_malloc(events * sizeof *s->event);
        s->order = hpcw_i_malloc(2 * events * sizeof *s->order);
        s->other = s->order + events;
        s->now = hpcw_i_malloc((size_t)m->ranks * 4 * sizeof *s->now);
        s->sent = s->now + m->ranks;
        s->shift = s->sent + m->ranks;
        s->compute = s->shift + m->ranks;
        s->part = hpcw_i_malloc((size_t)m->ranks * m->halos * sizeof *s->part);
        s->next = hpcw_i_malloc(m->ranks * sizeof *s->next);
        s->object = hpcw_i_malloc(m->load->objects * sizeof *s->object);
    }
    if (s == NULL || s->event == NULL || s->order == NULL || s->now == NULL || s->part == NULL ||
        s->next == NULL || s->object == NULL) {
        hpcw_i_trace_scratch_free(s);
        return hpcw_i_fail(err, HPCW_ENOMEM, "trace: out of memory for the %zu events of an iteration", events);
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->shift[r] = (uint64_t)((int64_t)m->most_skew_ns + hpcw_i_trace_skew(m, r));
    }
    rewind_objects(m, s);
    *out = s;
    return HPCW_OK;
}

static struct hpcw_i_trace_event *happens(struct hpcw_i_trace_scratch *s, uint32_t rank, uint64_t time_ns,
                                          uint32_t what) {
    struct hpcw_i_trace_event *e = &s->event[s->next[rank]++];
    *e = (struct hpcw_i_trace_event){.time_ns = time_ns + s->shift[rank], .rank = rank, .what = (uint16_t)what};
    return e;
}

/* Begin and end of a state take a little time themselves. */
static void begin(struct hpcw_i_trace_scratch *s, uint32_t rank, uint32_t state) {
    s->now[rank] += CALL_NS;
    happens(s, rank, s->now[rank], state);
}
static void end(struct hpcw_i_trace_scratch *s, uint32_t rank, uint32_t state) {
    s->now[rank] += RETURN_NS;
    happens(s, rank, s->now[rank], state + 1);
}

static void message(struct hpcw_i_trace_scratch *s, uint32_t rank, uint32_t what, uint64_t time_ns,
                    uint32_t peer, uint32_t tag, uint32_t bytes) {
    struct hpcw_i_trace_event *e = happens(s, rank, time_ns, what);
    e->peer = peer;
    e->tag = (uint16_t)tag;
    e->bytes = bytes;
}

/* What the ranks' objects take, part by part. */
static void plan_work(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t iteration) {
    const struct hpcw_i_load_model *load = m->load;
    enum { MOST_PARTS = 1024 };
    uint64_t part[MOST_PARTS];
    assert(m->halos <= MOST_PARTS);
    if (iteration < s->phase) {
        rewind_objects(m, s);
    }
    while (s->phase < iteration) {
        hpcw_i_load_move(load, s->object, ++s->phase);
    }
    memset(s->part, 0, (size_t)m->ranks * m->halos * sizeof *s->part);
    for (uint32_t r = 0; r < m->ranks; r++) {
        double slowness = hpcw_i_machine_slowness(load->machine, hpcw_i_machine_node(load->machine, r));
        s->compute[r] = 0;
        for (uint32_t slot = 0; slot < load->per_rank; slot++) {
            uint32_t object = s->object[(size_t)r * load->per_rank + slot];
            uint64_t ns = hpcw_i_load_time(load, object, iteration, slowness);
            part[0] = ns;
            hpcw_i_load_split(load, object, ns, part);
            s->compute[r] += ns;
            for (uint32_t h = 0; h < m->halos; h++) {
                s->part[(size_t)r * m->halos + h] += part[h];
            }
        }
    }
}

static uint64_t interruption(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t rank,
                             uint32_t iteration, uint32_t halo) {
    const struct hpcw_i_trace_params *p = &m->params;
    uint32_t w[4];
    if (p->noise == 0) {
        return 0;
    }
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_NOISE, rank, iteration, halo, w);
    if (w[0] >= hpcw_i_threshold(p->noise)) {
        return 0;
    }
    double ms = p->noise_min_ms + (p->noise_max_ms - p->noise_min_ms) * hpcw_i_uniform(w[1]);
    const struct hpcw_i_trace_noise noise = {rank, (uint64_t)(ms * 1e6)};
    s->incomplete = !hpcw_i_buf_append(&s->noise, &noise, sizeof noise) || s->incomplete;
    return noise.length_ns;
}

static void compute(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t iteration,
                    uint32_t halo) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        begin(s, r, HPCW_I_TRACE_COMPUTE);
        s->now[r] += s->part[(size_t)r * m->halos + halo] + interruption(m, s, r, iteration, halo);
        end(s, r, HPCW_I_TRACE_COMPUTE);
    }
}

static uint32_t call_of(bool sends, bool receives) {
    return sends && receives ? HPCW_I_TRACE_SENDRECV : sends ? HPCW_I_TRACE_MPI_SEND : HPCW_I_TRACE_MPI_RECV;
}

/* What skewed clocks make of a message. */
static void compare_clocks(struct hpcw_i_trace_scratch *s, uint32_t from, uint32_t to, uint64_t sent,
                           uint64_t received) {
    uint64_t left = sent + s->shift[from];
    uint64_t came = received + s->shift[to];
    if (came < left) {
        const struct hpcw_i_trace_backward b = {from, to, left - came};
        s->incomplete = !hpcw_i_buf_append(&s->backward, &b, sizeof b) || s->incomplete;
    }
}

/* Everybody sends in one direction and receives from the other side. */
static void exchange(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t number,
                     uint32_t direction) {
    const uint64_t eager = m->load->machine->params.eager_net;
    const uint32_t tag = number % 1000 * MOST_DIRECTIONS + direction;
    for (uint32_t r = 0; r < m->ranks; r++) {
        const struct hpcw_i_trace_link *link = &m->link[(size_t)r * m->directions];
        bool sends = link[direction].to != UINT32_MAX;
        bool receives = link[direction ^ 1].to != UINT32_MAX;
        if (sends || receives) {
            begin(s, r, call_of(sends, receives));
        }
        if (sends) {
            s->now[r] += POST_NS;
            s->sent[r] = s->now[r];
            message(s, r, HPCW_I_TRACE_SEND, s->now[r], link[direction].to, tag, link[direction].bytes);
        }
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        const struct hpcw_i_trace_link *link = &m->link[(size_t)r * m->directions];
        bool sends = link[direction].to != UINT32_MAX;
        uint32_t from = link[direction ^ 1].to;
        if (from != UINT32_MAX) {
            const struct hpcw_i_trace_link *way = &m->link[(size_t)from * m->directions + direction];
            uint32_t w[4];
            hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_TIME, from, direction, number, w);
            double on_the_way = way->base_ns * hpcw_i_exp(m->params.transfer_sigma * hpcw_i_normal(w[0], w[1]));
            uint64_t ready = s->now[r] + POST_NS;
            uint64_t sent = s->sent[from];
            /* A large message waits until there is a place for it. */
            uint64_t leaves = way->bytes > eager && ready > sent ? ready : sent;
            uint64_t arrives = leaves + 1 + (uint64_t)on_the_way;
            s->now[r] = arrives > ready ? arrives : ready;
            message(s, r, HPCW_I_TRACE_RECEIVE, s->now[r], from, tag, way->bytes);
            compare_clocks(s, from, r, sent, s->now[r]);
        }
        if (sends || from != UINT32_MAX) {
            end(s, r, call_of(sends, from != UINT32_MAX));
        }
    }
}

/* A collective call of all ranks: nobody leaves before the last one came. Ends differ by some nanoseconds. */
static void together(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t state,
                     double takes_ns) {
    uint64_t last = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        begin(s, r, state);
        last = s->now[r] > last ? s->now[r] : last;
    }
    last += 1 + (uint64_t)takes_ns;
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->now[r] = last + (r * UINT32_C(2654435761) >> 23);
        end(s, r, state);
    }
}

static double reduction_ns(const struct hpcw_i_trace_model *m) {
    uint32_t levels = 0;
    while (levels < 31 && (UINT32_C(1) << levels) < m->ranks) {
        levels++;
    }
    return levels * m->load->machine->params.latency_us[HPCW_I_OTHER_GROUP] * 1e3;
}

static void checkpoint(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s, uint32_t iteration) {
    const struct hpcw_i_trace_params *p = &m->params;
    for (uint32_t r = 0; r < m->ranks; r++) {
        begin(s, r, HPCW_I_TRACE_CHECKPOINT);
    }
    together(m, s, HPCW_I_TRACE_OPEN, 1e6 + reduction_ns(m));
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint32_t w[4];
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_WRITE, r, iteration, 0, w);
        begin(s, r, HPCW_I_TRACE_WRITE);
        s->now[r] += (uint64_t)((double)p->checkpoint_bytes / p->write_gbs *
                                hpcw_i_exp(p->write_sigma * hpcw_i_normal(w[0], w[1])));
        end(s, r, HPCW_I_TRACE_WRITE);
    }
    together(m, s, HPCW_I_TRACE_CLOSE, 2e5 + reduction_ns(m));
    for (uint32_t r = 0; r < m->ranks; r++) {
        end(s, r, HPCW_I_TRACE_CHECKPOINT);
    }
    together(m, s, HPCW_I_TRACE_BARRIER, reduction_ns(m));
}

/* ---- order ---- */

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* By time, least significant digits first. Events lie by rank and as they happened, and that remains among equals. */
static void sort(struct hpcw_i_trace_scratch *s, uint64_t count, uint64_t last) {
    for (uint64_t i = 0; i < count; i++) {
        s->order[i] = (struct hpcw_i_trace_order){s->event[i].time_ns, (uint32_t)i};
    }
    for (unsigned shift = 0; shift < 64 && last >> shift != 0; shift += DIGIT_BITS) {
        uint32_t start[DIGITS] = {0};
        for (uint64_t i = 0; i < count; i++) {
            start[s->order[i].time_ns >> shift & (DIGITS - 1)]++;
        }
        uint32_t sum = 0;
        for (uint32_t d = 0; d < DIGITS; d++) {
            uint32_t here = start[d];
            start[d] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++) {
            s->other[start[s->order[i].time_ns >> shift & (DIGITS - 1)]++] = s->order[i];
        }
        struct hpcw_i_trace_order *swap = s->order;
        s->order = s->other;
        s->other = swap;
    }
}

hpcw_status hpcw_i_trace_iteration(const struct hpcw_i_trace_model *m, struct hpcw_i_trace_scratch *s,
                                   uint32_t iteration, struct hpcw_i_trace_run *run, hpcw_error *err) {
    bool writes = hpcw_i_trace_is_checkpoint(m, iteration);
    struct hpcw_i_trace_facts *facts = &run->facts;
    uint32_t next = 0;
    *facts = (struct hpcw_i_trace_facts){0};
    s->noise.size = s->backward.size = 0;
    s->incomplete = false;
    plan_work(m, s, iteration);
    for (uint32_t r = 0; r < m->ranks; r++) {
        s->now[r] = 0;
        s->next[r] = next;
        next += events_of(m, r) + (writes ? CHECKPOINT_EVENTS : 0);
        facts->compute_ns += s->compute[r];
        if (s->compute[r] > facts->slowest_ns) {
            facts->slowest_ns = s->compute[r];
            facts->slowest_rank = r;
        }
        begin(s, r, HPCW_I_TRACE_ITERATION);
    }
    for (uint32_t h = 0; h < m->halos; h++) {
        compute(m, s, iteration, h);
        for (uint32_t r = 0; r < m->ranks; r++) {
            begin(s, r, HPCW_I_TRACE_HALO);
        }
        for (uint32_t k = 0; k < m->directions; k++) {
            exchange(m, s, iteration * m->halos + h, k);
        }
        for (uint32_t r = 0; r < m->ranks; r++) {
            end(s, r, HPCW_I_TRACE_HALO);
        }
    }
    together(m, s, HPCW_I_TRACE_ALLREDUCE, reduction_ns(m));
    if (writes) {
        checkpoint(m, s, iteration);
    }
    uint64_t last = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        if (r == 0) {
            s->now[r] += CALL_NS;
            happens(s, r, s->now[r], HPCW_I_TRACE_STEP);
        }
        end(s, r, HPCW_I_TRACE_ITERATION);
        last = s->now[r] > last ? s->now[r] : last;
    }
    assert(s->next[m->ranks - 1] == next && next == hpcw_i_trace_events(m, iteration));
    facts->duration_ns = last + m->gap_ns;
    sort(s, next, last + 2 * m->most_skew_ns);
    run->event = s->event;
    run->order = s->order;
    run->count = next;
    run->noise = (const void *)s->noise.data;
    run->noises = s->noise.size / sizeof *run->noise;
    run->backward = (const void *)s->backward.data;
    run->backwards = s->backward.size / sizeof *run->backward;
    return s->incomplete
               ? hpcw_i_fail(err, HPCW_ENOMEM, "trace: out of memory for what iteration %u injects", iteration)
               : HPCW_OK;
}
