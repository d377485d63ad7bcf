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
    if (p->bad.weight[0] + p->bad.weight[1] > 1) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "machine.bad_weight_1 + machine.bad_weight_2: expected at most 1, got %g + %g",
                           p->bad.weight[0], p->bad.weight[1]);
    }
    return HPCW_OK;
}

/* Sets the sides of the torus in units of 2 x 3 x 2 nodes. Sides that are not given become nearly equal. */
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
        /* Finds the smallest length s such that all units fit if each side that is not set has the length s. */
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

/* Enlarges a machine that is too small for the job: to the job plus a quarter, rounded up to whole groups. */
static void size_machine(struct model_machine *m) {
    const struct model_machine_params *p = &m->params;
    uint64_t nodes = p->nodes;
    if (m->nodes > nodes) {
        const uint64_t unit = p->nodes_per_group > 0 ? p->nodes_per_group : 12;
        nodes = ((uint64_t)m->nodes + m->nodes / 4 + unit - 1) / unit * unit;
    }
    m->machine_nodes = (uint32_t)nodes;
    m->nodes_per_group = p->nodes_per_group;
    if (m->nodes_per_group == 0 || m->nodes_per_group > nodes) {
        m->nodes_per_group = m->machine_nodes;
    }
    m->nodes_per_switch = p->nodes_per_switch;
    if (m->nodes_per_switch == 0 || m->nodes_per_switch > m->nodes_per_group) {
        m->nodes_per_switch = m->nodes_per_group;
    }
    m->machine_groups = (m->machine_nodes - 1) / m->nodes_per_group + 1;
}

/* Returns whether a node is not available, because of other jobs or of repairs. Such nodes are single or in
 * runs of neighbours. */
static bool is_busy(const struct model_machine *m, uint32_t place) {
    enum { BLOCK = 16 };
    uint32_t w[4];
    hpcw_i_draw(m->job_seed, HPCW_I_FOR_ALLOCATION, place / BLOCK, 1, 0, w);
    if (w[0] < hpcw_i_threshold(2 * m->params.busy_share)) {
        const uint32_t first = w[1] % BLOCK, length = 1 + w[2] % BLOCK, at = place % BLOCK;
        if (at >= first && at < first + length) {
            return true;
        }
    }
    hpcw_i_draw(m->job_seed, HPCW_I_FOR_ALLOCATION, place, 2, 0, w);
    return w[0] < hpcw_i_threshold(m->params.busy_share / 8);
}

/* Chooses the job's nodes: free ones in ascending order. The first is drawn from the first half of the spare
 * nodes. On a torus the job gets a box of its own without gaps. */
static void allocate(struct model_machine *m) {
    uint32_t spare = m->machine_nodes - m->nodes, place = 0;
    if (m->params.busy_share > 0) {
        place = (uint32_t)hpcw_i_below(spare / 2 + UINT64_C(1), m->job_seed, HPCW_I_FOR_ALLOCATION, 0, 0);
        place -= m->params.torus ? place % 12 : 0;
        spare -= place;
    }
    for (uint32_t n = 0; n < m->nodes; n++, place++) {
        while (spare > 0 && m->params.busy_share > 0 && !m->params.torus && is_busy(m, place)) {
            place++;
            spare--;
        }
        m->place[n] = place;
    }
}

