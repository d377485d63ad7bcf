/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/network/network.h"

#include <math.h>

#include "libwriter/base/rng.h"

/* Least number of nodes of a region, a block of a torus whose nodes share their congestion. Regions are larger
 * if there would be more than MODEL_MAX_GROUPS of them. */
enum { TORUS_REGION = 48 };

/* A link's congestion is drawn every MODEL_KNOT_WINDOWS windows and interpolated in between. At the fraction f
 * between two draws, the weights are 1 - f and f, divided by the root of the sum of their squares. So the
 * variance is 1 in all windows. */
const double model_network_knot[2][MODEL_KNOT_WINDOWS] = {
    {1.0, 0.94868329805051380, 0.70710678118654752, 0.31622776601683794},
    {0.0, 0.31622776601683794, 0.70710678118654752, 0.94868329805051380},
};

/* Mean of (z + MODEL_TAIL_SHIFT)^2. */
#define MEAN_SQUARE 13.0

void model_network_init(struct model_network *net, const struct model_machine *machine) {
    const struct model_machine_params *p = &machine->params;
    *net = (struct model_network){
        .machine = machine,
        .window_ps = (uint64_t)(p->window_ms * 1e9 + 0.5),
        .congestion_step = p->congestion_spread / (2 * MEAN_SQUARE),
        .nodes_in_switch = (double)machine->nodes / machine->switches,
        .nodes_in_group = (double)machine->nodes / machine->groups,
    };
}

/* ---- contention ---- */

static double torus_links(const struct model_machine *m) {
    double links = 0;
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        links += m->torus[d] > 2 ? 2 : m->torus[d] - 1;
    }
    return links > 1 ? links : 1;
}

static double torus_hops(const struct model_machine *m) {
    double hops = 0;
    for (int d = 0; d < MODEL_TORUS_DIMS; d++) {
        const uint64_t length = m->torus[d], all = length * length / 4;
        hops += (double)all / (double)length;
    }
    return hops > 1 ? hops : 1;
}

struct model_pattern model_network_uniform(const struct model_network *net) {
    const struct model_machine *m = net->machine;
    const double others = m->ranks > 1 ? m->ranks - 1.0 : 1.0;
    const double ppn = m->params.ppn < m->ranks ? m->params.ppn : m->ranks;
    const double off_node = m->ranks - ppn;
    const double off_switch = m->ranks - (double)m->ranks / m->switches;
    const double off_group = m->ranks - (double)m->ranks / m->groups;
    if (off_node <= 0) {
        return (struct model_pattern){0};
    }
    return (struct model_pattern){
        .ranks = ppn * off_node / others,
        .off_switch = off_switch < off_node ? off_switch / off_node : 1,
        .off_group = off_group < off_node ? off_group / off_node : 1,
        .groups = m->groups - 1.0,
        .hops = torus_hops(m),
    };
}

/* Time lost on links, divided by the time of the transfer. load: traffic divided by what the links can carry. The
 * result is nearly 0 on empty links and `collisions` on full ones. On overloaded links, the time to carry the
 * excess is added. */
static double lost(const struct model_machine_params *p, double load) {
    const double half = 0.5 * (load - 1);
    return half + sqrt(half * half + p->collisions * p->collisions);
}

/* Returns how many messages of other jobs leave a switch or group at the same time. nodes: number of nodes of
 * the switch or group; own: number of this job's nodes there. */
static double of_others(const struct model_machine_params *p, double own, double nodes) {
    return p->busy_share > 0 && nodes > own ? (nodes - own) * p->background * p->nics : 0;
}

static double busy_cards(const struct model_machine_params *p, const struct model_pattern *pattern) {
    return pattern->ranks < p->nics ? pattern->ranks : p->nics;
}

/* Number of links of a switch to the others of its group: one per network card at the switch, unless a
 * parameter sets it. */
static double links_of_switch(const struct model_machine *m) {
    const struct model_machine_params *p = &m->params;
    return p->switch_links > 0 ? p->switch_links : (double)m->nodes_per_switch * p->nics;
}

/* Links of a group to other groups. In a dragonfly, only some links lead to the groups that messages go to.
 * Messages on the other links detour through a third group and use two links, so these links count half. */
static double links_of_group(const struct model_machine *m, const struct model_pattern *pattern) {
    const struct model_machine_params *p = &m->params;
    const double links = p->group_links > 0 ? p->group_links : (double)m->nodes_per_group * p->nics;
    if (!p->detours) {
        return links;
    }
    const double others = m->machine_groups > 1 ? m->machine_groups - 1.0 : 1.0;
    const double direct = links * (pattern->groups < others ? pattern->groups / others : 1.0);
    return direct + (links - direct) * 0.5;
}

