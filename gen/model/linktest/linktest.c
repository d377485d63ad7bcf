/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/linktest/linktest.h"

#include <assert.h>
#include <string.h>

#include "gen/model/linktest/row.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"
#include "libwriter/fields/linktest.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_linktest_params, "linktest." name, kind, field, __VA_ARGS__)
#define RUN(name, kind, ...) PARAM(#name, kind, run.name, __VA_ARGS__)

/* Largest number of permutations. A permutation's number is one word of 32 bits in the counters of random
 * draws. */
#define MAX_PERMUTATIONS 4294967295.0

const struct ui_param model_linktest_param[] = {
    PARAM("mode", CHOICE, mode, .choices = hpcw_i_linktest_modes,
          .help = "transport of the run, as recorded in the results"),
    PARAM("kernel", CHOICE, kernel, .choices = hpcw_i_linktest_kernels,
          .help = "directions of the messages of a pair"),
    RUN(all_to_all, BOOL, .help = "one all-to-all test per permutation, only with mode mpi"),
    RUN(bisection, BOOL, .help = "only pairs across the two halves of the ranks"),
    RUN(randomize_steps, BOOL, .help = "random order of the steps"),
    RUN(serial, BOOL, .help = "one pair at a time: no congestion, no shared network cards"),
    RUN(gpu_memory, BOOL,
        .help = "message buffers in GPU memory: NVLink within a node, further latency between nodes"),
    RUN(random_buffers, BOOL, .help = "random content of message buffers"),
    RUN(check_buffers, BOOL, .help = "check of message buffers after each step"),
    RUN(messages, U64, 1, 0x1p32, NULL, "timed messages per pair"),
    RUN(message_size, SIZE, 0, 0x1p40, "bytes", "size of a message"),
    RUN(warmup_messages, U64, 0, 0x1p32, NULL, "warm-up messages per pair"),
    RUN(retests, U64, 0, 0x1p20, NULL, "number of slowest connections that are measured again"),
    RUN(message_buffers, U64, 1, 0x1p20, NULL, "message buffers per task"),
    RUN(permutations, U64, 0, MAX_PERMUTATIONS, NULL,
        "iterations with randomly renumbered tasks; 0: one iteration in rank order"),
    RUN(buffer_seed, U64, 0, 0x1p63, NULL, "seed of the buffers' content; 0: the dataset's seed"),
    RUN(task_seed, U64, 0, 0x1p63, NULL, "seed of the renumbering; 0: the dataset's seed"),
    RUN(step_seed, U64, 0, 0x1p63, NULL, "seed of the order of the steps; 0: the dataset's seed"),
    PARAM("s_msg", F64, s_msg, 0, 2, NULL,
          "spread between messages: standard deviation, as a share of the time [M]"),
    PARAM("tail_probability", F64, tail_probability, 0, 1, NULL, "probability that a message is delayed [A]"),
    PARAM("tail", F64, tail_us, 0, 1e6, "us",
          "smallest delay; delays have a Pareto distribution with exponent 2 [A]"),
    PARAM("tail_max", F64, tail_max_us, 0, 1e7, "us", "largest delay [A]"),
    PARAM("noisy", BOOL, noisy, .help = "delays of a busy machine: probability 1e-3, at least 2000 us [M]"),
    PARAM("bidirectional_share", F64, bidirectional_share, 0.01, 1, NULL,
          "bidirectional kernel: share of the bandwidth left in a direction while the other is busy [A]"),
    PARAM("s_all_to_all", F64, s_all_to_all, 0, 1, NULL,
          "spread of all-to-all times: standard deviation, as a share of the time [A]"),
};
const size_t model_linktest_param_count = sizeof model_linktest_param / sizeof model_linktest_param[0];

