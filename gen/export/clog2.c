/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/clog2.h"

#include <stdlib.h>
#include <string.h>

#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"
#include "libwriter/io/json.h"

enum { KIND_STATE_DEF = 2, KIND_EVENT_DEF = 3, KIND_BARE = 5, KIND_CARGO = 6, KIND_MESSAGE = 7, KIND_COMM = 9 };
enum { SEND = -101, NAME_SIZE = 33, PIECE = 1 << 20 };

/* What an event number means. */
struct event_meaning {
    char name[40];
    uint64_t role;   /* 0 start, 1 end, 2 solo */
    uint64_t number; /* of the definition, the same for start and end */
};

/* A state that has begun and not ended. */
struct open_state {
    uint64_t times, since; /* how often it has begun; number of the record of the last beginning */
};

struct export {
    struct read_clog2 *reader;
    const struct gen_export *what;
    struct gen_stream out;
    struct gen_exported done;
    struct hpcw_i_table meanings; /* event -> struct event_meaning */
    struct hpcw_i_table members;  /* (communicator, rank) -> rank of the world */
    struct hpcw_i_table states;   /* (rank, thread, number of the definition) -> struct open_state */
    struct hpcw_i_table numbers;  /* (from, to, tag) -> messages sent and received so far */
    uint64_t record;
    bool inside; /* the window has begun */
};

static int32_t get_i32(const unsigned char *p) {
    return (int32_t)hpcw_i_get_u32(p, true);
}

/* ---- text ---- */

static bool add(struct export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* Nanoseconds as microseconds with three places. */
static bool add_us(struct export *x, uint64_t ns) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_u64_width(digits, ns % 1000, 3);
    return gen_export_u64(&x->out.buf, ns / 1000) && add(x, ".") &&
           hpcw_i_buf_append(&x->out.buf, digits, (size_t)(end - digits));
}

static uint64_t to_ns(double seconds) {
    return seconds <= 0    ? 0
           : seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5)
                           : UINT64_C(1000000000) * 1000000000;
}

/* A name as both forms can quote it: printable ASCII, without quotes and backslashes. */
static void clean_name(char name[NAME_SIZE], const unsigned char *field, size_t size) {
    size_t n = 0;
    for (; n < size && n < NAME_SIZE - 1 && field[n] != 0; n++) {
        unsigned char c = field[n];
        name[n] = c < 32 || c > 126 || c == '"' || c == '\\' ? '_' : (char)c;
    }
    name[n] = '\0';
}

/* ---- definitions and members: the first pass ---- */

static hpcw_status add_meaning(struct export *x, int32_t event, const char *name, uint64_t role,
                               uint64_t number, hpcw_error *err) {
    const uint64_t key[] = {(uint32_t)event};
    struct event_meaning *m = hpcw_i_table_add(&x->meanings, key, NULL);
    if (m == NULL) {
        return gen_export_no_memory(err);
    }
    memcpy(m->name, name, NAME_SIZE);
    m->role = role;
    m->number = number;
    return HPCW_OK;
}

static hpcw_status add_definition(struct export *x, const struct read_clog2_item *item, hpcw_error *err) {
    const unsigned char *p = item->payload;
    char name[NAME_SIZE];
    if (item->kind == KIND_STATE_DEF) {
        clean_name(name, p + 40, 32);
        uint64_t number = (uint32_t)get_i32(p + 4);
        hpcw_status s = add_meaning(x, get_i32(p + 4), name, 0, number, err);
        return s == HPCW_OK ? add_meaning(x, get_i32(p + 8), name, 1, number, err) : s;
    }
    if (item->kind == KIND_EVENT_DEF) {
        clean_name(name, p + 32, 32);
        return add_meaning(x, get_i32(p), name, 2, (uint32_t)get_i32(p), err);
    }
    if (item->kind == KIND_COMM && get_i32(p + 12) >= 0 && get_i32(p + 8) >= 0) {
        const uint64_t key[] = {(uint32_t)get_i32(p + 4), (uint32_t)get_i32(p + 8)};
        int64_t *world = hpcw_i_table_add(&x->members, key, NULL);
        if (world == NULL) {
            return gen_export_no_memory(err);
        }
        *world = get_i32(p + 12);
    }
    return HPCW_OK;
}

/* Rank of the world, or -1. */
static int64_t world_rank(const struct export *x, int32_t comm, int32_t rank) {
    const uint64_t key[] = {(uint32_t)comm, (uint32_t)rank};
    const int64_t *world = hpcw_i_table_find(&x->members, key);
    return world != NULL ? *world : -1;
}

/* ---- entries ---- */

/* One entry, with Chrome's letter: B, E, i, s or f. */
struct export_entry {
    char letter;
    uint64_t ns;
    int64_t rank, peer;
    int32_t thread, tag;
    const char *name;
    uint64_t bytes, number; /* of a message: its size, its number among those with the same ends and tag */
};

