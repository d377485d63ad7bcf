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

enum { KIND_COMM = 9 };
enum { NAME_SIZE = 33, FORMAT_SIZE = 41 };

/* Name and format of a definition, cleaned by gen_export_clean. */
struct clean_definition {
    bool known;
    char name[NAME_SIZE], format[FORMAT_SIZE];
};

/* A state that has begun but not ended. */
struct open_state {
    uint64_t record; /* number of the record that began the state */
    uint32_t definition, event;
    int32_t comm;
};

struct log_timeline {
    int64_t rank;
    int32_t thread;
    struct open_state *open; /* [opens] in the order of their begin */
    size_t opens, capacity;
};

struct gen_log {
    const char *path; /* borrowed */
    struct read_clog2 *reader;
    struct hpcw_i_table members; /* (communicator, rank) -> rank in MPI_COMM_WORLD */
    bool plain;                  /* each rank of communicator 0 is the same as in MPI_COMM_WORLD */
    uint32_t threads;            /* highest number of a thread + 1 */
    double end_s;                /* time of the last record, s */
    uint32_t *present;           /* [presents] ranks in MPI_COMM_WORLD that have records, ascending */
    size_t presents, capacity;
    /* [rule] number of cases, only for the rules that read_clog2_warn needs */
    uint64_t cases[READ_CLOG2_RULES];
    /* Members from here on are set by each call of gen_log_run. */
    const struct gen_export *what;
    gen_log_put *put;
    void *context;
    struct clean_definition *definition; /* [definitions] */
    size_t definitions, definition_capacity;
    struct log_timeline *timeline; /* [timelines] */
    size_t timelines, timeline_capacity;
    uint64_t record;
    uint64_t messages; /* highest message number so far */
    bool inside;       /* reading has reached the begin of the window */
    double last_s;     /* end time of states that are still open at the end of the window, s */
    hpcw_status status;
    hpcw_error *err;
};

static int32_t get_i32(const unsigned char *p) {
    return (int32_t)hpcw_i_get_u32(p, true);
}

static uint64_t to_ns(double seconds) {
    return seconds <= 0    ? 0
           : seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5)
                           : UINT64_C(1000000000) * 1000000000;
}

/* ---- the first pass: members of communicators ---- */

/* Returns the first entry in the log's table of communicators that means the same communicator as entry `comm`.
 * A log may have several entries for one communicator. */
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

static hpcw_status add_member(struct gen_log *x, const struct read_clog2_item *item, hpcw_error *err) {
    const unsigned char *p = item->payload;
    const int32_t rank = get_i32(p + 8), world = get_i32(p + 12);
    if (rank < 0 || world < 0) {
        return HPCW_OK;
    }
    const int32_t comm = same_comm(x, get_i32(p + 4));
    int64_t *member = hpcw_i_table_add(&x->members, (const uint64_t[]){(uint32_t)comm, (uint32_t)rank}, NULL);
    if (member == NULL || !add_present(x, (uint32_t)world)) {
        return gen_export_no_memory(err);
    }
    *member = world;
    x->plain = x->plain && (comm != 0 || rank == world);
    return HPCW_OK;
}

static hpcw_status read_members(struct gen_log *x, hpcw_error *err) {
    struct read_clog2_item item;
    bool more = true;
    double last = 0;
    hpcw_status s = read_clog2_next(x->reader, &item, &more, err);
    while (s == HPCW_OK && more) {
        x->cases[READ_CLOG2_ORDER] += item.time < last;
        x->end_s = last = item.time;
        if (item.thread >= 0 && (uint32_t)item.thread >= x->threads) {
            x->threads = (uint32_t)item.thread + 1;
        }
        s = item.kind == KIND_COMM ? add_member(x, &item, err) : HPCW_OK;
        s = s == HPCW_OK ? read_clog2_next(x->reader, &item, &more, err) : s;
    }
    return s;
}

/* ---- the second pass: events ---- */

static void no_memory(struct gen_log *x) {
    if (x->status == HPCW_OK) {
        x->status = gen_export_no_memory(x->err);
    }
}

static void put(struct gen_log *x, const struct gen_log_entry *e) {
    if (x->inside && x->status == HPCW_OK) {
        x->status = x->put(x->context, e, x->err);
    }
}

static bool is_wanted(const struct gen_log *x, uint32_t rank, int32_t thread) {
    return x->status == HPCW_OK && rank >= x->what->first_rank && rank <= x->what->last_rank && thread >= 0;
}

