/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/linktest/linktest.h"

#include <assert.h>
#include <string.h>

#include "gen/model/linktest/row.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_linktest_params, "linktest." name, kind, field, __VA_ARGS__)

const char *const model_linktest_modes[] = {"mpi", "tcp", "ucp", "ibverbs", "psm2", "cuda", NULL};
static const char *const kernels[] = {"semidirectional", "unidirectional", "bidirectional", NULL};
static const char *const loads[] = {"auto", "none", "light", "heavy", NULL};

/* A permutation must fit in one word of the draws' counters. */
#define MAX_PERMUTATIONS 4294967295.0

const struct ui_param model_linktest_param[] = {
    PARAM("mode", CHOICE, mode, .choices = model_linktest_modes,
          .help = "transport of the run, as recorded in the results"),
    PARAM("kernel", CHOICE, kernel, .choices = kernels, .help = "directions of the messages of a pair"),
    PARAM("all_to_all", BOOL, all_to_all, .help = "one all-to-all test per permutation, only with mode mpi"),
    PARAM("bisection", BOOL, bisection, .help = "only pairs across the two halves of the ranks"),
    PARAM("randomize_steps", BOOL, randomize_steps, .help = "random order of the steps"),
    PARAM("serial", BOOL, serial, .help = "one pair at a time: no congestion, no shared network cards"),
    PARAM("gpu_memory", BOOL, gpu_memory, .help = "message buffers in GPU memory"),
    PARAM("random_buffers", BOOL, random_buffers, .help = "random content of message buffers"),
    PARAM("check_buffers", BOOL, check_buffers, .help = "check of message buffers after each step"),
    PARAM("messages", U64, messages, 1, 0x1p32, NULL, "timed messages per pair"),
    PARAM("message_size", SIZE, message_size, 0, 0x1p40, "bytes", "size of a message"),
    PARAM("warmup_messages", U64, warmup_messages, 0, 0x1p32, NULL, "warm-up messages per pair"),
    PARAM("retests", U64, retests, 0, 0x1p20, NULL, "number of slowest connections that are measured again"),
    PARAM("message_buffers", U64, message_buffers, 1, 0x1p20, NULL, "message buffers per task"),
    PARAM("permutations", U64, permutations, 0, MAX_PERMUTATIONS, NULL,
          "iterations with randomly renumbered tasks; 0: one iteration in rank order"),
    PARAM("buffer_seed", U64, buffer_seed, 0, 0x1p63, NULL,
          "seed of the buffers' content; 0: the dataset's seed"),
    PARAM("task_seed", U64, task_seed, 0, 0x1p63, NULL, "seed of the renumbering; 0: the dataset's seed"),
    PARAM("step_seed", U64, step_seed, 0, 0x1p63, NULL,
          "seed of the order of the steps; 0: the dataset's seed"),
    PARAM("s_pair", F64, s_pair, 0, 2, NULL,
          "constant spread between pairs: standard deviation of ln(time) [P1]"),
    PARAM("s_msg", F64, s_msg, 0, 2, NULL, "spread between messages: standard deviation of ln(time) [M]"),
    PARAM("tail_probability", F64, tail_probability, 0, 1, NULL, "probability that a message is delayed [A]"),
    PARAM("tail", F64, tail_us, 0, 1e6, "us",
          "smallest delay; delays have a Pareto distribution with exponent 2 [A]"),
    PARAM("tail_max", F64, tail_max_us, 0, 1e7, "us", "largest delay [A]"),
    PARAM("noisy", BOOL, noisy, .help = "delays of a busy machine: probability 1e-3, at least 2000 us [M]"),
    PARAM("load", CHOICE, load, .choices = loads,
          .help =
              "load of shared links; auto: none if serial, heavy from machine.heavy_size on, otherwise light"),
    PARAM("bidirectional_share", F64, bidirectional_share, 0.01, 1, NULL,
          "bidirectional kernel: share of the bandwidth left in a direction while the other is busy [A]"),
    PARAM("s_all_to_all", F64, s_all_to_all, 0, 0.28, NULL,
          "spread of all-to-all times: standard deviation of ln(time) [A]"),
};
const size_t model_linktest_param_count = sizeof model_linktest_param / sizeof model_linktest_param[0];

