/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated application: migratable objects on an index space, their work in every phase, where they are, and who
 * sends to whom. One phase is one iteration of the simulated run. All formats of a dataset show this application.
 *
 * Everything is a closed form of (parameters, number of ranks, seed, object, phase) and has a closed-form inverse. So the
 * objects of a rank and their senders can be listed without any other rank:
 *
 *   - Objects are numbered home * per_rank + slot. The index space is cut into one block per rank, its home; each
 *     collection has a place for an object at every position of it. Some places are empty.
 *   - Before each phase but the first, neighbours on the grid of ranks are paired, and some slots of a pair swap what they
 *     hold. So an object always stays in the same slot, near its home, and the pairings give its rank. With empty places
 *     ranks have different numbers of objects, which change. Slot 0 is never empty. With a balancer (balance.h) objects move
 *     only where it places them: that is computed once, and kept.
 *   - The senders of an object are its neighbours in the index space, its counterpart in the collection before, and
 *     objects far away, each chosen by a permutation of all objects. Or communication is by kinds as in the measured run,
 *     or neighbours exchange the cells of a mesh at their borders.
 *   - What lasts of an object's work is a smooth field over the ranks, and a share of its own. Its messages and its memory
 *     follow the same values.
 *
 * Loads follow the statistics of a particle-in-cell run of 32 ranks, one sample every 50 phases, published with the
 * LB-analysis-framework: persistent, with a tail to the right, similar on neighbouring ranks, with a mean and a spread
 * that rise over the run, a slow first phase, and changes from phase to phase that become small. Here the run is compressed to
 * the number of phases. Volumes of the stencil
 * are those of its elements' messages, which carry 96 % of the bytes, but go to object groups of the same rank.
 */
#ifndef HPCW_GEN_MODEL_LOAD_LOAD_H
#define HPCW_GEN_MODEL_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/model/draw/draws.h"
#include "gen/model/load/tail.h"
#include "gen/model/machine/machine.h"
#include "ui/param/param.h"

enum model_scenario {
    MODEL_SCENARIO_NONE,
    MODEL_SCENARIO_SPIKE,  /* objects of some homes are heavy for some phases */
    MODEL_SCENARIO_RAMP,   /* objects of some homes grow heavier over these phases, and stay so */
    MODEL_SCENARIO_HOTSPOT /* heavy objects around a centre that crosses the index space */
};

/* The most that "load.objects" can be, and the layers of a phase. */
enum { MODEL_LOAD_MOST_PLACES = 4096, MODEL_LOAD_MOST_LAYERS = 4096 };

/* Median time of the member of an object group, of those that have work. */
#define MODEL_LOAD_GROUP_NS 20e3

/* How the mean load goes from load.mean_first to load.mean_last, and its spread with it. */
enum model_course {
    MODEL_COURSE_AUTO, /* one of the next ones, by the seed */
    MODEL_COURSE_RAMP, /* up to a plateau */
    MODEL_COURSE_FLAT,
    MODEL_COURSE_DECAY, /* down to one */
    MODEL_COURSE_STEPS, /* levels between the two */
    MODEL_COURSE_BURSTS /* now and then, for a few phases */
};

enum model_balancer { MODEL_BALANCER_NONE, MODEL_BALANCER_GREEDY, MODEL_BALANCER_TEMPERED };

enum model_comm {
    MODEL_COMM_STENCIL, /* objects send to their neighbours, and to a few far away */
    MODEL_COMM_SAMPLE, /* to the object groups of their rank, and get answers; only handlers send to other ranks */
    MODEL_COMM_NONE, /* objects send nothing; handlers do */
    MODEL_COMM_MESH  /* to their neighbours, the layers of cells at their borders: mesh.h */
};

/* Keys "load.*". */
struct model_load_params {
    uint32_t phases;
    uint32_t dims;        /* of the index space */
    uint32_t objects;     /* places for them per rank and collection */
    double fill;          /* share of the places that have one */
    double fill_spread;   /* standard deviation of its logarithm between ranks */
    uint32_t collections; /* on the same index space */
    bool periodic;        /* the index space is a torus */
    uint32_t subphases;   /* of a phase; 0: none */

