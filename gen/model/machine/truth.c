/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/machine/truth.h"

static void ranks_of(const struct model_machine *m, uint32_t first, uint32_t nodes, uint32_t *first_rank,
                     uint32_t *ranks) {
    uint64_t start = (uint64_t)first * m->params.ppn, end = start + (uint64_t)nodes * m->params.ppn;
    *first_rank = (uint32_t)start;
    *ranks = (uint32_t)((end < m->ranks ? end : m->ranks) - start);
}

/* Fills *found for the node *node, then advances *node. Returns whether the node has a fault: factor != 1. */
static bool lists(const struct model_machine *m, uint32_t *node, double factor, bool outgoing,
                  struct model_truth_node *found) {
    *found = (struct model_truth_node){.node = *node, .outgoing = outgoing, .factor = factor};
    ranks_of(m, *node, 1, &found->first_rank, &found->ranks);
    ++*node;
    return factor != 1;
}

bool model_truth_next_port(const struct model_machine *m, uint32_t *node, struct model_truth_node *found) {
    while (*node < m->nodes) {
        struct model_port health = model_machine_port(m, *node);
        if (lists(m, node, health.factor, health.outgoing, found)) {
            return true;
        }
    }
    return false;
}

bool model_truth_next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *found) {
    while (*node < m->nodes) {
        if (lists(m, node, model_machine_slowness(m, *node), false, found)) {
            return true;
        }
    }
    return false;
}

bool model_truth_next_cable(const struct model_machine *m, uint32_t *a, uint32_t *b,
                            struct model_truth_cable *cable) {
    for (; *a < m->switches; ++*a, *b = 0) {
        if (*b <= *a) {
            *b = *a + 1;
        }
        for (; *b < m->switches; ++*b) {
            double factor = model_machine_cable(m, *a, *b);
            if (factor < 1) {
                cable->switch_a = *a;
                cable->switch_b = *b;
                cable->factor = factor;
                ranks_of(m, m->switch_first[*a], m->switch_first[*a + 1] - m->switch_first[*a],
                         &cable->first_rank_a, &cable->ranks_a);
                ranks_of(m, m->switch_first[*b], m->switch_first[*b + 1] - m->switch_first[*b],
                         &cable->first_rank_b, &cable->ranks_b);
                ++*b;
                return true;
            }
        }
    }
    return false;
}