void model_linktest_params_init(struct model_linktest_params *params) {
    *params = (struct model_linktest_params){
        .s_msg = 0.08,
        .tail_probability = 1e-6,
        .tail_us = 400,
        .tail_max_us = 8000,
        .bidirectional_share = 0.96,
        .s_all_to_all = 0.1,
    };
    hpcw_linktest_params_init(&params->run);
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

/* Sets the parameters for buffers in GPU memory. Within a node, messages use the GPUs' links and need no copies.
 * Between nodes, the path to the network card is longer. */
static void use_gpus(struct model_machine_params *mp) {
    for (int d = 0; d < MODEL_CLASSES; d++) {
        if (d < MODEL_SAME_SWITCH) {
            mp->message.latency_us[d] = mp->gpu.latency_node_us;
            mp->message.line_gbs[d] = mp->gpu.node_gbs;
            mp->message.protocol_us[d] = 0;
        } else {
            mp->message.latency_us[d] += mp->gpu.latency_net_us;
        }
    }
}

static struct model_linktest_costs costs(const struct model_linktest *model,
                                         const struct model_contention *contention) {
    const struct model_linktest_params *p = &model->params;
    /* Only the parameters of this copy of the machine are set and read. */
    struct model_machine machine = {.params = model->machine->params};
    struct model_network net = *model->network;
    net.machine = &machine;
    if (p->run.gpu_memory) {
        use_gpus(&machine.params);
    }
    const struct model_machine_params *mp = &machine.params;
    struct model_linktest_costs c = {.hop = mp->message.hop_us * 1e6};
    for (int d = 0; d < MODEL_CLASSES; d++) {
        const enum model_class class = (enum model_class)d;
        const struct model_way way = model_network_class_way(&net, class, p->run.message_size, contention);
        const double latency = mp->message.latency_us[d] * 1e6;
        const double line_ps = (double)p->run.message_size * 1e3 / mp->message.line_gbs[d];
        c.transfer[d] = line_ps * (d >= MODEL_SAME_SWITCH ? 1.0 + contention->card : 1.0);
        c.wait[d] = line_ps * contention->link[d];
        const double protocol = way.floor_ps + way.transfer_ps - latency - c.transfer[d];
        c.fixed[d] = latency + protocol;
        if (p->kernel == HPCW_LINKTEST_UNIDIRECTIONAL) {
            /* A stream of messages pays the latency once. The card accepts ten messages in the time of one
             * latency [A]. */
            c.fixed[d] = latency * (0.1 + 0.9 / (double)p->run.messages) + protocol;
        } else if (p->kernel == HPCW_LINKTEST_BIDIRECTIONAL) {
            c.transfer[d] /= p->bidirectional_share;
        }
    }
    c.hop_wait = (double)p->run.message_size * 1e3 / mp->message.line_gbs[MODEL_SAME_SWITCH] * contention->hop;
    if (p->kernel == HPCW_LINKTEST_UNIDIRECTIONAL) {
        c.hop /= (double)p->run.messages;
    }
    return c;
}

/* Returns the share of a bisection test's pairs whose two ranks are both in first .. end - 1: the ranks of a
 * node, switch or group. The share is 0 unless the range has ranks of both halves. */
static double within(uint32_t half, uint64_t first, uint64_t end) {
    if (first >= half || end <= half) {
        return 0;
    }
    return (double)(half - first) * (double)(end - half) / ((double)half * half);
}

/* Traffic pattern of a step: how many ranks send at once, and how many messages leave a switch or group. */
static struct model_pattern pattern_of(const struct model_linktest *model) {
    const struct model_machine *m = model->machine;
    const struct model_linktest_params *p = &model->params;
    if (p->run.serial) {
        return (struct model_pattern){0};
    }
    struct model_pattern pattern = model_network_uniform(model->network);
    if (p->run.bisection) {
        const uint32_t half = m->ranks / 2, ppn = m->params.ppn;
        const uint32_t node = model_machine_node(m, half), w = m->node_switch[node];
        uint32_t group_first = w, group_end = w + 1;
        while (group_first > 0 && m->switch_group[group_first - 1] == m->switch_group[w]) {
            group_first--;
        }
        while (group_end < m->switches && m->switch_group[group_end] == m->switch_group[w]) {
            group_end++;
        }
        const double on_node = within(half, (uint64_t)node * ppn, (uint64_t)(node + 1) * ppn);
        pattern.ranks = (ppn < half ? ppn : half) * (1 - on_node);
        pattern.off_switch =
            1 - within(half, (uint64_t)m->switch_first[w] * ppn, (uint64_t)m->switch_first[w + 1] * ppn);
        pattern.off_group = 1 - within(half, (uint64_t)m->switch_first[group_first] * ppn,
                                       (uint64_t)m->switch_first[group_end] * ppn);
        pattern.groups = pattern.groups / 2 > 1 ? pattern.groups / 2 : pattern.groups;
    }
    /* Without permutations, partners have neighbouring numbers. So the messages of a group go to one or two
     * groups. */
    if (p->run.permutations == 0 && pattern.groups > 2) {
        pattern.groups = 2;
    }
    return pattern;
}

/* Returns the factor of the transfer time between two nodes. Bad ports and a bad cable raise it. */
static inline double slowdown(const struct model_linktest *model, uint32_t from, uint32_t to, double cable) {
    const struct model_machine *m = model->machine;
    double there = m->out_slowdown[from] > m->in_slowdown[to] ? m->out_slowdown[from] : m->in_slowdown[to];
    double back = m->out_slowdown[to] > m->in_slowdown[from] ? m->out_slowdown[to] : m->in_slowdown[from];
    there = there > cable ? there : cable;
    back = back > cable ? back : cable;
    switch ((hpcw_linktest_kernel)model->params.kernel) {
    case HPCW_LINKTEST_UNIDIRECTIONAL:
        return there;
    case HPCW_LINKTEST_BIDIRECTIONAL:
        return there > back ? there : back;
    default:
        return (there + back) * 0.5;
    }
}

static hpcw_status check_longest(const struct model_linktest *model, hpcw_error *err) {
    const struct model_machine_params *mp = &model->machine->params;
    double least = mp->bad.cable_factor;
    for (int i = 0; i < MODEL_BAD_FACTORS; i++) {
        least = least < mp->bad.factor[i] ? least : mp->bad.factor[i];
    }
    uint32_t hops = 0;
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        hops += model->machine->torus[d] / 2;
    }
    /* Upper bound of the congestion. Each of its two parts is the square of z + sqrt(12), and z is at most sqrt(2)
     * times the largest normal draw, sqrt(12): (sqrt(24) + sqrt(12))^2 < 71. */
    const double most = model_network_congestion(model->network, 71, 71);
    const double noise = (model->pair_scale + model->message_scale) * 49;
    double longest = 0;
    for (int d = 0; d < MODEL_CLASSES; d++) {
        double t = model->run.fixed[d] + model->run.hop * hops + model->run.transfer[d] / least +
                   (model->run.wait[d] + model->run.hop_wait * hops) * most;
        longest = t > longest ? t : longest;
    }
    longest = longest * (1 + noise) + model->tail_max_ps / (double)model->params.run.messages;
    if (longest >= MODEL_TIME_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "linktest: expected timings below 2251 s, got parameters that allow %.3g s",
                           longest * 1e-12);
    }
    return HPCW_OK;
}

