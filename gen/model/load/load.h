/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated application: migratable objects on an index space. The model gives their work in each phase, their
 * ranks, and the messages between them. One phase is one iteration of the run. All formats of a dataset show this
 * application.
 *
 * Everything is a closed form of (parameters, number of ranks, seed, object, phase) and has a closed-form inverse.
 * So the objects of a rank and their senders can be listed without any other rank:
 *
 *  - Objects are numbered home * per_rank + slot. The index space is cut into one block per rank, its home. Each
 *    collection has a place for an object at every position of it. Some places are empty.
 *  - Before each phase but the first, neighbours on the grid of ranks are paired. Some slots of a pair swap their
 *    contents. So an object always stays in the same slot, near its home, and the pairings give its rank. With
 *    empty places, the number of objects differs between ranks and changes. Slot 0 is never empty. With a balancer
 *    (balance.h), objects move only where it places them. Its placements are computed once and kept.
 *  - The senders of an object are its neighbours in the index space, its counterpart in the previous collection,
 *    and far objects, each chosen by a permutation of all objects. Other choices are the kinds of edges of the
 *    measured run, and neighbours that exchange the cells at the borders of a mesh.
 *  - The persistent part of an object's work is a smooth field over the ranks plus a part of its own. Its messages
 *    and its memory follow the same values.
 *
 * Loads follow the statistics of a particle-in-cell run of 32 ranks. It has one sample every 50 phases and was
 * published with the LB-analysis-framework. Its loads are persistent, right-skewed and similar on neighbouring
 * ranks. Mean and spread rise over the run, the first phase is slow, and changes from phase to phase become small.
 * Here the run is compressed to the number of phases. Volumes of the stencil are those of the elements' messages,
 * which carry 96 % of the run's bytes but go to object groups of the same rank. */
#ifndef HPCW_GEN_MODEL_LOAD_LOAD_H
#define HPCW_GEN_MODEL_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/load/tail.h"
#include "gen/model/machine/machine.h"
#include "ui/param/param.h"

enum model_scenario {
    MODEL_SCENARIO_NONE,
    MODEL_SCENARIO_SPIKE, /* objects of some homes are heavy for some phases */
    /* objects of some homes grow heavier over these phases and stay so */
    MODEL_SCENARIO_RAMP,
    MODEL_SCENARIO_HOTSPOT /* heavy objects around a centre that crosses the index space */
};

/* Names of the scenarios, ended by NULL. */
extern const char *const model_scenario_name[];

/* Largest values of "load.objects" and of the layers of a phase. */
enum { MODEL_LOAD_MOST_PLACES = 4096, MODEL_LOAD_MOST_LAYERS = 4096 };

/* Median time of a group member that has work, ns. */
#define MODEL_LOAD_GROUP_NS 20e3

/* How the mean load goes from load.mean_first to load.mean_last. The spread follows the same course. */
enum model_course {
    MODEL_COURSE_AUTO, /* one of those below, drawn by the seed */
    MODEL_COURSE_RAMP, /* up to a plateau */
    MODEL_COURSE_FLAT,
    MODEL_COURSE_DECAY, /* down to a plateau */
    MODEL_COURSE_STEPS, /* random levels between the two */
    /* the last value in bursts of a few phases, otherwise the first */
    MODEL_COURSE_BURSTS
};

enum model_balancer { MODEL_BALANCER_NONE, MODEL_BALANCER_GREEDY, MODEL_BALANCER_TEMPERED };

enum model_comm {
    MODEL_COMM_STENCIL, /* objects send to their neighbours and to a few far objects */
    /* objects send to the groups of their rank and get answers; only handlers send to other ranks */
    MODEL_COMM_SAMPLE,
    MODEL_COMM_NONE, /* objects send nothing; handlers do */
    /* objects send their neighbours the layers of cells at their borders: mesh.h */
    MODEL_COMM_MESH
};

/* Bytes of a table of a distribution as text, with the NUL. */
enum { MODEL_LOAD_TABLE = 192 };

