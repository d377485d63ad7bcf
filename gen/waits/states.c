/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/waits/states.h"

#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static enum call_kind kind_of(const char *name) {
    static const struct {
        const char *name;
        enum call_kind kind;
    } known[] = {
        {"MPI_Allgather", COLLECTIVE_CALL},
        {"MPI_Allgatherv", COLLECTIVE_CALL},
        {"MPI_Allreduce", COLLECTIVE_CALL},
        {"MPI_Alltoall", COLLECTIVE_CALL},
        {"MPI_Alltoallv", COLLECTIVE_CALL},
        {"MPI_Alltoallw", COLLECTIVE_CALL},
        {"MPI_Barrier", COLLECTIVE_CALL},
        {"MPI_Bcast", COLLECTIVE_CALL},
        {"MPI_Cart_create", COLLECTIVE_CALL},
        {"MPI_Cart_sub", COLLECTIVE_CALL},
        {"MPI_Comm_create", COLLECTIVE_CALL},
        {"MPI_Comm_dup", COLLECTIVE_CALL},
        {"MPI_Comm_split", COLLECTIVE_CALL},
        {"MPI_Comm_split_type", COLLECTIVE_CALL},
        {"MPI_Dist_graph_create", COLLECTIVE_CALL},
        {"MPI_Dist_graph_create_adjacent", COLLECTIVE_CALL},
        {"MPI_Exscan", COLLECTIVE_CALL},
        {"MPI_Gather", COLLECTIVE_CALL},
        {"MPI_Gatherv", COLLECTIVE_CALL},
        {"MPI_Graph_create", COLLECTIVE_CALL},
        {"MPI_Irecv", POST_CALL},
        {"MPI_Irsend", START_CALL},
        {"MPI_Isend", START_CALL},
        {"MPI_Issend", START_CALL},
        {"MPI_Mrecv", RECEIVE_CALL},
        {"MPI_Recv", RECEIVE_CALL},
        {"MPI_Reduce", COLLECTIVE_CALL},
        {"MPI_Reduce_scatter", COLLECTIVE_CALL},
        {"MPI_Reduce_scatter_block", COLLECTIVE_CALL},
        {"MPI_Rsend", SEND_CALL},
        {"MPI_Scan", COLLECTIVE_CALL},
        {"MPI_Scatter", COLLECTIVE_CALL},
        {"MPI_Scatterv", COLLECTIVE_CALL},
        {"MPI_Send", SEND_CALL},
        {"MPI_Sendrecv", EXCHANGE_CALL},
        {"MPI_Sendrecv_replace", EXCHANGE_CALL},
        {"MPI_Ssend", SEND_CALL},
        {"MPI_Start", START_CALL},
        {"MPI_Startall", START_CALL},
        {"MPI_Wait", WAIT_CALL},
        {"MPI_Waitall", WAIT_ALL_CALL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return known[i].kind;
        }
    }
    return strncmp(name, "MPI_", strlen("MPI_")) == 0 ? OTHER_CALL : NO_CALL;
}

/* Returns the index of a name, which is added if it is new; UINT32_MAX if memory runs out. */
static uint32_t add_name(struct waits_states *states, const char *text) {
    struct gen_waits *w = states->w;
    for (uint32_t i = 0; i < w->names; i++) {
        if (strcmp(w->name[i], text) == 0) {
            return i;
        }
    }
    char(*name)[GEN_WAITS_NAME] =
        hpcw_i_grow(w->name, &states->name_capacity, w->names + (size_t)1, sizeof *name);
    if (name == NULL) {
        return UINT32_MAX;
    }
    w->name = name;
    enum call_kind *kind =
        hpcw_i_grow(states->kind, &states->kind_capacity, w->names + (size_t)1, sizeof *kind);
    if (kind == NULL) {
        return UINT32_MAX;
    }
    states->kind = kind;
    memset(name[w->names], 0, sizeof name[w->names]);
    memcpy(name[w->names], text, strnlen(text, GEN_WAITS_NAME - 1));
    kind[w->names] = kind_of(name[w->names]);
    return w->names++;
}

static uint32_t name_of(struct waits_states *states, const struct gen_log_entry *e) {
    bool fresh;
    uint64_t *index = hpcw_i_table_add(&states->names, &e->definition, &fresh);
    if (index == NULL) {
        return UINT32_MAX;
    }
    if (fresh) {
        *index = add_name(states, e->name);
    }
    return (uint32_t)*index;
}

struct waits_state *waits_states_push(struct waits_states *states, const struct gen_log_entry *e) {
    const uint32_t name = name_of(states, e);
    if (name == UINT32_MAX) {
        return NULL;
    }
    if (states->unused == 0) {
        struct waits_state *grown =
            hpcw_i_grow(states->open, &states->open_capacity, states->opens + 1, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        states->open = grown;
        states->open[states->opens++].outer = 0;
        states->unused = (uint32_t)states->opens;
    }
    const uint32_t at = states->unused;
    struct waits_state *s = &states->open[at - 1];
    states->unused = s->outer;
    *s = (struct waits_state){.from_ns = e->ns,
                              .definition = e->definition,
                              .thread = e->thread,
                              .comm = e->comm,
                              .name = name,
                              .kind = states->kind[name],
                              .outer = states->top[e->rank]};
    states->top[e->rank] = at;
    return s;
}

bool waits_states_pop(struct waits_states *states, const struct gen_log_entry *e, struct waits_state *state) {
    uint32_t *link = &states->top[e->rank];
    while (*link != 0 && (states->open[*link - 1].definition != e->definition ||
                          states->open[*link - 1].thread != e->thread)) {
        link = &states->open[*link - 1].outer;
    }
    const uint32_t at = *link;
    if (at == 0) {
        return false;
    }
    *state = states->open[at - 1];
    *link = state->outer;
    states->open[at - 1].outer = states->unused;
    states->unused = at;
    return true;
}

struct waits_state *waits_states_call(const struct waits_states *states, uint32_t rank, int32_t thread) {
    uint32_t at = states->top[rank];
    while (at != 0 && (states->open[at - 1].kind == NO_CALL || states->open[at - 1].thread != thread)) {
        at = states->open[at - 1].outer;
    }
    return at == 0 ? NULL : &states->open[at - 1];
}

void waits_states_clear(struct waits_states *states) {
    memset(states->top, 0, states->w->ranks * sizeof *states->top);
    states->opens = states->unused = 0;
}

uint32_t waits_states_innermost(const struct waits_states *states, uint32_t rank) {
    return states->top[rank] == 0 ? 0 : states->open[states->top[rank] - 1].name;
}

hpcw_status waits_no_memory(const struct waits_states *states, hpcw_error *err) {
    return hpcw_i_fail_memory(err, states->path, states->w->ranks, "ranks");
}

hpcw_status waits_states_init(struct waits_states *states, struct gen_waits *w, const char *path,
                              hpcw_error *err) {
    *states = (struct waits_states){
        .w = w,
        .path = path,
        .names = {.key_words = 1, .value_size = sizeof(uint64_t), .seed = hpcw_i_table_random()}};
    states->top = hpcw_i_calloc(w->ranks, sizeof *states->top);
    return states->top == NULL || add_name(states, "") == UINT32_MAX ? waits_no_memory(states, err) : HPCW_OK;
}

void waits_states_free(struct waits_states *states) {
    hpcw_i_table_free(&states->names);
    hpcw_i_free(states->top);
    hpcw_i_free(states->open);
    hpcw_i_free(states->kind);
}
