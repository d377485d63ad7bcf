/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of the ranks, according to the metadata (doc/formats/vom.md, "Metadata"). */
#include <inttypes.h>

#include "libreader/vom/rules/judge.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status read_vom_hosts_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err) {
    if (!m->has_shared_node) {
        return HPCW_OK;
    }
    if (m->shared_node.id >= m->shared_node.num_nodes) {
        return read_vom_wrong(j->reader, err,
                              "shared_node.id: expected a number below num_nodes %" PRIu32 ", got %" PRIu32,
                              m->shared_node.num_nodes, m->shared_node.id);
    }
    if (m->shared_node.rank >= m->shared_node.size) {
        return read_vom_wrong(j->reader, err,
                              "shared_node.rank: expected a number below size %" PRIu32 ", got %" PRIu32,
                              m->shared_node.size, m->shared_node.rank);
    }
    if (!j->whole) {
        return HPCW_OK;
    }
    /* Files of an earlier run with more ranks often have another number. */
    if (j->num_nodes == 0) {
        j->num_nodes = m->shared_node.num_nodes;
    }
    if (j->num_nodes != m->shared_node.num_nodes) {
        return read_vom_wrong(j->reader, err,
                              "shared_node.num_nodes: expected %" PRIu32 " as in a rank before, got %" PRIu32,
                              j->num_nodes, m->shared_node.num_nodes);
    }
    j->seat[j->rank] = (struct read_vom_seat){.node = (uint16_t)m->shared_node.id,
                                              .rank = (uint16_t)m->shared_node.rank,
                                              .size = (uint16_t)m->shared_node.size};
    return HPCW_OK;
}

/* Checks that hosts are complete and numbered in the order of their lowest rank, and that the ranks on each host
 * ascend: doc/formats/vom.md#vom-13. */
hpcw_status read_vom_hosts_end(const struct read_vom_judge *j, const char *name, hpcw_error *err) {
    if (!j->whole || !j->strict) {
        return HPCW_OK;
    }
    struct host {
        /* size: ranks by the metadata; seen: ranks so far; last element: ranks with too large a host number */
        uint32_t size, seen;
    } *host = hpcw_i_calloc((size_t)j->num_nodes + 1, sizeof *host);
    hpcw_status status = HPCW_OK;
    if (host == NULL) {
        return hpcw_i_fail_memory(err, name, j->num_nodes, "hosts");
    }
    uint32_t hosts = 0;
    for (uint32_t r = 0; r < j->ranks && status == HPCW_OK; r++) {
        const struct read_vom_seat *s = &j->seat[r];
        struct host *h = &host[s->node < j->num_nodes ? s->node : j->num_nodes];
        const struct {
            bool good;
            const char *field;
            uint32_t expected, got;
        } rules[] = {
            {s->node < j->num_nodes && s->node <= hosts, "id (numbered in the order of the lowest rank)", hosts,
             s->node},
            {h->seen == 0 || h->size == s->size, "size", h->size, s->size},
            {h->seen == s->rank, "rank", h->seen, s->rank},
        };
        for (size_t i = 0; i < sizeof rules / sizeof rules[0] && status == HPCW_OK; i++) {
            if (!rules[i].good) {
                status = hpcw_i_fail(err, HPCW_EFORMAT,
                                     "%s: metadata.shared_node.%s of rank %" PRIu32 ": expected %" PRIu32
                                     ", got %" PRIu32,
                                     name, rules[i].field, r, rules[i].expected, rules[i].got);
            }
        }
        hosts += h->seen == 0;
        h->size = s->size;
        h->seen++;
    }
    for (uint32_t n = 0; n < j->num_nodes && status == HPCW_OK; n++) {
        if (host[n].seen != host[n].size || host[n].seen == 0) {
            status = hpcw_i_fail(err, HPCW_EFORMAT,
                                 "%s: metadata.shared_node: expected %" PRIu32 " ranks on host %" PRIu32
                                 " by its size, got %" PRIu32,
                                 name, host[n].size, n, host[n].seen);
        }
    }
    hpcw_i_free(host);
    return status;
}
