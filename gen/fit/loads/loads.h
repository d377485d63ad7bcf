/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from vt's load data. One pass over the files gives sums and sketches; facts and parameters follow from
 * them. */
#ifndef HPCW_GEN_FIT_LOADS_LOADS_H
#define HPCW_GEN_FIT_LOADS_LOADS_H

#include <stdint.h>

#include <hpcw/status.h>

#include "gen/fit/facts.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"
#include "gen/fit/twin.h"

/* Adds facts of load data, and learns the twin if it is not NULL. path: a directory, or a file as a run of one
 * rank. Memory: see gen_fit_loads_read. */
hpcw_status gen_fit_vom(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

/* Number of groups of consecutive phases. Phase 0 is alone in the first group. Groups exist because loads change
 * over a run. */
enum { GEN_FIT_GROUPS = 65 };

/* Tasks below this time in seconds count as idle. The model makes no shorter ones. */
#define GEN_FIT_LEAST_SECONDS 1e-9

/* Sums over a group of phases and half of the ranks. x is ln(seconds) of a migratable task. */
struct gen_fit_load_group {
    double tasks, seconds, x, xx;
    /* over ranks with n tasks whose x have the sum s: sums of 1, n * n, n * s and s * s */
    double ranks, nn, nx, ss;
    /* next: a task in this phase and in the next one. early: a task now, and in the last earlier phase that is a
     * power of two, up to half a run ago. neighbour: mean x of a rank and of the next rank. edge: ln(bytes) of an
     * edge, and x of the receiving task. */
    struct gen_fit_pairs next, early, neighbour, edge;
    /* seconds of a task; total seconds of a rank's migratable tasks */
    struct gen_fit_sketch *time, *rank;
};

/* Sums over edges, except those from an entity to itself. */
struct gen_fit_load_traffic {
    double all, bytes; /* number of all edges, and their bytes */
    /* edges between entities that cannot move, such as handlers, if the sender is known */
    double fixed, fixed_bytes, ln_fixed, ln_fixed_squares;
};

/* Sums over edges: of all kinds, then between elements. */
struct gen_fit_load_edges {
    struct gen_fit_load_traffic traffic;
    double ln_bytes, ln_bytes_squares, ln_messages, ln_messages_squares;
    double element_bytes, group_bytes; /* bytes of these edges, and of edges from elements to groups */
    double count[2], distant[2];       /* number; those whose ends have different homes */
};

/* Sums over memory. */
struct gen_fit_load_memory {
    double sharing;                            /* tasks whose memory block other tasks of the rank share */
    double blocks, ln_block, ln_block_squares; /* distinct blocks of a rank in a phase, and their ln(bytes) */
    double footprints, ln_footprint;           /* tasks that report their own memory, and its ln(bytes) */
    double rank_memories, rank_bytes;          /* tasks that report the memory of their rank, and its bytes */
};

/* Sums over all ranks. Arrays of two have an element for each half of the ranks. */
struct gen_fit_loads {
    uint32_t ranks, ppn; /* ppn: ranks of the first node; 0: not recorded */
    uint64_t phases;     /* of the rank with the most phases */
    double collections;  /* collections on the first rank */
    /* first_phases: phases of the first rank. uneven: ranks with another number of phases; uneven_rank and
     * uneven_phases describe the first of them. mended: records that only a lenient reader accepts. */
    uint64_t first_phases, uneven_phases;
    uint32_t uneven, uneven_rank;
    uint64_t mended;

    uint64_t width; /* phases in a group */
    struct gen_fit_load_group group[GEN_FIT_GROUPS][2];
    struct gen_fit_sketch *objects[2]; /* number of migratable tasks of a rank in a phase */
    /* bytes and messages of an edge between elements; edges that a task receives */
    struct gen_fit_sketch *bytes[2], *messages[2], *senders[2];
    /* sum of a rank's number of tasks in a phase, of its square, and of 1 */
    double count_sum, count_squares, counts;
    struct gen_fit_load_edges edge;
    double stayed[2], arrived[2];
    double subphases_tasks, subphases; /* number of tasks that report subphases, and their subphases */
    double groups, dimensions, indexed;
    struct gen_fit_load_memory memory;
    /* [0]: phase 0; [1]: later phases. Number of (rank, phase) pairs, and their ln(seconds) of unmigratable work */
    double fixed[2], ln_fixed[2];
    double unread_user_defined;
};

/* Reads load data: a directory, or a file as a run of one rank. Memory: 6 MiB, and the tasks of one rank. Free
 * *l also after a failure. */
hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_loads *l, hpcw_error *err);
void gen_fit_loads_free(struct gen_fit_loads *l);

/* Correlations from the sums of the groups `first` to `last`. half: 0, 1, or 2 for all ranks. Returns NaN if
 * unknown. */
enum gen_fit_load_correlation {
    GEN_FIT_NEXT,
    GEN_FIT_EARLY,
    GEN_FIT_SAME_RANK,
    GEN_FIT_NEIGHBOUR,
    GEN_FIT_EDGE
};
double gen_fit_loads_correlation(const struct gen_fit_loads *l, enum gen_fit_load_correlation which, int half,
                                 size_t first, size_t last);

/* Moments of some groups over all ranks: number of tasks, mean seconds, mean and standard deviation of x. Zeros
 * without tasks. */
struct gen_fit_load_moments {
    double tasks, seconds, mean, sd;
};
struct gen_fit_load_moments gen_fit_loads_moments(const struct gen_fit_loads *l, size_t first, size_t last);

/* Returns the first group after the set-up: 1 if phase 0 is a set-up phase, otherwise 0. */
size_t gen_fit_loads_begin(const struct gen_fit_loads *l);

/* Returns the middle phase of a group. */
double gen_fit_loads_middle(const struct gen_fit_loads *l, size_t group);

/* Share of the variance that persists over the run: in phase 1, in the last phase, and the mean. `tail` is the
 * tail of the model's distribution. known: some object was seen in two phases. */
struct gen_fit_lasting {
    double first, last, mean;
    bool known;
};
struct gen_fit_lasting gen_fit_loads_lasting(const struct gen_fit_loads *l, const struct model_load_tail *tail);

/* gen_fit_loads_times: sketch of the tasks' seconds in some groups. gen_fit_loads_ranks: sketch of rank loads
 * over the mean of their phase, from group `first` on. Both return NULL when memory runs out. */
struct gen_fit_sketch *gen_fit_loads_times(const struct gen_fit_loads *l, int half, size_t first, size_t last);
struct gen_fit_sketch *gen_fit_loads_ranks(const struct gen_fit_loads *l, int half, size_t first);

/* Adds facts for a comparison; learns the twin's parameters. */
hpcw_status gen_fit_loads_facts(struct gen_fit_loads *l, struct gen_fit_facts *facts, hpcw_error *err);
hpcw_status gen_fit_loads_learn(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

/* Call it after all parameters are learned. Learns the seed with which the twin's slowest ranks and longest
 * tasks are nearest to the measured ones. */
hpcw_status gen_fit_loads_learn_seed(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

/* Call it after the seed is learned. Changes the volumes, so that the twin's edges have the measured bytes
 * together. */
hpcw_status gen_fit_loads_correct_volumes(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                          hpcw_error *err);

#endif
