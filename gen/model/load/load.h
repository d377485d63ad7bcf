/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application: migratable objects on an index space, their work in every phase, where they are, and who
 * sends to whom. One phase is one iteration of the simulated run.
 *
 * Everything is a closed form of (parameters, number of ranks, seed, object, phase) and has a closed-form inverse. So the
 * objects of a rank and their senders can be listed without any other rank:
 *
 *   - Objects are numbered home * per_rank + slot. The index space is cut into one block per rank, its home; each
 *     collection has one object at every position of it.
 *   - Before each phase but the first, the ranks are paired at random, and some slots of a pair swap their objects. So an
 *     object always stays in the same slot, and the pairings give its rank.
 *   - The senders of an object are its neighbours in the index space, its counterpart in the collection before, and
 *     objects far away, each chosen by a permutation of all objects.
 *
 * Loads follow the statistics of a particle-in-cell run of 32 ranks, one sample every 50 phases, published with the
 * LB-analysis-framework: log-normal, persistent, similar on one rank, with a mean and a spread that rise over the run, and
 * a slow first phase. Here the run is compressed to the number of phases. Volumes follow the same dataset.
 */
#ifndef HPCW_GEN_MODEL_LOAD_LOAD_H
#define HPCW_GEN_MODEL_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/draw/draws.h"
#include "gen/model/machine/machine.h"
#include "ui/param/param.h"

enum model_scenario {
    MODEL_SCENARIO_NONE,
    MODEL_SCENARIO_SPIKE,  /* objects of some homes are heavy for some phases */
    MODEL_SCENARIO_RAMP,   /* objects of some homes grow heavier over these phases, and stay so */
    MODEL_SCENARIO_HOTSPOT /* heavy objects around a centre that crosses the index space */
};

/* Keys "load.*". */
struct model_load_params {
    uint32_t phases;
    uint32_t dims;        /* of the index space */
    uint32_t objects;     /* per rank and collection */
    uint32_t collections; /* on the same index space */
    bool periodic;        /* the index space is a torus */
    uint32_t subphases;   /* of a phase; 0: none */

    double mean_first_ms, mean_last_ms; /* of an object */
    double sigma_first, sigma_last;     /* standard deviation of ln(load) */
    uint32_t rise;                      /* phases between the two; 0: 35 % of all */
    double persistence;                 /* share of the variance of ln(load) that lasts for the run */
    double alike;                       /* share of it that objects of one home have in common */
    uint32_t epoch;                     /* phases after which the rest is drawn anew; 0: 5 % of all */
    double jitter;                      /* sd of the change of ln(load) between neighbouring phases */
    double setup_factor, setup_sigma;   /* phase 0: times the mean of phase 1; sd of ln(load) */

    double migration; /* share of the objects that change ranks before a phase */
    uint32_t groups;  /* object groups, with a member on every rank */

    double far_edges;                      /* senders far away, per object */
    double edge_bytes_mean, edge_bytes_sd; /* of ln(bytes) of an edge and phase */
    double edge_messages_mean, edge_messages_sd;
    uint32_t broadcast_every; /* phases; 0: never */

    uint32_t block_objects;   /* objects that share a memory block; 0: no memory values */
    uint64_t block_bytes;     /* of it, median */
    uint64_t footprint_bytes; /* of an object, median */

    int scenario;            /* enum model_scenario */
    uint32_t scenario_first; /* phase */
    uint32_t scenario_phases;
    double scenario_share; /* of the ranks, or radius as a share of the index space's longest side */
    double scenario_factor;
};

extern const struct ui_param model_load_param[];
extern const size_t model_load_param_count;
void model_load_params_init(struct model_load_params *params);

/* What depends only on the phase. */
struct model_load_phase {
    double mean_ns, sigma; /* of the lasting and the slow part together */
    uint32_t epoch;
};

/* Higher numbers are for ends of messages that are not objects, one per rank. */
#define MODEL_LOAD_MOST_OBJECTS (UINT32_MAX - MODEL_MAX_RANKS)

