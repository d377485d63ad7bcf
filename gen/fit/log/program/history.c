/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/log/program/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/clog2_read.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* ROWS: rows read at once. LEAST_RECORD: bytes of the shortest record. */
enum { ROWS = 1024, LEAST_RECORD = 24 };

struct fit_log_reading {
    struct fit_history *h;
    hpcw_clog2_reader *reader;
    const char *path;
    uint64_t most;
    struct meaning {
        bool known, call;
        enum {
            SAYS_NOTHING,
            SAYS_LONG,
            SAYS_INT
        } says; /* whether the cargo has the numbers of bytes sent and received, and their type */
        uint32_t name;
    } * meaning;
    size_t meanings;
};

static hpcw_status no_memory(const struct fit_log_reading *r, hpcw_error *err) {
    return hpcw_i_fail_memory(err, r->path, r->h->calls, "calls");
}

/* ---- communicators ---- */

static uint32_t comm_of(const struct fit_log_reading *r, int32_t index) {
    hpcw_clog2_comm_entry entry;
    const bool known = index > 0 && hpcw_clog2_reader_comm(r->reader, (uint32_t)index, &entry);
    return known && entry.index > 0 && (uint32_t)entry.index < r->h->comms ? (uint32_t)entry.index : 0;
}

static hpcw_status add_made(struct fit_log_reading *r, const hpcw_clog2_record *record, hpcw_error *err) {
    const uint32_t comm = comm_of(r, record->as.comm.comm);
    const uint32_t world = (uint32_t)record->as.comm.world_rank;
    if (record->as.comm.event != HPCW_CLOG2_INTRA_CREATE || comm == 0 || world >= r->h->ranks ||
        record->as.comm.rank < 0) {
        return HPCW_OK;
    }
    struct fit_rank *rank = &r->h->rank[world];
    struct fit_made *made = hpcw_i_grow(rank->made, &rank->made_capacity, rank->mades + 1, sizeof *made);
    if (made == NULL) {
        return no_memory(r, err);
    }
    rank->made = made;
    made[rank->mades++] = (struct fit_made){record->time, comm, (uint32_t)record->as.comm.rank};
    struct fit_comm *c = &r->h->comm[comm];
    c->leader = c->size == 0 || world < c->leader ? world : c->leader;
    c->size++;
    c->members += hpcw_i_table_mix((world + UINT64_C(1)) << 32 | (uint32_t)record->as.comm.rank);
    return HPCW_OK;
}

static hpcw_status read_comms(struct fit_log_reading *r, hpcw_error *err) {
    struct fit_history *h = r->h;
    h->comms = hpcw_clog2_reader_info(r->reader)->comms;
    h->comms = h->comms > 0 ? h->comms : 1;
    h->comm = hpcw_i_calloc(h->comms, sizeof *h->comm);
    if (h->comm == NULL) {
        return no_memory(r, err);
    }
    h->comm[0].size = h->ranks;
    hpcw_clog2_record record;
    hpcw_status s = HPCW_OK;
    for (bool more = true; s == HPCW_OK && more;) {
        s = hpcw_clog2_reader_next(r->reader, &record, &more, err);
        if (s == HPCW_OK && more && record.kind == HPCW_CLOG2_COMM_EVENT) {
            s = add_made(r, &record, err);
        }
    }
    return s;
}

/* ---- calls ---- */

static hpcw_status name_of(struct fit_log_reading *r, const char *text, uint32_t *index, hpcw_error *err) {
    struct fit_history *h = r->h;
    for (*index = 0; *index < h->names && strcmp(h->name[*index], text) != 0; (*index)++) {
    }
    if (*index == h->names) {
        char(*grown)[HPCW_CLOG2_NAME + 1] =
            hpcw_i_grow(h->name, &h->name_capacity, h->names + 1, sizeof *grown);
        if (grown == NULL) {
            return no_memory(r, err);
        }
        h->name = grown;
        (void)memset(h->name[h->names], 0, sizeof *grown);
        (void)strncpy(h->name[h->names++], text, HPCW_CLOG2_NAME);
    }
    return HPCW_OK;
}

/* Adds the name of a state that is no MPI call to h->states. */
static void note_state(struct fit_history *h, const char *name) {
    const size_t size = strlen(h->states);
    if (strcmp(name, "Compute") != 0) {
        (void)snprintf(h->states + size, sizeof h->states - size, "%s%s", size > 0 ? ", " : "", name);
        hpcw_i_shown(h->states);
    }
}

