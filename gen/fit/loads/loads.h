/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from vt's load data. One pass over the files gives sums and distributions (sketches), from which facts and
 * parameters are computed. */
#ifndef HPCW_GEN_FIT_LOADS_LOADS_H
#define HPCW_GEN_FIT_LOADS_LOADS_H

#include <stdint.h>

#include <hpcw/status.h>

#include "gen/fit/facts.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"
#include "gen/fit/twin.h"

/* Adds facts of load data, and learns the twin if it is not NULL. path: a directory, or a single file, which
 * counts as a run of one rank. Memory: see gen_fit_loads_read. */
hpcw_status gen_fit_vom(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

/* Number of groups of consecutive phases. Phase 0 is alone in the first group. Groups exist because loads
 * change over a run. */
enum { GEN_FIT_GROUPS = 65 };

/* Tasks with a time below this, in seconds, count as idle. No task of the model is shorter. */
#define GEN_FIT_LEAST_SECONDS 1e-9

/* Sums over a group of phases and half of the ranks. In this file, x is ln(seconds) of a migratable task. */
struct gen_fit_load_group {
    double tasks, seconds, x, xx;
    /* A rank has n tasks, whose ln(seconds) have the sum s. Sums over ranks: of 1, n * n, n * s and s * s. */
    double ranks, nn, nx, ss;
    /* Pairs of values; x is ln(seconds) of a task. next: x of an object in a phase and in the next one. early:
     * x of an object in a phase and in the last earlier phase whose number is a power of two. neighbour: mean x
     * of a rank and of the next rank. edge: ln(bytes) of an edge and x of its receiver. */
    struct gen_fit_pairs next, early, neighbour, edge;
    /* time: seconds of a task. rank: total seconds of a rank's migratable tasks in a phase. */
    struct gen_fit_sketch *time, *rank;
};

/* Sums over edges, except those from an entity to itself. */
struct gen_fit_load_traffic {
    double all, bytes; /* number of edges of all kinds but broadcasts, and their bytes */
    double broadcasts; /* number of edges of broadcasts */
    double first;      /* number of edges for messages before the first task runs, which have no sender */
    /* edges between entities that cannot move, such as handlers, if the sender is known: number, bytes, sums of
     * ln(bytes) and of its square */
    double fixed, fixed_bytes, ln_fixed, ln_fixed_squares;
};

/* Sums over edges. `traffic` is over all kinds of edges, the other members over edges between elements. */
struct gen_fit_load_edges {
    struct gen_fit_load_traffic traffic;
    double ln_bytes, ln_bytes_squares, ln_messages, ln_messages_squares;
    /* bytes of edges between elements; bytes of edges from elements to groups */
    double element_bytes, group_bytes;
    /* count: number of edges. distant: number of edges whose ends have different home ranks. */
    double count[2], distant[2];
};

/* Sums over memory values of tasks. */
struct gen_fit_load_memory {
    /* number of tasks that report a memory block, which tasks of a rank can share */
    double sharing;
    /* number of distinct blocks of a rank in a phase; sums of their ln(bytes) and of ln(bytes) squared */
    double blocks, ln_block, ln_block_squares;
    /* number of tasks that report their own memory; sum of its ln(bytes) */
    double footprints, ln_footprint;
    /* number of tasks that report the memory of their rank; sum of its bytes */
    double rank_memories, rank_bytes;
};

/* Sums over all ranks. Arrays of two have an element for each half of the ranks. */
struct gen_fit_loads {
    uint32_t ranks, ppn; /* ranks: number of ranks. ppn: ranks of the first node; 0: not recorded */
    uint64_t phases;     /* number of phases of the rank with the most phases */
    double collections;  /* number of collections on the first rank */
    /* first_phases: number of phases of the first rank. uneven: number of ranks with another number of phases.
     * uneven_rank: the first of these ranks. uneven_phases: number of its phases. mended: number of records
     * that only a lenient reader accepts. */
    uint64_t first_phases, uneven_phases;
    uint32_t uneven, uneven_rank;
    uint64_t mended;

    uint64_t width; /* number of phases in a group */
    struct gen_fit_load_group group[GEN_FIT_GROUPS][2];
    struct gen_fit_sketch *objects[2]; /* number of migratable tasks of a rank in a phase */
    /* bytes, messages: of an edge between elements. senders: number of edges that a task receives. */
    struct gen_fit_sketch *bytes[2], *messages[2], *senders[2];
    /* A rank has n tasks in a phase. count_sum: sum of n. count_squares: sum of n * n. counts: number of (rank,
     * phase) pairs. */
    double count_sum, count_squares, counts;
    struct gen_fit_load_edges edge;
    double stayed[2], arrived[2];
    /* number of tasks that report subphases; sum of their numbers of subphases */
    double subphases_tasks, subphases;
    double groups, dimensions, indexed;
    struct gen_fit_load_memory memory;
    /* Unmigratable work, [0] in phase 0, [1] in later phases. fixed: number of (rank, phase) pairs. ln_fixed:
     * sum of ln(seconds) of this work in a pair. */
    double fixed[2], ln_fixed[2];
    double unread_user_defined;
};

/* Reads load data. path: a directory, or a single file, which counts as a run of one rank. Memory: 6 MiB, and
 * the tasks of one rank. Free *l also after a failure. */
hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_loads *l, hpcw_error *err);
void gen_fit_loads_free(struct gen_fit_loads *l);

