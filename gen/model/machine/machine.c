/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/machine/machine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

static hpcw_status check(const struct model_machine_params *p, uint32_t ranks, hpcw_error *err) {
    if (ranks < 1 || ranks > MODEL_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "machine: ranks: expected 1 to %u, got %u", MODEL_MAX_RANKS,
                           ranks);
    }
    if (p->ppn < 1 || p->ppn > p->cores) {
        return hpcw_i_fail(err, HPCW_EINVAL, "machine.ppn: expected 1 to machine.cores = %u, got %u", p->cores,
                           p->ppn);
    }
    if (p->cores_per_cache < 1 || p->cores_per_socket < 1 || p->cores_per_socket % p->cores_per_cache != 0) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "machine.cores_per_socket: expected a multiple of machine.cores_per_cache = %u, got %u",
            p->cores_per_cache, p->cores_per_socket);
    }
    if (p->nodes_per_switch != 0 && p->nodes_per_group % p->nodes_per_switch != 0) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "machine.nodes_per_group: expected 0 or a multiple of machine.nodes_per_switch = %u, "
            "got %u",
            p->nodes_per_switch, p->nodes_per_group);
    }
    if (p->torus && (p->nodes_per_switch != 0 || p->nodes_per_group != 0)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "machine.torus: expected machine.nodes_per_switch and machine.nodes_per_group 0, got %u "
            "and %u",
            p->nodes_per_switch, p->nodes_per_group);
    }
    if (p->bad_weight[0] + p->bad_weight[1] > 1) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "machine.bad_weight_1 + machine.bad_weight_2: expected at most 1, got %g + %g",
                           p->bad_weight[0], p->bad_weight[1]);
    }
    if (p->heavy.min > p->heavy.max || p->light.min > p->light.max) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "machine.heavy_min and machine.light_min: expected at most their maxima %g and %g, got "
            "%g and %g",
            p->heavy.max, p->light.max, p->heavy.min, p->light.min);
    }
    return HPCW_OK;
}

/* The sides of the torus in units of 2 x 3 x 2 nodes: those given, and the others nearly equal. */
static hpcw_status shape_torus(struct model_machine *m, hpcw_error *err) {
    static const uint32_t unit[3] = {2, 3, 2};
    const struct model_machine_params *p = &m->params;
    uint64_t side[3] = {p->torus_x, p->torus_y, p->torus_z};
    uint64_t units = ((uint64_t)m->nodes + 11) / 12;

    for (int d = 0; d < 3; d++) {
        if (side[d] != 0) {
            continue;
        }
        uint64_t given = 1;
        int open = 0;
        for (int e = 0; e < 3; e++) {
            given *= side[e] != 0 ? side[e] : 1;
            open += side[e] == 0;
        }
        /* The smallest side that holds what is left, if all open dimensions have it. */
        uint64_t left = (units + given - 1) / given, s = 1;
        while ((open == 3 ? s * s * s : open == 2 ? s * s : s) < left) {
            s++;
        }
        side[d] = s;
    }
    if (side[0] * side[1] * side[2] < units) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "machine.torus_x, _y, _z: expected at least %" PRIu64
                           " units of 12 nodes for %u nodes, got "
                           "%" PRIu64 " x %" PRIu64 " x %" PRIu64,
                           units, m->nodes, side[0], side[1], side[2]);
    }
    for (int d = 0; d < 3; d++) {
        m->torus[d] = (uint32_t)side[d];
        m->torus[d + 3] = unit[d];
    }
    return HPCW_OK;
}