    double mean_first_ms, mean_last_ms; /* of an object */
    double sigma_first, sigma_last;     /* standard deviation of ln(load) */
    int course;                         /* enum model_course */
    uint32_t rise;                      /* phases between the two; 0: 35 % of all */
    double skew;                        /* how much heavier than log-normal the tail is */
    char time_table[192];               /* in place of skew; see tail.h */
    /* share of the variance of ln(load) that lasts for the run: in phase 1, and in the last one */
    double persistence_first, persistence;
    double together;                  /* share of the rest that all ranks of a host have in common */
    double alike;                     /* share of it that varies smoothly over the ranks */
    double correlation;               /* of the smooth share between neighbouring ranks */
    bool setup;                       /* whether phase 0 has loads of its own */
    char setup_table[192];            /* of phase 0, as time_table */
    double setup_factor, setup_sigma; /* phase 0: times the mean of phase 1; sd of ln(load) */
    double noise;                     /* probability that the system interrupts a rank in a phase */
    double noise_min_ms, noise_max_ms;

    double migration;           /* share of the objects that change ranks before a phase; without a balancer */
    int balancer;               /* enum model_balancer */
    uint32_t balancer_interval; /* phases; 0: an eighth of all */
    uint32_t balancer_iterations; /* of tempered */
    bool keep_iterations;         /* no key: whether the placements of all iterations, and times, are kept */
    uint32_t groups;              /* object groups, with a member on every rank */

    int comm;         /* enum model_comm */
    uint32_t cells;   /* of the mesh, along a side of an object */
    uint32_t layers;  /* of cells that neighbours exchange in a phase */
    double layers_sd; /* standard deviation of their logarithm between phases */
    /* what follows is for the stencil */
    double far_edges;                      /* senders far away, per object */
    uint32_t far_channels;                 /* that these are drawn from; 0: as few as possible */
    double edge_bytes_mean, edge_bytes_sd; /* of ln(bytes) of an edge and phase */
    uint32_t edge_sizes;                   /* that volumes have; 0: any */
    double edge_messages_mean, edge_messages_sd;
    double edge_follows;  /* share of the deviation of ln(bytes) that follows the work at both ends */
    uint32_t edge_unit;   /* of volumes between neighbours */
    uint32_t edge_phases; /* in which volumes are equal; 0: all */
    double handler_ms;    /* median of a rank's handler */
    bool handlers;        /* whether they send to each other */
    double handler_bytes_mean, handler_bytes_sd; /* of ln(bytes) between handlers */
    uint32_t broadcast_every;                    /* phases; 0: never */

    uint32_t block_objects;   /* objects that share a memory block; 0: no memory values */
    uint64_t block_bytes;     /* of it, median */
    double block_sd;          /* standard deviation of ln(bytes) of it */
    uint64_t footprint_bytes; /* of an object, median */
    uint64_t rank_bytes;      /* of a rank besides these; 0: as much as an object */

    int scenario;             /* enum model_scenario */
    uint32_t scenario_first;  /* phase; 0: after a quarter of the phases */
    uint32_t scenario_phases; /* 0: a quarter of the phases */
    /* of the ranks, or radius as a share of the index space's longest side; 0: see init */
    double scenario_share;
    double scenario_factor;
};

extern const struct ui_param model_load_param[];
extern const size_t model_load_param_count;
void model_load_params_init(struct model_load_params *params);

/* What depends only on the phase. */
struct model_load_phase {
    double mean_ns;   /* of an object */
    double median_ns; /* of z = 0 */
    double sigma;
    double lasting, fresh; /* weights of what lasts of an object's work, and of what is new */
    uint32_t layers;       /* of the mesh, see params */
    uint32_t swap_dimension,
        swap_offset; /* which neighbours swap before it: positions offset + 2 i and offset + 2 i + 1 */
};

/* The objects of each rank, in ascending order: object[first[rank]] .. object[first[rank + 1] - 1]. */
struct model_load_placement {
    uint32_t *first; /* [ranks + 1] */
    uint32_t *object;
    uint64_t *time_ns; /* [objects] by which the balancer placed them, by their numbers; NULL: it is not kept */
};