void model_linktest_params_init(struct model_linktest_params *params) {
    *params = (struct model_linktest_params){
        .messages = 25,
        .message_size = 256 * 1024,
        .warmup_messages = 3,
        .retests = 10,
        .message_buffers = 1,
        .s_pair = 0.008,
        .s_msg = 0.12,
        .tail_probability = 1e-6,
        .tail_us = 20,
        .tail_max_us = 8000,
        .load = MODEL_LINK_LOAD_AUTO,
        .bidirectional_share = 0.96,
        .s_all_to_all = 0.1,
    };
}

/* ------------------------------------------------------------------------------------------------------------
 */

bool model_linktest_use(struct model_linktest *model, enum model_simd simd) {
    static model_linktest_row_fn *const row[MODEL_SIMD_COUNT] = {
        [MODEL_SIMD_NONE] = model_linktest_row_scalar,
#ifdef MODEL_SIMD_X86
        [MODEL_SIMD_AVX2] = model_linktest_row_avx2,
#endif
    };
    if (!model_simd_available(simd)) {
        return false;
    }
    model->simd = simd;
    model->row = row[simd];
    return true;
}

static struct model_linktest_costs costs(const struct model_linktest *model, bool serial) {
    const struct model_linktest_params *p = &model->params;
    const struct model_machine_params *mp = &model->machine->params;
    double card_share = (double)mp->nics / mp->ppn;
    struct model_linktest_costs c = {.hop = mp->hop_us * 1e6};
    for (int d = 0; d < MODEL_CLASSES; d++) {
        struct model_message_cost one =
            model_machine_cost(model->machine, (enum model_class)d, p->message_size);
        c.fixed[d] = one.fixed_ps;
        c.transfer[d] = one.transfer_ps;
        if (d >= MODEL_SAME_SWITCH && !serial && card_share < 1) {
            c.transfer[d] /= card_share;
        }
    }
    /* A stream in one direction has the latency once; of two simultaneous messages each takes half of the exchange. */
    double fixed_scale = 1, transfer_scale = 1;
    if (p->kernel == HPCW_LINKTEST_UNIDIRECTIONAL) {
        fixed_scale = 1.0 / (double)p->messages;
    } else if (p->kernel == HPCW_LINKTEST_BIDIRECTIONAL) {
        fixed_scale = 0.5;
        transfer_scale = 0.5 / p->bidirectional_share;
    }
    c.hop *= fixed_scale;
    for (int d = 0; d < MODEL_CLASSES; d++) {
        c.fixed[d] *= fixed_scale;
        c.transfer[d] *= transfer_scale;
    }
    return c;
}

/* The factor of transfer times for bad ports and a bad cable between two nodes. */
static inline double slowdown(const struct model_linktest *model, uint32_t from, uint32_t to, double cable) {
    const struct model_machine *m = model->machine;
    double there = m->out_slowdown[from] > m->in_slowdown[to] ? m->out_slowdown[from] : m->in_slowdown[to];
    double back = m->out_slowdown[to] > m->in_slowdown[from] ? m->out_slowdown[to] : m->in_slowdown[from];
    there = there > cable ? there : cable;
    back = back > cable ? back : cable;
    return model->params.kernel == HPCW_LINKTEST_UNIDIRECTIONAL ? there : (there + back) * 0.5;
}

