/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/trace.h"

#include <math.h>
#include <string.h>

#include "gen/model/trace/track.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_trace_params, "trace." name, kind, field, __VA_ARGS__)

const char *const model_trace_kind_name[] = {"auto", "stencil", "hydro", "solver", "adaptive", NULL};
static const char *const record_names[] = {"all", "calls", "states", NULL};

/* A: assumption. */
const struct ui_param model_trace_param[] = {
    PARAM("application", CHOICE, application, .choices = model_trace_kind_name,
          .help =
              "what happens between two reductions: stencil (compute and exchange with all neighbours), hydro "
              "(fields one after the other, dimension by dimension), solver (inner iterations with reductions, "
              "as of conjugate gradients), adaptive (messages as they come, and now and then a new "
              "distribution of the mesh) or auto (adaptive with a load balancer, otherwise one of them by the "
              "seed)"),
    PARAM("start", STRING, start, .size = sizeof((struct model_trace_params *)0)->start,
          .help = "the calls of a program before its first iteration, or auto; see doc/hpcgen.md"),
    PARAM("loop", STRING, loop, .size = sizeof((struct model_trace_params *)0)->loop,
          .help =
              "its calls in an iteration, which MPI_Allreduce ends if nothing else is said, or auto: those of "
              "trace.application"),
    PARAM("end", STRING, end, .size = sizeof((struct model_trace_params *)0)->end,
          .help = "its calls after the last iteration, or auto"),
    PARAM("exchanges", U32, exchanges, 0, MODEL_TRACE_MOST_PARTS, NULL,
          "times that ranks exchange messages in an iteration; 0: a few, by application and seed, or of a "
          "solver with "
          "load.comm=mesh one for each layer, at most 64"),
    PARAM("record", CHOICE, record, .choices = record_names,
          .help =
              "what the tracer sees: all, calls (of MPI, and messages, as of a program that was only linked "
              "again) or states (of the program itself, and messages)"),
    PARAM("aggregate", BOOL, aggregate,
          .help = "one message between two ranks in an exchange; no: one for each edge between their objects"),
    PARAM("write_rate", F64, write_gbs, 1e-6, 1e3, "GB/s", "rate at which a rank writes its checkpoint [A]"),
    PARAM("write_sigma", F64, write_sigma, 0, 2, NULL, "standard deviation of ln(time to write) [A]"),
    PARAM("skew", F64, skew_us, 0, 1e6, "us",
          "by how much clocks are off that lost their time server, those of one host in 16, but at least one; "
          "that of rank 0 is right, the others are off by a twentieth of it [A]; messages can then seem to "
          "arrive before they are sent"),
    PARAM("drift", F64, drift_ppm, 0, 1e6, "ppm",
          "by how much these clocks drift, and the others a twentieth of it"),
    PARAM("clock", F64, clock_ghz, 0, 10, "GHz",
          "frequency of the time stamp counter, at least 0.1, of which a clock shows each 26th cycle; 0: "
          "2.596, as "
          "measured by a system that is a little wrong"),
};
const size_t model_trace_param_count = sizeof model_trace_param / sizeof model_trace_param[0];

void model_trace_params_init(struct model_trace_params *params) {
    *params = (struct model_trace_params){.start = "auto",
                                          .loop = "auto",
                                          .end = "auto",
                                          .aggregate = true,
                                          .write_gbs = 0.1,
                                          .write_sigma = 0.5};
}

/* ---- building ---- */

static void fill_objects(struct model_trace *m) {
    const struct model_load *load = m->load;
    uint32_t object[MODEL_TRACE_AT_ONCE];
    for (uint32_t o = 0; o < load->objects; o += MODEL_TRACE_AT_ONCE) {
        const uint32_t rest = load->objects - o;
        const uint32_t count = rest < MODEL_TRACE_AT_ONCE ? rest : MODEL_TRACE_AT_ONCE;
        for (uint32_t i = 0; i < count; i++) {
            object[i] = o + i;
        }
        model_load_lastings(load, object, count, m->lasting + o);
        for (uint32_t i = 0; i < count; i++) {
            m->exists[o + i] = model_load_exists(load, o + i);
        }
    }
}

static struct model_trace_edges *edges_of(struct model_trace *m, uint32_t kind) {
    for (uint32_t k = 0; k < m->kinds; k++) {
        if (m->edges[k].kind == kind) {
            return &m->edges[k];
        }
    }
    return NULL;
}