/* Higher numbers are for ends of messages that are not objects, one per rank. */
#define MODEL_LOAD_MOST_OBJECTS (UINT32_MAX - MODEL_MAX_RANKS)

/* From this many ranks on, the smooth field has exactly mean 0 and variance 1 over the ranks. */
enum { MODEL_LOAD_MANY_RANKS = 64 };

/* Read-only after init: threads may share it. */
struct model_load {
    struct model_load_params params; /* what was 0 for "derived" has its value */
    const struct model_machine *machine;
    uint64_t seed;
    uint32_t ranks, per_rank;   /* places of a rank over all collections */
    uint32_t objects;           /* places of all ranks */
    uint32_t most;              /* objects, or places, of a rank in any phase */
    uint32_t grid[3], block[3]; /* homes, and positions of one home, per dimension */
    uint32_t side[3];           /* of the index space */
    uint64_t cells[3];          /* of the mesh, per dimension */
    double least_ln_bytes;      /* of an edge, with params.edge_sizes */
    uint32_t channels;          /* permutations for senders far away */
    uint32_t kinds;             /* of edges between objects */
    uint32_t hits;              /* ranks in a scenario of the kinds spike and ramp */
    double radius;              /* of a hot spot, in objects */
    uint64_t swap_threshold;    /* a slot swaps if its word is below */
    struct model_load_tail tail, setup_tail;
    uint64_t *fill_threshold; /* [ranks] with a spread; NULL otherwise */
    double *field;            /* [ranks] the smooth field at the middle of each home: mean 0, variance 1 */
    struct model_load_phase *phase; /* [params.phases] */
    uint32_t placements;            /* by a balancer, and before its first one; 0: there is no balancer */
    struct model_load_placement *placement; /* [placements] */
    struct model_load_placement *trial; /* [placements][iterations of the balancer]; NULL: they are not kept */
    const struct model_lanes *lanes;    /* the fastest; all give the same bits */
    bool programmed;                    /* the ranks run a program, and their handlers work as that says */
    const uint64_t *handler_ns; /* [params.phases][ranks] borrowed, of a program; NULL: not known yet, 0 */
    const double *
        disturbed; /* [params.phases][ranks] borrowed: factor of times in a program's run, of what it works and of noise; NULL: 1 */
};

/*
 * Memory: 48 bytes per phase, 8 per rank. Call model_load_settle (balance.h) before anything else. HPCW_ERANGE for more than
 * MODEL_LOAD_MOST_OBJECTS objects, or more than MODEL_LOAD_MOST_BYTES between two in a phase; HPCW_EINVAL for a scenario that
 * hits nothing, HPCW_ENOMEM. The machine must outlive the model.
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

/* Whether there is one. The other functions work for empty places, too. */
bool model_load_exists(const struct model_load *m, uint32_t object);

/* The number of objects of a rank, on average. */
double model_load_mean_objects(const struct model_load *m);

/* Position in the index space; at[dims .. 2] = 0. */
void model_load_index(const struct model_load *m, uint32_t object, uint32_t at[3]);

/* ---- ranks of objects ---- */

/* The object, or the empty place, in a rank's slot in a phase. Not with a balancer. Time O(phase). */
uint32_t model_load_object(const struct model_load *m, uint32_t rank, uint32_t slot, uint32_t phase);

/* The objects of a rank phase by phase: object[count] by slot, or with a balancer in ascending order. `begin` makes phase 0,
 * `next` the next one in time O(count), and without a balancer O(phase) for each object that arrives. */
struct model_load_cursor {
    uint32_t rank, phase;
    uint32_t count;   /* without a balancer: per_rank */
    uint32_t *object; /* [most], the caller's */
    uint32_t arrived; /* objects new in this phase */
    bool changed;     /* some slots hold other objects, or none any more */
};
void model_load_begin(const struct model_load *m, uint32_t rank, uint32_t *object,
                      struct model_load_cursor *cursor);
void model_load_next(const struct model_load *m, struct model_load_cursor *cursor);