static hpcw_status check_longest(const struct model_linktest *model, double largest_exponent, hpcw_error *err) {
    const struct model_machine_params *mp = &model->machine->params;
    double least = mp->bad_cable_factor;
    for (int i = 0; i < MODEL_BAD_FACTORS; i++) {
        least = least < mp->bad_factor[i] ? least : mp->bad_factor[i];
    }
    uint32_t hops = 0;
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        hops += model->machine->torus[d] / 2;
    }
    double longest = 0;
    for (int d = 0; d < MODEL_CLASSES; d++) {
        double slow = 1 / least / (model->congested ? model->load.min : 1);
        double t = model->run.fixed[d] + model->run.hop * hops + model->run.transfer[d] * slow;
        longest = t > longest ? t : longest;
    }
    longest = longest * hpcw_i_exp(largest_exponent) + model->tail_max_ps / (double)model->params.messages;
    if (longest >= MODEL_TIME_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "linktest: expected timings below 2251 s, got parameters that allow %.3g s",
                           longest * 1e-12);
    }
    return HPCW_OK;
}

hpcw_status model_linktest_init(struct model_linktest *model, const struct model_machine *machine,
                                const struct model_linktest_params *params, hpcw_error *err) {
    memset(model, 0, sizeof *model);
    model->machine = machine;
    model->params = *params;
    struct model_linktest_params *p = &model->params;
    if (p->noisy) {
        p->tail_probability = 1e-3;
        p->tail_us = 2000;
    }
    if (p->messages < 1) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest.messages: expected at least 1, got 0");
    }
    if (p->tail_us > p->tail_max_us) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.tail: expected at most linktest.tail_max = %g us, got %g us",
                           p->tail_max_us, p->tail_us);
    }

    enum model_link_load load = (enum model_link_load)p->load;
    if (load == MODEL_LINK_LOAD_AUTO) {
        load = p->message_size >= machine->params.heavy_size ? MODEL_LINK_LOAD_HEAVY : MODEL_LINK_LOAD_LIGHT;
    }
    model->load = load == MODEL_LINK_LOAD_HEAVY ? machine->params.heavy : machine->params.light;
    model->congested = load != MODEL_LINK_LOAD_NONE && !p->serial && machine->switches > 1;
    model->run = costs(model, p->serial);
    model->quiet = costs(model, true);

    double messages = (double)p->messages;
    double s_message = p->s_msg / sqrt(messages);
    double largest_exponent = (p->s_pair + s_message) * HPCW_I_NORMAL_MAX;
    double shrink = 1;
    while (largest_exponent * shrink > 1) {
        model->squarings++;
        shrink *= 0.5;
    }
    model->pair_scale = p->s_pair * shrink * HPCW_I_NORMAL_SCALE;
    model->message_scale = s_message * shrink * HPCW_I_NORMAL_SCALE;

    model->tail_threshold = hpcw_i_threshold(p->tail_probability * messages);
    model->tail_ps = p->tail_us * 1e6;
    model->tail_max_ps = p->tail_max_us * 1e6;
    hpcw_status status = check_longest(model, largest_exponent, err);
    if (status != HPCW_OK) {
        return status;
    }
    (void)model_linktest_use(model, model_simd_best());
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 */

static uint64_t whole_ps(double time) {
    time = time > MODEL_TIME_MIN ? time : MODEL_TIME_MIN;
    time = time < MODEL_TIME_MAX ? time : MODEL_TIME_MAX;
    double shifted = time + 0x1p52;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits & 0x000fffffffffffff;
}

/* Time before noise. `congestion` is the slowdown of shared links, 1 without. */
static double undisturbed(const struct model_linktest *model, const struct model_linktest_costs *c,
                          uint32_t rank, uint32_t partner, double congestion) {
    const struct model_machine *m = model->machine;
    enum model_class d = model_machine_class(m, rank, partner);
    if (d < MODEL_SAME_SWITCH) {
        return c->fixed[d] + c->transfer[d];
    }
    uint32_t from = model_machine_node(m, rank), to = model_machine_node(m, partner);
    double cable = 1.0 / model_machine_cable(m, model_machine_switch(m, from), model_machine_switch(m, to));
    double fixed = c->fixed[d];
    if (m->params.torus) {
        fixed += (model_machine_distance(m, from, to) - 1.0) * c->hop;
    }
    double transfer = c->transfer[d] * slowdown(model, from, to, cable);
    return d >= MODEL_SAME_GROUP ? fixed + transfer * congestion : fixed + transfer;
}