struct model_contention model_network_contention(const struct model_network *net,
                                                 const struct model_pattern *pattern) {
    const struct model_machine *m = net->machine;
    const struct model_machine_params *p = &m->params;
    struct model_contention c = {0};
    if (pattern->ranks <= 0) {
        return c;
    }
    const double cards = busy_cards(p, pattern);
    const double quiet = 1.0 / (1.0 + p->congestion_spread);
    c.card = pattern->ranks > p->nics ? pattern->ranks / p->nics - 1 : 0;
    if (p->torus) {
        const double hops = pattern->hops > 1 ? pattern->hops : 1;
        c.hop = lost(p, cards * hops / torus_links(m)) / hops * quiet;
        return c;
    }
    const double off_switch = net->nodes_in_switch * cards * pattern->off_switch +
                              of_others(p, net->nodes_in_switch, m->nodes_per_switch);
    const double in_group = lost(p, off_switch / links_of_switch(m));
    c.link[MODEL_SAME_GROUP] = in_group * quiet;
    if (m->groups == 1) {
        return c;
    }
    const double off_group = net->nodes_in_group * cards * pattern->off_group +
                             of_others(p, net->nodes_in_group, m->nodes_per_group);
    const double between = lost(p, off_group / links_of_group(m, pattern));
    c.link[MODEL_OTHER_GROUP] = (between > in_group ? between : in_group) * quiet;
    return c;
}

/* Returns the factor, at least 1, by which the job's traffic exceeds what its links carry. own: number of the
 * job's nodes at a switch or group; nodes: number of all nodes there; links: links from there to others; cards:
 * network cards of a node that send over these links. */
static double excess(const struct model_machine_params *p, double own, double nodes, double cards,
                     double links) {
    const double left = links - of_others(p, own, nodes);
    const double share = links * own / nodes;
    const double load = own * cards / (left > share ? left : share);
    return load > 1 ? load : 1;
}

void model_network_crowding(const struct model_network *net, const struct model_pattern *pattern,
                            double factor[MODEL_CLASSES]) {
    const struct model_machine *m = net->machine;
    const struct model_machine_params *p = &m->params;
    const double cards = busy_cards(p, pattern);
    for (int c = 0; c < MODEL_CLASSES; c++) {
        factor[c] = 1;
    }
    if (p->torus) {
        const double load = cards * pattern->hops / torus_links(m);
        factor[MODEL_SAME_SWITCH] = load > 1 ? load : 1;
        return;
    }
    factor[MODEL_SAME_GROUP] =
        excess(p, net->nodes_in_switch, m->nodes_per_switch, cards * pattern->off_switch, links_of_switch(m));
    if (m->groups > 1) {
        const double between = excess(p, net->nodes_in_group, m->nodes_per_group, cards * pattern->off_group,
                                      links_of_group(m, pattern));
        factor[MODEL_OTHER_GROUP] = between > factor[MODEL_SAME_GROUP] ? between : factor[MODEL_SAME_GROUP];
    }
}

/* ---- one message ---- */

/* Returns the parts of a message's time. hops: number of links on a torus, otherwise 1. slow: factor of
 * transfer times for a slow port or cable. */
static struct model_way way(const struct model_network *net, enum model_class d, double hops, double slow,
                            uint64_t bytes, const struct model_contention *c) {
    const struct model_machine_params *p = &net->machine->params;
    const bool off_node = d >= MODEL_SAME_SWITCH;
    const double size = (double)bytes;
    const double line_ps = size * 1e3 / p->message.line_gbs[d];
    const bool rendezvous = bytes > (off_node ? p->message.eager_net : p->message.eager_node);
    /* The copies of a small message add to its time. The larger a message is, the more of its copies overlap
     * with the transfer. */
    const double half = (double)(off_node ? p->message.protocol_net : p->message.protocol_node);
    double protocol_us = p->message.protocol_us[d] * (size / (size + half));
    if (rendezvous) {
        protocol_us += p->message.rendezvous_us[d];
    }
    const double share = off_node ? 1.0 + c->card : 1.0;
    const double links = c->link[d] + c->hop * (off_node ? hops : 0.0);
    return (struct model_way){
        .floor_ps = (p->message.latency_us[d] + p->message.hop_us * (hops - 1.0)) * 1e6 + line_ps,
        .transfer_ps = protocol_us * 1e6 + line_ps * (share * slow - 1.0),
        .wait_ps = line_ps * links,
        .rendezvous = rendezvous,
    };
}

struct model_way model_network_class_way(const struct model_network *net, enum model_class distance,
                                         uint64_t bytes, const struct model_contention *contention) {
    return way(net, distance, 1.0, 1.0, bytes, contention);
}

