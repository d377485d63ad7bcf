/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/edges.h"

#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Edges of one kind between objects or, in a tree, between handlers. */
struct edges_kind {
    uint32_t *from, *to; /* [count] objects or ranks */
    uint32_t *owner;
    double *ln_bytes;
    uint64_t *bytes; /* in the last phase that was added */
    uint32_t count, most;
};

/* All pairs of ranks that communicate in a phase, by sender and by receiver. */
struct edges_phase {
    uint32_t asked; /* number of ranks that have asked for this phase */
    /* [ranks + 1] begin of each rank's list in `to` and in `from` */
    uint32_t *first_to, *first_from;
    struct sim_lua_edge *to, *from;
};

struct edges_link {
    uint32_t from, to;
    uint64_t bytes;
};

struct gen_edges {
    const struct model_load *load;
    struct edges_kind kind[MODEL_LOAD_KINDS];
    struct edges_phase *phase; /* [phases] */
    /* [ranks] position at which the next edge of each rank is stored */
    uint32_t *next;

    /* Edges between ranks in the phase that is being added. A pair of ranks may have several edges. */
    struct edges_link *link; /* [links] */
    size_t links, capacity;
    struct sim_lua_edge *sorted; /* [sorted_capacity] by receiver */
    size_t sorted_capacity;
};

/* ---- the list of edges ---- */

static bool is_tree(uint32_t kind) {
    return kind == MODEL_LOAD_UP || kind == MODEL_LOAD_DOWN;
}

static hpcw_status new_kind(struct edges_kind *k, uint32_t most, hpcw_error *err) {
    k->most = most;
    k->from = hpcw_i_malloc(most * sizeof *k->from);
    k->to = hpcw_i_malloc(most * sizeof *k->to);
    k->owner = hpcw_i_malloc(most * sizeof *k->owner);
    k->ln_bytes = hpcw_i_malloc(most * sizeof *k->ln_bytes);
    k->bytes = hpcw_i_malloc(most * sizeof *k->bytes);
    return k->from != NULL && k->to != NULL && k->owner != NULL && k->ln_bytes != NULL && k->bytes != NULL
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "workload", most, "edges");
}

static void add(struct gen_edges *e, uint32_t kind, uint32_t from, uint32_t to, uint32_t owner,
                double follows) {
    struct edges_kind *k = &e->kind[kind];
    k->from[k->count] = from;
    k->to[k->count] = to;
    k->owner[k->count] = owner;
    k->ln_bytes[k->count++] = model_load_flow(e->load, owner, model_load_shared(kind), follows).ln_bytes;
}

static void list_objects(struct gen_edges *e) {
    const struct model_load *m = e->load;
    for (uint32_t o = 0; m->kinds > 0 && o < m->objects; o++) {
        struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
        const uint32_t senders = model_load_exists(m, o) ? model_load_senders(m, o, from) : 0;
        const double lasting = senders > 0 ? model_load_lasting(m, o) : 0;
        for (uint32_t i = 0; i < senders; i++) {
            add(e, from[i].kind, from[i].from, o, model_load_owner(from[i].kind, from[i].from, o),
                lasting + model_load_lasting(m, from[i].from));
        }
    }
}

static void list_handlers(struct gen_edges *e) {
    for (uint32_t r = 1; e->load->params.handler.send && r < e->load->ranks; r++) {
        add(e, MODEL_LOAD_UP, r, model_load_parent(r), model_load_handler(r), 0);
        add(e, MODEL_LOAD_DOWN, model_load_parent(r), r, model_load_handler(r), 0);
    }
}