/* Returns a correlation from the sums of the groups `first` to `last`; NaN: unknown. half: 0 or 1, a half of
 * the ranks; 2: all ranks. */
enum gen_fit_load_correlation {
    GEN_FIT_NEXT,
    GEN_FIT_EARLY,
    GEN_FIT_SAME_RANK,
    GEN_FIT_NEIGHBOUR,
    GEN_FIT_EDGE
};
double gen_fit_loads_correlation(const struct gen_fit_loads *l, enum gen_fit_load_correlation which, int half,
                                 size_t first, size_t last);

/* Moments of the tasks of all ranks in the groups `first` to `last`: number of tasks, mean seconds, mean and
 * standard deviation of ln(seconds). All are 0 without tasks. */
struct gen_fit_load_moments {
    double tasks, seconds, mean, sd;
};
struct gen_fit_load_moments gen_fit_loads_moments(const struct gen_fit_loads *l, size_t first, size_t last);

/* Returns the index of the first group of phases after the set-up: 1 if phase 0 is a set-up, otherwise 0. */
size_t gen_fit_loads_begin(const struct gen_fit_loads *l);

/* Returns the number of the phase in the middle of a group. */
double gen_fit_loads_middle(const struct gen_fit_loads *l, size_t group);

/* Share of the variance of an object's work that persists. first: in phase 1. last: in the last phase. mean:
 * over all phases. known: some object was seen in two phases. */
struct gen_fit_lasting {
    double first, last, mean;
    bool known;
};
/* tail: distribution of the work in the model. */
struct gen_fit_lasting gen_fit_loads_lasting(const struct gen_fit_loads *l, const struct model_load_tail *tail);

/* Return distributions over half 0 or half 1 of the ranks; NULL when memory runs out. gen_fit_loads_times: seconds
 * of the tasks in the groups `first` to `last`. gen_fit_loads_ranks: load of a rank divided by the mean load in the
 * phase, from group `first` on. */
struct gen_fit_sketch *gen_fit_loads_times(const struct gen_fit_loads *l, int half, size_t first, size_t last);
struct gen_fit_sketch *gen_fit_loads_ranks(const struct gen_fit_loads *l, int half, size_t first);

hpcw_status gen_fit_loads_facts(struct gen_fit_loads *l, struct gen_fit_facts *facts, hpcw_error *err);
hpcw_status gen_fit_loads_learn(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

/* Learns the seed with which the twin's slowest ranks and longest tasks are nearest to the measured ones. Call
 * it after all parameters are learned. */
hpcw_status gen_fit_loads_learn_seed(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

/* Changes the volumes of edges, so that all edges of the twin together have the measured number of bytes. Call
 * it after the seed is learned. */
hpcw_status gen_fit_loads_correct_volumes(const struct gen_fit_loads *l, struct gen_fit_twin *twin,
                                          hpcw_error *err);

#endif
