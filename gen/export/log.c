/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/log.h"

#include <stdlib.h>
#include <string.h>

#include "gen/export/text.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/array.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

enum { KIND_STATE_DEF = 2, KIND_EVENT_DEF = 3, KIND_BARE = 5, KIND_CARGO = 6, KIND_MESSAGE = 7, KIND_COMM = 9 };
enum { SEND = -101, NAME_SIZE = 33, FORMAT_SIZE = 41 };

/* What an event number means. */
struct event_meaning {
    char name[NAME_SIZE], format[FORMAT_SIZE];
    uint64_t role;   /* 0 start, 1 end, 2 solo */
    uint64_t number; /* of the definition: its first event, the same for start and end */
};

/* A state that has begun and not ended. */
struct open_state {
    uint64_t times, since; /* how often it has begun; number of the record of the last beginning */
    int64_t comm;          /* of that */
};

struct gen_log {
    struct read_clog2 *reader;
    struct hpcw_i_table meanings; /* event -> struct event_meaning */
    struct hpcw_i_table members;  /* (communicator, rank) -> rank of the world */
    uint32_t threads;             /* one past the highest */
    uint32_t *present;            /* [presents] ranks of the world that have records, ascending */
    size_t presents, capacity;
    uint64_t cases[READ_CLOG2_RULES]; /* only those that read_clog2_warn needs */
    /* Of a run. */
    const struct gen_export *what;
    gen_log_put *put;
    void *context;
    struct hpcw_i_table states;  /* (rank, thread, number of the definition) -> struct open_state */
    struct hpcw_i_table numbers; /* (from, to, tag, communicators) -> messages sent and received so far */
    uint64_t record;
    bool inside; /* the window has begun */
};

static int32_t get_i32(const unsigned char *p) {
    return (int32_t)hpcw_i_get_u32(p, true);
}

static uint64_t to_ns(double seconds) {
    return seconds <= 0    ? 0
           : seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5)
                           : UINT64_C(1000000000) * 1000000000;
}

/* A text as all forms can quote it: printable ASCII, without quotes and backslashes. name: [size + 1]. */
static void clean_text(char *name, const unsigned char *field, size_t size) {
    size_t n = 0;
    for (; n < size && field[n] != 0; n++) {
        unsigned char c = field[n];
        name[n] = c < 32 || c > 126 || c == '"' || c == '\\' ? '_' : (char)c;
    }
    name[n] = '\0';
}

/* ---- definitions and members: the first pass ---- */

/* What a definition says of one of its events. */
static hpcw_status add_meaning(struct gen_log *x, int32_t event, uint64_t role, uint64_t number,
                               const unsigned char *name, const unsigned char *format, hpcw_error *err) {
    const uint64_t key[] = {(uint32_t)event};
    struct event_meaning *m = hpcw_i_table_add(&x->meanings, key, NULL);
    if (m == NULL) {
        return gen_export_no_memory(err);
    }
    clean_text(m->name, name, NAME_SIZE - 1);
    clean_text(m->format, format, FORMAT_SIZE - 1);
    m->role = role;
    m->number = number;
    return HPCW_OK;
}

/* Several entries of the table may be one communicator: the first of them stands for all. */
static int32_t same_comm(const struct gen_log *x, int32_t comm) {
    uint32_t comms = read_clog2_info(x->reader)->comms;
    if (comm < 0 || (uint32_t)comm >= comms) {
        return comm;
    }
    int32_t first = read_clog2_entry(x->reader, (uint32_t)comm)->index;
    return first < 0 || first > comm ? comm : first;
}

static bool add_present(struct gen_log *x, uint32_t rank) {
    if (x->presents > 0 && x->present[x->presents - 1] == rank) {
        return true;
    }
    uint32_t *grown = hpcw_i_grow(x->present, &x->capacity, x->presents + 1, sizeof *grown);
    if (grown != NULL) {
        x->present = grown;
        x->present[x->presents++] = rank;
    }
    return grown != NULL;
}

