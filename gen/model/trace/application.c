/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of applications, and what each does in an iteration. */
#include <assert.h>

#include "gen/model/trace/script.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/rng.h"

/* ---- style ---- */

/* One of `count` choices. */
static uint32_t choice(uint32_t word, uint32_t count) {
    return (uint32_t)((uint64_t)word * count >> 32);
}

/* Reductions of a solver that orthogonalises a vector against those before it, of which it keeps at most a few. */
enum { GROWING = 3, MOST_VECTORS = 5 };

/* What a program does after its first call that loads code late, at least. */
enum { LATE_NS = 20000 };

void model_trace_draw_style(struct model_trace *m) {
    static const struct {
        uint32_t least, most;
    } exchanges[] = {[MODEL_TRACE_STENCIL] = {1, 2},
                     [MODEL_TRACE_HYDRO] = {2, 3},
                     [MODEL_TRACE_SOLVER] = {2, 3},
                     [MODEL_TRACE_ADAPTIVE] = {1, 2}};
    const struct model_trace_params *p = &m->params;
    struct model_trace_style *y = &m->style;
    uint32_t w[10][4];
    for (uint32_t i = 0; i < sizeof w / sizeof w[0]; i++) {
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, i, 0, 0, w[i]);
    }
    const enum model_trace_kind drawn =
        m->load->params.balancer != MODEL_BALANCER_NONE
            ? MODEL_TRACE_ADAPTIVE
            : (enum model_trace_kind)(MODEL_TRACE_STENCIL + choice(w[0][0], MODEL_TRACE_ADAPTIVE));
    y->kind = p->application == MODEL_TRACE_AUTO ? drawn : (enum model_trace_kind)p->application;
    y->exchanges = p->exchanges != 0 ? p->exchanges
                                     : exchanges[y->kind].least + choice(w[0][1], 1 + exchanges[y->kind].most -
                                                                                      exchanges[y->kind].least);
    y->reductions = 1 + choice(w[0][2], GROWING);
    y->wait = y->kind == MODEL_TRACE_HYDRO      ? MODEL_TRACE_WAIT_TWICE
              : y->kind == MODEL_TRACE_ADAPTIVE ? MODEL_TRACE_WAIT_ANY
                                                : choice(w[0][3], MODEL_TRACE_WAIT_ANY);
    /* Only one message between two ranks at a time may come out of order. */
    y->wait = y->wait == MODEL_TRACE_WAIT_ANY && !p->aggregate ? MODEL_TRACE_WAIT_EACH : y->wait;
    y->overlaps = choice(w[1][0], 3) == 0;
    y->blocks = !y->overlaps && (y->kind == MODEL_TRACE_STENCIL || y->kind == MODEL_TRACE_SOLVER) &&
                choice(w[4][3], 2) == 1;
    y->wait = y->blocks ? MODEL_TRACE_WAIT_FEW : y->wait;
    /* Code that sets up is often not by the same hand. */
    const bool as_later = choice(w[7][0], 2) == 0;
    y->lists_block = as_later ? y->blocks : choice(w[7][1], 2) == 0;
    y->lists_wait = as_later         ? y->wait
                    : y->lists_block ? MODEL_TRACE_WAIT_FEW
                                     : choice(w[7][1] << 1, MODEL_TRACE_WAIT_ANY);
    y->lists_tag = choice(w[7][0] << 1, 2) * (1 + choice(w[7][1] << 4, 64));
    y->posts_late = choice(w[5][3], 4) > 0;
    /* Without aggregation, each edge has one message. */
    y->sets_up = p->aggregate && choice(w[1][1], 3) > 0;
    /* A mesh that changes has other volumes after that. */
    const uint32_t periods = m->load->params.edge_phases;
    y->every = y->kind == MODEL_TRACE_ADAPTIVE && periods > 0 ? periods : 5 + choice(w[1][2], 16);
    const uint32_t prints[] = {0, 1, y->every};
    y->prints = m->program[MODEL_TRACE_IN_LOOP].statements > 0 ? 0 : prints[choice(w[6][3], 3)];
    y->cart = choice(w[1][3], 3) == 0;
    y->dup = !y->cart && choice(w[2][0], 3) == 0;
    y->barriers = choice(w[2][1], 6);
    y->broadcasts = choice(w[2][2], 4);
    y->results = 1 + choice(w[2][3], 4);
    y->size_first = choice(w[3][0], 2) == 1;
    y->first_tag = choice(w[3][3], 3);
    y->meets_after_files = choice(w[3][1], 2) == 1;
    y->meets_at_end = choice(w[3][2], 2) == 1;
    y->reads = choice(w[4][0], 2) == 1;
    y->frees = choice(w[4][1], 3) == 0;
    y->asks = !y->cart && choice(w[4][2], 3) == 0;
    const bool is_program =
        m->program[MODEL_TRACE_IN_LOOP].statements > 0; /* whose text says what takes long */
    /* Programs in Fortran do more between two calls, and load code later, as the text of some says. */
    const struct model_trace_program *start = &m->program[MODEL_TRACE_AT_START];
    const bool wordy = start->statements > 1 ? start->statement[1].number >= LATE_NS : choice(w[6][0], 2) == 1;
    const bool loads_late = !is_program && wordy;
    y->between = wordy ? 1 : 0.04;
    y->first_ns = loads_late ? 45000 : 1500;
    y->second_ns = loads_late ? 250 : 50;
    y->rough = hpcw_i_exp(0.7 * hpcw_i_normal(w[6][1], w[6][2]));
    y->parity = choice(w[4][3], 2) == 0 ? 0.03 : 0;
    y->uneven = hpcw_i_exp(0.9 * hpcw_i_normal(w[7][2], w[7][3]));
    y->shared = hpcw_i_exp(hpcw_i_normal(w[8][0], w[8][1]));
    const uint32_t looks[] = {MODEL_TRACE_ALLREDUCE, MODEL_TRACE_IRECV, MODEL_TRACE_ISEND,
                              MODEL_TRACE_SENDRECV + 1};
    y->looks = choice(w[9][0], 4) > 0 ? looks[choice(w[9][1], 4)] : MODEL_TRACE_NOTHING;
    y->tempo = hpcw_i_exp(0.35 * hpcw_i_normal(w[5][0], w[5][1]));
    y->pack_ns = 0.05 + 0.4 * hpcw_i_uniform(w[5][2]);
    y->pack_least_ns = hpcw_i_exp(5 + hpcw_i_normal(w[8][2], w[8][3]));
    if (is_program) {
        y->pack_ns = y->pack_least_ns = 0;
    }
}

