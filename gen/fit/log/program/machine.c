/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/machine.h"

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

/* Decides whether tags are needed: they are if some rank posts receives in another order than the messages were
 * sent. Otherwise sets all tags to 0. */
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

/* Kinds of flight times. The flight of a message takes from the begin of its send to the end of its receive. */
enum flight {
    FLIGHT_ANY,   /* all messages, seconds: upper bounds of the latency */
    FLIGHT_LARGE, /* calls that receive long messages, seconds per byte: upper bounds of the time of a byte */
    FLIGHTS
};
struct flights {
    double *value;
    size_t count, capacity;
};
enum { LARGE = 65536, SIZES = 32 };

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the first percentile of flight times. The fastest one itself may be an artefact of unsynchronised
 * clocks. */
static double fastest_of(struct flights *f, double otherwise) {
    if (f->count == 0) {
        return otherwise;
    }
    qsort(f->value, f->count, sizeof *f->value, by_value);
    return f->value[f->count / 100];
}

static bool add_flight(struct flights *f, double value) {
    double *grown = hpcw_i_grow(f->value, &f->capacity, f->count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    f->value = grown;
    grown[f->count++] = value;
    return true;
}

/* Long messages whose receives end in one call. They may share the time from the first send to the end of the
 * call. */
struct batch {
    double first, last, bytes; /* first: begin of the first send. last: end of the last receive. Seconds */
    double of_byte;            /* least time of a byte of a single message, seconds */
};

static void add_to_batch(struct batch *b, const struct fit_end *end) {
    b->first = fmin(b->first, end->other);
    b->last = fmax(b->last, end->time);
    b->bytes += end->bytes;
    b->of_byte = fmin(b->of_byte, (end->time - end->other) / end->bytes);
}

/* Returns the time, in seconds, after which a call waits only for the receiver of its message. For MPI_Send this is
 * the begin of the call. MPI_Sendrecv also waits until its partner has sent. INFINITY: another call. */
static double waits_from(const struct fit_history *h, const struct fit_rank *rank,
                         const struct fit_call *call) {
    const bool both = strcmp(h->name[call->name], "MPI_Sendrecv") == 0;
    double from = both || strcmp(h->name[call->name], "MPI_Send") == 0 ? call->begin : INFINITY;
    for (uint32_t e = call->first; both && e < call->first + call->ends; e++) {
        from = rank->end[e].send ? from : fmax(from, rank->end[e].other);
    }
    return from;
}

/* Learns latency and rate. */
static bool learn_times(struct fit_program *p) {
    const struct fit_history *h = &p->history;
    struct flights f[FLIGHTS] = {{0}};
    bool good = true;
    for (uint32_t r = 0; good && r < h->ranks; r++) {
        const struct fit_rank *rank = &h->rank[r];
        for (size_t c = 0; good && c < rank->calls; c++) {
            const struct fit_call *call = &rank->call[c];
            struct batch batch = {.first = INFINITY, .of_byte = INFINITY};
            for (uint32_t e = call->first; good && e < call->first + call->ends; e++) {
                const struct fit_end *end = &rank->end[e];
                const double posted = p->steps[r].posted[e];
                if (end->send || posted != posted) {
                    continue;
                }
                good = add_flight(&f[FLIGHT_ANY], end->time - end->other);
                if (end->bytes >= LARGE) {
                    add_to_batch(&batch, end);
                }
            }
            if (batch.bytes > 0) {
                good = good && add_flight(&f[FLIGHT_LARGE],
                                          fmin(batch.of_byte, (batch.last - batch.first) / batch.bytes));
            }
        }
    }
    p->machine.latency = fmax(1e-8, fastest_of(&f[FLIGHT_ANY], 3e-7));
    p->machine.rate = 1 / fmax(1e-12, fastest_of(&f[FLIGHT_LARGE], 1e-10));
    for (size_t i = 0; i < FLIGHTS; i++) {
        hpcw_i_free(f[i].value);
    }
    return good;
}

/* Receives that were posted after the begin of their send, by log2(bytes). */
struct late {
    uint64_t all[SIZES];  /* receives whose send had already ended, or ended as late as if it waited for them */
    uint64_t left[SIZES]; /* number of those whose send had already ended */
    uint64_t seen;        /* sum of `all` */
};

static void take_late(const struct fit_program *p, const struct fit_end *end, double posted,
                      struct late *late) {
    const struct fit_rank *from = &p->history.rank[end->peer];
    const size_t c = fit_call_at(from, end->other);
    if (c == SIZE_MAX || posted <= waits_from(&p->history, from, &from->call[c])) {
        return;
    }
    const bool left = from->call[c].end < posted;
    /* A send that ends soon after the receive was posted did not wait for it: its message was still under way. */
    if (!left && from->call[c].end < posted + p->machine.latency) {
        return;
    }
    uint32_t size = 0;
    while (size + 1 < SIZES && end->bytes >> size > 1) {
        size++;
    }
    late->all[size]++;
    late->left[size] += left;
    late->seen++;
}

/* Learns from which size on senders wait for the receive. */
static void learn_eager(struct fit_program *p) {
    const struct fit_history *h = &p->history;
    struct late late = {.seen = 0};
    for (uint32_t r = 0; r < h->ranks; r++) {
        const struct fit_rank *rank = &h->rank[r];
        for (size_t e = 0; e < rank->ends; e++) {
            const double posted = p->steps[r].posted[e];
            if (!rank->end[e].send && posted == posted) {
                take_late(p, &rank->end[e], posted, &late);
            }
        }
    }
    /* Messages are eager below the smallest size at which most senders wait for the receive. If a sender waited
     * only in the simulated run and not in the log, ranks that send to each other would deadlock. */
    p->machine.eager = late.seen > 0 ? SIM_MOST_BYTES : 0;
    for (uint32_t size = 0; size < SIZES; size++) {
        if (late.all[size] >= 5 && late.left[size] * 2 < late.all[size] && p->machine.eager == SIM_MOST_BYTES) {
            p->machine.eager = (UINT32_C(1) << size) - 1;
        }
    }
}

bool fit_machine_learn(struct fit_program *p) {
    const bool good = learn_tags(p) && learn_times(p);
    if (good) {
        learn_eager(p);
    }
    return good;
}