/* How times of objects differ from each other, as shares of a variance. */
struct model_load_variance {
    /* share of the variance of ln(load) that persists: in phase 1, and in the last phase */
    double persistence_first, persistence;
    double alike; /* share of the persistent variance that varies smoothly over the ranks */
    /* correlation of the smooth part between neighbouring ranks */
    double correlation;
};

/* Phase 0. */
struct model_load_setup {
    bool own;                     /* it has loads of its own */
    char table[MODEL_LOAD_TABLE]; /* distribution, as time_table */
    double factor, sigma;         /* factor of phase 1's mean, and standard deviation of ln(load) */
};

/* Interruptions by the system. */
struct model_load_noise {
    double probability; /* of one on a rank in a phase */
    double min_ms, max_ms;
};

struct model_load_balancer {
    int kind;             /* enum model_balancer */
    uint32_t interval;    /* phases between two runs of it; 0: an eighth of all phases */
    uint32_t iterations;  /* of tempered */
    bool keep_iterations; /* not a key: keep the placements of all iterations, and times */
};

/* Communication along the stencil. */
struct model_load_edges {
    double far; /* far senders per object */
    /* permutations that far senders are drawn from; 0: as few as possible */
    uint32_t far_channels;
    /* mean and standard deviation of ln(bytes) of an edge in a phase */
    double bytes_mean, bytes_sd;
    uint32_t sizes; /* number of different volumes; 0: any */
    double messages_mean, messages_sd;
    double follows;  /* share of the deviation of ln(bytes) that follows the work at both ends */
    uint32_t unit;   /* volumes between neighbours are multiples of this many bytes */
    uint32_t phases; /* phases between changes of volumes; 0: they never change */
};

/* Message handlers of the ranks. */
struct model_load_handlers {
    double ms;                   /* median time of a rank's handler */
    bool send;                   /* handlers send to each other */
    double bytes_mean, bytes_sd; /* of ln(bytes) between handlers */
    uint32_t broadcast_every;    /* phases between broadcasts; 0: none */
};

struct model_load_blocks {
    uint32_t block_objects;   /* objects that share a memory block; 0: no memory values */
    uint64_t block_bytes;     /* median size of a block */
    double block_sd;          /* standard deviation of ln(size of a block) */
    uint64_t footprint_bytes; /* median footprint of an object */
    uint64_t rank_bytes;      /* memory of a rank besides objects and blocks; 0: as much as an object */
};

/* An imbalance that is injected. */
struct model_load_scenario {
    int kind;        /* enum model_scenario */
    uint32_t first;  /* first phase; 0: after a quarter of the phases */
    uint32_t phases; /* duration; 0: a quarter of the phases */
    /* share of the ranks, or for a hot spot its radius as a share of the longest side of the index space; 0: see
     * init */
    double share;
    double factor;
};

/* Keys "load.*". */
struct model_load_params {
    uint32_t phases;
    uint32_t dims;        /* dimensions of the index space */
    uint32_t objects;     /* places for objects per rank and collection */
    double fill;          /* share of the places that have an object */
    double fill_spread;   /* standard deviation of ln(fill) between ranks */
    uint32_t collections; /* collections on the same index space */
    bool periodic;        /* the index space is a torus */
    uint32_t subphases;   /* subphases of a phase; 0: none */

    double mean_first_ms, mean_last_ms; /* mean time of an object */
    double sigma_first, sigma_last;     /* standard deviation of ln(load) */
    int course;                         /* enum model_course */
    uint32_t rise;                      /* phases from first to last; 0: 35 % of all phases */
    /* how much heavier the right tail is than that of a log-normal load */
    double skew;
    char time_table[MODEL_LOAD_TABLE]; /* replaces skew; see tail.h */
    struct model_load_variance variance;
    struct model_load_setup setup;
    struct model_load_noise noise;

    /* without a balancer: share of the objects that change ranks before a phase */
    double migration;
    struct model_load_balancer balancer;
    uint32_t groups; /* object groups, with a member on each rank */

    int comm;         /* enum model_comm */
    uint32_t cells;   /* cells of the mesh along a side of an object */
    uint32_t layers;  /* layers of cells that neighbours exchange in a phase */
    double layers_sd; /* standard deviation of ln(layers) between phases */
    struct model_load_edges edge;
    struct model_load_handlers handler;
    struct model_load_blocks memory;
    struct model_load_scenario scenario;
};