hpcw_status gen_edges_new(const struct model_load *m, struct gen_edges **out, hpcw_error *err) {
    struct gen_edges *e = hpcw_i_calloc(1, sizeof *e);
    *out = NULL;
    if (e == NULL) {
        return hpcw_i_fail_memory(err, "workload", 0, NULL);
    }
    e->load = m;
    e->phase = hpcw_i_calloc(m->params.phases, sizeof *e->phase);
    e->next = hpcw_i_malloc(m->ranks * sizeof *e->next);
    hpcw_status s = e->phase == NULL || e->next == NULL
                        ? hpcw_i_fail_memory(err, "workload", m->params.phases, "phases")
                        : HPCW_OK;
    for (uint32_t k = 0; s == HPCW_OK && k < MODEL_LOAD_KINDS; k++) {
        s = new_kind(&e->kind[k], is_tree(k) ? m->ranks : k < m->kinds ? m->objects : 1, err);
    }
    if (s != HPCW_OK) {
        gen_edges_free(e);
        return s;
    }
    list_objects(e);
    list_handlers(e);
    *out = e;
    return HPCW_OK;
}

static void free_phase(struct edges_phase *p) {
    hpcw_i_free(p->first_to);
    hpcw_i_free(p->first_from);
    hpcw_i_free(p->to);
    hpcw_i_free(p->from);
    *p = (struct edges_phase){0};
}

void gen_edges_free(struct gen_edges *e) {
    if (e == NULL) {
        return;
    }
    for (uint32_t k = 0; k < MODEL_LOAD_KINDS; k++) {
        hpcw_i_free(e->kind[k].from);
        hpcw_i_free(e->kind[k].to);
        hpcw_i_free(e->kind[k].owner);
        hpcw_i_free(e->kind[k].ln_bytes);
        hpcw_i_free(e->kind[k].bytes);
    }
    for (uint32_t i = 0; e->phase != NULL && i < e->load->params.phases; i++) {
        free_phase(&e->phase[i]);
    }
    hpcw_i_free(e->phase);
    hpcw_i_free(e->next);
    hpcw_i_free(e->link);
    hpcw_i_free(e->sorted);
    hpcw_i_free(e);
}

/* ---- a phase ---- */

/* Computes the bytes of all edges of a kind in a phase. */
static void find_bytes(const struct model_load *m, uint32_t kind, uint32_t phase, struct edges_kind *k) {
    for (uint32_t i = 0; i < k->count; i++) {
        const struct model_load_flow flow = {.ln_bytes = k->ln_bytes[i]};
        k->bytes[i] = model_load_volume(m, k->owner[i], model_load_shared(kind), flow, phase).bytes;
    }
}

/* Adds the edges of a kind between different ranks. */
static hpcw_status add_kind(struct gen_edges *e, uint32_t kind, const uint32_t *rank, hpcw_error *err) {
    const struct edges_kind *k = &e->kind[kind];
    for (uint32_t i = 0; i < k->count; i++) {
        const uint32_t from = is_tree(kind) ? k->from[i] : rank[k->from[i]];
        const uint32_t to = is_tree(kind) ? k->to[i] : rank[k->to[i]];
        if (from == to) {
            continue;
        }
        struct edges_link *grown = hpcw_i_grow(e->link, &e->capacity, e->links + 1, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, "workload", e->links, "edges");
        }
        e->link = grown;
        e->link[e->links++] = (struct edges_link){.from = from, .to = to, .bytes = k->bytes[i]};
    }
    return HPCW_OK;
}

/* Turns counts into begins of the ranks' lists. On entry, first[r + 1] has the count of rank r. */
static void add_counts(uint32_t *first, uint32_t ranks) {
    for (uint32_t r = 0; r < ranks; r++) {
        first[r + 1] += first[r];
    }
}

/* Makes the lists by receiver from the lists by sender, or the reverse. The input lists are in the order of
 * ranks, so each new list is sorted by rank. */
static void turn_lists(const struct gen_edges *e, const uint32_t *first, const struct sim_lua_edge *list,
                       const uint32_t *first_other, struct sim_lua_edge *other) {
    memcpy(e->next, first_other, e->load->ranks * sizeof *e->next);
    for (uint32_t r = 0; r < e->load->ranks; r++) {
        for (uint32_t i = first[r]; i < first[r + 1]; i++) {
            other[e->next[list[i].rank]++] = (struct sim_lua_edge){.rank = r, .bytes = list[i].bytes};
        }
    }
}