/* ---- pieces of an iteration ---- */

static void state(struct model_trace_script *s, uint32_t what) {
    (void)model_trace_add(s, MODEL_TRACE_OP_STATE, what, 0);
}

/* The next piece of the objects' work, up to a share of it. What has the same kernel is the same code. */
static void compute(struct model_trace_script *s, double until, uint32_t kernel, uint32_t step) {
    const struct model_trace_op *last = NULL;
    for (uint32_t i = s->ops; i-- > 0 && last == NULL;) {
        last = s->op[i].kind == MODEL_TRACE_OP_COMPUTE ? &s->op[i] : NULL;
    }
    const uint32_t share = (uint32_t)(until * MODEL_TRACE_WORK + 0.5);
    if (last == NULL || share > last->until) {
        struct model_trace_op *op = model_trace_add(s, MODEL_TRACE_OP_COMPUTE, MODEL_TRACE_COMPUTE, 0);
        op->until = share;
        op->number = kernel;
        op->step = step;
    }
}

/* Kernels, of all kinds of applications: before and after messages are sent, and when they have come; at the beginning and
 * the end of an iteration. Others are numbered from the last one on. */
enum { KERNEL_BEFORE, KERNEL_MEANWHILE, KERNEL_AFTER, KERNEL_FIRST, KERNEL_LAST, KERNELS };

static void of_exchange(struct model_trace_script *s, enum model_trace_op_kind kind, uint32_t what,
                        uint32_t number) {
    model_trace_add(s, kind, what, 0)->number = number;
}

static uint32_t add_exchange(struct model_trace_script *s, uint32_t part, uint32_t directions) {
    assert(s->exchanges < MODEL_TRACE_MOST_EXCHANGES);
    s->exchange[s->exchanges] = (struct model_trace_exchange){part, directions, MODEL_TRACE_DIRECTIONS, 0};
    return s->exchanges++;
}

static void post(struct model_trace_script *s, uint32_t exchange) {
    of_exchange(s, MODEL_TRACE_OP_POST, MODEL_TRACE_IRECV, exchange);
}

static void send(const struct model_trace *m, struct model_trace_script *s, uint32_t exchange) {
    of_exchange(s, MODEL_TRACE_OP_SEND, m->style.blocks ? MODEL_TRACE_SENDING : MODEL_TRACE_ISEND, exchange);
}

static void wait_for(const struct model_trace *m, struct model_trace_script *s, uint32_t exchange) {
    of_exchange(s, MODEL_TRACE_OP_WAIT, m->style.wait, exchange);
}