hpcw_status model_linktest_init(struct model_linktest *model, const struct model_network *network,
                                const struct model_linktest_params *params, hpcw_error *err) {
    const struct model_machine *machine = network->machine;
    memset(model, 0, sizeof *model);
    model->network = network;
    model->machine = machine;
    model->params = *params;
    struct model_linktest_params *p = &model->params;
    if (p->noisy) {
        p->tail_probability = 1e-3;
        p->tail_us = 2000;
    }
    if (p->run.messages < 1) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest.messages: expected at least 1, got 0");
    }
    if (p->tail_us > p->tail_max_us) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.tail: expected at most linktest.tail_max = %g us, got %g us",
                           p->tail_max_us, p->tail_us);
    }
    if (p->run.gpu_memory && machine->params.gpu.count == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.gpu_memory: expected a machine with machine.gpus of at least 1, got 0");
    }

    const struct model_pattern pattern = pattern_of(model);
    const struct model_contention contention = model_network_contention(network, &pattern), alone = {0};
    model->run = costs(model, &contention);
    model->quiet = costs(model, &alone);
    model->steps = p->run.bisection ? machine->ranks / 2 : machine->ranks - 1;

    const double messages = (double)p->run.messages, s_message = p->s_msg / sqrt(messages);
    const double s_pair = machine->params.pair_spread;
    model->pair_scale = s_pair * MODEL_TAIL_SCALE;
    model->message_scale = s_message * MODEL_TAIL_SCALE;
    model->usual_share = (s_pair + s_message) * MODEL_TAIL_MEAN;

    /* Undisturbed time between the most distant ranks, in a window with mean congestion. */
    const enum model_class furthest = machine->groups > 1     ? MODEL_OTHER_GROUP
                                      : machine->switches > 1 ? MODEL_SAME_GROUP
                                      : machine->nodes > 1    ? MODEL_SAME_SWITCH
                                                              : MODEL_SAME_NODE;
    const struct model_linktest_costs *c = &model->run;
    const double wait = c->wait[furthest] + c->hop_wait * pattern.hops;
    model->congested = wait > 0;
    model->step_ps = (c->fixed[furthest] + c->transfer[furthest] + c->hop * pattern.hops +
                      wait * (1 + machine->params.congestion_spread)) *
                     (1 + model->usual_share) * 2 * (messages + (double)p->run.warmup_messages);

    model->tail_threshold = hpcw_i_threshold(p->tail_probability * messages);
    model->tail_ps = p->tail_us * 1e6;
    model->tail_max_ps = p->tail_max_us * 1e6;
    hpcw_status status = check_longest(model, err);
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