extern const struct ui_param model_load_param[];
extern const size_t model_load_param_count;
void model_load_params_init(struct model_load_params *params);

/* Values of a phase that are common to all objects. */
struct model_load_phase {
    double mean_ns;   /* mean time of an object */
    double median_ns; /* time of an object with z = 0 */
    double sigma;
    /* weights of the persistent part of an object's work and of the new part */
    double lasting, fresh;
    uint32_t layers; /* layers of the mesh, see params */
    uint32_t swap_dimension,
        /* pairs of neighbours that swap before this phase: positions offset + 2 i and offset + 2 i + 1 */
        swap_offset;
};

/* Objects of each rank, in ascending order. Those of rank r are object[first[r]] .. object[first[r + 1] - 1]. */
struct model_load_placement {
    uint32_t *first; /* [ranks + 1] */
    uint32_t *object;
    /* [objects] times that the balancer used, by object number; NULL: not kept */
    uint64_t *time_ns;
};

/* Higher object numbers stand for ends of messages that are not objects. There is one for each rank. */
#define MODEL_LOAD_MOST_OBJECTS (UINT32_MAX - MODEL_MAX_RANKS)

/* With at least this many ranks, the smooth field has exactly mean 0 and variance 1 over the ranks. */
enum { MODEL_LOAD_MANY_RANKS = 64 };

/* Read-only after init: threads may share it. */
struct model_load {
    /* values of 0 that mean "derived" are replaced by the derived value */
    struct model_load_params params;
    const struct model_machine *machine;
    uint64_t seed;
    uint32_t ranks, per_rank; /* per_rank: places of a rank over all collections */
    uint32_t objects;         /* places of all ranks */
    /* most objects, or places, of a rank in any phase */
    uint32_t most;
    /* per dimension: number of homes, and positions of one home */
    uint32_t grid[3], block[3];
    uint32_t side[3];        /* sides of the index space */
    uint64_t cells[3];       /* cells of the mesh per dimension */
    double least_ln_bytes;   /* smallest ln(bytes) of an edge, with params.edge_sizes */
    uint32_t channels;       /* permutations for far senders */
    uint32_t kinds;          /* kinds of edges between objects */
    uint32_t hits;           /* ranks that a spike or ramp hits */
    double radius;           /* radius of a hot spot, in objects */
    uint64_t swap_threshold; /* a slot swaps if its random word is below */
    struct model_load_tail tail, setup_tail;
    uint64_t *fill_threshold; /* [ranks] with a fill spread; otherwise NULL */
    /* [ranks] smooth field at the middle of each home: mean 0, variance 1 */
    double *field;
    struct model_load_phase *phase; /* [params.phases] */
    /* number of placements, including the one before the balancer first runs; 0: no balancer */
    uint32_t placements;
    struct model_load_placement *placement; /* [placements] */
    /* [placements][iterations of the balancer]; NULL: not kept */
    struct model_load_placement *trial;
    /* a program runs on the ranks and gives the work of the handlers */
    bool programmed;
    /* [params.phases][ranks] borrowed: handler times of a program; NULL: not known yet, 0 */
    const uint64_t *handler_ns;
    /* [params.phases][ranks] borrowed: factors of times in a program's run, from its work and noise; NULL: 1 */
    const double *disturbed;
};

/* Initialises the model. Call model_load_settle (balance.h) next, before anything else. The machine must outlive
 * the model. Memory: 48 bytes per phase, 8 per rank.
 * HPCW_ERANGE: more than MODEL_LOAD_MOST_OBJECTS objects, or more than MODEL_LOAD_MOST_BYTES between two objects
 * in a phase. HPCW_EINVAL: a scenario hits nothing. HPCW_ENOMEM. */
hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err);
void model_load_free(struct model_load *m);

/* ---- objects ---- */

static inline uint32_t model_load_home(const struct model_load *m, uint32_t object) {
    return object / m->per_rank;
}
/* Returns the slot: the number of the object in its home, collection * params.objects + position in the block. */
static inline uint32_t model_load_slot(const struct model_load *m, uint32_t object) {
    return object % m->per_rank;
}
static inline uint32_t model_load_collection(const struct model_load *m, uint32_t object) {
    return object % m->per_rank / m->params.objects;
}