/* Read-only after init: threads may share it. */
struct model_load {
    struct model_load_params params;
    const struct model_machine *machine;
    uint64_t seed;
    uint32_t ranks, per_rank;        /* objects of a rank over all collections */
    uint32_t objects;                /* of all ranks */
    uint32_t grid[3], block[3];      /* homes, and positions of one home, per dimension */
    uint32_t side[3];                /* of the index space */
    uint32_t channels;               /* permutations for senders far away */
    uint64_t swap_threshold;         /* a slot swaps if its word is below */
    struct model_load_phase *phase;  /* [params.phases] */
    const struct model_lanes *lanes; /* the fastest; all give the same bits */
};

/*
 * Memory: 24 bytes per phase. HPCW_ERANGE for more than MODEL_LOAD_MOST_OBJECTS objects, HPCW_ENOMEM. The machine must
 * outlive the model.
 */
hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err);
void model_load_free(struct model_load *m);

/* ---- objects ---- */

static inline uint32_t model_load_home(const struct model_load *m, uint32_t object) {
    return object / m->per_rank;
}
/* Slot: the number of the object in its home, collection * params.objects + position in the block. */
static inline uint32_t model_load_slot(const struct model_load *m, uint32_t object) {
    return object % m->per_rank;
}
static inline uint32_t model_load_collection(const struct model_load *m, uint32_t object) {
    return object % m->per_rank / m->params.objects;
}

/* Position in the index space; at[dims .. 2] = 0. */
void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]);

/* ---- ranks of objects ---- */

/* The object in a rank's slot in a phase. Time O(phase). */
uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase);

/* The objects of a rank phase by phase: object[per_rank] by slot. `begin` makes phase 0, `next` the next one in time
 * O(per_rank), and O(phase) for each object that arrives. */
struct model_load_cursor {
    uint32_t rank, phase;
    uint32_t *object; /* [per_rank], the caller's */
    uint32_t arrived; /* objects new in this phase */
};
void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor);
void model_load_next(const struct model_load *m, struct model_load_cursor *cursor);

/* All ranks at once: moves object[objects], by rank and slot, from phase - 1 to `phase` >= 1. Phase 0 is the identity.
 * Time O(objects). */
void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase);

/* ---- work ---- */

/* Nanoseconds of an object in a phase, at least 1; `slowness` is the factor of the rank's node. */
uint64_t model_load_time(const struct model_load *m, uint32_t object, uint32_t phase, double slowness);

/* Splits it into part[params.subphases], whose sum is exactly `time_ns`. */
void model_load_split(const struct model_load *m, uint32_t object, uint64_t time_ns, uint64_t *part);

/*
 * Both for many objects, at most MODEL_LOAD_AT_ONCE: with slowness[count]; and four parts from `first` on, a multiple of 4,
 * in rows of `count`. `left` is the time that remains before these parts, and then after them.
 */
enum { MODEL_LOAD_AT_ONCE = 512 };
void model_load_times(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t phase,
                      const double *slowness, uint64_t *time_ns);
void model_load_next_parts(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t first,
                           uint64_t *left, uint64_t *part);

/* The factor of an object's time in a scenario; 1: none. */
double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase);

/* Whether a scenario of the kinds spike and ramp hits the objects of a home. */
bool model_load_is_hit(const struct model_load *m, uint32_t home);

/* Position of a hot spot's centre along dimension 0 of the index space. */
double model_load_centre(const struct model_load *m, uint32_t phase);

/* Nanoseconds of what cannot migrate: which = 0 the bare handler of a rank, 1 + g its member of group g. 0: idle. */
uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness);

/* ---- messages ---- */

enum { MODEL_LOAD_MOST_SENDERS = 6 + 1 + 8 };

/* The objects that send to an object in every phase, each once and never itself; returns their number. */
uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            uint32_t sender[MODEL_LOAD_MOST_SENDERS]);

/* What an edge carries in a phase. Its ends are objects, or other numbers that are not objects. */
struct model_load_volume {
    uint64_t bytes, messages; /* at least 1 message, at least 1 byte each */
};
struct model_load_volume model_load_volume(const struct model_load *m, uint32_t from, uint32_t to,
                                           uint32_t phase);

/* ---- memory, if params.block_objects is not 0 ---- */

struct model_load_memory {
    uint32_t block; /* home * blocks per home + number in the home */
    uint64_t block_bytes, footprint, working, serialized;
};
struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object);

#endif
