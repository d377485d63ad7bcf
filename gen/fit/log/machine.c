/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

/* ---- tags ---- */

struct order {
    uint32_t peer;
    double posted, sent;
};

static int by_peer(const void *a, const void *b) {
    const struct order *x = a, *y = b;
    return x->peer != y->peer ? (x->peer > y->peer) - (x->peer < y->peer)
                              : (x->posted > y->posted) - (x->posted < y->posted);
}

/* Tags are needed if some rank posts receives in another order than the messages were sent. Otherwise all tags
 * become 0. */
static bool learn_tags(struct fit_program *p) {
    bool good = true;
    for (uint32_t r = 0; good && r < p->history.ranks && !p->tags; r++) {
        const struct fit_rank *rank = &p->history.rank[r];
        struct order *order = hpcw_i_malloc((rank->ends + 1) * sizeof *order);
        size_t count = 0;
        good = order != NULL;
        for (size_t e = 0; good && e < rank->ends; e++) {
            const double posted = p->steps[r].posted[e];
            if (posted == posted) {
                order[count++] = (struct order){rank->end[e].peer, posted, rank->end[e].other};
            }
        }
        if (count > 0) {
            qsort(order, count, sizeof *order, by_peer);
        }
        for (size_t i = 1; i < count; i++) {
            p->tags = p->tags || (order[i].peer == order[i - 1].peer && order[i].sent < order[i - 1].sent);
        }
        hpcw_i_free(order);
    }
    for (uint32_t r = 0; r < p->history.ranks && !p->tags; r++) {
        for (size_t i = 0; i < p->steps[r].items; i++) {
            p->steps[r].item[i].tag = 0;
        }
    }
    return good;
}

/* ---- the machine ---- */

/* Flight times of the shortest and of the longest messages for which the receiver waited. */
struct flights {
    double *small, *large; /* seconds; for large messages, seconds per byte */
    size_t smalls, larges, small_capacity, large_capacity;
};
enum { SMALL = 1024, LARGE = 65536, SIZES = 32 };

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the first percentile. The fastest value itself may be an artefact of unsynchronised clocks. */
static double fastest_of(double *value, size_t count, double otherwise) {
    if (count == 0) {
        return otherwise;
    }
    qsort(value, count, sizeof *value, by_value);
    return value[count / 100];
}

static bool add_flight(double **list, size_t *count, size_t *capacity, double value) {
    double *grown = hpcw_i_grow(*list, capacity, *count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *list = grown;
    grown[(*count)++] = value;
    return true;
}

static bool learn_machine(struct fit_program *p) {
    const struct fit_history *h = &p->history;
    struct flights f = {0};
    bool good = true;
    /* By log2(bytes): receives that began after the begin of the send, and after the end of the send. */
    uint64_t late[SIZES] = {0};
    uint64_t left[SIZES] = {0};
    uint64_t seen = 0; /* sum of `late` */
    for (uint32_t r = 0; good && r < h->ranks; r++) {
        const struct fit_rank *rank = &h->rank[r];
        for (size_t c = 0; good && c < rank->calls; c++) {
            const struct fit_call *call = &rank->call[c];
            for (uint32_t e = call->first; good && e < call->first + call->ends; e++) {
                const struct fit_end *end = &rank->end[e];
                const double posted = p->steps[r].posted[e];
                if (end->send || posted != posted) {
                    continue;
                }
                if (call->begin < end->other && end->bytes <= SMALL) {
                    good = add_flight(&f.small, &f.smalls, &f.small_capacity, end->time - end->other);
                } else if (call->begin < end->other && end->bytes >= LARGE) {
                    good = add_flight(&f.large, &f.larges, &f.large_capacity,
                                      (end->time - end->other) / end->bytes);
                }
                const struct fit_rank *from = &h->rank[end->peer];
                const size_t sender = fit_call_at(from, end->other);
                if (sender != SIZE_MAX && posted > from->call[sender].begin &&
                    strcmp(h->name[from->call[sender].name], "MPI_Send") == 0) {
                    uint32_t size = 0;
                    while (size + 1 < SIZES && end->bytes >> size > 1) {
                        size++;
                    }
                    late[size]++;
                    seen++;
                    left[size] += from->call[sender].end < posted;
                }
            }
        }
    }
    p->machine.latency = fmax(1e-8, fastest_of(f.small, f.smalls, 3e-7));
    p->machine.rate = 1 / fmax(1e-12, fastest_of(f.large, f.larges, 1e-10));
    /* Senders wait from the smallest size on at which most of them do. A sender that did not wait must not wait
     * in the twin. Otherwise ranks that send to each other would deadlock. Calls that also receive do not show
     * whether they waited for a receiver. */
    p->machine.eager = seen > 0 ? SIM_MOST_BYTES : 0;
    for (uint32_t size = 0; size < SIZES; size++) {
        if (late[size] >= 5 && left[size] * 2 < late[size] && p->machine.eager == SIM_MOST_BYTES) {
            p->machine.eager = (UINT32_C(1) << size) - 1;
        }
    }
    hpcw_i_free(f.small);
    hpcw_i_free(f.large);
    return good;
}

bool fit_machine_learn(struct fit_program *p) {
    return learn_tags(p) && learn_machine(p);
}