hpcw_status model_machine_init(struct model_machine *m, const struct model_machine_params *params,
                               uint32_t ranks, uint64_t seed, hpcw_error *err) {
    memset(m, 0, sizeof *m);
    hpcw_status status = check(params, ranks, err);
    if (status != HPCW_OK) {
        return status;
    }
    m->params = *params;
    m->seed = seed;
    m->ranks = ranks;
    m->nodes = (ranks - 1) / params->ppn + 1;
    m->nodes_per_group = params->nodes_per_group;
    if (m->nodes_per_group == 0 || m->nodes_per_group > m->nodes) {
        m->nodes_per_group = m->nodes;
    }
    m->nodes_per_switch = params->nodes_per_switch;
    if (m->nodes_per_switch == 0 || m->nodes_per_switch > m->nodes_per_group) {
        m->nodes_per_switch = m->nodes_per_group;
    }
    m->switches = (m->nodes - 1) / m->nodes_per_switch + 1;
    m->groups = (m->nodes - 1) / m->nodes_per_group + 1;
    m->machine_groups = m->groups;
    if (params->nodes_per_group > 0 && params->nodes > m->nodes) {
        m->machine_groups = (params->nodes - 1) / params->nodes_per_group + 1;
    }
    if (m->groups > MODEL_MAX_GROUPS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "machine: groups: expected at most %u, got %u (%u ranks)",
                           MODEL_MAX_GROUPS, m->groups, ranks);
    }
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        m->torus[d] = 1;
    }
    if (params->torus) {
        status = shape_torus(m, err);
        if (status != HPCW_OK) {
            return status;
        }
    }

    m->out_slowdown = hpcw_i_calloc(m->nodes, 2 * sizeof *m->out_slowdown);
    if (m->out_slowdown == NULL) {
        return hpcw_i_fail_memory(err, "machine", m->nodes, "nodes");
    }
    m->in_slowdown = m->out_slowdown + m->nodes;
    for (uint32_t n = 0; n < m->nodes; n++) {
        struct model_port port = model_machine_port(m, n);
        m->out_slowdown[n] = port.outgoing ? 1.0 / port.factor : 1.0;
        m->in_slowdown[n] = port.outgoing ? 1.0 : 1.0 / port.factor;
    }
    return HPCW_OK;
}

void model_machine_free(struct model_machine *m) {
    hpcw_i_free(m->out_slowdown);
    m->out_slowdown = NULL;
    m->in_slowdown = NULL;
}

uint32_t model_machine_core(const struct model_machine *m, uint32_t rank) {
    uint64_t local = rank % m->params.ppn;
    return (uint32_t)(local * m->params.cores / m->params.ppn);
}

enum model_class model_machine_class(const struct model_machine *m, uint32_t rank_a, uint32_t rank_b) {
    uint32_t a = model_machine_node(m, rank_a), b = model_machine_node(m, rank_b);
    if (a == b) {
        uint32_t core_a = model_machine_core(m, rank_a), core_b = model_machine_core(m, rank_b);
        const struct model_machine_params *p = &m->params;
        if (core_a / p->cores_per_cache == core_b / p->cores_per_cache) {
            return MODEL_SAME_CACHE;
        }
        return core_a / p->cores_per_socket == core_b / p->cores_per_socket ? MODEL_SAME_SOCKET
                                                                            : MODEL_SAME_NODE;
    }
    if (model_machine_switch(m, a) == model_machine_switch(m, b)) {
        return MODEL_SAME_SWITCH;
    }
    return model_machine_group(m, a) == model_machine_group(m, b) ? MODEL_SAME_GROUP : MODEL_OTHER_GROUP;
}

static uint32_t ring_distance(uint32_t a, uint32_t b, uint32_t length) {
    uint32_t straight = a > b ? a - b : b - a, around = length - straight;
    return straight < around ? straight : around;
}

uint32_t model_machine_distance(const struct model_machine *m, uint32_t node_a, uint32_t node_b) {
    uint32_t hops = 0;
    for (int d = MODEL_TORUS_DIMS - 1; d >= 0; d--) {
        hops += ring_distance(node_a % m->torus[d], node_b % m->torus[d], m->torus[d]);
        node_a /= m->torus[d];
        node_b /= m->torus[d];
    }
    return hops;
}