/* Time of a message without noise. congestion: factor of the waits for links; 1: no congestion. */
static double undisturbed(const struct model_linktest *model, const struct model_linktest_costs *c,
                          uint32_t rank, uint32_t partner, double congestion) {
    const struct model_machine *m = model->machine;
    enum model_class d = model_machine_class(m, rank, partner);
    if (d < MODEL_SAME_SWITCH) {
        return c->fixed[d] + c->transfer[d];
    }
    uint32_t from = model_machine_node(m, rank), to = model_machine_node(m, partner);
    double cable = 1.0 / model_machine_cable(m, model_machine_switch(m, from), model_machine_switch(m, to));
    double fixed = c->fixed[d], wait = c->wait[d];
    if (m->params.torus) {
        double hops = model_machine_distance(m, from, to);
        fixed += (hops - 1.0) * c->hop;
        wait += hops * c->hop_wait;
    }
    double time = fixed + c->transfer[d] * slowdown(model, from, to, cable);
    return model->congested && c == &model->run ? time + wait * congestion : time;
}

/* Noise as a share of the undisturbed time. */
static double noise(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                    const uint32_t timing_words[4]) {
    uint32_t w[4];
    hpcw_i_draw(model->machine->seed, HPCW_I_FOR_PAIR, rank < partner ? rank : partner,
                rank < partner ? partner : rank, UINT32_MAX, w);
    double pair = hpcw_i_normal(w[0], w[1]) + MODEL_TAIL_SHIFT;
    double message = hpcw_i_normal(timing_words[0], timing_words[1]) + MODEL_TAIL_SHIFT;
    return pair * pair * model->pair_scale + message * message * model->message_scale;
}

static uint32_t window_of(const struct model_linktest *model, uint32_t permutation, uint32_t step) {
    double ps = ((double)permutation * model->steps + step) * model->step_ps;
    return model_network_window(model->network, ps < 0x1p63 ? (uint64_t)ps : UINT64_C(1) << 63);
}

