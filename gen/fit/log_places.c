/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log_places.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { LEAST_ITERATIONS = 4, FEW_CALLS = 32 };

/* Places of up to this many ranks are all known, of more only those where all meet; and up to this many in all. What else
 * there is recurs too seldom, as with a new tag each time. */
enum { SOME_RANKS = 4096, MOST_PLACES = 1 << 21 };

/* Of the calls of a rank, those between places that recur regularly: at least; and as a part of the most at any place. */
static const double least_regular = 0.25, as_regular = 0.75;

/* And how often a place recurs, as a part of the most: messages are exchanged several times before all ranks meet. */
static const double as_often[] = {0.5, 0.5, 0.125};

struct fit_place {
    uint32_t waits;
    uint32_t last, distance;       /* calls up to the last time; between that and the time before */
    uint32_t first, length, count; /* the same of the first regular ones; times from there on */
    double regular;                /* calls between times that are about as far apart as those before them */
    double seconds;                /* in the call that ends there */
};

/* ---- walking ---- */

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b + 1;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void gen_fit_log_send(struct gen_fit_log_walk *w, uint32_t peer, int32_t tag) {
    w->sent = mix(mix(1, peer), (uint64_t)tag);
    w->sends = true;
}

static void follow(uint64_t place[GEN_FIT_LOG_LEVELS], uint64_t last[2], uint64_t call) {
    place[1] = mix(last[1], call);
    place[2] = mix(mix(last[0], last[1]), call);
    last[0] = last[1];
    last[1] = call;
}

void gen_fit_log_call(struct gen_fit_log_walk *w, uint32_t state, bool for_all) {
    const uint64_t call = mix(for_all ? UINT64_C(1) + w->apart : w->sent + w->sends, state);
    w->sends = false;
    follow(w->place, for_all ? w->met : w->call, call);
    w->place[0] = for_all ? mix(0, state) : call;
    w->apart = !for_all;
    w->calls++;
}

static bool is_at(const struct gen_fit_log_walk *w, uint64_t place) {
    return w->place[0] == place || w->place[1] == place || w->place[2] == place;
}

bool gen_fit_log_ends(const struct gen_fit_log_walk *w, const struct gen_fit_log_iterations *of) {
    const bool first = w->calls == of->first;
    const bool later = w->calls > of->first && 2 * (w->calls - w->ended) >= of->length;
    return (first || later) && is_at(w, of->place);
}

/* ---- places ---- */

hpcw_status gen_fit_log_places_init(struct gen_fit_log_places *p, uint32_t ranks, hpcw_error *err) {
    *p = (struct gen_fit_log_places){
        .ranks = ranks,
        .walk = hpcw_i_calloc(ranks, sizeof *p->walk),
        .place = {.key_words = 2, .value_size = sizeof(struct fit_place), .seed = hpcw_i_table_random()}};
    return p->walk != NULL ? HPCW_OK : hpcw_i_fail_memory(err, NULL, ranks, "ranks");
}

void gen_fit_log_places_free(struct gen_fit_log_places *p) {
    hpcw_i_table_free(&p->place);
    hpcw_i_free(p->walk);
}

static bool is_near(uint32_t a, uint32_t b) {
    return 4 * (uint64_t)a <= 5 * (uint64_t)b && 4 * (uint64_t)b <= 5 * (uint64_t)a;
}

/* A time just after the one before is no end of an iteration. The first times may be those of something else, and are left
 * out if what comes next is longer than all of them. */
static void visit(struct fit_place *f, uint32_t calls) {
    const uint32_t distance = f->last > 0 ? calls - f->last : 0;
    if (f->count > 0 && 2 * distance < f->length) {
        return;
    }
    const bool again = f->distance > 0 && is_near(distance, f->distance);
    if (again && f->count == 0) {
        f->length = f->distance;
        f->first = f->last - f->length;
        f->count = 2;
    } else if (!again && f->count > 0 && distance > f->last - f->first) {
        f->count = 0;
        f->regular = f->seconds = 0;
    }
    f->regular += again ? distance : 0;
    f->count += f->count > 0;
    f->distance = distance;
    f->last = calls;
}

bool gen_fit_log_places_add(struct gen_fit_log_places *p, uint32_t rank, uint32_t state,
                            enum gen_fit_log_waits waits, double seconds) {
    struct gen_fit_log_walk *w = &p->walk[rank];
    bool added = true;
    gen_fit_log_call(w, state, waits == GEN_FIT_LOG_FOR_ALL);
    const bool known = rank < SOME_RANKS || waits == GEN_FIT_LOG_FOR_ALL;
    for (size_t i = 0; known && added && i < GEN_FIT_LOG_LEVELS; i++) {
        const uint64_t key[] = {rank, w->place[i]};
        const bool full = p->place.count >= MOST_PLACES;
        struct fit_place *f = full ? hpcw_i_table_find(&p->place, key) : hpcw_i_table_add(&p->place, key, NULL);
        added = f != NULL || full;
        if (f != NULL) {
            f->waits = waits;
            f->seconds += seconds;
            visit(f, w->calls);
        }
    }
    return added;
}

/* ---- choosing ---- */

/* What the best of a rank's places have. */
struct fit_best {
    double regular;
    uint32_t count;
};