static int by_rank(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_present(struct gen_log *x) {
    size_t count = 0;
    if (x->presents > 0) {
        qsort(x->present, x->presents, sizeof *x->present, by_rank);
    }
    for (size_t i = 0; i < x->presents; i++) {
        if (count == 0 || x->present[count - 1] != x->present[i]) {
            x->present[count++] = x->present[i];
        }
    }
    x->presents = count;
}

static hpcw_status add_definition(struct gen_log *x, const struct read_clog2_item *item, hpcw_error *err) {
    const unsigned char *p = item->payload;
    if (item->thread >= 0 && (uint32_t)item->thread >= x->threads) {
        x->threads = (uint32_t)item->thread + 1;
    }
    if (item->kind == KIND_STATE_DEF) {
        uint64_t number = (uint32_t)get_i32(p + 4);
        hpcw_status s = add_meaning(x, get_i32(p + 4), 0, number, p + 40, p + 72, err);
        return s == HPCW_OK ? add_meaning(x, get_i32(p + 8), 1, number, p + 40, p + 72, err) : s;
    }
    if (item->kind == KIND_EVENT_DEF) {
        return add_meaning(x, get_i32(p), 2, (uint32_t)get_i32(p), p + 32, p + 64, err);
    }
    if (item->kind == KIND_COMM && get_i32(p + 12) >= 0 && get_i32(p + 8) >= 0) {
        const uint64_t key[] = {(uint32_t)same_comm(x, get_i32(p + 4)), (uint32_t)get_i32(p + 8)};
        int64_t *world = hpcw_i_table_add(&x->members, key, NULL);
        if (world == NULL) {
            return gen_export_no_memory(err);
        }
        *world = get_i32(p + 12);
        if (!add_present(x, (uint32_t)*world)) {
            return gen_export_no_memory(err);
        }
    }
    return HPCW_OK;
}

/* Rank of the world, or -1. */
static int64_t world_rank(const struct gen_log *x, int32_t comm, int32_t rank) {
    const uint64_t key[] = {(uint32_t)same_comm(x, comm), (uint32_t)rank};
    const int64_t *world = hpcw_i_table_find(&x->members, key);
    return world != NULL ? *world : -1;
}

/* ---- the ends of the window ---- */

struct cut_state {
    uint64_t key[HPCW_I_TABLE_KEY];
    struct open_state state;
};

static int by_since(const void *a, const void *b) {
    uint64_t x = ((const struct cut_state *)a)->state.since;
    uint64_t y = ((const struct cut_state *)b)->state.since;
    return (x > y) - (x < y);
}

/* Begins open states at the beginning of the window, in their order; ends them at its end, in reverse order. */
static hpcw_status cut_states(struct gen_log *x, char letter, double at_s, hpcw_error *err) {
    struct cut_state *cut = hpcw_i_malloc((x->states.count + 1) * sizeof *cut);
    size_t count = 0;
    size_t at = 0;
    const struct open_state *g;
    if (cut == NULL) {
        return gen_export_no_memory(err);
    }
    while ((g = hpcw_i_table_next(&x->states, &at, cut[count].key)) != NULL) {
        if (g->times > 0) {
            cut[count++].state = *g;
        }
    }
    qsort(cut, count, sizeof *cut, by_since);
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const struct cut_state *c = &cut[letter == 'B' ? i : count - 1 - i];
        const uint64_t *k = c->key;
        const uint64_t event[] = {k[2]};
        const struct event_meaning *m = hpcw_i_table_find(&x->meanings, event);
        const struct gen_log_entry e = {.letter = letter,
                                        .ns = to_ns(at_s),
                                        .rank = (int64_t)k[0],
                                        .thread = (int32_t)k[1],
                                        .comm = (int32_t)c->state.comm,
                                        .name = m != NULL ? m->name : "",
                                        .definition = k[2],
                                        .format = ""};
        s = x->put(x->context, &e, err);
    }
    hpcw_i_free(cut);
    return s;
}

/* ---- the second pass ---- */