uint64_t model_linktest_one(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                            uint32_t permutation, uint32_t step) {
    double congestion = 1;
    if (model->congested) {
        congestion = model_network_factor(model->network, rank, partner, window_of(model, permutation, step));
    }
    uint32_t w[4];
    hpcw_i_draw(model->machine->seed, HPCW_I_FOR_TIMING, rank, partner, permutation, w);
    double time =
        undisturbed(model, &model->run, rank, partner, congestion) * (1.0 + noise(model, rank, partner, w));
    if (w[2] < model->tail_threshold) {
        time +=
            model_linktest_tail(model->tail_ps, model->tail_max_ps, (double)model->params.run.messages, w[3]);
    }
    return whole_ps(time);
}

uint64_t model_linktest_retest(const struct model_linktest *model, uint32_t rank, uint32_t partner,
                               uint32_t permutation) {
    uint32_t w[4];
    hpcw_i_draw(model->machine->seed, HPCW_I_FOR_RETEST, rank, partner, permutation, w);
    return whole_ps(undisturbed(model, &model->quiet, rank, partner, 1) *
                    (1.0 + noise(model, rank, partner, w)));
}

uint64_t model_linktest_all_to_all(const struct model_linktest *model, uint32_t rank, uint32_t permutation) {
    const struct model_machine *m = model->machine;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_ALLTOALL, rank, permutation, 0, w);
    return whole_ps(hpcw_i_log2(m->ranks) * (m->params.message.latency_us[MODEL_OTHER_GROUP] * 1e6) *
                    (1.0 + model->params.s_all_to_all * model_network_tail(hpcw_i_normal(w[0], w[1]))));
}

double model_linktest_seconds(const struct model_linktest *model, const uint64_t *slowest, double sum_ps,
                              double retests_ps, uint64_t all_to_all_max_ps) {
    const struct model_linktest_params *p = &model->params;
    double ps = retests_ps;
    if (p->run.serial) {
        ps += sum_ps / 2; /* sum_ps has each pair twice, once for each of its ranks */
    } else {
        for (uint32_t s = 0; s < model->steps; s++) {
            ps += (double)slowest[s];
        }
    }
    return (ps * 2 * ((double)p->run.messages + (double)p->run.warmup_messages) + (double)all_to_all_max_ps) *
           1e-12;
}

/* ------------------------------------------------------------------------------------------------------------
 */

struct model_linktest_scratch {
    const struct model_linktest *model;
    /* node, switch and permutation for which the tables are filled; UINT32_MAX: none */
    uint32_t node, node_switch, permutation;
    double *fixed, *wait;            /* [nodes] */
    double *cable;                   /* [switches] slowdown from node_switch to each switch */
    double *own_node;                /* [ppn] */
    uint32_t *cache, *socket;        /* [ppn] core cache and socket of each rank of a node */
    uint16_t *hops;                  /* [nodes] hops to each node of a torus */
    uint32_t *region;                /* [nodes] */
    uint32_t *delayed;               /* [ranks] */
    uint32_t *region_pair, *window;  /* [ranks + MODEL_ROW_PAD] */
    double *congestion, *background; /* [ranks + MODEL_ROW_PAD] */
    struct model_divider to_node;
};