static double centred(const uint32_t w[4]) {
    uint32_t sum = (w[0] & 0xffff) + (w[0] >> 16) + (w[1] & 0xffff) + (w[1] >> 16);
    return (double)((int32_t)sum - HPCW_I_NORMAL_CENTRE);
}

static double jitter(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                     const uint32_t timing_words[4]) {
    uint32_t w[4];
    hpcw_i_draw(model->machine->seed, HPCW_I_FOR_PAIR, rank < partner ? rank : partner,
                rank < partner ? partner : rank, UINT32_MAX, w);
    double y = hpcw_i_exp_small(model->pair_scale * centred(w) + model->message_scale * centred(timing_words));
    for (uint32_t i = 0; i < model->squarings; i++) {
        y = y * y;
    }
    return y;
}

uint64_t model_linktest_one(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                            uint32_t permutation, uint32_t step) {
    const struct model_machine *m = model->machine;
    double congestion = 1;
    uint32_t w[4];
    if (model->congested) {
        uint32_t a = model_machine_group(m, model_machine_node(m, rank));
        uint32_t b = model_machine_group(m, model_machine_node(m, partner));
        hpcw_i_draw(m->seed, HPCW_I_FOR_CONGESTION, step, permutation, (a < b ? a : b) << 16 | (a < b ? b : a),
                    w);
        double share = model->load.mean + model->load.sd * HPCW_I_NORMAL_SCALE * centred(w);
        share = share > model->load.min ? share : model->load.min;
        share = share < model->load.max ? share : model->load.max;
        congestion = 1.0 / share;
    }
    hpcw_i_draw(m->seed, HPCW_I_FOR_TIMING, rank, partner, permutation, w);
    double time = undisturbed(model, &model->run, rank, partner, congestion) * jitter(model, rank, partner, w);
    if (w[2] < model->tail_threshold) {
        time += model_linktest_tail(model->tail_ps, model->tail_max_ps, (double)model->params.messages, w[3]);
    }
    return whole_ps(time);
}

uint64_t model_linktest_retest(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                               uint32_t permutation) {
    uint32_t w[4];
    hpcw_i_draw(model->machine->seed, HPCW_I_FOR_RETEST, rank, partner, permutation, w);
    return whole_ps(undisturbed(model, &model->quiet, rank, partner, 1) * jitter(model, rank, partner, w));
}

uint64_t model_linktest_all_to_all(const struct model_linktest *model, uint32_t rank, uint32_t permutation) {
    const struct model_machine *m = model->machine;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_ALLTOALL, rank, permutation, 0, w);
    return whole_ps(hpcw_i_log2(m->ranks) * (m->params.latency_us[MODEL_OTHER_GROUP] * 1e6) *
                    hpcw_i_exp_small(model->params.s_all_to_all * hpcw_i_normal(w[0], w[1])));
}

/* ------------------------------------------------------------------------------------------------------------
 */

struct model_linktest_scratch {
    const struct model_linktest *model;
    uint32_t node, node_switch, permutation; /* that the tables are for; UINT32_MAX: none */
    double *fixed, *transfer;                /* [nodes] */
    double *cable;                           /* [switches] slowdown from node_switch to each switch */
    double *own_node;                        /* [ppn] */
    uint32_t *cache, *socket;                /* [ppn] of each rank of a node */
    uint16_t *hops;                          /* [nodes] on a torus */
    uint32_t *group_pair;                    /* [ranks + MODEL_ROW_PAD] */
    double *congestion;                      /* the same */
    struct model_divider to_node, to_group;
};

static struct model_divider divider(uint32_t divisor) {
    /* With 2^shift >= 2^30 * divisor, the factor rounded up gives the exact result for all x < 2^30. */
    uint32_t shift = 30;
    while (((uint64_t)1 << shift) < (uint64_t)divisor << 30) {
        shift++;
    }
    return (struct model_divider){(uint32_t)((((uint64_t)1 << shift) + divisor - 1) / divisor), shift};
}

