/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/load/whole.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status model_load_whole_new(struct model_load_whole *w, const struct model_load *m, hpcw_error *err) {
    *w = (struct model_load_whole){
        .load = m,
        .phase = UINT32_MAX, /* no phase measured yet */
        .rank = hpcw_i_malloc(m->objects * sizeof *w->rank),
        .time_ns = hpcw_i_malloc(m->objects * sizeof *w->time_ns),
        .fixed_ns = hpcw_i_malloc(m->ranks * sizeof *w->fixed_ns),
        .slowness = hpcw_i_malloc(m->ranks * sizeof *w->slowness),
        .node = hpcw_i_malloc(m->ranks * sizeof *w->node),
        .lasting = hpcw_i_malloc(m->objects * sizeof *w->lasting),
        .exists = hpcw_i_malloc(m->objects * sizeof *w->exists),
        .object = hpcw_i_malloc(m->objects * sizeof *w->object),
        .entry = hpcw_i_malloc(m->objects * sizeof *w->entry),
        .calm_ns = hpcw_i_malloc(m->ranks * sizeof *w->calm_ns),
        .heap = hpcw_i_malloc(m->ranks * sizeof *w->heap),
    };
    if (w->rank == NULL || w->time_ns == NULL || w->fixed_ns == NULL || w->slowness == NULL ||
        w->node == NULL || w->lasting == NULL || w->exists == NULL || w->object == NULL || w->entry == NULL ||
        w->calm_ns == NULL || w->heap == NULL) {
        return hpcw_i_fail_memory(err, "load", m->objects, "objects");
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        w->object[o] = o;
        w->exists[o] = model_load_exists(m, o);
        w->lasting[o] = model_load_lasting(m, o);
    }
    return HPCW_OK;
}

void model_load_whole_free(struct model_load_whole *w) {
    hpcw_i_free(w->rank);
    hpcw_i_free(w->time_ns);
    hpcw_i_free(w->fixed_ns);
    hpcw_i_free(w->slowness);
    hpcw_i_free(w->node);
    hpcw_i_free(w->lasting);
    hpcw_i_free(w->exists);
    hpcw_i_free(w->object);
    hpcw_i_free(w->entry);
    hpcw_i_free(w->calm_ns);
    hpcw_i_free(w->heap);
    *w = (struct model_load_whole){0};
}

uint64_t model_load_whole_size(const struct model_load *m) {
    /* 8 bytes of each object are those that qsort takes. */
    return 41 * (uint64_t)m->objects + 48 * (uint64_t)m->ranks;
}

/* ---- measuring ---- */

void model_load_whole_place(struct model_load_whole *w, uint32_t phase) {
    if (phase < w->phase) {
        for (uint32_t o = 0; o < w->load->objects; o++) {
            w->object[o] = o;
        }
        w->phase = 0;
    }
    while (w->phase < phase) {
        model_load_move(w->load, w->object, ++w->phase);
    }
    model_load_ranks(w->load, w->object, phase, w->rank);
}

void model_load_whole_measure(struct model_load_whole *w, uint32_t phase) {
    const struct model_load *m = w->load;
    model_load_whole_place(w, phase);
    for (uint32_t r = 0; r < m->ranks; r++) {
        w->slowness[r] = model_load_slowness(m, r, phase);
        w->node[r] = model_machine_slowness(m->machine, model_machine_node(m->machine, r));
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        w->time_ns[o] =
            w->exists[o] ? model_load_time(m, o, w->lasting[o], w->phase, w->slowness[w->rank[o]]) : 0;
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint32_t slot;
        w->fixed_ns[r] = model_load_interruption(m, r, phase, &slot);
        for (uint32_t which = 0; which <= m->params.groups; which++) {
            w->fixed_ns[r] += model_load_other(m, r, which, phase, w->slowness[r]);
        }
    }
}

void model_load_whole_interrupt(struct model_load_whole *w) {
    for (uint32_t r = 0; r < w->load->ranks; r++) {
        uint32_t slot, count;
        const uint32_t *list = model_load_on_rank(w->load, w->object, w->phase, r, &count);
        const uint64_t ns = model_load_interruption(w->load, r, w->phase, &slot);
        w->time_ns[list[slot < count && w->exists[list[slot]] ? slot : 0]] += ns;
    }
}

/* ---- placing ---- */

