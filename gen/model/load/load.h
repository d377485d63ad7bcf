/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated application: migratable objects on an index space. The model gives their work in each phase, their
 * ranks, and the messages between them. One phase is one iteration of the run. All formats of a dataset show this
 * application.
 *
 * Each value is a closed form of (parameters, number of ranks, seed, object, phase) and has a closed-form
 * inverse. So the objects of a rank and their senders can be listed without any other rank:
 *
 *  - An object has the number home * per_rank + slot. The index space is divided into blocks, one for each rank.
 *    The rank of a block is the home of the objects in it. Each collection has one place for an object at each
 *    position of the index space. Some places are empty.
 *  - Before each phase but the first, neighbours on the grid of ranks are paired, and each pair swaps the contents
 *    of some slots. So an object stays in its slot and near its home, and its rank follows from the pairings. If
 *    some places are empty, the number of objects differs between ranks and phases. Slot 0 is never empty. With a
 *    balancer (balance.h), objects move only as the balancer places them. Its placements are computed once.
 *  - The senders of an object are its neighbours in the index space, its counterpart in the previous collection,
 *    and far objects. Each far sender is chosen by a permutation of all objects. Other choices of senders are those
 *    of the measured run, and the neighbours that exchange the cells at the borders of a mesh.
 *  - The persistent part of an object's work is the sum of a smooth field over the ranks and a draw for the object.
 *    The messages and the memory of the object follow the same values.
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
    MODEL_SCENARIO_SPIKE, /* the objects of some home ranks have more work in the scenario's phases */
    /* the work of the objects of some home ranks grows in the scenario's phases and then stays high */
    MODEL_SCENARIO_RAMP,
    MODEL_SCENARIO_HOTSPOT /* more work near a centre that crosses the index space */
};

/* Names of the scenarios, ended by NULL. */
extern const char *const model_scenario_name[];

/* Largest value of "load.objects", and largest number of mesh layers that are exchanged in a phase. */
enum { MODEL_LOAD_MOST_PLACES = 4096, MODEL_LOAD_MOST_LAYERS = 4096 };

/* Median time of an object group's member that has work, ns. */
#define MODEL_LOAD_GROUP_NS 20e3

/* Course of the mean load between load.mean_first and load.mean_last. The spread of the loads has the same
 * course. */
enum model_course {
    MODEL_COURSE_AUTO, /* one of the other courses, drawn from the seed */
    MODEL_COURSE_RAMP, /* rises to load.mean_last, then constant */
    MODEL_COURSE_FLAT,
    MODEL_COURSE_DECAY, /* falls from load.mean_last, then constant */
    MODEL_COURSE_STEPS, /* random levels between load.mean_first and load.mean_last */
    /* load.mean_last in random bursts of a few phases, load.mean_first in the other phases */
    MODEL_COURSE_BURSTS
};

enum model_balancer { MODEL_BALANCER_NONE, MODEL_BALANCER_GREEDY, MODEL_BALANCER_TEMPERED };

enum model_comm {
    MODEL_COMM_STENCIL, /* objects send to their neighbours and to a few far objects */
    /* objects send to the object groups on their rank and get answers; only handlers send to other ranks */
    MODEL_COMM_SAMPLE,
    MODEL_COMM_NONE, /* objects send nothing; handlers send */
    /* objects send the layers of cells at their borders to their neighbours: mesh.h */
    MODEL_COMM_MESH
};

/* Size in bytes of the text of a distribution table, with the NUL. */
enum { MODEL_LOAD_TABLE = 192 };

/* How the variance of the objects' times is divided. */
struct model_load_variance {
    /* persistence_first, persistence: share of the variance of ln(load) that persists, in phase 1 and in the
     * last phase */
    double persistence_first, persistence;
    double alike; /* share of the persistent variance that varies smoothly over the ranks */
    /* correlation of the smooth part between neighbouring ranks */
    double correlation;
};

/* Phase 0. */
struct model_load_setup {
    /* true: the loads of phase 0 have their own distribution */
    bool own;
    char table[MODEL_LOAD_TABLE]; /* distribution as in time_table */
    /* factor: mean load of phase 0 divided by load.mean_first; sigma: standard deviation of ln(load) */
    double factor, sigma;
};