/* Returns whether the place has an object. The other functions accept empty places, too. */
bool model_load_exists(const struct model_load *m, uint32_t object);

/* Mean number of objects of a rank. */
double model_load_mean_objects(const struct model_load *m);

/* Computes the position in the index space; at[dims .. 2] = 0. */
void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]);

/* ---- ranks of objects ---- */

/* Returns the object or empty place in a rank's slot in a phase. Not for models with a balancer. Time O(phase). */
uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase);

/* Iterates over the phases of a rank and lists its objects: object[count], by slot or, with a balancer,
 * ascending. `begin` makes phase 0, `next` the following one in time O(count). Without a balancer, each object
 * that arrives takes O(phase) more. */
struct model_load_cursor {
    uint32_t rank, phase;
    uint32_t count;   /* without a balancer: per_rank */
    uint32_t *object; /* [most] the caller's array */
    uint32_t arrived; /* objects that arrived in this phase */
    bool changed;     /* some slots have another object, or none any more */
};
void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor);
void model_load_next(const struct model_load *m, struct model_load_cursor *cursor);

/* Returns the object's index in the cursor, or UINT32_MAX if it is not on this rank. */
uint32_t model_load_find(const struct model_load *m, const struct model_load_cursor *cursor, uint32_t object);

/* Moves the objects of all ranks from phase - 1 to `phase` >= 1. object[objects]: by rank and slot; phase 0 is
 * the identity. Time O(objects). */
void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase);

/* Both read the list of model_load_move; NULL stands for that of phase 0. The first returns the objects, or
 * places, of a rank in a phase. The second fills rank[objects] with the rank of each object. */
const uint32_t *model_load_on_rank(const struct model_load *m, const uint32_t *object, uint32_t phase,
                                   uint32_t rank, uint32_t *count);
void model_load_ranks(const struct model_load *m, const uint32_t *object, uint32_t phase, uint32_t *rank);

/* Returns the number of iterations of the balancer; 0: no balancer. */
uint32_t model_load_iterations(const struct model_load *m);

/* Returns whether the balancer runs before this phase; and the placement in a phase, NULL: no balancer. */
bool model_load_balances(const struct model_load *m, uint32_t phase);
const struct model_load_placement *model_load_placement(const struct model_load *m, uint32_t phase);

/* Returns the placement after an iteration of the balancer before this phase, or NULL if these are not kept.
 * Requires model_load_balances. */
const struct model_load_placement *model_load_trial(const struct model_load *m, uint32_t phase,
                                                    uint32_t iteration);

/* ---- work ---- */

/* Returns the persistent part of an object's work: nearly normal with mean 0 and variance 1. */
double model_load_lasting(const struct model_load *m, uint32_t object);

/* Returns an object's time in a phase, ns, at least 1. slowness: factor of the rank, model_load_slowness. */
uint64_t model_load_time(const struct model_load *m, uint32_t object, double lasting, uint32_t phase,
                         double slowness);

/* Splits the time of a phase into part[params.subphases]. Their sum is exactly `time_ns`. */
void model_load_split(const struct model_load *m, uint32_t object, uint32_t phase, uint64_t time_ns,
                      uint64_t *part);

/* Factor that a program's run gives all times of a rank in a phase. */
static inline double model_load_disturbed(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return m->disturbed != NULL ? m->disturbed[(size_t)phase * m->ranks + rank] : 1;
}

/* This factor, times that of the rank's node if it is slow. */
static inline double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return model_load_disturbed(m, rank, phase) *
           model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
}

/* Returns how long the system interrupts a rank in a phase, ns; mostly 0. It does so while the rank runs the
 * object in *slot. If that is empty or does not exist, slot 0 is taken. */
uint64_t model_load_interruption(const struct model_load *m, uint32_t rank, uint32_t phase, uint32_t *slot);

/* Returns the factor of an object's time in a scenario; 1: none. */
double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase);

/* Returns whether a spike or ramp hits the objects of a home. */
bool model_load_is_hit(const struct model_load *m, uint32_t home);