/* Where the cursor has an object; UINT32_MAX: it is not on this rank. */
uint32_t model_load_find(const struct model_load *m, const struct model_load_cursor *cursor, uint32_t object);

/* All ranks at once: moves object[objects], by rank and slot, from phase - 1 to `phase` >= 1. Phase 0 is the identity.
 * Time O(objects). */
void model_load_move(const struct model_load *m, uint32_t *object, uint32_t phase);

/* From that list: the objects, or places, of a rank in a phase; and the rank of each object, rank[objects]. There, NULL
 * stands for the list of phase 0. */
const uint32_t *model_load_on_rank(const struct model_load *m, const uint32_t *object, uint32_t phase,
                                   uint32_t rank, uint32_t *count);
void model_load_ranks(const struct model_load *m, const uint32_t *object, uint32_t phase, uint32_t *rank);

/* The iterations of the balancer; 0: there is none. */
uint32_t model_load_iterations(const struct model_load *m);

/* Whether it places the objects anew before this phase, and the placement in a phase; NULL: there is no balancer. */
bool model_load_balances(const struct model_load *m, uint32_t phase);
const struct model_load_placement *model_load_placement(const struct model_load *m, uint32_t phase);

/* If model_load_balances: the placement before this phase that an iteration reached; NULL: they are not kept. */
const struct model_load_placement *model_load_trial(const struct model_load *m, uint32_t phase,
                                                    uint32_t iteration);

/* ---- work ---- */

/* What lasts of an object's work: nearly normal with mean 0, variance 1. For many, at most MODEL_LOAD_AT_ONCE. */
enum { MODEL_LOAD_AT_ONCE = 512 };
double model_load_lasting(const struct model_load *m, uint32_t object);
void model_load_lastings(const struct model_load *m, const uint32_t *object, uint32_t count, double *lasting);

/* Nanoseconds of an object in a phase, at least 1; `slowness` is the factor of the rank, model_load_slowness. For many: [count] each. */
uint64_t model_load_time(const struct model_load *m, uint32_t object, double lasting, uint32_t phase,
                         double slowness);
void model_load_times(const struct model_load *m, const uint32_t *object, const double *lasting, uint32_t count,
                      uint32_t phase, const double *slowness, uint64_t *time_ns);

/* Splits the time of a phase into part[params.subphases], whose sum is exactly `time_ns`. */
void model_load_split(const struct model_load *m, uint32_t object, uint32_t phase, uint64_t time_ns,
                      uint64_t *part);

/* Factor of all times of a rank in a phase: what a program's run makes of them. */
static inline double model_load_disturbed(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return m->disturbed != NULL ? m->disturbed[(size_t)phase * m->ranks + rank] : 1;
}

/* The same, times that of its node if it is slow. */
static inline double model_load_slowness(const struct model_load *m, uint32_t rank, uint32_t phase) {
    return model_load_disturbed(m, rank, phase) *
           model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
}

/* Nanoseconds by which the system interrupts a rank in a phase, while it runs the object in *slot, or in slot 0 if that
 * is empty or there are fewer. Mostly 0. */
uint64_t model_load_interruption(const struct model_load *m, uint32_t rank, uint32_t phase, uint32_t *slot);

/* The factor of an object's time in a scenario; 1: none. */
double model_load_scenario(const struct model_load *m, uint32_t object, uint32_t phase);

/* Whether a scenario of the kinds spike and ramp hits the objects of a home. */
bool model_load_is_hit(const struct model_load *m, uint32_t home);

/* Position of a hot spot's centre along dimension 0 of the index space. */
double model_load_centre(const struct model_load *m, uint32_t phase);

/* Nanoseconds of what cannot migrate: which = 0 the bare handler of a rank, 1 + g its member of group g. 0: idle. */
uint64_t model_load_other(const struct model_load *m, uint32_t rank, uint32_t which, uint32_t phase,
                          double slowness);

/* The same of ranks first .. first + count - 1, at most MODEL_LOAD_AT_ONCE, added to sum[count]. */
void model_load_add_others(const struct model_load *m, uint32_t first, uint32_t count, uint32_t which,
                           uint32_t phase, const double *slowness, uint64_t *sum);

/* ---- messages ---- */