/* Work of one place in the code, wherever it stands in the script. */
static void repeat(struct model_trace_script *s, enum model_trace_op_kind kind, uint32_t ns) {
    model_trace_add(s, kind, 0, ns)->number = 1;
}

/* What ranks reduce and gather are numbers of this many bytes. */
enum { NUMBER = sizeof(double), COUNT = sizeof(int32_t) };

static void ask(const struct model_trace *m, struct model_trace_script *s) {
    if (m->style.asks) {
        (void)model_trace_add(s, MODEL_TRACE_OP_CALL, MODEL_TRACE_COMM_SIZE, 1);
        (void)model_trace_add(s, MODEL_TRACE_OP_CALL, MODEL_TRACE_COMM_RANK, 1);
    }
}

static void reduce_to_all(struct model_trace_script *s) {
    model_trace_collect(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLREDUCE, 0, NUMBER);
}

/* The objects' work from one share of it to another, around an exchange with all neighbours. What neighbours need comes
 * first if the rest overlaps with the messages. */
static void work_and_exchange(const struct model_trace *m, struct model_trace_script *s, uint32_t part,
                              double from, double to) {
    const uint32_t x = add_exchange(s, part, MODEL_TRACE_ALL_WAYS);
    const double first = m->style.overlaps ? from + 0.2 * (to - from) : to;
    if (m->style.posts_late) {
        compute(s, first, KERNEL_BEFORE, part);
    }
    ask(m, s);
    post(s, x);
    compute(s, first, KERNEL_BEFORE, part);
    state(s, MODEL_TRACE_HALO);
    send(m, s, x);
    if (m->style.overlaps) {
        compute(s, to, KERNEL_MEANWHILE, part);
    }
    wait_for(m, s, x);
    state(s, MODEL_TRACE_HALO + 1);
}

/* ---- applications ---- */

/* What is done before the last reduction: the rest comes after messages, which it needs. */
static const double most = 0.85;

static void stencil(const struct model_trace *m, struct model_trace_script *s) {
    for (uint32_t i = 0; i < s->parts; i++) {
        s->weight[i] = 1;
        work_and_exchange(m, s, i, most * i / s->parts, most * (i + 1.0) / s->parts);
    }
    compute(s, 1, KERNEL_LAST, 0);
}

/* Different fields at different times: first all of them, then a few, with one or two layers of cells. */
static void hydro(const struct model_trace *m, struct model_trace_script *s) {
    static const uint32_t weights[] = {12, 1, 8, 10, 2, 6, 10, 1};
    static const double work[] = {3, 1, 2, 4, 1, 3, 2, 1};
    enum { PATTERN = 8 };
    const uint32_t dims = m->load->params.dims;
    double all = 0, done = 0;
    for (uint32_t i = 0; i < s->parts; i++) {
        s->weight[i] = weights[(i + m->style.every) % PATTERN];
        all += work[i % PATTERN];
    }
    for (uint32_t i = 0; i < s->parts; i++) {
        done += work[i % PATTERN];
        compute(s, most * done / all, KERNELS + i % PATTERN, i / PATTERN);
        state(s, MODEL_TRACE_HALO);
        for (uint32_t d = 0; d < dims; d++) {
            if (m->load->grid[d] > 1) {
                const uint32_t x = add_exchange(s, i, 3u << 2 * d);
                send(m, s, x);
                post(s, x);
                wait_for(m, s, x);
            }
        }
        state(s, MODEL_TRACE_HALO + 1);
    }
    compute(s, 1, KERNEL_LAST, 0);
    if (s->iteration % m->style.every == 0) { /* a summary of the fields */
        for (uint32_t i = 0; i < 1 + m->style.results; i++) {
            model_trace_collect(s, MODEL_TRACE_OP_UP, MODEL_TRACE_REDUCE, 50, NUMBER);
        }
    }
}

/* What ranks do between two reductions in a row; and how often a solver looks besides whether it has converged, at most. */
enum { VECTOR_NS = 3000, CHECKS = 4 };

/* A right-hand side, then inner iterations. Without a mesh their number is fixed, as otherwise their messages would differ in
 * size. What follows is not. */
