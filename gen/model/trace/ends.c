/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program does before its first iteration and after its last one. Medians in nanoseconds are those of the recorded
 * programs (doc/realism.md, "Start and end"). */
#include <string.h>

#include "gen/model/trace/track.h"

enum {
    LAUNCH_NS = 2000000, /* until the first rank runs, at least; a few times that at most */
    HOST_NS = 1500000,   /* how much later a host starts, at most */
    STAGGER_NS = 120000, /* and each of its ranks */
    ASK_NS = 110,        /* its rank, and the number of ranks */
    BETWEEN_NS = 60000,  /* code that never ran before */
    INPUT_NS = 900000,   /* rank 0 reads the input */
    BCAST_NS = 350,
    DERIVE_NS = 25000, /* sizes from the input */
    ALLOCATE_NS = 2500000,
    SUM_UP_NS = 40000,
    REDUCE_NS = 260,
    PRINT_NS = 70000
};

/* Factor of the first calls. */
enum { COLD = 15 };

static void begin_program(const struct model_trace *m, struct model_trace_scratch *s, uint32_t rank) {
    uint32_t w[4], host[4], all[4];
    const uint32_t node = model_machine_node(m->load->machine, rank);
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, rank, 0, 0, w);
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, node, 0, 1, host);
    hpcw_i_draw(m->load->seed, HPCW_I_FOR_TRACE_START, 0, 0, 2, all);
    s->now[rank] =
        (uint64_t)(LAUNCH_NS * (1 + 4 * hpcw_i_uniform(all[0])) + HOST_NS * hpcw_i_uniform(host[0])) +
        (uint64_t)(STAGGER_NS * model_trace_late(m->delays->call, w[0]));
    struct track t = track_of(m, s, rank);
    model_trace_chill(t.pace, COLD);
    after_pause(&t, MODEL_TRACE_COMM_RANK, 0);
    takes(&t, ASK_NS);
    happens(&t, MODEL_TRACE_COMM_RANK + 1, 0);
    takes(&t, BETWEEN_NS);
    after_pause(&t, MODEL_TRACE_COMM_SIZE, 0);
    takes(&t, ASK_NS);
    happens(&t, MODEL_TRACE_COMM_SIZE + 1, 0);
    takes(&t, BETWEEN_NS);
    if (rank == 0) {
        takes(&t, INPUT_NS);
    }
    end_track(&t);
}

/* The result comes down the tree: a rank has it after the one above, which has a lower number. */
static void broadcast(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, MODEL_TRACE_BCAST, 0);
        const uint64_t come = r > 0 ? s->now[model_trace_parent(r)] + m->hop_ns : 0;
        t.now = come > t.now ? come : t.now;
        takes(&t, BCAST_NS);
        happens(&t, MODEL_TRACE_BCAST + 1, 0);
        end_track(&t);
    }
}

/* The parts come up the tree. */
static void reduce(const struct model_trace *m, struct model_trace_scratch *s) {
    memset(s->ready, 0, m->ranks * sizeof *s->ready);
    for (uint32_t r = m->ranks; r-- > 0;) {
        struct track t = track_of(m, s, r);
        after_pause(&t, MODEL_TRACE_REDUCE, 0);
        t.now = s->ready[r] > t.now ? s->ready[r] : t.now;
        takes(&t, REDUCE_NS);
        happens(&t, MODEL_TRACE_REDUCE + 1, 0);
        if (r > 0 && s->ready[model_trace_parent(r)] < t.now + m->hop_ns) {
            s->ready[model_trace_parent(r)] = t.now + m->hop_ns;
        }
        end_track(&t);
    }
}

/* All ranks do something alone. */
static void work(const struct model_trace *m, struct model_trace_scratch *s, uint32_t ranks, double median_ns) {
    for (uint32_t r = 0; r < ranks; r++) {
        struct track t = track_of(m, s, r);
        takes(&t, median_ns);
        end_track(&t);
    }
}

static void barrier(const struct model_trace *m, struct model_trace_scratch *s,
                    enum model_trace_barrier which) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        after_pause(&t, MODEL_TRACE_BARRIER, 0);
        end_track(&t);
    }
    model_trace_leave(m, HPCW_I_FOR_TRACE_BARRIER, (uint32_t)which, model_trace_last(m, s), s->now);
    for (uint32_t r = 0; r < m->ranks; r++) {
        struct track t = track_of(m, s, r);
        happens(&t, MODEL_TRACE_BARRIER + 1, 0);
        end_track(&t);
    }
}

void model_trace_start(const struct model_trace *m, struct model_trace_scratch *s) {
    for (uint32_t r = 0; r < m->ranks; r++) {
        begin_program(m, s, r);
    }
    broadcast(m, s);
    work(m, s, m->ranks, DERIVE_NS);
    broadcast(m, s);
    work(m, s, m->ranks, ALLOCATE_NS);
    barrier(m, s, MODEL_TRACE_AT_START);
}

void model_trace_end(const struct model_trace *m, struct model_trace_scratch *s) {
    work(m, s, m->ranks, SUM_UP_NS);
    reduce(m, s);
    reduce(m, s);
    work(m, s, 1, PRINT_NS);
    barrier(m, s, MODEL_TRACE_AT_END);
}