static hpcw_status meaning_of(struct fit_log_reading *r, uint32_t definition, const struct meaning **out,
                              hpcw_error *err) {
    if (definition >= r->meanings || r->meaning == NULL) {
        const size_t count = definition + (size_t)64;
        struct meaning *grown = hpcw_i_realloc(r->meaning, count * sizeof *grown);
        if (grown == NULL) {
            return no_memory(r, err);
        }
        (void)memset(grown + r->meanings, 0, (count - r->meanings) * sizeof *grown);
        r->meaning = grown;
        r->meanings = count;
    }
    struct meaning *m = &r->meaning[definition];
    hpcw_clog2_definition d;
    hpcw_status s = HPCW_OK;
    if (!m->known && hpcw_clog2_reader_definition(r->reader, definition, &d)) {
        m->known = true;
        m->call = strncmp(d.name, "MPI_", 4) == 0;
        m->says = strcmp(d.format, "sent=%l, received=%l") == 0                  ? SAYS_LONG
                  : strcmp(d.format, "send_msg_sz/p=%d, recv_msg_sz/p=%d.") == 0 ? SAYS_INT
                                                                                 : SAYS_NOTHING;
        if (m->call) {
            s = name_of(r, d.name, &m->name, err);
        } else {
            note_state(r->h, d.name);
        }
    }
    *out = m;
    return s;
}

/* Reads a big-endian number of the cargo. */
static uint64_t number_at(const unsigned char *at, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

static hpcw_status add_call(struct fit_log_reading *r, uint32_t world, struct fit_call call, hpcw_error *err) {
    struct fit_rank *rank = &r->h->rank[world];
    /* States are recorded at their end, so states inside this call precede it. */
    while (rank->calls > 0 && rank->call[rank->calls - 1].begin >= call.begin &&
           rank->call[rank->calls - 1].end > call.begin) {
        rank->calls--;
        r->h->calls--;
    }
    struct fit_call *grown = hpcw_i_grow(rank->call, &rank->call_capacity, rank->calls + 1, sizeof *grown);
    if (grown == NULL) {
        return no_memory(r, err);
    }
    rank->call = grown;
    rank->call[rank->calls++] = call;
    r->h->calls++;
    return r->h->calls <= r->most
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected at most %" PRIu64 " calls of MPI to fit, got more",
                             r->path, r->most);
}

static hpcw_status read_calls(struct fit_log_reading *r, hpcw_error *err) {
    static const size_t width[] = {[SAYS_NOTHING] = 0, [SAYS_LONG] = 8, [SAYS_INT] = 4};
    uint32_t definition[ROWS], rank[ROWS];
    int32_t thread[ROWS], comm[ROWS];
    double from[ROWS], to[ROWS];
    unsigned char cargo[ROWS][HPCW_CLOG2_CARGO];
    const hpcw_clog2_states columns = {.definition = definition,
                                       .rank = rank,
                                       .thread = thread,
                                       .comm = comm,
                                       .from = from,
                                       .to = to,
                                       .cargo = cargo[0]};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_select(r->reader, HPCW_CLOG2_TABLE_STATES, NULL, err);
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_states(r->reader, &columns, ROWS, &count, err);
        for (size_t i = 0; s == HPCW_OK && i < count; i++) {
            const struct meaning *m = NULL;
            s = meaning_of(r, definition[i], &m, err);
            if (s == HPCW_OK && m->call && thread[i] != 0) {
                r->h->of_threads++;
            } else if (s == HPCW_OK && m->call && rank[i] < r->h->ranks) {
                const size_t w = width[m->says];
                s = add_call(r, rank[i],
                             (struct fit_call){.begin = from[i],
                                               .end = to[i],
                                               .name = m->name,
                                               .comm = comm_of(r, comm[i]),
                                               .sent = number_at(cargo[i], w),
                                               .received = number_at(cargo[i] + w, w)},
                             err);
            }
        }
    }
    return s;
}

/* ---- messages ---- */

static hpcw_status add_end(struct fit_log_reading *r, uint32_t world, struct fit_end end, hpcw_error *err) {
    struct fit_rank *rank = &r->h->rank[world];
    struct fit_end *grown = hpcw_i_grow(rank->end, &rank->end_capacity, rank->ends + 1, sizeof *grown);
    if (grown == NULL) {
        return no_memory(r, err);
    }
    rank->end = grown;
    grown[rank->ends++] = end;
    return HPCW_OK;
}

static hpcw_status read_messages(struct fit_log_reading *r, hpcw_error *err) {
    uint32_t from[ROWS], to[ROWS];
    int32_t tag[ROWS], size[ROWS];
    double sent[ROWS], received[ROWS];
    const hpcw_clog2_messages columns = {
        .from = from, .to = to, .tag = tag, .size = size, .sent = sent, .received = received};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_select(r->reader, HPCW_CLOG2_TABLE_MESSAGES, NULL, err);
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_messages(r->reader, &columns, ROWS, &count, err);
        for (size_t i = 0; s == HPCW_OK && i < count; i++) {
            const uint32_t bytes = size[i] > 0 ? (uint32_t)size[i] : 0;
            if (from[i] >= r->h->ranks || to[i] >= r->h->ranks) {
                continue;
            }
            r->h->messages++;
            r->h->bytes += bytes;
            s = add_end(r, from[i], (struct fit_end){sent[i], received[i], to[i], bytes, tag[i], true}, err);
            s = s == HPCW_OK
                    ? add_end(r, to[i], (struct fit_end){received[i], sent[i], from[i], bytes, tag[i], false},
                              err)
                    : s;
        }
    }
    return s;
}