static void solver(const struct model_trace *m, struct model_trace_script *s) {
    const double before = 0.25;
    compute(s, before, KERNEL_FIRST, 0);
    reduce_to_all(s);
    for (uint32_t i = 0; i < s->parts; i++) {
        const double from = before + (1 - before) * i / s->parts, width = (1 - before) / s->parts;
        s->weight[i] = 1;
        work_and_exchange(m, s, i, from, from + 0.7 * width);
        const uint32_t more = m->style.reductions < GROWING ? m->style.reductions - 1 : i % MOST_VECTORS;
        for (uint32_t k = 0; k < more; k++) {
            repeat(s, MODEL_TRACE_OP_WORK, VECTOR_NS);
            reduce_to_all(s);
        }
        compute(s, i + 1 < s->parts ? from + width : 1, KERNEL_AFTER, i);
        if (i + 1 < s->parts) {
            reduce_to_all(s);
        }
    }
    uint32_t w[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, s->iteration, 1, 0, w);
    for (uint32_t k = choice(w[0], CHECKS); k > 0; k--) {
        reduce_to_all(s);
        repeat(s, MODEL_TRACE_OP_WORK, VECTOR_NS);
    }
}

/* Ranks agree on a new distribution of the mesh. With a balancer, when that has moved objects. */
static bool distributes(const struct model_trace *m, uint32_t iteration) {
    return m->load->params.balancer != MODEL_BALANCER_NONE ? model_load_balances(m->load, iteration)
                                                           : iteration > 0 && iteration % m->style.every == 0;
}

static void adaptive(const struct model_trace *m, struct model_trace_script *s) {
    if (distributes(m, s->iteration)) {
        uint32_t w[4];
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_STYLE, s->iteration, 1, 0, w);
        repeat(s, MODEL_TRACE_OP_WORK, 30000);
        for (uint32_t k = choice(w[0], 3); k > 0; k--) { /* as often as the mesh is refined once more */
            reduce_to_all(s);
            repeat(s, MODEL_TRACE_OP_WORK, 20000);
        }
        model_trace_collect(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLGATHER, 600, COUNT);
        repeat(s, MODEL_TRACE_OP_WORK, 20000);
        model_trace_collect(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLTOALL, 900, COUNT);
        model_trace_collect(s, MODEL_TRACE_OP_DOWN, MODEL_TRACE_BCAST, 350, COUNT * m->ranks);
        repeat(s, MODEL_TRACE_OP_WORK, 60000);
        reduce_to_all(s);
    }
    for (uint32_t i = 0; i < s->parts; i++) {
        s->weight[i] = 2 + i % 2;
        work_and_exchange(m, s, i, most * i / s->parts, most * (i + 1.0) / s->parts);
    }
    compute(s, 1, KERNEL_LAST, 0);
    if (s->iteration % m->style.every == 1) {
        model_trace_collect(s, MODEL_TRACE_OP_UP, MODEL_TRACE_GATHER, 90, NUMBER);
    }
}

/* ---- the script ---- */

/* To make a list of what neighbours need; and to print what an iteration came to. */
enum { LIST_NS = 80000, PROGRESS_NS = 12000 };

/* The reduction that ends an iteration: in some programs, nobody sees one. */
static uint32_t last_of(const struct model_trace *m) {
    return model_trace_program_is_silent(&m->program[MODEL_TRACE_IN_LOOP]) ? MODEL_TRACE_NOTHING
                                                                           : MODEL_TRACE_ALLREDUCE;
}

/* After the last arrival at the reduction of an iteration: the ranks leave it, and may write a checkpoint. */
static void finish(const struct model_trace *m, struct model_trace_script *s, uint32_t of_this) {
    const uint32_t iteration = s->iteration - 1 + of_this;
    struct model_trace_op *left = model_trace_add(s, MODEL_TRACE_OP_LEAVE, last_of(m) + 1, 0);
    left->number = of_this;
    left->bytes = NUMBER;
    model_trace_add(s, MODEL_TRACE_OP_STEP, MODEL_TRACE_STEP, 0)->number = of_this;
    state(s, MODEL_TRACE_ITERATION + 1);
    if (m->style.prints > 0 && (iteration + 1) % m->style.prints == 0) {
        repeat(s, MODEL_TRACE_OP_ROOT, PROGRESS_NS);
    }
    if (m->checkpoint != NULL && model_checkpoint_after(m->checkpoint, iteration) != UINT32_MAX) {
        model_trace_add(s, MODEL_TRACE_OP_FILES, MODEL_TRACE_CHECKPOINT, 0)->number = of_this;
        if (m->style.meets_after_files) {
            (void)model_trace_add(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_BARRIER, 0);
        }
    }
}