hpcw_status model_linktest_scratch_new(const struct model_linktest *model, struct model_linktest_scratch **out,
                                       hpcw_error *err) {
    const struct model_machine *m = model->machine;
    *out = NULL;
    struct model_linktest_scratch *s = hpcw_i_calloc(1, sizeof *s);
    if (s == NULL) {
        goto no_memory;
    }
    s->model = model;
    s->node = s->node_switch = s->permutation = UINT32_MAX;
    s->to_node = divider(m->params.ppn);
    /* One group may hold more ranks than there are; then any larger divisor gives the same zeros. */
    uint64_t group_ranks = (uint64_t)m->nodes_per_group * m->params.ppn;
    s->to_group = divider(group_ranks < MODEL_MAX_RANKS ? (uint32_t)group_ranks : MODEL_MAX_RANKS);

    s->fixed = hpcw_i_calloc(m->nodes, sizeof *s->fixed);
    s->cable = hpcw_i_calloc(m->switches, sizeof *s->cable);
    s->own_node = hpcw_i_calloc(m->params.ppn, sizeof *s->own_node);
    s->cache = hpcw_i_calloc(m->params.ppn, sizeof *s->cache);
    s->socket = hpcw_i_calloc(m->params.ppn, sizeof *s->socket);
    if (s->fixed == NULL || s->cable == NULL || s->own_node == NULL || s->cache == NULL || s->socket == NULL) {
        goto no_memory;
    }
    for (uint32_t local = 0; local < m->params.ppn; local++) {
        uint32_t core = model_machine_core(m, local);
        s->cache[local] = core / m->params.cores_per_cache;
        s->socket[local] = core / m->params.cores_per_socket;
    }
    if (m->params.torus) {
        s->hops = hpcw_i_calloc(m->nodes, sizeof *s->hops);
        if (s->hops == NULL) {
            goto no_memory;
        }
    }
    if (model->congested) {
        size_t steps = (size_t)m->ranks + MODEL_ROW_PAD;
        s->transfer = hpcw_i_calloc(m->nodes, sizeof *s->transfer);
        s->group_pair = hpcw_i_calloc(steps, sizeof *s->group_pair);
        s->congestion = hpcw_i_calloc(steps, sizeof *s->congestion);
        if (s->transfer == NULL || s->group_pair == NULL || s->congestion == NULL) {
            goto no_memory;
        }
    }
    *out = s;
    return HPCW_OK;

no_memory:
    model_linktest_scratch_free(s);
    return hpcw_i_fail_memory(err, "linktest", m->ranks, "ranks");
}

void model_linktest_scratch_free(struct model_linktest_scratch *s) {
    if (s == NULL) {
        return;
    }
    hpcw_i_free(s->fixed);
    hpcw_i_free(s->transfer);
    hpcw_i_free(s->cable);
    hpcw_i_free(s->own_node);
    hpcw_i_free(s->cache);
    hpcw_i_free(s->socket);
    hpcw_i_free(s->hops);
    hpcw_i_free(s->group_pair);
    hpcw_i_free(s->congestion);
    hpcw_i_free(s);
}