/* Returns the position of a hot spot's centre along dimension 0 of the index space. */
double model_load_centre(const struct model_load *m, uint32_t phase);

/* Returns the time of unmigratable work, ns; 0: idle. which = 0: the handler of a rank itself; 1 + g: its member
 * of group g. */
uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness);

/* ---- messages ---- */

enum {
    MODEL_LOAD_MOST_KINDS =
        6 + 1 + 8, /* kinds of edges between objects: an object has at most one sender of each kind */
    MODEL_LOAD_UP = MODEL_LOAD_MOST_KINDS, /* from a rank's handler to that of its parent in the tree */
    MODEL_LOAD_DOWN,                       /* from the parent's handler back */
    MODEL_LOAD_KINDS,

    /* Kinds within a rank, only with MODEL_COMM_SAMPLE. */
    MODEL_LOAD_TO_GROUP = MODEL_LOAD_KINDS, /* from an object to a group that works for it */
    MODEL_LOAD_FROM_GROUP,                  /* from the group back */
    MODEL_LOAD_TO_OTHER_GROUP,              /* from one object of a rank to another group */
    MODEL_LOAD_TO_ITSELF,                   /* from an object to itself */
    MODEL_LOAD_BROADCAST                    /* from the handler of rank 0 to every object */
};

struct model_load_edge {
    uint32_t from; /* object */
    uint32_t kind;
};

/* Lists the objects that send to an existing object in every phase, each once and never the object itself.
 * Returns their number. Only stencil and mesh have senders. */
uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS]);

/* Defaults of ln(bytes) of messages between handlers [L]: mean and standard deviation. params.c explains L. */
#define MODEL_LOAD_HANDLER_MEAN 7.75
#define MODEL_LOAD_HANDLER_SD 1.30

/* The volume of an edge is drawn for its owner and its kind. Neighbours in the index space send each other
 * equal volumes, as when they exchange borders. So both edges have the same owner and use the kind of the edge
 * to the upper neighbour. */
enum { MODEL_LOAD_NEIGHBOURS = 6 };
static inline uint32_t model_load_owner(uint32_t kind, uint32_t from, uint32_t to) {
    return kind < MODEL_LOAD_NEIGHBOURS && kind % 2 == 1 ? from : to;
}
static inline uint32_t model_load_shared(uint32_t kind) {
    return kind < MODEL_LOAD_NEIGHBOURS ? kind & ~1u : kind;
}

/* Returns the owner of an edge between the handlers of a rank and of its parent in the tree. It is a number
 * above all objects. The owner of an edge between objects is the object that receives. */
static inline uint32_t model_load_handler(uint32_t rank) {
    return UINT32_MAX - rank;
}
static inline uint32_t model_load_parent(uint32_t rank) {
    return (rank - 1) / 2;
}

/* Persistent part of an edge's volume, from its owner and shared kind. follows: sum of model_load_lasting over
 * the ends that are objects. */
struct model_load_flow {
    double ln_bytes, ln_messages;
};
struct model_load_flow model_load_flow(const struct model_load *m, uint32_t owner, uint32_t kind,
                                       double follows);

/* Volume of an edge in a phase. */
struct model_load_volume {
    uint64_t bytes;    /* a multiple of 8, at most MODEL_LOAD_MOST_BYTES */
    uint64_t messages; /* at least 1; a message has at least 8 bytes */
};
#define MODEL_LOAD_MOST_BYTES (UINT64_C(1) << 30)
struct model_load_volume model_load_volume(const struct model_load *m, uint32_t owner, uint32_t kind,
                                           struct model_load_flow flow, uint32_t phase);

/* ---- memory, if params.block_objects is not 0 ---- */

struct model_load_memory {
    uint32_t block; /* home * blocks per home + number in the home */
    uint64_t block_bytes, footprint, working, serialized;
};
struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object, double lasting);

/* Returns what a checkpoint holds of an object: its memory relative to the mean. sigma: standard deviation of
 * its logarithm. Objects with much work are large. */
double model_load_held(const struct model_load *m, uint32_t object, double lasting, double sigma);

#endif