bool model_network_passes(const struct model_network *net, uint32_t from, uint32_t to,
                          const struct model_repair *repair) {
    const struct model_machine *m = net->machine;
    uint32_t a = model_machine_node(m, from), b = model_machine_node(m, to);
    if (repair->what == MODEL_REPAIRS_CABLE) {
        a = model_machine_switch(m, a);
        b = model_machine_switch(m, b);
        return (a == repair->a && b == repair->b) || (a == repair->b && b == repair->a);
    }
    return repair->what == MODEL_REPAIRS_PORT && (a == repair->a || b == repair->a);
}

struct model_way model_network_way(const struct model_network *net, uint32_t from, uint32_t to, uint64_t bytes,
                                   const struct model_contention *contention) {
    static const struct model_repair none = {.what = MODEL_REPAIRS_NOTHING};
    return model_network_repaired_way(net, from, to, bytes, contention, &none);
}

struct model_way model_network_repaired_way(const struct model_network *net, uint32_t from, uint32_t to,
                                            uint64_t bytes, const struct model_contention *contention,
                                            const struct model_repair *repair) {
    const struct model_machine *m = net->machine;
    const enum model_class d = model_machine_class(m, from, to);
    if (d < MODEL_SAME_SWITCH) {
        return way(net, d, 1.0, 1.0, bytes, contention);
    }
    const uint32_t a = model_machine_node(m, from), b = model_machine_node(m, to);
    const double hops = m->params.torus ? model_machine_distance(m, a, b) : 1.0;
    const bool port = repair->what == MODEL_REPAIRS_PORT;
    const bool renewed = repair->what == MODEL_REPAIRS_CABLE && model_network_passes(net, from, to, repair);
    const double out = port && a == repair->a ? 1.0 : m->out_slowdown[a];
    const double in = port && b == repair->a ? 1.0 : m->in_slowdown[b];
    const double cable =
        renewed ? 1.0 : 1.0 / model_machine_cable(m, model_machine_switch(m, a), model_machine_switch(m, b));
    double slow = out > in ? out : in;
    slow = slow > cable ? slow : cable;
    return way(net, d, hops, slow, bytes, contention);
}

/* ---- congestion ---- */

uint32_t model_network_region(const struct model_network *net, uint32_t node) {
    const struct model_machine *m = net->machine;
    if (!m->params.torus) {
        return model_machine_group(m, node);
    }
    uint32_t nodes = m->nodes / MODEL_MAX_GROUPS + 1;
    return node / (nodes > TORUS_REGION ? nodes : TORUS_REGION);
}

static double normal_of(uint64_t seed, enum hpcw_i_purpose purpose, uint32_t a, uint32_t b) {
    uint32_t w[4];
    hpcw_i_draw(seed, purpose, a, b, 0, w);
    return hpcw_i_normal(w[0], w[1]);
}

/* Returns the square of a random process with variance 1, shifted, and interpolated between draws. */
static double square_at(uint64_t seed, enum hpcw_i_purpose purpose, uint32_t link, uint32_t window) {
    const uint32_t knot = window / MODEL_KNOT_WINDOWS, at = window % MODEL_KNOT_WINDOWS;
    double z = model_network_knot[0][at] * normal_of(seed, purpose, knot, link) +
               model_network_knot[1][at] * normal_of(seed, purpose, knot + 1, link);
    double u = z + MODEL_TAIL_SHIFT;
    u = u > 0 ? u : 0;
    return u * u;
}

double model_network_background(const struct model_network *net, uint32_t window) {
    return square_at(net->machine->job_seed, HPCW_I_FOR_BACKGROUND, 0, window / MODEL_BACKGROUND_WINDOWS);
}

static double link_of(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window) {
    const struct model_machine *m = net->machine;
    const uint32_t a = model_network_region(net, model_machine_node(m, from));
    const uint32_t b = model_network_region(net, model_machine_node(m, to));
    return square_at(m->job_seed, HPCW_I_FOR_LINK, (a < b ? a : b) << 16 | (a < b ? b : a), window);
}

double model_network_factor(const struct model_network *net, uint32_t from, uint32_t to, uint32_t window) {
    return model_network_congestion(net, model_network_background(net, window), link_of(net, from, to, window));
}

/* ---- noise ---- */

double model_network_pair(const struct model_network *net, uint32_t from, uint32_t to) {
    uint32_t w[4];
    hpcw_i_draw(net->machine->seed, HPCW_I_FOR_PAIR, from < to ? from : to, from < to ? to : from, UINT32_MAX,
                w);
    return net->machine->params.pair_spread * model_network_tail(hpcw_i_normal(w[0], w[1]));
}