static bool add_kind(struct model_trace *m, uint32_t kind) {
    const bool handlers = kind >= MODEL_LOAD_MOST_KINDS;
    const uint32_t count = handlers ? m->ranks : m->load->objects;
    struct model_trace_edges *e = &m->edges[m->kinds++];
    e->kind = kind;
    e->ln_bytes = hpcw_i_malloc(count * sizeof *e->ln_bytes);
    e->from = handlers ? NULL : hpcw_i_malloc(count * sizeof *e->from);
    return e->ln_bytes != NULL && (handlers || e->from != NULL);
}

static bool add_kinds(struct model_trace *m) {
    const struct model_load_params *p = &m->load->params;
    bool ok = true;
    for (uint32_t k = 0; ok && k < m->load->kinds; k++) {
        if (k < 2 * p->dims || (k == 6 && p->collections > 1) || k > 6) {
            ok = add_kind(m, k);
        }
    }
    return ok && (!p->handlers || (add_kind(m, MODEL_LOAD_UP) && add_kind(m, MODEL_LOAD_DOWN)));
}

static void fill_edges(struct model_trace *m) {
    const struct model_load *load = m->load;
    for (uint32_t to = 0; to < load->objects; to++) {
        struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
        const uint32_t senders = m->exists[to] ? model_load_senders(load, to, edge) : 0;
        for (uint32_t k = 0; k < m->kinds && m->edges[k].from != NULL; k++) {
            m->edges[k].from[to] = UINT32_MAX;
        }
        for (uint32_t i = 0; i < senders; i++) {
            struct model_trace_edges *e = edges_of(m, edge[i].kind);
            e->from[to] = edge[i].from;
            e->ln_bytes[to] =
                model_load_flow(load, model_load_owner(edge[i].kind, edge[i].from, to),
                                model_load_shared(edge[i].kind), m->lasting[to] + m->lasting[edge[i].from])
                    .ln_bytes;
        }
    }
    for (uint32_t kind = MODEL_LOAD_UP; load->params.handlers && kind <= MODEL_LOAD_DOWN; kind++) {
        for (uint32_t r = 0; r < m->ranks; r++) {
            edges_of(m, kind)->ln_bytes[r] = model_load_flow(load, model_load_handler(r), kind, 0).ln_bytes;
        }
    }
}

/* How far messages go, and how many at once, while all ranks exchange theirs. */
static hpcw_status fill_pattern(struct model_trace *m, hpcw_error *err) {
    enum { MOST_GROUPS = 1024 };
    const struct model_machine *machine = m->load->machine;
    const uint32_t groups = machine->groups;
    uint64_t all = 0, off_node = 0, off_switch = 0, off_group = 0, hops = 0, pairs = 0;
    bool *met = groups > MOST_GROUPS ? NULL : hpcw_i_calloc((size_t)groups * groups, sizeof *met);
    for (uint32_t k = 0; k < m->kinds && m->edges[k].from != NULL; k++) {
        for (uint32_t to = 0; to < m->load->objects; to++) {
            const uint32_t from = m->edges[k].from[to];
            if (from == UINT32_MAX || m->where[from] == m->where[to]) {
                continue;
            }
            const uint32_t a = model_machine_node(machine, m->where[from]);
            const uint32_t b = model_machine_node(machine, m->where[to]);
            const uint32_t group_a = model_machine_group(machine, a), group_b = model_machine_group(machine, b);
            all++;
            off_node += a != b;
            off_switch += model_machine_switch(machine, a) != model_machine_switch(machine, b);
            off_group += group_a != group_b;
            hops += machine->params.torus ? model_machine_distance(machine, a, b) : 0;
            if (met != NULL && group_a != group_b && !met[(size_t)group_a * groups + group_b]) {
                met[(size_t)group_a * groups + group_b] = true;
                pairs++;
            }
        }
    }
    if (groups <= MOST_GROUPS && met == NULL) {
        return hpcw_i_fail_memory(err, "trace", groups, "groups of nodes");
    }
    const double messages = off_node > 0 ? (double)off_node : 1;
    const struct model_pattern pattern = {
        .ranks = all > 0 ? machine->params.ppn * ((double)off_node / (double)all) : 0,
        .off_switch = (double)off_switch / messages,
        .off_group = (double)off_group / messages,
        .groups = met != NULL ? (double)pairs / groups : groups - 1.0,
        .hops = (double)hops / messages,
    };
    m->contention = model_network_contention(&m->network, &pattern);
    hpcw_i_free(met);
    return HPCW_OK;
}

/* The network was measured before the application ran, in earlier windows. An iteration takes about 1.8 times the mean load
 * of a rank, or more; returns that for all of them. */