static struct model_divider divider(uint32_t divisor) {
    /* If 2^shift >= 2^30 * divisor, 2^shift / divisor rounded up gives exact quotients for all x < 2^30. */
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
    s->fixed = hpcw_i_calloc(m->nodes, sizeof *s->fixed);
    s->cable = hpcw_i_calloc(m->switches, sizeof *s->cable);
    s->delayed = hpcw_i_calloc(m->ranks, sizeof *s->delayed);
    s->own_node = hpcw_i_calloc(m->params.ppn, sizeof *s->own_node);
    s->cache = hpcw_i_calloc(m->params.ppn, sizeof *s->cache);
    s->socket = hpcw_i_calloc(m->params.ppn, sizeof *s->socket);
    if (s->fixed == NULL || s->delayed == NULL || s->cable == NULL || s->own_node == NULL || s->cache == NULL ||
        s->socket == NULL) {
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
        s->wait = hpcw_i_calloc(m->nodes, sizeof *s->wait);
        s->region = hpcw_i_calloc(m->nodes, sizeof *s->region);
        s->region_pair = hpcw_i_calloc(steps, sizeof *s->region_pair);
        s->window = hpcw_i_calloc(steps, sizeof *s->window);
        s->congestion = hpcw_i_calloc(steps, sizeof *s->congestion);
        s->background = hpcw_i_calloc(steps, sizeof *s->background);
        if (s->wait == NULL || s->region == NULL || s->region_pair == NULL || s->window == NULL ||
            s->congestion == NULL || s->background == NULL) {
            goto no_memory;
        }
        for (uint32_t n = 0; n < m->nodes; n++) {
            s->region[n] = model_network_region(model->network, n);
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
    hpcw_i_free(s->wait);
    hpcw_i_free(s->cable);
    hpcw_i_free(s->own_node);
    hpcw_i_free(s->delayed);
    hpcw_i_free(s->cache);
    hpcw_i_free(s->socket);
    hpcw_i_free(s->hops);
    hpcw_i_free(s->region);
    hpcw_i_free(s->region_pair);
    hpcw_i_free(s->window);
    hpcw_i_free(s->congestion);
    hpcw_i_free(s->background);
    hpcw_i_free(s);
}

/* Fills the tables that depend on the node of the measuring rank, with the same operations as undisturbed(). */
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
    if (m->params.torus) {
        model_machine_hops(m, node, s->hops);
    }
    for (uint32_t w = 0; w < m->switches; w++) {
        const uint32_t first = m->switch_first[w], end = m->switch_first[w + 1];
        const int d = w == own_switch                   ? MODEL_SAME_SWITCH
                      : m->switch_group[w] == own_group ? MODEL_SAME_GROUP
                                                        : MODEL_OTHER_GROUP;
        const double fixed = c->fixed[d], transfer = c->transfer[d], cable = s->cable[w];
        for (uint32_t n = first; n < end; n++) {
            double own = fixed;
            if (m->params.torus) {
                own += (s->hops[n] - 1.0) * c->hop;
            }
            s->fixed[n] = own + transfer * slowdown(model, node, n, cable);
        }
        for (uint32_t n = first; model->congested && n < end; n++) {
            s->wait[n] = m->params.torus ? c->wait[d] + s->hops[n] * c->hop_wait : c->wait[d];
        }
    }
    s->node = node;
}

/* Fills the tables that depend on the steps of a permutation. */
static void look_at(struct model_linktest_scratch *s, uint32_t permutation) {
    const struct model_linktest *model = s->model;
    const size_t steps = (size_t)model->machine->ranks + MODEL_ROW_PAD;
    for (size_t k = 0; k < steps; k++) {
        s->region_pair[k] = MODEL_NO_REGION_PAIR;
        s->window[k] = window_of(model, permutation, (uint32_t)k);
        s->background[k] = k > 0 && s->window[k] == s->window[k - 1]
                               ? s->background[k - 1]
                               : model_network_background(model->network, s->window[k]);
    }
    s->permutation = permutation;
}

/* Returns the median of a few values. Sorts the values. */
static double median(double *value, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double x = value[i];
        uint32_t k = i;
        for (; k > 0 && value[k - 1] > x; k--) {
            value[k] = value[k - 1];
        }
        value[k] = x;
    }
    return count % 2 != 0 ? value[count / 2] : 0.5 * (value[count / 2 - 1] + value[count / 2]);
}

