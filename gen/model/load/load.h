/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application: migratable objects on an index space, what they work in every phase, where they are,
 * and who sends to whom. One phase is one iteration of the simulated run.
 *
 * Everything is a closed form of (parameters, number of ranks, seed, object, phase), with closed-form inverses, so
 * that a rank can list what it holds and who sends to it without any other rank:
 *
 *   - objects are numbered home * per_rank + slot. The index space is cut into one block per rank, its home; each
 *     collection has one object at every place of it.
 *   - before each phase but the first the ranks are paired at random, and some slots of a pair change sides. An
 *     object therefore always stays in the slot of its number, and where it is follows from the pairings.
 *   - senders of an object are its neighbours in the index space, its twin in the collection before, and objects far
 *     away, each chosen by a permutation of all of them.
 *
 * Loads follow the statistics of a particle-in-cell run of 32 ranks, one sample every 50 phases, published with the
 * LB-analysis-framework: log-normal, spread and mean rising over the run, persistent, alike on one rank, and a slow
 * first phase. Here the run is compressed to the phases there are. Volumes follow the same data set.
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
    MODEL_SCENARIO_SPIKE,  /* some homes' objects are heavy for some phases */
    MODEL_SCENARIO_RAMP,   /* they grow heavier over these phases and stay so */
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
    uint32_t rise;                      /* phases from the first to the last of these; 0: 35 % of all */
    double persistence;                 /* share of the variance of ln(load) that lasts for the run */
    double alike;                       /* share of that which objects of one home have in common */
    uint32_t epoch;                     /* phases after which the rest is drawn anew; 0: 5 % of all */
    double jitter;                      /* sd of the change of ln(load) between neighbouring phases */
    double setup_factor, setup_sigma;   /* phase 0: times the mean of phase 1; sd of ln(load) */

    double migration; /* share of the objects that change sides before a phase */
    uint32_t groups;  /* object groups, members on every rank */

    double far_edges;                      /* senders far away, per object */
    double edge_bytes_mean, edge_bytes_sd; /* of ln(bytes) of an edge and phase */
    double edge_messages_mean, edge_messages_sd;
    uint32_t broadcast_every; /* phases; 0: never */

    uint32_t block_objects;   /* objects that share a memory block; 0: no memory at all */
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

/* What depends on the phase alone. */
struct model_load_phase {
    double mean_ns, sigma; /* of the lasting and the slow part together */
    uint32_t epoch;
};

/* The numbers above are left for ends of messages that are no objects, one per rank. */
#define MODEL_LOAD_MOST_OBJECTS (UINT32_MAX - MODEL_MAX_RANKS)

/* Read-only after init: may be shared by threads. */
struct model_load {
    struct model_load_params params;
    const struct model_machine *machine;
    uint64_t seed;
    uint32_t ranks, per_rank;        /* objects of a rank over all collections */
    uint32_t objects;                /* in all */
    uint32_t grid[3], block[3];      /* homes, and places of one home, per dimension */
    uint32_t side[3];                /* of the index space */
    uint32_t channels;               /* permutations for senders far away */
    uint64_t swap_threshold;         /* below it a slot's word makes it change sides */
    struct model_load_phase *phase;  /* [params.phases] */
    const struct model_lanes *lanes; /* the widest; all give the same bits */
};

/*
 * Memory: 24 bytes per phase. HPCW_ERANGE for more than MODEL_LOAD_MOST_OBJECTS objects, HPCW_ENOMEM. The machine must outlive the model.
 */
hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err);
void model_load_free(struct model_load *m);

/* ---- objects ---- */

static inline uint32_t model_load_home(const struct model_load *m, uint32_t object) {
    return object / m->per_rank;
}
/* Slot, and number of the object among those of its home: collection * params.objects + place in the block. */
static inline uint32_t model_load_slot(const struct model_load *m, uint32_t object) {
    return object % m->per_rank;
}
static inline uint32_t model_load_collection(const struct model_load *m, uint32_t object) {
    return object % m->per_rank / m->params.objects;
}

/* Place in the index space; at[dims .. 2] = 0. */
void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]);

/* ---- who is where ---- */

/* The rank that holds an object in a phase, and the object in a rank's slot. Time O(phase). */
uint32_t model_load_owner(const struct model_load *m, uint32_t object, uint32_t phase);
uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase);

/* A rank through all phases: object[per_rank] are its objects by slot. begin makes phase 0, next goes on by one phase
 * in time O(per_rank), and O(phase) for each object that comes from elsewhere. */
struct model_load_cursor {
    uint32_t rank, phase;
    uint32_t *object; /* [per_rank], the caller's */
    uint32_t arrived; /* with this phase */
};
void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor);
void model_load_next(const struct model_load *m, struct model_load_cursor *cursor);

/* All ranks at once: object[objects], by rank and slot, moves from phase - 1 to `phase` >= 1; start with the identity. Time
 * O(objects). */
void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase);

/* ---- work ---- */

/* Nanoseconds of an object in a phase on a rank whose node multiplies times with `slowness`; at least 1. */
uint64_t model_load_time(const struct model_load *m, uint32_t object, uint32_t phase, double slowness);

/* The parts of it: part[params.subphases], their sum is exactly `time_ns`. */
void model_load_split(const struct model_load *m, uint32_t object, uint64_t time_ns, uint64_t *part);

/*
 * Both for many objects at once, MODEL_LOAD_AT_ONCE at most: with slowness[count], and four of the parts from `first` on, a
 * multiple of 4, in rows of `count`. `left` is what the parts before it left of the time, and what these leave.
 */
enum { MODEL_LOAD_AT_ONCE = 512 };
void model_load_times(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t phase,
                      const double *slowness, uint64_t *time_ns);
void model_load_next_parts(const struct model_load *m, const uint32_t *object, uint32_t count, uint32_t first,
                           uint64_t *left, uint64_t *part);

/* What a scenario multiplies an object's time with; 1: nothing. */
double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase);

/* Whether a scenario of the kinds spike and ramp hits the objects of a home. */
bool model_load_is_hit(const struct model_load *m, uint32_t home);

/* Place of a hot spot's centre along dimension 0 in units of the index space. */
double model_load_centre(const struct model_load *m, uint32_t phase);

/* Nanoseconds of what is not migratable: which = 0 the bare handler of a rank, 1 + g its member of group g. 0: idle. */
uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness);

/* ---- messages ---- */

enum { MODEL_LOAD_MOST_SENDERS = 6 + 1 + 8 };

/* The objects that send to an object in every phase, each once and never itself; returns how many. */
uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            uint32_t sender[MODEL_LOAD_MOST_SENDERS]);

/* What goes over an edge in a phase. Ends are objects, or any other numbers that the caller keeps apart. */
struct model_load_volume {
    uint64_t bytes, messages; /* at least 1 message, at least 1 byte each */
};
struct model_load_volume model_load_volume(const struct model_load *m, uint32_t from, uint32_t to,
                                           uint32_t phase);

/* ---- memory, if params.block_objects is not 0 ---- */

struct model_load_memory {
    uint32_t block; /* home's blocks follow each other: home * blocks per home + number */
    uint64_t block_bytes, footprint, working, serialized;
};
struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object);

#endif