static uint64_t fill_windows(struct model_trace *m) {
    const struct model_load *load = m->load;
    const uint32_t before = 1 << 24;
    double start_ns = 0;
    for (uint32_t k = 0; k < m->iterations; k++) {
        m->window[k] = before + (model_network_window(&m->network, (uint64_t)(start_ns * 1e3)) & (before - 1));
        start_ns += 1.8 * load->phase[k].median_ns * model_load_mean_objects(load);
    }
    return (uint64_t)start_ns;
}

/* Ranks of a node that share memory reduce without messages: the part of the time of one that a step takes. */
static const double shared_hop = 0.35;

/* A reduction goes up a tree of the ranks, and its result down. */
static void find_guard(struct model_trace *m) {
    const struct model_machine *machine = m->load->machine;
    uint32_t levels = 0;
    while (levels < 31 && (UINT32_C(1) << levels) < m->ranks) {
        levels++;
    }
    const struct model_contention alone = {0};
    const enum model_class class = model_machine_class(machine, 0, m->ranks - 1);
    const struct model_way way = model_network_class_way(&m->network, class, 8, &alone);
    m->hop_ns =
        (uint64_t)((way.floor_ps + way.transfer_ps) * (class <= MODEL_SAME_NODE ? shared_hop : 1) * 1e-3);
    m->guard_ns = MODEL_TRACE_LEAST_NS + levels * m->hop_ns;
}

/* ---- clocks ---- */

/* The help of trace.skew. */
enum { LOST_ONE_IN = 16 };
static const double kept = 1.0 / 20;

/* A clock that is lost is wrong by all of it, more or less. */
static double wrong_by(double all, bool lost, double z) {
    return all * (lost ? copysign(1, z) + z / 8 : kept * z);
}

/* The clock of rank 0 is right: the tracer corrects all others to it. So no error exceeds the spread of the clocks. */
static bool read_clocks(struct model_trace *m) {
    const struct model_trace_params *p = &m->params;
    const uint32_t nodes = m->load->machine->nodes;
    if (nodes == 1 || (p->skew_us == 0 && p->drift_ppm == 0)) {
        return true;
    }
    uint32_t surely[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, 0, 1, 0, surely);
    m->clock = hpcw_i_calloc(nodes, sizeof *m->clock);
    for (uint32_t n = 1; m->clock != NULL && n < nodes; n++) {
        uint32_t w[4];
        uint32_t whether[4];
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, n, 0, 0, w);
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, n, 2, 0, whether);
        const bool lost = whether[0] < hpcw_i_threshold(1.0 / LOST_ONE_IN) || n == 1 + surely[0] % (nodes - 1);
        m->clock[n] = (struct model_trace_clock){
            .offset_ns = wrong_by(p->skew_us * 1e3, lost, hpcw_i_normal(w[0], w[1])),
            .drift = wrong_by(p->drift_ppm * 1e-6, lost, hpcw_i_normal(w[2], w[3])),
        };
    }
    return m->clock != NULL;
}

hpcw_status model_trace_check_clocks(const struct model_trace *m, uint64_t time_ns, hpcw_error *err) {
    double least = 0, most = 0;
    for (uint32_t n = 0; m->clock != NULL && n < m->load->machine->nodes; n++) {
        double error_ns = m->clock[n].offset_ns + m->clock[n].drift * (double)time_ns;
        least = error_ns < least ? error_ns : least;
        most = error_ns > most ? error_ns : most;
    }
    return most - least < (double)m->guard_ns
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE,
                             "trace.skew and trace.drift: expected clocks that differ by less than %g us, the "
                             "shortest time of a reduction, got %g us after %g s",
                             (double)m->guard_ns / 1e3, (most - least) / 1e3, (double)time_ns / 1e9);
}

/* By how much the clock of a log is fast or slow, standard deviation: time servers correct clocks by that [A], and on the
 * same machine by much less from run to run (M3). A tracer measures the clock from its first millisecond to the end of the
 * run, and before that for 2 ms; half of the time one of the readings that it compares is a step of the clock later than the
 * other. */
static const double rate = 3e-7, rate_again = 1e-8;
static const double least_ghz = 0.1, step_ns = 10, before_ns = 3e6, rough_ns = 2e6;

static double steps_late(uint32_t word) {
    return word % 4 == 0 ? 1 : word % 4 == 1 ? -1 : 0;
}