void model_machine_hops(const struct model_machine *m, uint32_t node, uint16_t *hops) {
    uint32_t home[MODEL_TORUS_DIMS], at[MODEL_TORUS_DIMS] = {0};
    uint32_t rest = node;
    for (int d = MODEL_TORUS_DIMS - 1; d >= 0; d--) {
        home[d] = rest % m->torus[d];
        rest /= m->torus[d];
    }
    /* away[d]: hops in dimensions 0 .. d-1 */
    uint32_t away[MODEL_TORUS_DIMS + 1] = {0};
    int changed = 0;
    for (uint32_t n = 0; n < m->nodes; n++) {
        for (int d = changed; d < MODEL_TORUS_DIMS; d++) {
            away[d + 1] = away[d] + ring_distance(at[d], home[d], m->torus[d]);
        }
        hops[n] = (uint16_t)away[MODEL_TORUS_DIMS];
        changed = MODEL_TORUS_DIMS - 1;
        while (++at[changed] == m->torus[changed] && changed > 0) {
            at[changed--] = 0;
        }
    }
}

void model_machine_host(const struct model_machine *m, uint32_t node, char name[MODEL_HOST_SIZE]) {
    assert(node < m->nodes);
    switch ((enum model_hosts)m->params.hosts) {
    case MODEL_HOSTS_JWB:
        (void)snprintf(name, MODEL_HOST_SIZE, "jwb%04u.juwels", node + 1);
        break;
    case MODEL_HOSTS_NID:
        (void)snprintf(name, MODEL_HOST_SIZE, "nid%06u", node + 5000);
        break;
    case MODEL_HOSTS_FRONTIER:
        (void)snprintf(name, MODEL_HOST_SIZE, "frontier%05u", node + 1);
        break;
    case MODEL_HOSTS_NODE:
        (void)snprintf(name, MODEL_HOST_SIZE, "node%05u", node + 1);
        break;
    }
}

struct model_port model_machine_port(const struct model_machine *m, uint32_t node) {
    const struct model_machine_params *p = &m->params;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_PORT, node, 0, 0, w);
    if (w[0] >= hpcw_i_threshold(p->bad_node_share)) {
        return (struct model_port){.factor = 1};
    }
    int kind = w[2] < hpcw_i_threshold(p->bad_weight[0])                      ? 0
               : w[2] < hpcw_i_threshold(p->bad_weight[0] + p->bad_weight[1]) ? 1
                                                                              : 2;
    return (struct model_port){.factor = p->bad_factor[kind], .outgoing = (w[1] >> 31) != 0};
}

double model_machine_cable(const struct model_machine *m, uint32_t switch_a, uint32_t switch_b) {
    if (switch_a == switch_b) {
        return 1;
    }
    uint32_t low = switch_a < switch_b ? switch_a : switch_b, high = switch_a ^ switch_b ^ low, w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_CABLE, low, high, 0, w);
    return w[0] < hpcw_i_threshold(m->params.bad_cable_share) ? m->params.bad_cable_factor : 1;
}

double model_machine_slowness(const struct model_machine *m, uint32_t node) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_SLOW_NODE, node, 0, 0, w);
    return w[0] < hpcw_i_threshold(m->params.slow_node_share) ? m->params.slow_node_factor : 1;
}

struct model_message_cost model_machine_cost(const struct model_machine *m, enum model_class distance,
                                             uint64_t bytes) {
    const struct model_machine_params *p = &m->params;
    uint64_t eager = distance >= MODEL_SAME_SWITCH ? p->eager_net : p->eager_node;
    bool large = bytes > eager;
    double latency_us = p->latency_us[distance] + (large ? p->rendezvous_us[distance] : 0.0);
    double gbs = large ? p->large_gbs[distance] : p->small_gbs[distance];
    return (struct model_message_cost){.fixed_ps = latency_us * 1e6, .transfer_ps = (double)bytes * 1e3 / gbs};
}
