/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LinkTest would have measured on the simulated machine: any timing (i, j, permutation, step) on its own,
 * the same bits whoever asks. One timing of rank i with partner j, in picoseconds per message:
 *
 *     ( fixed + transfer * slow port or cable * congestion ) * exp(s_pair z(i,j) + s_msg/sqrt(M) z(i,j,p)) +
 * tail
 *
 * Both directions of a link are averaged for the ping-pong kernels, the unidirectional one uses i -> j alone.
 */
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
#include "ui/param/param.h"

enum model_link_load {
    MODEL_LINK_LOAD_AUTO,
    MODEL_LINK_LOAD_NONE,
    MODEL_LINK_LOAD_LIGHT,
    MODEL_LINK_LOAD_HEAVY
};

/* Keys "linktest.*". The first part describes the run and goes into the file's header, the second the noise. */
struct model_linktest_params {
    int mode;   /* index into model_linktest_modes */
    int kernel; /* hpcw_linktest_kernel */
    bool all_to_all, bisection, randomize_steps, serial, gpu_memory, random_buffers, check_buffers;
    uint64_t messages, message_size, warmup_messages, retests, message_buffers;
    uint64_t permutations;                      /* 0: one, in plain rank order */
    uint64_t buffer_seed, task_seed, step_seed; /* 0: the dataset's seed, where one is needed */

    double s_pair, s_msg;
    double tail_probability; /* per message */
    double tail_us, tail_max_us;
    bool noisy;                 /* replaces tail_probability and tail_us by those of a busy machine */
    int load;                   /* enum model_link_load */
    double bidirectional_share; /* of the bandwidth, when both directions are busy */
    double s_all_to_all;
};

extern const char *const model_linktest_modes[]; /* NULL-terminated */
extern const struct ui_param model_linktest_param[];
extern const size_t model_linktest_param_count;
void model_linktest_params_init(struct model_linktest_params *params);

struct model_linktest_row;
typedef void model_linktest_row_fn(const struct model_linktest_row *row);

/* Costs of a message in picoseconds, kernel and shared cards taken into account. */
struct model_linktest_costs {
    double fixed[MODEL_CLASSES], transfer[MODEL_CLASSES], hop;
};

/* Read-only after init: may be shared by threads. Borrows the machine. */
struct model_linktest {
    const struct model_machine *machine;
    struct model_linktest_params params;
    struct model_linktest_costs run, quiet; /* all pairs at once, or as the run is; one pair alone */
    bool congested;
    struct model_congestion load;
    double pair_scale, message_scale; /* the exponent is the sum of these times centred sums of halves ... */
    uint32_t squarings;               /* ... divided by 2^squarings, to bring it below 1 */
    uint64_t tail_threshold;
    double tail_ps, tail_max_ps;
    enum model_simd simd;
    model_linktest_row_fn *row;
};

/*
 * HPCW_EINVAL for parameters that contradict each other, HPCW_ERANGE if a timing could pass 2251 s. Picks the
 * fastest instruction set that this processor has. Nothing to free.
 */
hpcw_status model_linktest_init(struct model_linktest *model, const struct model_machine *machine,
                                const struct model_linktest_params *params, hpcw_error *err);

/* Makes the model use an instruction set; false, and no change, if this build or processor does not have it.
 * All give the same bits. */
bool model_linktest_use(struct model_linktest *model, enum model_simd simd);

/*
 * What one thread needs to make rows: tables of the current rank's view of the machine, kept as long as the
 * next rank shares them (ranks in ascending order are cheapest). 16 bytes per node, 12 per rank if links are
 * congested. One model per scratch.
 */
struct model_linktest_scratch;
hpcw_status model_linktest_scratch_new(const struct model_linktest *model, struct model_linktest_scratch **out,
                                       hpcw_error *err);
void model_linktest_scratch_free(struct model_linktest_scratch *scratch);

/*
 * What `rank` measured in steps first_step .. first_step + count - 1 of a permutation, whole picoseconds >= 1.
 * Any list of partners < ranks is right; fastest is one in which a step pairs neighbouring ranks with the same
 * group, as the circle method does.
 *
 * partner   [count]
 * time_ps   [count] out
 * outliers  tail events are added here; NULL: not counted
 */
void model_linktest_row(const struct model_linktest *model, struct model_linktest_scratch *scratch,
                        uint32_t rank, uint32_t permutation, uint32_t first_step, uint32_t count,
                        const uint32_t *partner, uint64_t *time_ps, struct model_truth_outliers *outliers);

/* One timing, straight from the formula, no tables. */
uint64_t model_linktest_one(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                            uint32_t permutation, uint32_t step);

/* What a pair measures when asked again alone on a quiet machine. */
uint64_t model_linktest_retest(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                               uint32_t permutation);

/* A rank's time for the all-to-all test. */
uint64_t model_linktest_all_to_all(const struct model_linktest *model, uint32_t rank, uint32_t permutation);

#endif