/* Gets the cleaned definition `number`. Returns NULL if memory runs out, which ends the run. */
static const struct clean_definition *definition_of(struct gen_log *x, uint32_t number, const char *name,
                                                    const char *format) {
    if (number >= x->definitions) {
        struct clean_definition *grown =
            hpcw_i_grow(x->definition, &x->definition_capacity, (size_t)number + 1, sizeof *grown);
        if (grown == NULL) {
            no_memory(x);
            return NULL;
        }
        x->definition = grown;
        memset(grown + x->definitions, 0, (number + 1 - x->definitions) * sizeof *grown);
        x->definitions = (size_t)number + 1;
    }
    struct clean_definition *d = &x->definition[number];
    if (!d->known) {
        d->known = true;
        gen_export_clean(d->name, name, sizeof d->name);
        gen_export_clean(d->format, format, sizeof d->format);
    }
    return d;
}

/* Gets the timeline of an event. Returns NULL if memory runs out, which ends the run. */
static struct log_timeline *timeline_of(struct gen_log *x, const struct read_clog2_stretch *s) {
    if (s->timeline >= x->timelines) {
        struct log_timeline *grown =
            hpcw_i_grow(x->timeline, &x->timeline_capacity, (size_t)s->timeline + 1, sizeof *grown);
        if (grown == NULL) {
            no_memory(x);
            return NULL;
        }
        x->timeline = grown;
        memset(grown + x->timelines, 0, (s->timeline + 1 - x->timelines) * sizeof *grown);
        x->timelines = (size_t)s->timeline + 1;
    }
    struct log_timeline *t = &x->timeline[s->timeline];
    t->rank = s->rank;
    t->thread = s->thread;
    return t;
}

/* Puts an entry for the begin or end of a defined state, or for a defined solo event. */
static void put_event(struct gen_log *x, char letter, const struct read_clog2_stretch *s) {
    const struct clean_definition *d = definition_of(x, s->state, s->name, s->format);
    if (d != NULL) {
        put(x, &(struct gen_log_entry){.letter = letter,
                                       .ns = to_ns(letter == 'B' ? s->from : s->to),
                                       .rank = s->rank,
                                       .thread = s->thread,
                                       .comm = same_comm(x, s->comm),
                                       .name = d->name,
                                       .definition = (uint32_t)s->event,
                                       .format = d->format,
                                       .cargo = s->cargo});
    }
}

static void begin_state(void *context, const struct read_clog2_stretch *s) {
    struct gen_log *x = context;
    struct log_timeline *t = is_wanted(x, s->rank, s->thread) && s->defined ? timeline_of(x, s) : NULL;
    if (t == NULL) {
        return;
    }
    struct open_state *grown = hpcw_i_grow(t->open, &t->capacity, t->opens + 1, sizeof *grown);
    if (grown == NULL) {
        no_memory(x);
        return;
    }
    t->open = grown;
    t->open[t->opens++] = (struct open_state){x->record, s->state, (uint32_t)s->event, same_comm(x, s->comm)};
    put_event(x, 'B', s);
}

static void end_state(void *context, const struct read_clog2_stretch *s) {
    struct gen_log *x = context;
    struct log_timeline *t = is_wanted(x, s->rank, s->thread) && s->defined ? timeline_of(x, s) : NULL;
    if (t == NULL) {
        return;
    }
    /* An end ends the oldest open state of its definition, as in the reader. */
    size_t i = 0;
    while (i < t->opens && t->open[i].definition != s->state) {
        i++;
    }
    if (i < t->opens) {
        t->opens--;
        memmove(&t->open[i], &t->open[i + 1], (t->opens - i) * sizeof t->open[0]);
        put_event(x, 'E', s);
    }
}

static void solo(void *context, const struct read_clog2_stretch *s) {
    struct gen_log *x = context;
    if (is_wanted(x, s->rank, s->thread) && s->defined) {
        put_event(x, 'i', s);
    }
}

static void message(void *context, const struct read_clog2_end *m) {
    struct gen_log *x = context;
    uint64_t number = m->met;
    if (m->mark != NULL) {
        number = *m->mark = ++x->messages;
    }
    if (is_wanted(x, m->rank, m->thread)) {
        put(x, &(struct gen_log_entry){.letter = m->send ? 's' : 'f',
                                       .ns = to_ns(m->time),
                                       .rank = m->rank,
                                       .thread = m->thread,
                                       .comm = same_comm(x, m->comm),
                                       .peer = m->peer,
                                       .peer_comm = same_comm(x, m->peer_comm),
                                       .peer_in_comm = m->peer_in_comm,
                                       .tag = m->tag,
                                       .name = "message",
                                       .bytes = (uint32_t)m->bytes,
                                       .number = number});
    }
}

/* ---- the ends of the window ---- */

struct cut_state {
    struct open_state state;
    const struct log_timeline *timeline;
};

static int by_record(const void *a, const void *b) {
    uint64_t x = ((const struct cut_state *)a)->state.record;
    uint64_t y = ((const struct cut_state *)b)->state.record;
    return (x > y) - (x < y);
}

