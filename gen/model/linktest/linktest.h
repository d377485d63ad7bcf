/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates the measurements of LinkTest. Each timing (i, j, permutation, step) is a pure function and has the same
 * bits on all processes. A timing is the time of a message of rank i with partner j, in picoseconds. This time
 * comes from gen/model/network, with the contention of a step in which all pairs measure at once:
 *
 *    (fixed + transfer * slow port or cable + wait * congestion) * (1 + noise of the pair + noise of M messages) +
 *    delay
 *
 * A ping-pong kernel takes the mean of both directions of a link. The unidirectional kernel takes i -> j alone, the
 * bidirectional kernel the slower direction. */
#ifndef HPCW_GEN_MODEL_LINKTEST_LINKTEST_H
#define HPCW_GEN_MODEL_LINKTEST_LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/linktest.h>
#include <hpcw/status.h>

#include "gen/model/draw/simd.h"
#include "gen/model/machine/machine.h"
#include "gen/model/machine/truth.h"
#include "gen/model/network/network.h"
#include "ui/param/param.h"

/* Parameters with the keys "linktest.*": first those of the run, then those of the noise. */
struct model_linktest_params {
    int mode;   /* index into hpcw_i_linktest_modes */
    int kernel; /* hpcw_linktest_kernel */
    /* other parameters of the run; run.seed = 0: the seed of the dataset is used where a run needs one */
    hpcw_linktest_params run;

    double s_msg;
    double tail_probability; /* per message */
    double tail_us, tail_max_us;
    /* true: delays as on a busy machine, which replace tail_probability and tail_us */
    bool noisy;
    /* share of the bandwidth that each direction gets while messages go in both directions */
    double bidirectional_share;
    double s_all_to_all;
};

extern const struct ui_param model_linktest_param[];
extern const size_t model_linktest_param_count;
void model_linktest_params_init(struct model_linktest_params *params);

struct model_linktest_row;
typedef void model_linktest_row_fn(const struct model_linktest_row *row);

/* Parts of a message's time in picoseconds, for the kernel of the run. With h hops on a torus (1 without), the
 * time is (fixed + hop * (h - 1)) + transfer * slowdown + (wait + hop_wait * h) * congestion. */
struct model_linktest_costs {
    double fixed[MODEL_CLASSES], transfer[MODEL_CLASSES], wait[MODEL_CLASSES];
    double hop, hop_wait;
};

/* Read-only after init, so threads may share a model. Borrows the network and its machine. */
struct model_linktest {
    const struct model_network *network;
    const struct model_machine *machine;
    struct model_linktest_params params;
    /* run: costs while all pairs measure at once; quiet: costs while one pair measures alone */
    struct model_linktest_costs run, quiet;
    bool congested;
    uint32_t steps;
    double step_ps;                   /* mean time of a step, ps; the time window of a step follows from it */
    double pair_scale, message_scale; /* see struct model_linktest_row */
    /* mean of the noise, as a share of the undisturbed time */
    double usual_share;
    uint64_t tail_threshold;
    double tail_ps, tail_max_ps;
    enum model_simd simd;
    model_linktest_row_fn *row;
};

/* HPCW_EINVAL: parameters contradict each other. HPCW_ERANGE: a timing could exceed 2251 s. Uses the fastest
 * instruction set of this processor. There is nothing to free. */
hpcw_status model_linktest_init(struct model_linktest *model, const struct model_network *network,
                                const struct model_linktest_params *params, hpcw_error *err);

/* Selects an instruction set; all give the same bits. Returns false and changes nothing if this build or
 * processor does not have it. */
bool model_linktest_use(struct model_linktest *model, enum model_simd simd);

/* Scratch space of a thread for one model: tables of the times from the current rank's node to all nodes. Ranks
 * in ascending order are fastest, since ranks of a node use the same tables. Memory: 20 bytes per node, 4 per
 * rank, and 24 more per rank if links are congested. */
struct model_linktest_scratch;
hpcw_status model_linktest_scratch_new(const struct model_linktest *model, struct model_linktest_scratch **out,
                                       hpcw_error *err);
void model_linktest_scratch_free(struct model_linktest_scratch *scratch);

/* Computes what `rank` measures in the steps first_step .. first_step + count - 1 of a permutation, in whole
 * picoseconds >= 1. Partners can be any ranks. The call is fastest if, in a step, ranks with neighbouring numbers
 * have partners in one group, as in the circle method of round-robin pairing.
 *
 * partner   [count]
 * time_ps   [count] out
 * slowest   [count] in and out: raised to the slowest timing of each step; NULL: not wanted
 * outliers  in and out: delays that stand out of the neighbouring timings are added; NULL: not wanted */
void model_linktest_row(const struct model_linktest *model, struct model_linktest_scratch *scratch,
                        uint32_t rank, uint32_t permutation, uint32_t first_step, uint32_t count,
                        const uint32_t *partner, uint64_t *time_ps, uint64_t *slowest,
                        struct model_truth_outliers *outliers);

/* Computes one timing from the formula, without tables. */
uint64_t model_linktest_one(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                            uint32_t permutation, uint32_t step);

/* Computes the time of a retest: one pair measures again, alone on a quiet machine. */
uint64_t model_linktest_retest(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                               uint32_t permutation);

/* Computes a rank's time for the all-to-all test. */
uint64_t model_linktest_all_to_all(const struct model_linktest *model, uint32_t rank, uint32_t permutation);

/* Returns the duration of a permutation in seconds. All pairs of a step measure at once. A step takes twice its
 * slowest timing (there and back) for each message, including the warm-up. With run.serial, one pair measures
 * after the other. The retests follow one by one, then the all-to-all test.
 *
 * slowest            [steps] the slowest timing of each step; not used with run.serial
 * sum_ps             sum of all timings; used only with run.serial
 * retests_ps         sum of the retests
 * all_to_all_max_ps  longest time of a rank in the all-to-all test */
double model_linktest_seconds(const struct model_linktest *model, const uint64_t *slowest, double sum_ps,
                              double retests_ps, uint64_t all_to_all_max_ps);

#endif
