/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learned from vt's load data: sums and sketches from one pass over the files, and what follows from them. */
#ifndef HPCW_GEN_FIT_LOADS_LOADS_H
#define HPCW_GEN_FIT_LOADS_LOADS_H

#include <stdint.h>

#include <hpcw/status.h>

#include "gen/fit/facts.h"
#include "gen/fit/pairs.h"
#include "gen/fit/sketch.h"
#include "gen/fit/twin.h"

/* Adds what a directory of load data, or a file as a run of one rank, says to the facts, and to the twin if it is not NULL.
 * Memory: see gen_fit_loads_read. */
hpcw_status gen_fit_vom(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                        hpcw_error *err);

/* Phases are summed up in this many groups, phase 0 alone in the first: loads change over a run. */
enum { GEN_FIT_GROUPS = 65 };

/* Seconds below which a task counts as idle: the least that the model gives. */
#define GEN_FIT_LEAST_SECONDS 1e-9

/* A group of phases, and half of the ranks. Values x are ln(seconds) of the migratable tasks. */
struct gen_fit_load_group {
    double tasks, seconds, x, xx;
    double ranks, nn, nx, ss; /* over ranks with n tasks, whose values have the sum s: of 1, n n, n s, s s */
    /* Of a task in a phase and the next one; in the last phase that is a power of two, so up to half the run before;
     * means of a rank and the next one, and of that in the next phase; ln(bytes) of an edge to a task. */
    struct gen_fit_pairs next, early, neighbour, later, edge;
    struct gen_fit_sketch *time, *rank; /* seconds of tasks; of ranks, all their migratable tasks together */
};

/* Sums over the ranks. */
struct gen_fit_loads {
    uint32_t ranks, ppn; /* ppn: ranks of the first node; 0: not said */
    uint64_t phases;     /* of the rank with most */
    double collections;  /* seen on the first rank */
    /* Ranks with another number of phases than the first one, and the first of them; records that only a lenient reader takes. */
    uint64_t first_phases, uneven_phases;
    uint32_t uneven, uneven_rank;
    uint64_t mended;

    uint64_t width; /* phases in a group */
    struct gen_fit_load_group group[GEN_FIT_GROUPS][2];
    struct gen_fit_sketch *objects[2];                          /* migratable tasks of a rank in a phase */
    struct gen_fit_sketch *bytes[2], *messages[2], *senders[2]; /* of edges between elements; edges of a task */
    double count_sum, count_squares, counts;                    /* of the number of a rank's tasks */
    double ln_bytes, ln_bytes_squares, ln_messages, ln_messages_squares; /* of edges between elements */
    double element_bytes, group_bytes; /* between elements; from elements to groups */
    double edges[2], distant[2];       /* between elements; those between different homes */
    double stayed[2], arrived[2];
    double subphases_tasks, subphases; /* tasks that say, and the sum of what they say */
    double groups, dimensions, indexed;
    /* Tasks with a memory block that others of their rank share; distinct blocks of the ranks' phases; ln(bytes) of these; and
     * tasks that tell their own memory, and that of their rank. */
    double sharing, blocks, ln_block, ln_block_squares;
    double footprints, ln_footprint, rank_memories, rank_bytes;
    /* Of phase 0, and of the others: phases of ranks, and ln(seconds) of what cannot move on the rank. */
    double fixed[2], ln_fixed[2];
    double unread_user_defined;
};

/* Reads a directory of load data, or a file as a run of one rank. Memory: 6 MiB, and the tasks of
 * one rank. Free also after a failure. */
hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_loads *l, hpcw_error *err);
void gen_fit_loads_free(struct gen_fit_loads *l);

/* The sums of the groups from `first` to `last`, of one half (0, 1) or of all ranks (2), as correlations; NaN: not known. */
enum gen_fit_load_correlation {
    GEN_FIT_NEXT,
    GEN_FIT_EARLY,
    GEN_FIT_SAME_RANK,
    GEN_FIT_NEIGHBOUR,
    GEN_FIT_EDGE
};
double gen_fit_loads_correlation(const struct gen_fit_loads *l, enum gen_fit_load_correlation which, int half,
                                 size_t first, size_t last);

/* Groups of all ranks: the number of tasks, mean seconds, mean and standard deviation of x. Zeros without tasks. */
struct gen_fit_load_moments {
    double tasks, seconds, mean, sd;
};
struct gen_fit_load_moments gen_fit_loads_moments(const struct gen_fit_loads *l, size_t first, size_t last);

/* The first group of the run itself: 1 if phase 0 sets up, otherwise 0. */
size_t gen_fit_loads_begin(const struct gen_fit_loads *l);

/* The middle phase of a group. */
double gen_fit_loads_middle(const struct gen_fit_loads *l, size_t group);

/* The share of the variance that lasts for the run: in phase 1, in the last phase, and on average. With the tail of the model's
 * distribution. `known`: some object was seen in two phases of the run. */
struct gen_fit_lasting {
    double first, last, mean;
    bool known;
};
struct gen_fit_lasting gen_fit_loads_lasting(const struct gen_fit_loads *l, const struct model_load_tail *tail);

/* The sketch of all tasks from that group on, or of rank loads over the mean of their phases. NULL when memory runs out. */
struct gen_fit_sketch *gen_fit_loads_times(const struct gen_fit_loads *l, int half, size_t first, size_t last);
struct gen_fit_sketch *gen_fit_loads_ranks(const struct gen_fit_loads *l, int half, size_t first);

/* For the comparison; and for the twin. */
hpcw_status gen_fit_loads_facts(struct gen_fit_loads *l, struct gen_fit_facts *facts, hpcw_error *err);
hpcw_status gen_fit_loads_learn(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

/* After all parameters: the seed with which the twin is nearest in its slowest ranks and longest tasks. */
hpcw_status gen_fit_loads_learn_seed(const struct gen_fit_loads *l, struct gen_fit_twin *twin, hpcw_error *err);

#endif