/* Puts an entry for each open state. Letter 'B': begins the states at the start of the window, in the order in
 * which they began. Letter 'E': ends them at the end of the window, in reverse order. */
static void cut_states(struct gen_log *x, char letter, double at_s) {
    size_t count = 0, n = 0;
    for (size_t i = 0; i < x->timelines; i++) {
        count += x->timeline[i].opens;
    }
    struct cut_state *cut = hpcw_i_malloc((count + 1) * sizeof *cut);
    if (cut == NULL) {
        no_memory(x);
        return;
    }
    for (size_t i = 0; i < x->timelines; i++) {
        for (size_t k = 0; k < x->timeline[i].opens; k++) {
            cut[n++] = (struct cut_state){x->timeline[i].open[k], &x->timeline[i]};
        }
    }
    qsort(cut, count, sizeof *cut, by_record);
    for (size_t i = 0; i < count; i++) {
        const struct cut_state *c = &cut[letter == 'B' ? i : count - 1 - i];
        put(x, &(struct gen_log_entry){.letter = letter,
                                       .ns = to_ns(at_s),
                                       .rank = c->timeline->rank,
                                       .thread = c->timeline->thread,
                                       .comm = c->state.comm,
                                       .name = x->definition[c->state.definition].name,
                                       .definition = c->state.event,
                                       .format = ""});
    }
    hpcw_i_free(cut);
}

static bool before(void *context, double time_s) {
    struct gen_log *x = context;
    x->record++;
    if (!x->inside && time_s >= x->what->from_s) {
        x->inside = true;
        cut_states(x, 'B', x->what->from_s);
    }
    if (time_s < x->what->to_s) {
        return x->status == HPCW_OK;
    }
    x->last_s = x->what->to_s;
    return false;
}

/* ---- the log ---- */

static void free_run(struct gen_log *x) {
    for (size_t i = 0; i < x->timelines; i++) {
        hpcw_i_free(x->timeline[i].open);
    }
    hpcw_i_free(x->timeline);
    hpcw_i_free(x->definition);
    x->timeline = NULL;
    x->definition = NULL;
    x->timelines = x->timeline_capacity = 0;
    x->definitions = x->definition_capacity = 0;
}

hpcw_status gen_log_open(const char *path, struct gen_log **out, hpcw_error *err) {
    struct gen_log *x = hpcw_i_calloc(1, sizeof *x);
    *out = NULL;
    if (x == NULL) {
        return gen_export_no_memory(err);
    }
    x->path = path;
    x->threads = 1;
    x->plain = true;
    x->members = (struct hpcw_i_table){.key_words = 2, .value_size = sizeof(int64_t)};
    hpcw_status s = read_clog2_open(path, &x->reader, err);
    s = s == HPCW_OK ? read_members(x, err) : s;
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
        hpcw_i_table_free(&log->members);
        free_run(log);
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

hpcw_status gen_log_check(const char *path, const struct gen_export *what, hpcw_error *err) {
    if (!(what->from_s < what->to_s)) { /* NaN fails, too */
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of time: expected end > begin, got %g to %g s", path,
                           what->from_s, what->to_s);
    }
    return what->first_rank <= what->last_rank
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: window of ranks: expected last >= first, got %u to %u",
                             path, what->first_rank, what->last_rank);
}

hpcw_status gen_log_run(struct gen_log *log, const struct gen_export *what, bool match, gen_log_put *put_entry,
                        void *context, hpcw_error *err) {
    hpcw_status s = gen_log_check(log->path, what, err);
    if (s != HPCW_OK) {
        return s;
    }
    const uint32_t ranks[] = {what->first_rank, what->last_rank};
    uint64_t cases[READ_CLOG2_RULES];
    const struct read_clog2_watch watch = {.context = log,
                                           .by_rank = true,
                                           .no_meetings = !match,
                                           .ranks = !match && log->plain ? ranks : NULL,
                                           .begin = begin_state,
                                           .state = end_state,
                                           .solo = solo,
                                           .message = message,
                                           .before = before,
                                           .cases = cases};
    log->what = what;
    log->put = put_entry;
    log->context = context;
    log->record = 0;
    log->messages = 0;
    log->inside = false;
    log->last_s = log->end_s;
    log->status = HPCW_OK;
    log->err = err;
    s = read_clog2_watch(log->reader, &watch, err);
    s = s == HPCW_OK ? log->status : s;
    log->cases[READ_CLOG2_END_ALONE] += cases[READ_CLOG2_END_ALONE];
    if (s == HPCW_OK && log->inside) {
        cut_states(log, 'E', log->last_s);
        s = log->status;
    }
    free_run(log);
    return s;
}