static hpcw_status take_event(struct gen_log *x, const struct read_clog2_item *item, int64_t rank,
                              hpcw_error *err) {
    const uint64_t event[] = {(uint32_t)get_i32(item->payload)};
    const struct event_meaning *m = hpcw_i_table_find(&x->meanings, event);
    if (m == NULL) {
        return HPCW_OK; /* never defined, so it has no name */
    }
    if (m->role != 2) {
        const uint64_t key[] = {(uint64_t)rank, (uint32_t)item->thread, m->number};
        struct open_state *g = hpcw_i_table_add(&x->states, key, NULL);
        if (g == NULL) {
            return gen_export_no_memory(err);
        }
        if (m->role == 1 && g->times == 0) {
            x->cases[READ_CLOG2_END_ALONE]++;
            return HPCW_OK;
        }
        g->times += m->role == 0 ? 1 : UINT64_MAX;
        g->since = m->role == 0 ? x->record : g->since;
        g->comm = m->role == 0 ? same_comm(x, item->comm) : g->comm;
    }
    const struct gen_log_entry e = {.letter = "BEi"[m->role],
                                    .ns = to_ns(item->time),
                                    .rank = rank,
                                    .thread = item->thread,
                                    .comm = same_comm(x, item->comm),
                                    .name = m->name,
                                    .definition = m->number,
                                    .format = m->format,
                                    .cargo = item->kind == KIND_CARGO ? item->payload + 8 : NULL};
    return x->inside ? x->put(x->context, &e, err) : HPCW_OK;
}

static hpcw_status take_message(struct gen_log *x, const struct read_clog2_item *item, int64_t rank,
                                hpcw_error *err) {
    const unsigned char *p = item->payload;
    bool send = get_i32(p) == SEND;
    int64_t peer = world_rank(x, get_i32(p + 4), get_i32(p + 8));
    if (peer < 0) {
        return HPCW_OK;
    }
    const int32_t comm = same_comm(x, item->comm), peer_comm = same_comm(x, get_i32(p + 4));
    const uint64_t from = (uint64_t)(send ? rank : peer), to = (uint64_t)(send ? peer : rank);
    const uint64_t from_comm = (uint32_t)(send ? comm : peer_comm),
                   to_comm = (uint32_t)(send ? peer_comm : comm);
    const uint64_t key[] = {from << 32 | to, (uint32_t)get_i32(p + 12), from_comm << 32 | to_comm};
    uint64_t *number = hpcw_i_table_add(&x->numbers, key, NULL);
    if (number == NULL) {
        return gen_export_no_memory(err);
    }
    const struct gen_log_entry e = {.letter = send ? 's' : 'f',
                                    .ns = to_ns(item->time),
                                    .rank = rank,
                                    .thread = item->thread,
                                    .comm = comm,
                                    .peer = peer,
                                    .peer_comm = peer_comm,
                                    .peer_in_comm = get_i32(p + 8),
                                    .tag = get_i32(p + 12),
                                    .name = "message",
                                    .bytes = (uint32_t)get_i32(p + 16),
                                    .number = number[send ? 0 : 1]++};
    return x->inside ? x->put(x->context, &e, err) : HPCW_OK;
}

static hpcw_status take(struct gen_log *x, const struct read_clog2_item *item, hpcw_error *err) {
    int64_t rank = world_rank(x, item->comm, item->rank);
    bool event = item->kind == KIND_BARE || item->kind == KIND_CARGO;
    x->record++;
    if (rank < x->what->first_rank || rank > x->what->last_rank || item->thread < 0) {
        return HPCW_OK;
    }
    return event                        ? take_event(x, item, rank, err)
           : item->kind == KIND_MESSAGE ? take_message(x, item, rank, err)
                                        : HPCW_OK;
}