/* Lists the switches and groups of the job's nodes. */
static hpcw_status list_switches(struct model_machine *m, hpcw_error *err) {
    m->switches = 0;
    for (uint32_t n = 0; n < m->nodes; n++) {
        m->switches += n == 0 || m->place[n] / m->nodes_per_switch != m->place[n - 1] / m->nodes_per_switch;
        m->node_switch[n] = m->switches - 1;
    }
    m->switch_first = hpcw_i_calloc((size_t)m->switches + 1, 2 * sizeof *m->switch_first);
    if (m->switch_first == NULL) {
        return hpcw_i_fail_memory(err, "machine", m->switches, "switches");
    }
    m->switch_group = m->switch_first + m->switches + 1;
    m->groups = 0;
    for (uint32_t n = 0; n < m->nodes; n++) {
        const uint32_t w = m->node_switch[n];
        if (n == 0 || w != m->node_switch[n - 1]) {
            m->groups += n == 0 || m->place[n] / m->nodes_per_group != m->place[n - 1] / m->nodes_per_group;
            m->switch_first[w] = n;
            m->switch_group[w] = m->groups - 1;
        }
    }
    m->switch_first[m->switches] = m->nodes;
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
    m->job_seed = hpcw_i_numbered_seed(params->job, seed);
    m->ranks = ranks;
    m->nodes = (ranks - 1) / params->ppn + 1;
    size_machine(m);
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        m->torus[d] = 1;
    }
    if (params->torus) {
        status = shape_torus(m, err);
        if (status != HPCW_OK) {
            return status;
        }
    }

    m->out_slowdown = hpcw_i_calloc(m->nodes, 2 * sizeof *m->out_slowdown + 2 * sizeof *m->place);
    if (m->out_slowdown == NULL) {
        return hpcw_i_fail_memory(err, "machine", m->nodes, "nodes");
    }
    m->in_slowdown = m->out_slowdown + m->nodes;
    m->place = (uint32_t *)(m->in_slowdown + m->nodes);
    m->node_switch = m->place + m->nodes;
    allocate(m);
    status = list_switches(m, err);
    if (status == HPCW_OK && m->groups > MODEL_MAX_GROUPS) {
        status = hpcw_i_fail(err, HPCW_ERANGE, "machine: groups: expected at most %u, got %u (%u ranks)",
                             MODEL_MAX_GROUPS, m->groups, ranks);
    }
    if (status != HPCW_OK) {
        model_machine_free(m);
        return status;
    }
    for (uint32_t n = 0; n < m->nodes; n++) {
        struct model_port port = model_machine_port(m, n);
        m->out_slowdown[n] = port.outgoing ? 1.0 / port.factor : 1.0;
        m->in_slowdown[n] = port.outgoing ? 1.0 : 1.0 / port.factor;
    }
    return HPCW_OK;
}

void model_machine_free(struct model_machine *m) {
    hpcw_i_free(m->out_slowdown);
    hpcw_i_free(m->switch_first);
    m->out_slowdown = m->in_slowdown = NULL;
    m->place = m->node_switch = m->switch_first = m->switch_group = NULL;
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
    /* away[d]: number of hops between `home` and `at` in the dimensions 0 .. d - 1 */
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
    static const struct {
        uint32_t nodes, first;
        int digits;
        const char *before, *after;
    } hosts[] = {
        [MODEL_HOSTS_JWB] = {936, 1, 4, "jwb", ".juwels"},
        [MODEL_HOSTS_NID] = {2978, 5000, 6, "nid", ""},
        [MODEL_HOSTS_FRONTIER] = {9408, 1, 5, "frontier", ""},
        [MODEL_HOSTS_NODE] = {UINT32_MAX, 1, 5, "node", ""},
    };
    assert(node < m->nodes);
    const int kind = m->machine_nodes <= hosts[m->params.hosts].nodes ? m->params.hosts : MODEL_HOSTS_NODE;
    (void)snprintf(name, MODEL_HOST_SIZE, "%s%0*u%s", hosts[kind].before, hosts[kind].digits,
                   m->place[node] + hosts[kind].first, hosts[kind].after);
}

struct model_port model_machine_port(const struct model_machine *m, uint32_t node) {
    const struct model_machine_params *p = &m->params;
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_PORT, m->place[node], 0, 0, w);
    if (w[0] >= hpcw_i_threshold(p->bad.node_share)) {
        return (struct model_port){.factor = 1};
    }
    int kind = w[2] < hpcw_i_threshold(p->bad.weight[0])                      ? 0
               : w[2] < hpcw_i_threshold(p->bad.weight[0] + p->bad.weight[1]) ? 1
                                                                              : 2;
    return (struct model_port){.factor = p->bad.factor[kind], .outgoing = (w[1] >> 31) != 0};
}

double model_machine_cable(const struct model_machine *m, uint32_t switch_a, uint32_t switch_b) {
    if (switch_a == switch_b) {
        return 1;
    }
    const uint32_t a = m->place[m->switch_first[switch_a]] / m->nodes_per_switch;
    const uint32_t b = m->place[m->switch_first[switch_b]] / m->nodes_per_switch;
    uint32_t low = a < b ? a : b, high = a ^ b ^ low, w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_CABLE, low, high, 0, w);
    return w[0] < hpcw_i_threshold(m->params.bad.cable_share) ? m->params.bad.cable_factor : 1;
}

double model_machine_slowness(const struct model_machine *m, uint32_t node) {
    uint32_t w[4];
    hpcw_i_draw(m->seed, HPCW_I_FOR_SLOW_NODE, m->place[node], 0, 0, w);
    const double severity = 0.75 + 0.5 * hpcw_i_uniform(w[1]);
    return w[0] < hpcw_i_threshold(m->params.slow_node_share) ? 1 + severity * (m->params.slow_node_factor - 1)
                                                              : 1;
}