static bool is_regular(const struct gen_fit_log_places *p, const struct fit_best *best, uint32_t rank,
                       const struct fit_place *f) {
    return f->count >= LEAST_ITERATIONS && f->regular >= least_regular * p->walk[rank].calls &&
           f->regular >= as_regular * best->regular;
}

static void find_best(const struct gen_fit_log_places *p, struct fit_best *best) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct fit_place *f;
    for (size_t at = 0; (f = hpcw_i_table_next(&p->place, &at, key)) != NULL;) {
        best[key[0]].regular = f->regular > best[key[0]].regular ? f->regular : best[key[0]].regular;
    }
    for (size_t at = 0; (f = hpcw_i_table_next(&p->place, &at, key)) != NULL;) {
        if (is_regular(p, &best[key[0]], (uint32_t)key[0], f) && f->count > best[key[0]].count) {
            best[key[0]].count = f->count;
        }
    }
}

/* Whether `a` is better; the order of the places does not show. */
static bool is_better(const struct fit_place *a, const struct fit_place *b) {
    return a->waits != b->waits       ? a->waits > b->waits
           : a->seconds != b->seconds ? a->seconds > b->seconds
                                      : a->first < b->first;
}

/* A place of all ranks. */
struct fit_common {
    uint64_t ranks;
    double seconds;
};

static bool is_candidate(const struct gen_fit_log_places *p, const struct fit_best *best, uint32_t rank,
                         const struct fit_place *f) {
    return is_regular(p, &best[rank], rank, f) && f->count >= as_often[f->waits] * best[rank].count;
}

/* Where all ranks meet, and wait longest; 0: nowhere. */
static hpcw_status find_common(const struct gen_fit_log_places *p, const struct fit_best *best, uint64_t *place,
                               hpcw_error *err) {
    struct hpcw_i_table common = {
        .key_words = 1, .value_size = sizeof(struct fit_common), .seed = p->place.seed};
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct fit_place *f;
    double most = -1;
    hpcw_status s = HPCW_OK;
    *place = 0;
    for (size_t at = 0; s == HPCW_OK && (f = hpcw_i_table_next(&p->place, &at, key)) != NULL;) {
        if (f->waits == GEN_FIT_LOG_FOR_ALL && is_candidate(p, best, (uint32_t)key[0], f)) {
            struct fit_common *c = hpcw_i_table_add(&common, &key[1], NULL);
            s = c != NULL ? s : hpcw_i_fail_memory(err, NULL, p->ranks, "ranks");
            if (c != NULL) {
                c->ranks++;
                c->seconds += f->seconds;
            }
        }
    }
    const struct fit_common *c;
    for (size_t at = 0; (c = hpcw_i_table_next(&common, &at, key)) != NULL;) {
        if (c->ranks == p->ranks && (c->seconds > most || (c->seconds == most && key[0] < *place))) {
            most = c->seconds;
            *place = key[0];
        }
    }
    hpcw_i_table_free(&common);
    return s;
}

/* Before the first end: that iteration may have more calls than the next one. */
static uint32_t begin_of(const struct fit_place *f) {
    const uint32_t most = f->length + f->length / 4;
    return f->first > most ? f->first - most : 0;
}

/* The best place of each rank, or `common`. */
static void take_best(const struct gen_fit_log_places *p, const struct fit_best *best, uint64_t common,
                      struct gen_fit_log_iterations *of) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct fit_place *f;
    for (uint32_t r = 0; r < p->ranks; r++) {
        of[r] = (struct gen_fit_log_iterations){.count = 0};
    }
    for (size_t at = 0; (f = hpcw_i_table_next(&p->place, &at, key)) != NULL;) {
        struct gen_fit_log_iterations *own = &of[key[0]];
        const struct fit_place *other =
            own->count > 0 ? hpcw_i_table_find(&p->place, (const uint64_t[]){key[0], own->place}) : NULL;
        const bool mine =
            common != 0 ? key[1] == common
                        : is_candidate(p, best, (uint32_t)key[0], f) && (other == NULL || is_better(f, other));
        if (mine) {
            *own = (struct gen_fit_log_iterations){key[1], begin_of(f), f->first, f->length, f->count};
        }
    }
}

hpcw_status gen_fit_log_iterations(const struct gen_fit_log_places *p, struct gen_fit_log_iterations *of,
                                   hpcw_error *err) {
    struct fit_best *best = hpcw_i_calloc(p->ranks, sizeof *best);
    uint64_t common;
    if (best == NULL) {
        return hpcw_i_fail_memory(err, NULL, p->ranks, "ranks");
    }
    find_best(p, best);
    hpcw_status s = find_common(p, best, &common, err);
    if (s == HPCW_OK) {
        take_best(p, best, common, of);
    }
    hpcw_i_free(best);
    return s;
}

bool gen_fit_log_whole(const struct gen_fit_log_places *p, struct gen_fit_log_iterations *of) {
    bool is_short = true;
    for (uint32_t r = 0; r < p->ranks; r++) {
        const struct gen_fit_log_walk *w = &p->walk[r];
        is_short = is_short && w->calls > 0 && w->calls <= FEW_CALLS;
        of[r] = (struct gen_fit_log_iterations){w->place[2], 0, w->calls, w->calls, 1};
    }
    return is_short;
}