/* Interruptions of ranks by the operating system. */
struct model_load_noise {
    double probability; /* probability that a rank is interrupted in a phase */
    double min_ms, max_ms;
};

struct model_load_balancer {
    int kind; /* enum model_balancer */
    /* number of phases between two runs of the balancer; 0: an eighth of all phases */
    uint32_t interval;
    uint32_t iterations; /* iterations of the tempered balancer */
    /* keep the placements of all iterations and the times that the balancer used; no parameter sets this */
    bool keep_iterations;
};

/* Communication of MODEL_COMM_STENCIL. A far sender is an object anywhere in the index space. */
struct model_load_edges {
    double far; /* number of far senders of an object */
    /* number of permutations from which far senders are drawn; 0: as few as possible */
    uint32_t far_channels;
    /* bytes_mean, bytes_sd: mean and standard deviation of ln(bytes) of an edge in a phase */
    double bytes_mean, bytes_sd;
    uint32_t sizes; /* number of different byte counts of edges; 0: any */
    double messages_mean, messages_sd;
    double follows;  /* share of the deviation of ln(bytes) that follows the work of sender and receiver */
    uint32_t unit;   /* volumes between neighbours are multiples of this many bytes */
    uint32_t phases; /* phases from one change of the volumes to the next; 0: no changes */
};

struct model_load_handlers {
    double ms;                   /* median time of a rank's handler */
    bool first;                  /* ranks send up and down the tree before their first tasks run */
    bool send;                   /* handlers send to handlers of other ranks */
    double bytes_mean, bytes_sd; /* mean and deviation of ln(bytes) of an edge between handlers */
    uint32_t broadcast_every;    /* phases between broadcasts; 0: none */
};

struct model_load_blocks {
    uint32_t block_objects;   /* objects that share a memory block; 0: no memory values */
    uint64_t block_bytes;     /* median size of a block */
    double block_sd;          /* standard deviation of ln(size of a block) */
    uint64_t footprint_bytes; /* median footprint of an object */
    uint64_t rank_bytes;      /* memory of a rank besides objects and blocks; 0: as much as an object */
};

/* An imbalance that a scenario adds to the loads. */
struct model_load_scenario {
    int kind;        /* enum model_scenario */
    uint32_t first;  /* first phase; 0: after a quarter of the phases */
    uint32_t phases; /* number of phases; 0: a quarter of all phases */
    /* Spike or ramp: share of the ranks; 0: 2 %. Hot spot: radius divided by the first side of the index
     * space; 0: 1/10 or 1 / phases, whichever is larger, but at least one object's side. */
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
    uint32_t collections; /* number of collections on the same index space */
    bool periodic;        /* the index space is a torus */
    uint32_t subphases;   /* subphases of a phase; 0: none */

    double mean_first_ms, mean_last_ms; /* first and last mean time of an object; see enum model_course */
    double sigma_first, sigma_last;     /* first and last standard deviation of ln(load) */
    int course;                         /* enum model_course */
    uint32_t rise;                      /* length of a rise or decay, phases; 0: 35 % of all phases */
    /* how much heavier the right tail of the load is than that of a log-normal load */
    double skew;
    char time_table[MODEL_LOAD_TABLE]; /* distribution that replaces `skew`; see tail.h */
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
    double mean_ns;   /* mean time of an object, ns */
    double median_ns; /* time of an object with the normal deviate 0, ns */
    double sigma;
    /* lasting, fresh: weights of the persistent and of the new part of an object's work */
    double lasting, fresh;
    uint32_t layers; /* layers of the mesh that are exchanged */
    uint32_t swap_dimension,
        /* In dimension swap_dimension, ranks with the positions swap_offset + 2 i and swap_offset + 2 i + 1
         * swap objects before this phase. */
        swap_offset;
};

/* Lists of the objects on each rank. The objects of rank r are object[first[r]] .. object[first[r + 1] - 1],
 * ascending. */
struct model_load_placement {
    uint32_t *first; /* [ranks + 1] */
    uint32_t *object;
    /* [objects] times of the objects, as the balancer used them; NULL: not kept */
    uint64_t *time_ns;
};