static int by_time(const void *a, const void *b) {
    const struct fit_end *x = a, *y = b;
    return x->time != y->time     ? (x->time > y->time) - (x->time < y->time)
           : x->send != y->send   ? (x->send > y->send) - (x->send < y->send)
           : x->other != y->other ? (x->other > y->other) - (x->other < y->other)
           : x->peer != y->peer   ? (x->peer > y->peer) - (x->peer < y->peer)
                                  : (x->tag > y->tag) - (x->tag < y->tag);
}

/* Sorts messages that end in one call by peer. Their order of arrival is chance and would make equal calls
 * differ. */
static int by_peer(const void *a, const void *b) {
    const struct fit_end *x = a, *y = b;
    return x->send != y->send     ? (x->send < y->send) - (x->send > y->send)
           : x->peer != y->peer   ? (x->peer > y->peer) - (x->peer < y->peer)
           : x->other != y->other ? (x->other > y->other) - (x->other < y->other)
                                  : (x->tag > y->tag) - (x->tag < y->tag);
}

/* Assigns each end of a message to the call around it, or else to the call before it. If one call ends when the
 * next one begins, receives go to the first call and sends to the second one. */
static void place_ends(struct fit_rank *rank) {
    size_t e = 0;
    if (rank->ends > 0) {
        qsort(rank->end, rank->ends, sizeof *rank->end, by_time);
    }
    for (size_t c = 0; c < rank->calls; c++) {
        const double next = c + 1 < rank->calls ? rank->call[c + 1].begin : INFINITY;
        rank->call[c].first = (uint32_t)e;
        while (e < rank->ends &&
               (rank->end[e].time < next || (rank->end[e].time == next && !rank->end[e].send))) {
            e++;
        }
        rank->call[c].ends = (uint32_t)e - rank->call[c].first;
        if (rank->call[c].ends > 1) {
            qsort(rank->end + rank->call[c].first, rank->call[c].ends, sizeof *rank->end, by_peer);
        }
    }
}

size_t fit_call_at(const struct fit_rank *rank, double time) {
    size_t low = 0, high = rank->calls;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rank->call[middle].begin <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? SIZE_MAX : low - 1;
}

/* ---- all ---- */

static hpcw_status read_all(struct fit_log_reading *r, hpcw_error *err) {
    struct fit_history *h = r->h;
    const hpcw_clog2_info *info = hpcw_clog2_reader_info(r->reader);
    /* Each rank must have records. Otherwise a small file could ask for much memory. */
    if (info->ranks > info->blocks * info->block_size / LEAST_RECORD) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected records of each rank, got %" PRIu32 " ranks in %" PRIu64 " bytes",
                           r->path, info->ranks, info->blocks * info->block_size);
    }
    h->ranks = info->ranks;
    h->rank = hpcw_i_calloc(h->ranks, sizeof *h->rank);
    if (h->rank == NULL) {
        return hpcw_i_fail_memory(err, r->path, h->ranks, "ranks");
    }
    hpcw_status s = read_comms(r, err);
    s = s == HPCW_OK ? read_calls(r, err) : s;
    s = s == HPCW_OK ? read_messages(r, err) : s;
    if (s == HPCW_OK && h->calls == 0) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected states of MPI's calls, as MPI_Send, got none", r->path);
    }
    h->begin = INFINITY;
    for (uint32_t i = 0; s == HPCW_OK && i < h->ranks; i++) {
        struct fit_rank *rank = &h->rank[i];
        place_ends(rank);
        if (rank->calls > 0) {
            h->begin = fmin(h->begin, rank->call[0].begin);
            h->end = fmax(h->end, rank->call[rank->calls - 1].end);
        }
    }
    return s;
}

hpcw_status fit_history_read(const char *path, uint64_t most, struct fit_history *h, hpcw_error *err) {
    struct fit_log_reading r = {.h = h, .path = path, .most = most};
    *h = (struct fit_history){.path = path};
    hpcw_status s = hpcw_clog2_reader_open(path, &r.reader, err);
    s = s == HPCW_OK ? read_all(&r, err) : s;
    hpcw_clog2_reader_free(r.reader);
    hpcw_i_free(r.meaning);
    return s;
}

void fit_history_free(struct fit_history *h) {
    for (uint32_t i = 0; h->rank != NULL && i < h->ranks; i++) {
        hpcw_i_free(h->rank[i].call);
        hpcw_i_free(h->rank[i].end);
        hpcw_i_free(h->rank[i].made);
    }
    hpcw_i_free(h->rank);
    hpcw_i_free(h->comm);
    hpcw_i_free(h->name);
    *h = (struct fit_history){0};
}