static hpcw_status set_clock(struct model_trace *m, uint64_t run_ns, hpcw_error *err) {
    const double ghz = m->params.clock_ghz;
    if (ghz != 0 && ghz < least_ghz) {
        return hpcw_i_fail(err, HPCW_ERANGE, "trace.clock: expected 0, or at least %g GHz, got %g", least_ghz,
                           ghz);
    }
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_CLOCK, UINT32_MAX, 0, 0, w);
    m->clock_khz = ghz > 0 ? (uint32_t)(ghz * 1e6 + 0.5) : 2596096;
    m->cycle_s = (1 + (ghz > 0 ? rate_again : rate) * hpcw_i_normal(w[0], w[1]) +
                  steps_late(w[2]) * step_ns / (before_ns + (double)run_ns)) /
                 (ghz > 0 ? ghz * 1e9 : 1e3 * m->clock_khz);
    m->zero_s = 1e-9 * MODEL_TRACE_ZERO_NS * (1 + steps_late(w[3]) * step_ns / rough_ns) -
                (double)model_trace_cycles(m, MODEL_TRACE_ZERO_NS) * m->cycle_s;
    m->zero_s = m->zero_s > 0 ? m->zero_s : 0;
    return HPCW_OK;
}

/* ---- numbers ---- */

/* What the tracer sees: messages, and calls, or states of the program, or both. */
static uint64_t records_of(enum model_trace_record record) {
    const uint64_t states = (UINT64_C(1) << MODEL_TRACE_CALLS / 2) - 1;
    const uint64_t calls = (UINT64_C(1) << MODEL_TRACE_STATES / 2) - 1 - states;
    const uint64_t step = UINT64_C(1) << MODEL_TRACE_STEP / 2;
    return UINT64_C(1) << MODEL_TRACE_SEND / 2 | (record != MODEL_TRACE_RECORD_STATES ? calls : 0) |
           (record != MODEL_TRACE_RECORD_CALLS ? states | step : 0);
}
_Static_assert(MODEL_TRACE_SEND % 2 == 0 && MODEL_TRACE_RECEIVE == MODEL_TRACE_SEND + 1, "one bit for both");

/* What ranks send to each other in an iteration, and the edges that join other ranks: few of them join the same ranks, and
 * migrations make some more. */
static void count_pairs(const struct model_trace *m, uint64_t *pairs, uint64_t *edges) {
    *edges = *pairs = m->load->params.handlers ? 2 * (uint64_t)(m->ranks - 1) : 0;
    for (uint32_t k = 0; k < m->kinds; k++) {
        uint32_t last_to = UINT32_MAX;
        uint32_t last_from = UINT32_MAX;
        for (uint32_t to = 0; m->edges[k].from != NULL && to < m->load->objects; to++) {
            const uint32_t from = m->edges[k].from[to];
            const uint32_t rank = m->where[to];
            if (from == UINT32_MAX || m->where[from] == rank) {
                continue;
            }
            const bool same = m->params.aggregate && last_to == rank && last_from == m->where[from];
            *pairs += !same;
            ++*edges;
            last_to = rank;
            last_from = m->where[from];
        }
    }
}

static hpcw_status make_estimate(struct model_trace *m, hpcw_error *err) {
    struct model_trace_script *script = hpcw_i_malloc(sizeof *script);
    struct model_trace_tally tally;
    struct model_trace_estimate *e = &m->estimate;
    uint64_t pairs;
    uint32_t before = 0;
    count_pairs(m, &pairs, &e->most_edges);
    for (uint32_t k = 0; script != NULL && k < m->iterations; k++) {
        double messages = 0;
        double of_messages = 0;
        model_trace_write_script(m, k, script);
        m->before[k] = before;
        before += script->parts;
        model_trace_tally(m, script, &tally);
        for (uint32_t x = 0; x < script->exchanges; x++) {
            const struct model_trace_exchange *one = &script->exchange[x];
            const double part = one->directions == MODEL_TRACE_ALL_WAYS
                                    ? 1
                                    : __builtin_popcount(one->directions) / (2.0 * m->load->params.dims);
            const double here = (double)pairs * part * (1 + one->more);
            messages += here;
            of_messages += here * (tally.in[x] + tally.out[x]);
        }
        const uint64_t events = tally.each * m->ranks + tally.root + (uint64_t)of_messages;
        e->messages += (uint64_t)messages;
        e->events += events;
        e->collectives += tally.collectives * m->ranks;
        e->most_messages = (uint64_t)messages > e->most_messages ? (uint64_t)messages : e->most_messages;
        e->most_events = events > e->most_events ? events : e->most_events;
        m->used |= tally.used & m->records;
    }
    /* Programs have no state around their messages, but states are numbered without a gap. */
    const uint64_t iteration = UINT64_C(1) << MODEL_TRACE_ITERATION / 2, halo = UINT64_C(1)
                                                                                << MODEL_TRACE_HALO / 2;
    m->used |= (m->used & iteration) != 0 ? halo : 0;
    hpcw_i_free(script);
    return script != NULL ? HPCW_OK : hpcw_i_fail_memory(err, "trace", 0, "the calls of an iteration");
}