static bool put_chrome(struct export *x, const struct export_entry *e) {
    const char letter[2] = {e->letter, '\0'};
    bool flow = e->letter == 's' || e->letter == 'f';
    bool ok = add(x, x->done.count > 0 ? ",\n{\"ph\":\"" : "{\"ph\":\"") && add(x, letter) &&
              add(x, "\",\"ts\":") && add_us(x, e->ns) && add(x, ",\"pid\":") &&
              gen_export_u64(&x->out.buf, (uint64_t)e->rank) && add(x, ",\"tid\":") &&
              gen_export_u64(&x->out.buf, (uint64_t)e->thread) && add(x, ",\"name\":\"") && add(x, e->name) &&
              add(x, "\"");
    if (e->letter == 'i') {
        ok = ok && add(x, ",\"s\":\"t\"");
    }
    if (flow) {
        int64_t from = e->letter == 's' ? e->rank : e->peer;
        int64_t to = e->letter == 's' ? e->peer : e->rank;
        ok = ok && add(x, ",\"cat\":\"message\",\"id\":\"") && gen_export_u64(&x->out.buf, (uint64_t)from) &&
             add(x, ">") && gen_export_u64(&x->out.buf, (uint64_t)to) && add(x, ":") &&
             gen_export_u64(&x->out.buf, (uint64_t)e->tag) && add(x, ":") &&
             gen_export_u64(&x->out.buf, e->number) && add(x, e->letter == 'f' ? "\",\"bp\":\"e\"" : "\"") &&
             add(x, ",\"args\":{\"tag\":") && gen_export_u64(&x->out.buf, (uint64_t)e->tag) &&
             add(x, ",\"bytes\":") && gen_export_u64(&x->out.buf, e->bytes) && add(x, "}");
    }
    return ok && add(x, "}");
}

static bool put_csv(struct export *x, const struct export_entry *e) {
    static const struct {
        char letter;
        const char *what;
    } word[] = {{'B', "begin"}, {'E', "end"}, {'i', "event"}, {'s', "send"}, {'f', "receive"}};
    char seconds[HPCW_I_FMT_ROOM];
    *hpcw_i_fmt_seconds(seconds, e->ns) = '\0';
    const char *what = "";
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        what = word[i].letter == e->letter ? word[i].what : what;
    }
    bool ok = add(x, seconds) && add(x, ",") && gen_export_u64(&x->out.buf, (uint64_t)e->rank) && add(x, ",") &&
              gen_export_u64(&x->out.buf, (uint64_t)e->thread) && add(x, ",") && add(x, what) &&
              add(x, ",\"") && add(x, e->name) && add(x, "\",");
    if (e->letter == 's' || e->letter == 'f') {
        return ok && gen_export_u64(&x->out.buf, (uint64_t)e->peer) && add(x, ",") &&
               gen_export_u64(&x->out.buf, (uint64_t)e->tag) && add(x, ",") &&
               gen_export_u64(&x->out.buf, e->bytes) && add(x, "\n");
    }
    return ok && add(x, ",,\n");
}

static hpcw_status put(struct export *x, const struct export_entry *e, hpcw_error *err) {
    bool ok = x->what->form == GEN_EXPORT_CSV ? put_csv(x, e) : put_chrome(x, e);
    x->done.count++;
    return ok ? gen_stream_flush(&x->out, PIECE, err) : gen_export_no_memory(err);
}

/* ---- the ends of the window ---- */

struct cut_state {
    uint64_t key[HPCW_I_TABLE_KEY];
    uint64_t since;
};

static int by_since(const void *a, const void *b) {
    uint64_t x = ((const struct cut_state *)a)->since;
    uint64_t y = ((const struct cut_state *)b)->since;
    return (x > y) - (x < y);
}

/* Begins open states at the beginning of the window, in their order; ends them at its end, in reverse order. */
static hpcw_status cut_states(struct export *x, char letter, double at_s, hpcw_error *err) {
    struct cut_state *cut = hpcw_i_malloc((x->states.count + 1) * sizeof *cut);
    size_t count = 0;
    size_t at = 0;
    const struct open_state *g;
    if (cut == NULL) {
        return gen_export_no_memory(err);
    }
    while ((g = hpcw_i_table_next(&x->states, &at, cut[count].key)) != NULL) {
        if (g->times > 0) {
            cut[count++].since = g->since;
        }
    }
    qsort(cut, count, sizeof *cut, by_since);
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const uint64_t *k = cut[letter == 'B' ? i : count - 1 - i].key;
        const uint64_t event[] = {k[2]};
        const struct event_meaning *m = hpcw_i_table_find(&x->meanings, event);
        const struct export_entry e = {.letter = letter,
                                       .ns = to_ns(at_s),
                                       .rank = (int64_t)k[0],
                                       .thread = (int32_t)k[1],
                                       .name = m != NULL ? m->name : ""};
        s = put(x, &e, err);
    }
    hpcw_i_free(cut);
    return s;
}

/* ---- the second pass ---- */