/* Largest number of objects. Numbers above stand for senders and receivers that are not objects, one per rank. */
#define MODEL_LOAD_MOST_OBJECTS (UINT32_MAX - MODEL_MAX_RANKS)

/* With at least this many ranks, the smooth field has exactly mean 0 and variance 1 over the ranks. */
enum { MODEL_LOAD_MANY_RANKS = 64 };

/* Read-only after init, so threads may share a model. */
struct model_load {
    /* parameters of 0 that stand for a default have been replaced by that default */
    struct model_load_params params;
    const struct model_machine *machine;
    uint64_t seed;
    uint32_t ranks, per_rank; /* per_rank: places for objects of a rank, over all collections */
    uint32_t objects;         /* number of places for objects on all ranks; some can be empty */
    /* largest number of objects (without a balancer: of places for objects) on a rank in any phase */
    uint32_t most;
    /* numbers per dimension; grid: of the ranks' blocks; block: of the positions in a block */
    uint32_t grid[3], block[3];
    uint32_t side[3];        /* sides of the index space */
    uint64_t cells[3];       /* cells of the mesh per dimension */
    double least_ln_bytes;   /* smallest ln(bytes) of an edge if params.edge.sizes > 0 */
    uint32_t channels;       /* permutations for far senders */
    uint32_t kinds;          /* kinds of edges between objects */
    uint32_t hits;           /* ranks that a spike or ramp affects */
    double radius;           /* radius of a hot spot, in sides of an object */
    uint64_t swap_threshold; /* two ranks swap the objects in a slot if a random word is below this */
    struct model_load_tail tail, setup_tail;
    /* [ranks] a place has an object if a random word is below the threshold of its home rank; NULL: params.fill
     * decides on all ranks */
    uint64_t *fill_threshold;
    /* [ranks] smooth field in the middle of each rank's block: mean 0, variance 1 */
    double *field;
    struct model_load_phase *phase; /* [params.phases] */
    /* number of placements, including the one before the balancer's first run; 0: no balancer */
    uint32_t placements;
    struct model_load_placement *placement; /* [placements] */
    /* [placements][iterations] placement after each iteration of the balancer; NULL: not kept */
    struct model_load_placement *trial;
    /* true: a simulated program runs on the ranks and gives the times of their handlers */
    bool programmed;
    /* [params.phases][ranks] borrowed: times of the handlers in a program's run; NULL: not known yet, count as
     * 0 */
    const uint64_t *handler_ns;
    /* [params.phases][ranks] borrowed: factors by which the work and the noise of a program's run lengthen the
     * times of a rank; NULL: 1 */
    const double *disturbed;
};

/* Call model_load_settle (balance.h) next. The machine must outlive the model. Memory: 56 bytes per phase, and 8
 * per rank or, with a fill spread, 16. HPCW_ERANGE: more than MODEL_LOAD_MOST_OBJECTS objects, or more than
 * MODEL_LOAD_MOST_BYTES between two objects in a phase. HPCW_EINVAL: parameters contradict each other, or a
 * scenario affects nothing. HPCW_ENOMEM. */
hpcw_status model_load_init(struct model_load *m, const struct model_load_params *params,
                            const struct model_machine *machine, hpcw_error *err);
void model_load_free(struct model_load *m);

/* ---- objects ---- */

static inline uint32_t model_load_home(const struct model_load *m, uint32_t object) {
    return object / m->per_rank;
}
/* Returns the slot of an object: its number on its home rank. This is collection * params.objects + position in the
 * block. */
static inline uint32_t model_load_slot(const struct model_load *m, uint32_t object) {
    return object % m->per_rank;
}
static inline uint32_t model_load_collection(const struct model_load *m, uint32_t object) {
    return object % m->per_rank / m->params.objects;
}

/* Returns whether a place has an object. The other functions also accept the number of an empty place. */
bool model_load_exists(const struct model_load *m, uint32_t object);

double model_load_mean_objects(const struct model_load *m);

/* Computes the position of an object in the index space; at[dims .. 2] = 0. */
void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]);

/* ---- ranks of objects ---- */

/* Returns the object, or empty place, in a slot of a rank in a phase. Only for models without a balancer. Time
 * O(phase). */
uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase);