enum {
    MODEL_LOAD_MOST_KINDS =
        6 + 1 + 8, /* of edges between objects: an object has at most one sender of each kind */
    MODEL_LOAD_UP = MODEL_LOAD_MOST_KINDS, /* from a rank's handler to that of its parent in the tree ... */
    MODEL_LOAD_DOWN,                       /* ... and back */
    MODEL_LOAD_KINDS,

    /* On a rank, only with MODEL_COMM_SAMPLE. */
    MODEL_LOAD_TO_GROUP = MODEL_LOAD_KINDS, /* from an object to a group that works for it ... */
    MODEL_LOAD_FROM_GROUP,                  /* ... and back */
    MODEL_LOAD_TO_OTHER_GROUP,              /* from one object of a rank */
    MODEL_LOAD_TO_ITSELF,                   /* from an object */
    MODEL_LOAD_BROADCAST                    /* from the handler of rank 0 to every object */
};

struct model_load_edge {
    uint32_t from; /* object */
    uint32_t kind;
};

/* The objects that send to an existing one in every phase, each once and never itself; returns their number. Of stencil and
 * mesh; otherwise there are none. */
uint32_t model_load_senders(const struct model_load *m, uint32_t object,
                            struct model_load_edge edge[MODEL_LOAD_MOST_KINDS]);

/* Ln(bytes) of messages between handlers [L], by default: mean and standard deviation. L is explained in load.c. */
#define MODEL_LOAD_HANDLER_MEAN 7.75
#define MODEL_LOAD_HANDLER_SD 1.30

/* An edge has its volume of an owner and a kind. Neighbours in the index space send each other the same, as when they exchange
 * borders: of both edges, those are of the one to the upper neighbour. The others' are their own. */
enum { MODEL_LOAD_NEIGHBOURS = 6 };
static inline uint32_t model_load_owner(uint32_t kind, uint32_t from, uint32_t to) {
    return kind < MODEL_LOAD_NEIGHBOURS && kind % 2 == 1 ? from : to;
}
static inline uint32_t model_load_shared(uint32_t kind) {
    return kind < MODEL_LOAD_NEIGHBOURS ? kind & ~1u : kind;
}

/* An edge belongs to the object that receives, or for the kinds up and down to the rank that is the child, as this number. */
static inline uint32_t model_load_handler(uint32_t rank) {
    return UINT32_MAX - rank;
}
static inline uint32_t model_load_parent(uint32_t rank) {
    return (rank - 1) / 2;
}

/* What lasts of an edge, by its owner and shared kind. `follows` is the sum of model_load_lasting at the ends that are objects. */
struct model_load_flow {
    double ln_bytes, ln_messages;
};
struct model_load_flow model_load_flow(const struct model_load *m, uint32_t owner, uint32_t kind,
                                       double follows);

/* What it carries in a phase. */
struct model_load_volume {
    uint64_t bytes;    /* a multiple of 8, at most MODEL_LOAD_MOST_BYTES */
    uint64_t messages; /* at least 1, and at least 8 bytes each */
};
#define MODEL_LOAD_MOST_BYTES (UINT64_C(1) << 30)
struct model_load_volume model_load_volume(const struct model_load *m, uint32_t owner, uint32_t kind,
                                           struct model_load_flow flow, uint32_t phase);

/* The bytes of many edges of a kind, at most MODEL_LOAD_AT_ONCE: owner[count], ln_bytes[count]. */
void model_load_bytes(const struct model_load *m, const uint32_t *owner, uint32_t kind, const double *ln_bytes,
                      uint32_t count, uint32_t phase, uint64_t *bytes);

/* ---- memory, if params.block_objects is not 0 ---- */

struct model_load_memory {
    uint32_t block; /* home * blocks per home + number in the home */
    uint64_t block_bytes, footprint, working, serialized;
};
struct model_load_memory model_load_memory(const struct model_load *m, uint32_t object, double lasting);

/* The memory of an object relative to the mean, for a standard deviation of its logarithm: what a checkpoint holds of it.
 * An object that works much is large. */
double model_load_held(const struct model_load *m, uint32_t object, double lasting, double sigma);

#endif
