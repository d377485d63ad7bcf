/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program does before its first iteration and after its last one. Medians in nanoseconds are those of the recorded
 * programs (doc/realism.md, "Start and end"). */
#include "gen/model/trace/script.h"
#include "gen/model/trace/track.h"
#include "libwriter/base/detmath.h"

enum {
    LAUNCH_NS =
        2850000, /* until the first rank runs, at least, and how much later it does from run to run, about */
    LATE_NS = 30000,
    HOST_NS = 1500000,     /* how much later a host starts than that of rank 0, at most */
    STAGGER_NS = 4000,     /* and each rank, about */
    FIRST_RANK_NS = 17500, /* what rank 0 does for all others at the end of MPI_Init */
    ASK_NS = 2,            /* its rank, and the number of ranks */
    BETWEEN_NS = 3000,     /* code that never ran before */
    DIMS_NS = 9000,
    CART_NS = 300000, /* what ranks do to make a communicator */
    DUP_NS = 40000,
    SHIFT_NS = 60,
    FREE_NS = 4000,
    INPUT_NS = 250000, /* rank 0 reads the input */
    BCAST_NS = 350,
    DERIVE_NS = 25000, /* sizes from the input */
    ALLOCATE_NS = 2500000,
    SUM_UP_NS = 40000,
    REDUCE_NS = 50,
    PRINT_NS = 70000
};

/* What the first call takes longer, at most. */
enum { COLD_NS = 5000 };

/* Of a part of the input, at least. */
enum { INPUT_BYTES = 4 };

void model_trace_launch(const struct model_trace *m, struct model_trace_scratch *s) {
    uint32_t all[4];
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, 0, 0, 2, all);
    const uint64_t run_ns = LAUNCH_NS + (uint64_t)(LATE_NS * hpcw_i_exp(0.8 * hpcw_i_normal(all[0], all[1])));
    const uint32_t first_node = model_machine_node(m->load->machine, 0);
    for (uint32_t rank = 0; rank < m->ranks; rank++) {
        uint32_t w[4], host[4];
        const uint32_t node = model_machine_node(m->load->machine, rank);
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, rank, 0, 0, w);
        hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, node, 0, 1, host);
        s->now[rank] = run_ns + (node != first_node ? (uint64_t)(HOST_NS * hpcw_i_uniform(host[0])) : 0) +
                       (rank == 0 ? FIRST_RANK_NS : 0) + model_trace_late_ns(m, STAGGER_NS, w[0]);
        model_trace_chill(&s->pace[rank], COLD_NS);
    }
}

/* ---- what they do ---- */

static void work(struct model_trace_script *s, uint32_t ns) {
    (void)model_trace_add(s, MODEL_TRACE_OP_WORK, 0, ns);
}

static void call(struct model_trace_script *s, uint32_t what, uint32_t ns) {
    (void)model_trace_add(s, MODEL_TRACE_OP_CALL, what, ns);
}

static void make_communicators(const struct model_trace *m, struct model_trace_script *s) {
    if (m->style.dup) {
        (void)model_trace_add(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_COMM_DUP, DUP_NS);
        work(s, BETWEEN_NS);
    }
    if (m->style.cart) {
        call(s, MODEL_TRACE_DIMS_CREATE, DIMS_NS);
        (void)model_trace_add(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_CART_CREATE, CART_NS);
        call(s, MODEL_TRACE_COMM_RANK, ASK_NS);
        call(s, MODEL_TRACE_CART_COORDS, SHIFT_NS);
        for (uint32_t d = 0; d < m->load->params.dims; d++) {
            call(s, MODEL_TRACE_CART_SHIFT, SHIFT_NS);
        }
    }
}

void model_trace_write_start(const struct model_trace *m, struct model_trace_script *s) {
    const struct model_trace_style *y = &m->style;
    (void)model_trace_add(s, MODEL_TRACE_OP_LAUNCH, 0, 0);
    call(s, y->size_first ? MODEL_TRACE_COMM_SIZE : MODEL_TRACE_COMM_RANK, ASK_NS);
    work(s, BETWEEN_NS);
    call(s, y->size_first ? MODEL_TRACE_COMM_RANK : MODEL_TRACE_COMM_SIZE, ASK_NS);
    work(s, BETWEEN_NS);
    make_communicators(m, s);
    (void)model_trace_add(s, y->reads ? MODEL_TRACE_OP_ROOT : MODEL_TRACE_OP_WORK, 0, INPUT_NS);
    for (uint32_t i = 0; i < y->broadcasts; i++) {
        model_trace_collect(s, MODEL_TRACE_OP_DOWN, MODEL_TRACE_BCAST, BCAST_NS,
                            (uint32_t)INPUT_BYTES << 2 * (i + y->first_tag) % 8);
        work(s, DERIVE_NS);
    }
    work(s, ALLOCATE_NS);
    for (uint32_t i = 0; i < y->barriers; i++) {
        (void)model_trace_add(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_BARRIER, 0);
        work(s, i % 2 == 0 ? DERIVE_NS : ALLOCATE_NS / 5);
    }
}

void model_trace_write_end(const struct model_trace *m, struct model_trace_script *s) {
    const struct model_trace_style *y = &m->style;
    work(s, SUM_UP_NS);
    for (uint32_t i = 0; i < y->results; i++) {
        model_trace_collect(s, MODEL_TRACE_OP_UP, MODEL_TRACE_REDUCE, REDUCE_NS, sizeof(double));
    }
    (void)model_trace_add(s, MODEL_TRACE_OP_ROOT, 0, PRINT_NS);
    if (y->frees && (y->cart || y->dup)) {
        call(s, MODEL_TRACE_COMM_FREE, FREE_NS);
    }
    if (y->meets_at_end) {
        (void)model_trace_add(s, MODEL_TRACE_OP_ALL, MODEL_TRACE_BARRIER, 0);
    }
}