/* Sorts the edges by receiver. The edges of receiver r begin at first[r]. */
static void sort_links(struct gen_edges *e, uint32_t *first) {
    for (size_t i = 0; i < e->links; i++) {
        first[e->link[i].to + 1]++;
    }
    add_counts(first, e->load->ranks);
    memcpy(e->next, first, e->load->ranks * sizeof *e->next);
    for (size_t i = 0; i < e->links; i++) {
        const struct edges_link *l = &e->link[i];
        e->sorted[e->next[l->to]++] = (struct sim_lua_edge){.rank = l->from, .bytes = l->bytes};
    }
}

/* Sums the edges of each pair of ranks. Afterwards the pairs of receiver r begin at first[r]. */
static void sum_pairs(struct gen_edges *e, uint32_t *first, uint32_t *first_to) {
    const uint32_t ranks = e->load->ranks;
    uint32_t pairs = 0;
    /* ranks that are no sender to the current receiver have no position in its list */
    memset(e->next, 0xff, ranks * sizeof *e->next);
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t begin = pairs;
        for (uint32_t i = first[r]; i < first[r + 1]; i++) {
            const struct sim_lua_edge edge = e->sorted[i];
            uint32_t *pair = &e->next[edge.rank];
            if (*pair == UINT32_MAX || *pair < begin) {
                *pair = pairs;
                e->sorted[pairs++] = edge;
                first_to[edge.rank + 1]++;
            } else {
                e->sorted[*pair].bytes += edge.bytes;
            }
        }
        first[r] = begin;
    }
    first[ranks] = pairs;
}

/* Makes the lists by sender and by receiver of a phase. */
static hpcw_status list_pairs(struct gen_edges *e, struct edges_phase *p, hpcw_error *err) {
    const uint32_t ranks = e->load->ranks;
    struct sim_lua_edge *sorted = hpcw_i_grow(e->sorted, &e->sorted_capacity, e->links + 1, sizeof *sorted);
    e->sorted = sorted != NULL ? sorted : e->sorted;
    p->first_to = hpcw_i_calloc(ranks + (size_t)1, sizeof *p->first_to);
    p->first_from = hpcw_i_calloc(ranks + (size_t)1, sizeof *p->first_from);
    if (sorted == NULL || p->first_to == NULL || p->first_from == NULL) {
        return hpcw_i_fail_memory(err, "workload", e->links, "edges");
    }
    sort_links(e, p->first_from);
    sum_pairs(e, p->first_from, p->first_to);
    add_counts(p->first_to, ranks);
    p->to = hpcw_i_malloc((p->first_to[ranks] + (size_t)1) * sizeof *p->to);
    p->from = hpcw_i_malloc((p->first_to[ranks] + (size_t)1) * sizeof *p->from);
    if (p->to == NULL || p->from == NULL) {
        return hpcw_i_fail_memory(err, "workload", e->links, "edges");
    }
    turn_lists(e, p->first_from, e->sorted, p->first_to, p->to);
    turn_lists(e, p->first_to, p->to, p->first_from, p->from);
    return HPCW_OK;
}

hpcw_status gen_edges_add(struct gen_edges *e, uint32_t phase, const uint32_t *rank, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const bool same = phase > 0 && model_load_same_volumes(e->load, phase, phase - 1);
    e->links = 0;
    for (uint32_t k = 0; s == HPCW_OK && k < MODEL_LOAD_KINDS; k++) {
        if (!same) {
            find_bytes(e->load, k, phase, &e->kind[k]);
        }
        s = add_kind(e, k, rank, err);
    }
    return s == HPCW_OK ? list_pairs(e, &e->phase[phase], err) : s;
}

void gen_edges_of(struct gen_edges *e, uint32_t rank, uint32_t phase, struct sim_lua_edges *of) {
    struct edges_phase *p = &e->phase[phase];
    if (++p->asked == e->load->ranks && phase > 0) {
        free_phase(p - 1);
    }
    of->to = p->to + p->first_to[rank];
    of->to_count = p->first_to[rank + 1] - p->first_to[rank];
    of->from = p->from + p->first_from[rank];
    of->from_count = p->first_from[rank + 1] - p->first_from[rank];
}