/* Counts a delay that stands out of the neighbouring timings of the rank. See doc/truth.md, "Visibility". */
static void note_delay(const struct model_linktest_row *row, const struct model_linktest *model, uint32_t at,
                       struct model_truth_outliers *o) {
    enum { AROUND = 32, FEW = 8 };
    const struct model_machine *m = model->machine;
    const enum model_class class = model_machine_class(m, row->rank, row->partner[at]);
    const uint32_t first = at > AROUND ? at - AROUND : 0;
    const uint32_t end = row->count - at > AROUND ? at + AROUND + 1 : row->count;
    double value[2 * AROUND];
    uint32_t peers = 0;
    for (uint32_t k = first; k < end; k++) {
        const enum model_class other = model_machine_class(m, row->rank, row->partner[k]);
        if (k != at && (other == class || (other < MODEL_SAME_SWITCH && class < MODEL_SAME_SWITCH))) {
            value[peers++] = hpcw_i_log2((double)row->time_ps[k]);
        }
    }
    uint64_t visibility = 0;
    if (peers >= FEW) {
        const double middle = median(value, peers);
        for (uint32_t k = 0; k < peers; k++) {
            value[k] = fabs(value[k] - middle);
        }
        const double sd = 1.4826 * median(value, peers), above = hpcw_i_log2((double)row->time_ps[at]) - middle;
        if (above < MODEL_VISIBLE * sd || sd <= 0) {
            return;
        }
        visibility = above < 1e6 * sd ? (uint64_t)(above / sd * 1e3 + 0.5) : 1000000000;
    }
    o->count++;
    int place = MODEL_TRUTH_DELAYS;
    while (place > 0 && (o->worst[place - 1].ps == 0 || visibility > o->worst[place - 1].visibility)) {
        place--;
    }
    if (place < MODEL_TRUTH_DELAYS) {
        uint32_t w[4];
        hpcw_i_draw(row->seed, HPCW_I_FOR_TIMING, row->rank, row->partner[at], row->permutation, w);
        memmove(&o->worst[place + 1], &o->worst[place],
                (size_t)(MODEL_TRUTH_DELAYS - 1 - place) * sizeof o->worst[0]);
        o->worst[place] = (struct model_truth_delay){
            .visibility = visibility,
            .ps = (uint64_t)(model_linktest_tail(row->tail_ps, row->tail_max_ps, row->messages, w[3]) + 0.5),
            .step = row->first_step + at,
            .partner = row->partner[at],
            .permutation = row->permutation,
        };
    }
}

void model_linktest_row(const struct model_linktest *model, struct model_linktest_scratch *s, uint32_t rank,
                        uint32_t permutation, uint32_t first_step, uint32_t count, const uint32_t *partner,
                        uint64_t *time_ps, uint64_t *slowest, struct model_truth_outliers *outliers) {
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
        look_at(s, permutation);
    }

    uint32_t delays = 0;
    const struct model_linktest_row row = {
        .partner = partner,
        .time_ps = time_ps,
        .count = count,
        .first_step = first_step,
        .rank = rank,
        .permutation = permutation,
        .seed = m->seed,
        .job_seed = m->job_seed,
        .fixed = s->fixed,
        .wait = s->wait,
        .to_node = s->to_node,
        .own_node = s->own_node,
        .own_first = first,
        .ppn = m->params.ppn,
        .region_pair = s->region_pair,
        .congestion = s->congestion,
        .window = s->window,
        .background = s->background,
        .region = s->region,
        .own_region = model->congested ? s->region[node] : 0,
        .congestion_step = model->network->congestion_step,
        .pair_scale = model->pair_scale,
        .message_scale = model->message_scale,
        .tail_threshold = model->tail_threshold,
        .tail_ps = model->tail_ps,
        .tail_max_ps = model->tail_max_ps,
        .messages = (double)model->params.run.messages,
        .delayed = s->delayed,
        .delays = &delays,
    };
    model->row(&row);
    for (uint32_t i = 0; outliers != NULL && i < delays; i++) {
        note_delay(&row, model, s->delayed[i], outliers);
    }
    for (uint32_t k = 0; slowest != NULL && k < count; k++) {
        slowest[k] = time_ps[k] > slowest[k] ? time_ps[k] : slowest[k];
    }
}