static hpcw_status take_event(struct export *x, const struct read_clog2_item *item, int64_t rank,
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
            return HPCW_OK; /* an end without a beginning */
        }
        g->times += m->role == 0 ? 1 : UINT64_MAX;
        g->since = m->role == 0 ? x->record : g->since;
    }
    const struct export_entry e = {.letter = "BEi"[m->role],
                                   .ns = to_ns(item->time),
                                   .rank = rank,
                                   .thread = item->thread,
                                   .name = m->name};
    return x->inside ? put(x, &e, err) : HPCW_OK;
}

static hpcw_status take_message(struct export *x, const struct read_clog2_item *item, int64_t rank,
                                hpcw_error *err) {
    const unsigned char *p = item->payload;
    bool send = get_i32(p) == SEND;
    int64_t peer = world_rank(x, get_i32(p + 4), get_i32(p + 8));
    if (peer < 0) {
        return HPCW_OK;
    }
    const uint64_t key[] = {(uint64_t)(send ? rank : peer), (uint64_t)(send ? peer : rank),
                            (uint32_t)get_i32(p + 12)};
    uint64_t *number = hpcw_i_table_add(&x->numbers, key, NULL);
    if (number == NULL) {
        return gen_export_no_memory(err);
    }
    const struct export_entry e = {.letter = send ? 's' : 'f',
                                   .ns = to_ns(item->time),
                                   .rank = rank,
                                   .peer = peer,
                                   .thread = item->thread,
                                   .tag = get_i32(p + 12),
                                   .name = "message",
                                   .bytes = (uint32_t)get_i32(p + 16),
                                   .number = number[send ? 0 : 1]++};
    return x->inside ? put(x, &e, err) : HPCW_OK;
}

static hpcw_status take(struct export *x, const struct read_clog2_item *item, hpcw_error *err) {
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

static hpcw_status pass(struct export *x, bool definitions, hpcw_error *err) {
    struct read_clog2_item item;
    bool more = true;
    read_clog2_rewind(x->reader);
    hpcw_status s = read_clog2_next(x->reader, &item, &more, err);
    while (s == HPCW_OK && more) {
        if (definitions) {
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

/* Names the processes for Chrome. */
static hpcw_status put_ranks(struct export *x, hpcw_error *err) {
    uint32_t ranks = read_clog2_info(x->reader)->ranks;
    hpcw_status s = HPCW_OK;
    for (uint32_t r = x->what->first_rank; s == HPCW_OK && r < ranks && r <= x->what->last_rank; r++) {
        bool ok = add(x, x->done.count > 0 ? ",\n" : "") &&
                  add(x, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":") &&
                  gen_export_u64(&x->out.buf, r) && add(x, ",\"args\":{\"name\":\"rank ") &&
                  gen_export_u64(&x->out.buf, r) && add(x, "\"}}");
        x->done.count++;
        s = ok ? gen_stream_flush(&x->out, PIECE, err) : gen_export_no_memory(err);
    }
    return s;
}

static hpcw_status run(struct export *x, hpcw_error *err) {
    bool csv = x->what->form == GEN_EXPORT_CSV;
    hpcw_status s = pass(x, true, err);
    if (s == HPCW_OK && !add(x, csv ? "time_s,rank,thread,what,name,peer,tag,bytes\n"
                                    : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")) {
        s = gen_export_no_memory(err);
    }
    if (s == HPCW_OK && !csv) {
        s = put_ranks(x, err);
    }
    s = s == HPCW_OK ? pass(x, false, err) : s;
    if (s == HPCW_OK && !csv && !add(x, "\n]}\n")) {
        s = gen_export_no_memory(err);
    }
    s = s == HPCW_OK ? gen_stream_flush(&x->out, 0, err) : s;
    x->done.bytes = x->out.at;
    return s;
}

hpcw_status gen_export_clog2(const char *path, const struct gen_export *what, hpcw_sink *sink,
                             struct gen_exported *done, hpcw_error *err) {
    struct export x = {.what = what,
                       .done = {.items = "events"},
                       .out = {.sink = sink},
                       .meanings = {.key_words = 1, .value_size = sizeof(struct event_meaning)},
                       .members = {.key_words = 2, .value_size = sizeof(int64_t)},
                       .states = {.key_words = 3, .value_size = sizeof(struct open_state)},
                       .numbers = {.key_words = 3, .value_size = 2 * sizeof(uint64_t)}};
    *done = x.done;
    /* NaN fails, too. */
    if (!(what->from_s < what->to_s) || what->first_rank > what->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "export: expected a window of time and ranks, got %g to %g s and ranks %u to %u",
                           what->from_s, what->to_s, what->first_rank, what->last_rank);
    }
    hpcw_status s = read_clog2_open(path, &x.reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = run(&x, err);
    *done = x.done;
    read_clog2_free(x.reader);
    hpcw_i_table_free(&x.meanings);
    hpcw_i_table_free(&x.members);
    hpcw_i_table_free(&x.states);
    hpcw_i_table_free(&x.numbers);
    hpcw_i_buf_free(&x.out.buf);
    return s;
}