/* Fills the tables for `node`, with the same values and operations as in undisturbed(). */
static void look_from(struct model_linktest_scratch *s, uint32_t node) {
    const struct model_linktest *model = s->model;
    const struct model_machine *m = model->machine;
    const struct model_linktest_costs *c = &model->run;
    const uint32_t own_switch = model_machine_switch(m, node), own_group = model_machine_group(m, node);

    if (s->node_switch != own_switch) {
        for (uint32_t w = 0; w < m->switches; w++) {
            s->cable[w] = 1.0 / model_machine_cable(m, own_switch, w);
        }
        s->node_switch = own_switch;
    }
    for (uint32_t w = 0; w < m->switches; w++) {
        uint32_t first = w * m->nodes_per_switch, end = first + m->nodes_per_switch;
        end = end < m->nodes ? end : m->nodes;
        int d = w == own_switch                              ? MODEL_SAME_SWITCH
                : model_machine_group(m, first) == own_group ? MODEL_SAME_GROUP
                                                             : MODEL_OTHER_GROUP;
        double fixed = c->fixed[d], transfer = c->transfer[d], cable = s->cable[w];
        if (model->congested && d >= MODEL_SAME_GROUP) {
            for (uint32_t n = first; n < end; n++) {
                s->fixed[n] = fixed;
                s->transfer[n] = transfer * slowdown(model, node, n, cable);
            }
        } else if (model->congested) {
            for (uint32_t n = first; n < end; n++) {
                s->fixed[n] = fixed + transfer * slowdown(model, node, n, cable);
                s->transfer[n] = 0;
            }
        } else if (m->params.torus) {
            model_machine_hops(m, node, s->hops);
            for (uint32_t n = first; n < end; n++) {
                s->fixed[n] =
                    (fixed + (s->hops[n] - 1.0) * c->hop) + transfer * slowdown(model, node, n, cable);
            }
        } else {
            for (uint32_t n = first; n < end; n++) {
                s->fixed[n] = fixed + transfer * slowdown(model, node, n, cable);
            }
        }
    }
    s->node = node;
}

void model_linktest_row(const struct model_linktest *model, struct model_linktest_scratch *s, uint32_t rank,
                        uint32_t permutation, uint32_t first_step, uint32_t count, const uint32_t *partner,
                        uint64_t *time_ps, struct model_truth_outliers *outliers) {
    const struct model_machine *m = model->machine;
    assert(s->model == model && rank < m->ranks && (uint64_t)first_step + count <= m->ranks);
    uint32_t node = model_machine_node(m, rank), first = node * m->params.ppn;
    if (s->node != node) {
        look_from(s, node);
    }
    const double same_cache = model->run.fixed[MODEL_SAME_CACHE] + model->run.transfer[MODEL_SAME_CACHE];
    const double same_socket = model->run.fixed[MODEL_SAME_SOCKET] + model->run.transfer[MODEL_SAME_SOCKET];
    const double same_node = model->run.fixed[MODEL_SAME_NODE] + model->run.transfer[MODEL_SAME_NODE];
    const uint32_t cache = s->cache[rank - first], socket = s->socket[rank - first];
    for (uint32_t local = 0; local < m->params.ppn; local++) {
        s->own_node[local] = s->cache[local] == cache     ? same_cache
                             : s->socket[local] == socket ? same_socket
                                                          : same_node;
    }
    if (model->congested && s->permutation != permutation) {
        for (size_t k = 0; k < (size_t)m->ranks + MODEL_ROW_PAD; k++) {
            s->group_pair[k] = MODEL_NO_GROUP_PAIR;
        }
        s->permutation = permutation;
    }

    struct model_truth_outliers ignored = {0};
    const struct model_linktest_row row = {
        .partner = partner,
        .time_ps = time_ps,
        .count = count,
        .first_step = first_step,
        .rank = rank,
        .permutation = permutation,
        .seed = m->seed,
        .fixed = s->fixed,
        .transfer = s->transfer,
        .to_node = s->to_node,
        .own_node = s->own_node,
        .own_first = first,
        .ppn = m->params.ppn,
        .group_pair = s->group_pair,
        .congestion = s->congestion,
        .to_group = s->to_group,
        .own_group = model_machine_group(m, node),
        .load_mean = model->load.mean,
        .load_scale = model->load.sd * HPCW_I_NORMAL_SCALE,
        .load_min = model->load.min,
        .load_max = model->load.max,
        .pair_scale = model->pair_scale,
        .message_scale = model->message_scale,
        .squarings = model->squarings,
        .tail_threshold = model->tail_threshold,
        .tail_ps = model->tail_ps,
        .tail_max_ps = model->tail_max_ps,
        .messages = (double)model->params.messages,
        .outliers = outliers != NULL ? outliers : &ignored,
    };
    model->row(&row);
}