static hpcw_status pass(struct gen_log *x, bool definitions, hpcw_error *err) {
    struct read_clog2_item item;
    bool more = true;
    double last = 0;
    read_clog2_rewind(x->reader);
    hpcw_status s = read_clog2_next(x->reader, &item, &more, err);
    while (s == HPCW_OK && more) {
        if (definitions) {
            x->cases[READ_CLOG2_ORDER] += item.time < last;
            last = item.time;
            s = add_definition(x, &item, err);
        } else {
            if (!x->inside && item.time >= x->what->from_s) {
                x->inside = true;
                s = cut_states(x, 'B', x->what->from_s, err);
            }
            if (item.time >= x->what->to_s) {
                break;
            }
            s = s == HPCW_OK ? take(x, &item, err) : s;
        }
        s = s == HPCW_OK ? read_clog2_next(x->reader, &item, &more, err) : s;
    }
    if (s == HPCW_OK && !definitions && x->inside) {
        s = cut_states(x, 'E', more ? x->what->to_s : item.time, err);
    }
    return s;
}

/* ---- the log ---- */

hpcw_status gen_log_open(const char *path, struct gen_log **out, hpcw_error *err) {
    struct gen_log *x = hpcw_i_calloc(1, sizeof *x);
    *out = NULL;
    if (x == NULL) {
        return gen_export_no_memory(err);
    }
    x->threads = 1;
    x->meanings = (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(struct event_meaning)};
    x->members = (struct hpcw_i_table){.key_words = 2, .value_size = sizeof(int64_t)};
    x->states = (struct hpcw_i_table){.key_words = 3, .value_size = sizeof(struct open_state)};
    x->numbers = (struct hpcw_i_table){.key_words = 3, .value_size = 2 * sizeof(uint64_t)};
    hpcw_status s = read_clog2_open(path, &x->reader, err);
    s = s == HPCW_OK ? pass(x, true, err) : s;
    if (s != HPCW_OK) {
        gen_log_free(x);
        return s;
    }
    sort_present(x);
    *out = x;
    return HPCW_OK;
}

void gen_log_free(struct gen_log *log) {
    if (log != NULL) {
        read_clog2_free(log->reader);
        hpcw_i_free(log->present);
        hpcw_i_table_free(&log->meanings);
        hpcw_i_table_free(&log->members);
        hpcw_i_table_free(&log->states);
        hpcw_i_table_free(&log->numbers);
        hpcw_i_free(log);
    }
}

uint32_t gen_log_ranks(const struct gen_log *log) {
    return read_clog2_info(log->reader)->ranks;
}

uint32_t gen_log_threads(const struct gen_log *log) {
    return log->threads;
}

const uint32_t *gen_log_present(const struct gen_log *log, size_t *count) {
    *count = log->presents;
    return log->present;
}

void gen_log_warn(const struct gen_log *log, hpcw_error *warning) {
    read_clog2_warn(log->reader, log->cases, warning);
}

hpcw_status gen_log_bound_ranks(const struct gen_log *log, hpcw_error *err) {
    return read_clog2_bound_ranks(log->reader, err);
}

bool gen_log_member(const struct gen_log *log, size_t *at, int32_t *comm, uint32_t *rank, uint32_t *world) {
    uint64_t key[HPCW_I_TABLE_KEY];
    const int64_t *value = hpcw_i_table_next(&log->members, at, key);
    if (value != NULL) {
        *comm = (int32_t)key[0];
        *rank = (uint32_t)key[1];
        *world = (uint32_t)*value;
    }
    return value != NULL;
}

hpcw_status gen_log_check(const struct gen_export *what, hpcw_error *err) {
    /* NaN fails, too. */
    return what->from_s < what->to_s && what->first_rank <= what->last_rank
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL,
                             "export: expected a window of time and ranks, got %g to %g s and ranks %u to %u",
                             what->from_s, what->to_s, what->first_rank, what->last_rank);
}

hpcw_status gen_log_run(struct gen_log *log, const struct gen_export *what, gen_log_put *put, void *context,
                        hpcw_error *err) {
    hpcw_status s = gen_log_check(what, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_table_clear(&log->states);
    hpcw_i_table_clear(&log->numbers);
    log->what = what;
    log->put = put;
    log->context = context;
    log->record = 0;
    log->inside = false;
    return pass(log, false, err);
}