/* Iterates over the phases and lists the objects of a rank: object[count], in the order of their slots or, with a
 * balancer, of their numbers. model_load_begin lists phase 0. model_load_next lists the following phase in time
 * O(count). Without a balancer, each object that arrives takes O(phase) more. */
struct model_load_cursor {
    uint32_t rank, phase;
    uint32_t count;   /* number of entries; without a balancer: per_rank */
    uint32_t *object; /* [most] array of the caller */
    bool changed;     /* true: `object` may differ from that of the previous phase */
};
void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor);
void model_load_next(const struct model_load *m, struct model_load_cursor *cursor);

/* Returns the index of an object in cursor->object, or UINT32_MAX if the object is not on the cursor's rank. */
uint32_t model_load_find(const struct model_load *m, const struct model_load_cursor *cursor, uint32_t object);

/* Advances the objects of all ranks from phase - 1 to `phase` >= 1. object[rank * per_rank + slot] is the
 * object in a slot; in phase 0 this is object[i] = i. Time O(objects). */
void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase);

/* model_load_on_rank returns the objects of a rank in a phase; without a balancer, some are empty places.
 * model_load_ranks fills rank[objects] with the rank of each object. object: the array of model_load_move; for
 * model_load_ranks also NULL: the array of phase 0. */
const uint32_t *model_load_on_rank(const struct model_load *m, const uint32_t *object, uint32_t phase,
                                   uint32_t rank, uint32_t *count);
void model_load_ranks(const struct model_load *m, const uint32_t *object, uint32_t phase, uint32_t *rank);

/* Returns the number of iterations of the balancer; 0: no balancer. */
uint32_t model_load_iterations(const struct model_load *m);

/* model_load_balances returns whether the balancer runs before a phase.
 * model_load_placement returns the placement in a phase; NULL: no balancer. */
bool model_load_balances(const struct model_load *m, uint32_t phase);
const struct model_load_placement *model_load_placement(const struct model_load *m, uint32_t phase);

/* Returns the placement after an iteration of the balancer before a phase, for which model_load_balances must
 * be true. NULL: the placements of iterations are not kept. */
const struct model_load_placement *model_load_trial(const struct model_load *m, uint32_t phase,
                                                    uint32_t iteration);

/* ---- work ---- */

/* Returns the persistent part of an object's work: nearly normal, with mean 0 and variance 1. */
double model_load_lasting(const struct model_load *m, uint32_t object);

/* Largest time of all objects that a rank may have, ns: a third of a year. It stays below 2^64 ns on the slowest node
 * there can be. */
#define MODEL_LOAD_MOST_NS 1e16

/* Returns an object's time in a phase, ns, from 1 to the object's share of MODEL_LOAD_MOST_NS. lasting:
 * model_load_lasting of the object. slowness: model_load_slowness of the object's rank. */
uint64_t model_load_time(const struct model_load *m, uint32_t object, double lasting, uint32_t phase,
                         double slowness);

/* Splits an object's time in a phase into part[params.subphases]. The sum of the parts is exactly `time_ns`. */
void model_load_split(const struct model_load *m, uint32_t object, uint32_t phase, uint64_t time_ns,
                      uint64_t *part);

/* Returns the factor by which a program's run lengthens the times of a rank in a phase. */
static inline double model_load_disturbed(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return m->disturbed != NULL ? m->disturbed[(size_t)phase * m->ranks + rank] : 1;
}

/* Returns model_load_disturbed times the slowness of the rank's node. */
static inline double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return model_load_disturbed(m, rank, phase) *
           model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
}

/* Returns how long the system interrupts a rank in a phase, ns; mostly 0. *slot: slot of the object that is
 * interrupted. If the rank has no object there, the object in slot 0 is interrupted. */
uint64_t model_load_interruption(const struct model_load *m, uint32_t rank, uint32_t phase, uint32_t *slot);

/* Returns the factor by which the scenario lengthens an object's time in a phase; 1: not at all. */
double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase);

/* Returns whether a spike or ramp affects the objects of a home rank. */
bool model_load_is_hit(const struct model_load *m, uint32_t home);

/* Returns the position of a hot spot's centre along dimension 0 of the index space. */
double model_load_centre(const struct model_load *m, uint32_t phase);

/* Returns the time of work that cannot move to another rank, ns; 0: none. which = 0: the handler of the rank; 1
 * + g: the rank's member of object group g. */
uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness);

/* ---- messages ---- */

enum {
    MODEL_LOAD_MOST_KINDS =
        6 + 1 + 8, /* kinds of edges between objects; an object has at most one sender of each kind */
    /* from a rank's handler to the handler of its parent in a tree of all ranks */
    MODEL_LOAD_UP = MODEL_LOAD_MOST_KINDS,
    MODEL_LOAD_DOWN, /* from the parent's handler to the rank's handler */
    MODEL_LOAD_KINDS,

    /* Kinds of edges within a rank, only with MODEL_COMM_SAMPLE. */
    MODEL_LOAD_TO_GROUP = MODEL_LOAD_KINDS, /* from an object to a group that works for it */
    MODEL_LOAD_FROM_GROUP,                  /* answer of the group to the object */
    MODEL_LOAD_TO_OTHER_GROUP,              /* from one object of each rank to another group */
    MODEL_LOAD_TO_ITSELF,                   /* from an object to itself */
    MODEL_LOAD_BROADCAST                    /* from the handler of rank 0 to every object */
};

struct model_load_edge {
    uint32_t from; /* object */
    uint32_t kind;
};

/* Lists the objects that send to an object in every phase, without duplicates and without the object itself.
 * Returns the number of senders. Only MODEL_COMM_STENCIL and MODEL_COMM_MESH have any. */
uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS]);

/* Default mean and standard deviation of ln(bytes) of an edge between handlers. Source [L] of params.c. */
#define MODEL_LOAD_HANDLER_MEAN 7.75
#define MODEL_LOAD_HANDLER_SD 1.30

/* Volumes of edges are drawn for an owner and a kind. Neighbours in the index space send each other equal
 * volumes, as when they exchange borders. So the upper neighbour owns the edges in both directions, and the draws
 * for both use the kind of the edge to the upper neighbour: the shared kind (model_load_shared). */
enum { MODEL_LOAD_NEIGHBOURS = 6 };
static inline uint32_t model_load_owner(uint32_t kind, uint32_t from, uint32_t to) {
    return kind < MODEL_LOAD_NEIGHBOURS && kind % 2 == 1 ? from : to;
}
static inline uint32_t model_load_shared(uint32_t kind) {
    return kind < MODEL_LOAD_NEIGHBOURS ? kind & ~1u : kind;
}

/* Returns the owner of an edge between the handlers of a rank and of its parent in the tree: a number above
 * those of all objects. The owner of an edge between objects is the receiver. */
static inline uint32_t model_load_handler(uint32_t rank) {
    return UINT32_MAX - rank;
}
static inline uint32_t model_load_parent(uint32_t rank) {
    return (rank - 1) / 2;
}

/* Lists the ranks to whose handlers a rank sends before any task runs: its neighbours in the tree, in phase 0 only.
 * Returns their number. */
static inline uint32_t model_load_first_to(const struct model_load *m, uint32_t rank, uint32_t phase,
                                           uint32_t to[3]) {
    uint32_t count = 0;
    if (phase > 0 || !m->params.handler.first) {
        return 0;
    }
    if (rank > 0) {
        to[count++] = model_load_parent(rank);
    }
    for (uint32_t child = 2 * rank + 1; child <= 2 * rank + 2 && child < m->ranks; child++) {
        to[count++] = child;
    }
    return count;
}

/* Returns the part of an edge's volume that does not change over the phases. kind: model_load_shared of the
 * edge's kind. follows: sum of model_load_lasting over the ends of the edge that are objects. */
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
/* Returns whether each edge has the same volume in two phases, so that it need not be computed again. */
bool model_load_same_volumes(const struct model_load *m, uint32_t phase, uint32_t other);

/* ---- memory, if params.block_objects is not 0 ---- */

struct model_load_memory {
    uint32_t block; /* number of the block: home rank * blocks per rank + index on the home rank */
    uint64_t block_bytes, footprint, working, serialized;
};
struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object, double lasting);

/* Returns the memory of an object in a checkpoint, relative to the mean. sigma: standard deviation of
 * ln(memory). Objects with much work are large. */
double model_load_held(const struct model_load *m, uint32_t object, double lasting, double sigma);

#endif