/* Ranks tell each other what they will send: a list. */
static void set_up(const struct model_trace *m, struct model_trace_script *s) {
    const uint32_t x = add_exchange(s, s->parts, MODEL_TRACE_ALL_WAYS);
    (void)model_trace_add(s, MODEL_TRACE_OP_WORK, 0, LIST_NS);
    post(s, x);
    of_exchange(s, MODEL_TRACE_OP_SEND, m->style.lists_block ? MODEL_TRACE_SENDING : MODEL_TRACE_ISEND, x);
    of_exchange(s, MODEL_TRACE_OP_WAIT, m->style.lists_wait, x);
    s->weight[s->parts] = 1;
}

/* What is exchanged before the others. */
static uint32_t lists_of(const struct model_trace *m, uint32_t iteration) {
    const struct model_trace_program *start = &m->program[MODEL_TRACE_AT_START];
    return iteration > 0           ? 0
           : start->statements > 0 ? model_trace_program_exchanges(m, start, 0)
                                   : m->style.sets_up;
}

/* Of a mesh, each exchange carries whole layers: a solver's inner iterations one each, which go on until it has converged. */
uint32_t model_trace_exchanges(const struct model_trace *m, uint32_t iteration) {
    const uint32_t others = lists_of(m, iteration);
    const struct model_trace_program *loop = &m->program[MODEL_TRACE_IN_LOOP];
    if (loop->statements > 0) {
        return model_trace_program_exchanges(m, loop, iteration);
    }
    if (m->load->params.comm != MODEL_COMM_MESH || m->style.kind != MODEL_TRACE_SOLVER ||
        m->params.exchanges != 0) {
        return m->style.exchanges;
    }
    const uint32_t layers = m->load->phase[iteration].layers;
    const uint32_t parts = layers > others ? layers - others : 1;
    return parts < MODEL_TRACE_MOST_PARTS ? parts : MODEL_TRACE_MOST_PARTS;
}

/* The weights become numbers of layers; the first one has at least one. */
static void divide_layers(const struct model_trace *m, struct model_trace_script *s) {
    const uint64_t layers = m->load->phase[s->iteration].layers;
    uint64_t all = 0, before = 0, given = 0;
    for (uint32_t i = 0; i < s->parts + s->more_parts; i++) {
        all += s->weight[i];
    }
    for (uint32_t i = 0; i < s->parts + s->more_parts; i++) {
        before += s->weight[i];
        const uint64_t until = (layers * before + all - 1) / all;
        s->weight[i] = (uint32_t)(until - given);
        given = until;
    }
}

void model_trace_write_script(const struct model_trace *m, uint32_t iteration, struct model_trace_script *s) {
    enum { PROGRAM = -1 };
    const struct model_trace_program *program = m->program;
    s->iteration = iteration;
    s->ops = s->exchanges = s->collectives = 0;
    s->more_parts = lists_of(m, iteration);
    s->parts = model_trace_exchanges(m, iteration);
    if (iteration == 0) {
        if (program[MODEL_TRACE_AT_START].statements > 0) {
            (void)model_trace_add(s, MODEL_TRACE_OP_LAUNCH, 0, 0);
            model_trace_program_write(m, &program[MODEL_TRACE_AT_START], s->parts, s);
        } else {
            model_trace_write_start(m, s);
            if (s->more_parts > 0) {
                set_up(m, s);
            }
        }
    } else {
        finish(m, s, 0);
    }
    state(s, MODEL_TRACE_ITERATION);
    switch (program[MODEL_TRACE_IN_LOOP].statements > 0 ? PROGRAM : (int)m->style.kind) {
    case PROGRAM:
        model_trace_program_write(m, &program[MODEL_TRACE_IN_LOOP], 0, s);
        compute(s, 1, KERNEL_LAST, 0);
        break;
    case MODEL_TRACE_HYDRO:
        hydro(m, s);
        break;
    case MODEL_TRACE_SOLVER:
        solver(m, s);
        break;
    case MODEL_TRACE_ADAPTIVE:
        adaptive(m, s);
        break;
    case MODEL_TRACE_AUTO:
    case MODEL_TRACE_STENCIL:
        stencil(m, s);
        break;
    }
    if (m->load->params.comm == MODEL_COMM_MESH) {
        divide_layers(m, s);
    }
    (void)model_trace_add(s, MODEL_TRACE_OP_ENTER, last_of(m), 0);
    if (iteration + 1 == m->iterations) {
        finish(m, s, 1);
        if (program[MODEL_TRACE_AT_END].statements > 0) {
            model_trace_program_write(m, &program[MODEL_TRACE_AT_END], 0, s);
        } else {
            model_trace_write_end(m, s);
        }
    }
}