/* Returns the time of an object on a rank that is not slow. */
static double work_of(const struct model_load_whole *w, uint32_t object) {
    return (double)w->time_ns[object] / w->node[w->rank[object]];
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the objects by time or work, longest first, and equal ones by number. The low half of an entry is the
 * number of the object. Only the 32 leading bits of a time are compared. */
static const uint64_t *sort_longest_first(struct model_load_whole *w, bool by_work, uint32_t *count) {
    uint64_t all = 0;
    uint32_t shift = 0;
    uint32_t n = 0;
    for (uint32_t o = 0; o < w->load->objects; o++) {
        all |= w->time_ns[o];
    }
    for (; all >> shift > UINT32_MAX; shift++) {
    }
    for (uint32_t o = 0; o < w->load->objects; o++) {
        if (w->time_ns[o] > 0) {
            const uint64_t ns = by_work ? (uint64_t)work_of(w, o) : w->time_ns[o];
            w->entry[n++] = (UINT32_MAX - (ns >> shift)) << 32 | o;
        }
    }
    qsort(w->entry, n, sizeof *w->entry, by_value);
    *count = n;
    return w->entry;
}

static bool is_less(struct model_load_heap a, struct model_load_heap b) {
    return a.load_ns < b.load_ns || (a.load_ns == b.load_ns && a.rank < b.rank);
}

static void sink(struct model_load_heap *heap, uint32_t count, uint32_t at) {
    const struct model_load_heap one = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_less(heap[child + 1], heap[child]);
        if (!is_less(heap[child], one)) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = one;
}

static void start_heap(struct model_load_whole *w, const uint64_t *start_ns) {
    for (uint32_t r = 0; r < w->load->ranks; r++) {
        w->heap[r] = (struct model_load_heap){start_ns[r], r};
    }
    for (uint32_t at = w->load->ranks / 2; at-- > 0;) {
        sink(w->heap, w->load->ranks, at);
    }
}

static uint64_t rounded(double ns) {
    return (uint64_t)(ns + 0.5);
}

struct model_load_optimum model_load_whole_optimum(struct model_load_whole *w, uint32_t *rank) {
    const struct model_load *m = w->load;
    uint32_t count;
    const uint64_t *list = sort_longest_first(w, true, &count);
    double sum = 0;   /* work of all objects on a rank of normal speed */
    double speed = 0; /* sum of the speeds of all ranks */
    double least = w->node[0];
    double most = 0; /* largest load that no placement can avoid */
    start_heap(w, w->fixed_ns);
    for (uint32_t r = 0; r < m->ranks; r++) {
        sum += (double)w->fixed_ns[r] / w->node[r];
        speed += 1 / w->node[r];
        least = w->node[r] < least ? w->node[r] : least;
        most = (double)w->fixed_ns[r] > most ? (double)w->fixed_ns[r] : most;
    }
    double before = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)list[i];
        const double work = work_of(w, o);
        sum += work;
        /* Of the ranks + 1 longest objects, at least two are on the same rank. */
        const double together = work + (i == m->ranks ? before : 0);
        if (i == 0 || i == m->ranks) {
            most = least * together > most ? least * together : most;
        }
        before = work;
        w->heap[0].load_ns += rounded(work * w->node[w->heap[0].rank]);
        if (rank != NULL) {
            rank[o] = w->heap[0].rank;
        }
        sink(w->heap, m->ranks, 0);
    }
    most = sum / speed > most ? sum / speed : most;
    /* Allows for times that were rounded to whole nanoseconds and sorted by 32 bits. */
    most = most * (1 - 0x1p-31) - (double)m->per_rank;
    struct model_load_optimum best = {.bound_ns = most > 0 ? (uint64_t)most : 0};
    for (uint32_t r = 0; r < m->ranks; r++) {
        best.sum_ns += w->heap[r].load_ns;
        best.longest_first_ns =
            w->heap[r].load_ns > best.longest_first_ns ? w->heap[r].load_ns : best.longest_first_ns;
    }
    return best;
}

void model_load_whole_greedy(struct model_load_whole *w, uint32_t *rank) {
    const uint32_t ranks = w->load->ranks;
    uint32_t count;
    const uint64_t *list = sort_longest_first(w, false, &count);
    uint64_t *load_ns = w->fixed_ns; /* fixed_ns is no longer needed */
    uint64_t sum_ns = 0;
    memset(load_ns, 0, ranks * sizeof *load_ns);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)list[i];
        sum_ns += w->time_ns[o];
        load_ns[w->rank[o]] += w->time_ns[o];
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)list[i];
        const uint32_t from = w->rank[o];
        const bool gives = load_ns[from] > sum_ns / ranks && load_ns[from] > w->time_ns[o];
        rank[o] = gives ? UINT32_MAX : from;
        load_ns[from] -= gives ? w->time_ns[o] : 0;
    }
    start_heap(w, load_ns);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)list[i];
        if (rank[o] == UINT32_MAX) {
            rank[o] = w->heap[0].rank;
            w->heap[0].load_ns += w->time_ns[o];
            sink(w->heap, ranks, 0);
        }
    }
}

/* ---- scenarios ---- */

void model_load_whole_ranks(const struct model_load_whole *w, uint64_t *load_ns, uint64_t *calm_ns) {
    const struct model_load *m = w->load;
    memcpy(load_ns, w->fixed_ns, m->ranks * sizeof *load_ns);
    if (calm_ns != NULL) {
        memcpy(calm_ns, w->fixed_ns, m->ranks * sizeof *calm_ns);
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        if (w->time_ns[o] > 0) {
            load_ns[w->rank[o]] += w->time_ns[o];
        }
        if (w->time_ns[o] > 0 && calm_ns != NULL) {
            calm_ns[w->rank[o]] += (uint64_t)((double)w->time_ns[o] / model_load_scenario(m, o, w->phase));
        }
    }
}

void model_load_whole_imbalance(const struct model_load_whole *w, double *with, double *without) {
    const uint32_t ranks = w->load->ranks;
    uint64_t *load_ns = w->entry; /* has room for [ranks] values, since each rank has at least one object */
    uint64_t *calm_ns = w->calm_ns;
    double sum = 0, calm = 0, most = 0, calm_most = 0;
    model_load_whole_ranks(w, load_ns, calm_ns);
    for (uint32_t r = 0; r < ranks; r++) {
        sum += (double)load_ns[r];
        calm += (double)calm_ns[r];
        most = (double)load_ns[r] > most ? (double)load_ns[r] : most;
        calm_most = (double)calm_ns[r] > calm_most ? (double)calm_ns[r] : calm_most;
    }
    *with = most / (sum / ranks) - 1;
    *without = calm_most / (calm / ranks) - 1;
}