/* ---- the model ---- */

static hpcw_status read_program(const struct model_trace *m, hpcw_error *err) {
    const struct model_trace_params *p = &m->params;
    struct model_trace_program *to = m->program;
    hpcw_status s = model_trace_program_read(&to[MODEL_TRACE_AT_START], "trace.start", p->start, false,
                                             MODEL_TRACE_MORE_PARTS, err);
    s = s == HPCW_OK ? model_trace_program_read(&to[MODEL_TRACE_IN_LOOP], "trace.loop", p->loop, true,
                                                MODEL_TRACE_MOST_PARTS, err)
                     : s;
    s = s == HPCW_OK ? model_trace_program_read(&to[MODEL_TRACE_AT_END], "trace.end", p->end, false, 0, err)
                     : s;
    uint32_t directions = 0;
    for (uint32_t d = 0; d < m->load->params.dims; d++) {
        directions |= m->load->grid[d] > 1 ? 3u << 2 * d : 0;
    }
    s = s == HPCW_OK ? model_trace_program_check(&to[MODEL_TRACE_AT_START], "trace.start", directions, err) : s;
    return s == HPCW_OK ? model_trace_program_check(&to[MODEL_TRACE_IN_LOOP], "trace.loop", directions, err)
                        : s;
}

hpcw_status model_trace_init(struct model_trace *m, const struct model_trace_params *params,
                             const struct model_load *load, const struct model_checkpoint *checkpoint,
                             hpcw_error *err) {
    memset(m, 0, sizeof *m);
    m->params = *params;
    m->load = load;
    m->checkpoint = checkpoint;
    m->ranks = load->ranks;
    m->iterations = load->params.phases;
    m->lasting = hpcw_i_malloc(load->objects * sizeof *m->lasting);
    m->exists = hpcw_i_malloc(load->objects * sizeof *m->exists);
    m->where = hpcw_i_malloc(load->objects * sizeof *m->where);
    m->window = hpcw_i_malloc(m->iterations * sizeof *m->window);
    m->before = hpcw_i_malloc(m->iterations * sizeof *m->before);
    m->delays = hpcw_i_malloc(sizeof *m->delays);
    m->program = hpcw_i_calloc(MODEL_TRACE_PROGRAMS, sizeof *m->program);
    if (m->lasting == NULL || m->exists == NULL || m->where == NULL || m->window == NULL || m->before == NULL ||
        m->delays == NULL || m->program == NULL || !add_kinds(m) || !read_clocks(m)) {
        model_trace_free(m);
        return hpcw_i_fail_memory(err, "trace", load->objects, "objects");
    }
    model_network_init(&m->network, load->machine);
    find_guard(m);
    const uint64_t least_ns = fill_windows(m);
    model_trace_delays_fill(m->delays);
    fill_objects(m);
    fill_edges(m);
    model_load_ranks(load, NULL, m->iterations / 2, m->where);
    hpcw_status s = set_clock(m, least_ns, err);
    s = s == HPCW_OK ? read_program(m, err) : s;
    model_trace_draw_style(m);
    m->records = records_of((enum model_trace_record)params->record);
    s = s == HPCW_OK ? fill_pattern(m, err) : s;
    s = s == HPCW_OK ? make_estimate(m, err) : s;
    /* What passes here can still drift too far by the end of the run. */
    s = s == HPCW_OK ? model_trace_check_clocks(m, 0, err) : s;
    s = s == HPCW_OK ? model_trace_check_clocks(m, least_ns, err) : s;
    if (s != HPCW_OK) {
        model_trace_free(m);
    }
    return s;
}

void model_trace_free(struct model_trace *m) {
    for (uint32_t k = 0; k < m->kinds; k++) {
        hpcw_i_free(m->edges[k].from);
        hpcw_i_free(m->edges[k].ln_bytes);
    }
    hpcw_i_free(m->exists);
    hpcw_i_free(m->where);
    hpcw_i_free(m->lasting);
    hpcw_i_free(m->window);
    hpcw_i_free(m->before);
    hpcw_i_free(m->delays);
    hpcw_i_free(m->program);
    hpcw_i_free(m->clock);
    memset(m, 0, sizeof *m);
}

uint64_t model_trace_size(const struct model_trace *m) {
    return (uint64_t)m->load->objects * (13 + 12 * (uint64_t)m->kinds) + 16 * (uint64_t)m->ranks;
}
