/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "Columns" of <hpcw/clog2_read.h>: fills arrays of the caller with states, messages or solo events. The
 * pass over the log is interrupted whenever the arrays are full. */
#include <math.h>
#include <string.h>

#include "libreader/clog2/private.h"
#include "libreader/clog2/public.h"
#include "libwriter/base/column.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct read_clog2_selection {
    hpcw_clog2_table table;
    hpcw_clog2_window window;
    struct read_clog2_watch watch;
    struct read_clog2_pass pass;
    /* number of states and messages that began before the end of the requested time window and are still open */
    uint64_t pending;
    bool over; /* the pass has reached the last row */
    hpcw_error failure;
    /* arguments of the current call */
    size_t capacity, count;
    hpcw_clog2_states states;
    hpcw_clog2_messages messages;
    hpcw_clog2_solos solos;
};

/* ---- the watch ---- */

static bool before(void *context, double time) {
    struct read_clog2_selection *s = context;
    /* A time out of range says nothing about the times of later records. */
    if (time >= s->window.to && time < READ_CLOG2_LAST && s->pending == 0) {
        s->over = true;
    }
    return !s->over && s->count < s->capacity;
}

static bool of_ranks(const struct read_clog2_selection *s, uint32_t rank) {
    return rank >= s->window.first_rank && rank <= s->window.last_rank;
}

static bool inside(const struct read_clog2_selection *s, double from, double to) {
    return from < s->window.to && (to > s->window.from || from >= s->window.from);
}

static void put_cargo(unsigned char *to, size_t row, const unsigned char *cargo) {
    if (to != NULL && cargo != NULL) {
        memcpy(to + row * HPCW_CLOG2_CARGO, cargo, HPCW_CLOG2_CARGO);
    } else if (to != NULL) {
        memset(to + row * HPCW_CLOG2_CARGO, 0, HPCW_CLOG2_CARGO);
    }
}

static void begin_state(void *context, const struct read_clog2_stretch *e) {
    struct read_clog2_selection *s = context;
    s->pending += of_ranks(s, e->rank) && e->from < s->window.to;
}

static void put_state(void *context, const struct read_clog2_stretch *e) {
    struct read_clog2_selection *s = context;
    if (!of_ranks(s, e->rank)) {
        return;
    }
    s->pending -= s->pending > 0 && e->from < s->window.to;
    if (inside(s, e->from, e->to)) {
        const size_t row = s->count++;
        HPCW_I_COLUMN_PUT(s->states.definition, row, e->state);
        HPCW_I_COLUMN_PUT(s->states.rank, row, e->rank);
        HPCW_I_COLUMN_PUT(s->states.thread, row, e->thread);
        HPCW_I_COLUMN_PUT(s->states.comm, row, e->comm);
        HPCW_I_COLUMN_PUT(s->states.depth, row, e->depth);
        HPCW_I_COLUMN_PUT(s->states.from, row, e->from);
        HPCW_I_COLUMN_PUT(s->states.to, row, e->to);
        put_cargo(s->states.cargo, row, e->cargo);
    }
}

static void put_solo(void *context, const struct read_clog2_stretch *e) {
    struct read_clog2_selection *s = context;
    if (of_ranks(s, e->rank) && inside(s, e->from, e->to)) {
        const size_t row = s->count++;
        HPCW_I_COLUMN_PUT(s->solos.definition, row, e->state);
        HPCW_I_COLUMN_PUT(s->solos.rank, row, e->rank);
        HPCW_I_COLUMN_PUT(s->solos.thread, row, e->thread);
        HPCW_I_COLUMN_PUT(s->solos.comm, row, e->comm);
        HPCW_I_COLUMN_PUT(s->solos.time, row, e->from);
        put_cargo(s->solos.cargo, row, e->cargo);
    }
}

static void put_message(void *context, const struct read_clog2_end *e) {
    struct read_clog2_selection *s = context;
    if (!of_ranks(s, e->rank) && !of_ranks(s, e->peer)) {
        return;
    }
    if (!e->meets) {
        *e->mark = (uint64_t)(uint32_t)e->bytes << 1 | (e->time < s->window.to);
        s->pending += e->time < s->window.to;
        return;
    }
    s->pending -= s->pending > 0 && (e->met & 1) != 0;
    const double sent = e->send ? e->time : e->other, received = e->send ? e->other : e->time;
    if (inside(s, fmin(sent, received), fmax(sent, received))) {
        const size_t row = s->count++;
        HPCW_I_COLUMN_PUT(s->messages.from, row, e->send ? e->rank : e->peer);
        HPCW_I_COLUMN_PUT(s->messages.to, row, e->send ? e->peer : e->rank);
        HPCW_I_COLUMN_PUT(s->messages.comm, row, e->send ? e->comm : e->peer_comm);
        HPCW_I_COLUMN_PUT(s->messages.tag, row, e->tag);
        HPCW_I_COLUMN_PUT(s->messages.size, row, e->send ? e->bytes : (int32_t)(uint32_t)(e->met >> 1));
        HPCW_I_COLUMN_PUT(s->messages.sent, row, sent);
        HPCW_I_COLUMN_PUT(s->messages.received, row, received);
    }
}

/* ---- selection ---- */

void read_clog2_deselect(hpcw_clog2_reader *reader) {
    if (reader->selection != NULL) {
        read_clog2_pass_free(&reader->selection->pass);
        hpcw_i_free(reader->selection);
        reader->selection = NULL;
    }
}

void hpcw_clog2_window_init(hpcw_clog2_window *window) {
    if (window != NULL) {
        *window =
            (hpcw_clog2_window){.from = -INFINITY, .to = INFINITY, .first_rank = 0, .last_rank = UINT32_MAX};
    }
}

hpcw_status hpcw_clog2_reader_select(hpcw_clog2_reader *reader, hpcw_clog2_table table,
                                     const hpcw_clog2_window *window, hpcw_error *err) {
    hpcw_clog2_window all;
    hpcw_clog2_window_init(&all);
    window = window == NULL ? &all : window;
    if (reader == NULL) {
        return read_clog2_missing("handle", err);
    }
    if (reader->calls_back) {
        return read_clog2_in_callback(reader, err);
    }
    if (table != HPCW_CLOG2_TABLE_STATES && table != HPCW_CLOG2_TABLE_MESSAGES &&
        table != HPCW_CLOG2_TABLE_SOLOS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a table from %d to %d, got %d",
                           read_clog2_name(reader->r), HPCW_CLOG2_TABLE_STATES, HPCW_CLOG2_TABLE_SOLOS,
                           (int)table);
    }
    if (!(window->from < window->to)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of time: expected end > begin, got %g to %g s",
                           read_clog2_name(reader->r), window->from, window->to);
    }
    if (window->first_rank > window->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of ranks: expected last >= first, got %u to %u",
                           read_clog2_name(reader->r), window->first_rank, window->last_rank);
    }
    read_clog2_deselect(reader);
    struct read_clog2_selection *s = hpcw_i_calloc(1, sizeof *s);
    if (s == NULL) {
        return hpcw_i_fail_memory(err, read_clog2_name(reader->r), 0, NULL);
    }
    s->table = table;
    s->window = *window;
    s->watch = (struct read_clog2_watch){.context = s,
                                         .by_rank = true,
                                         .no_states = table == HPCW_CLOG2_TABLE_MESSAGES,
                                         .no_messages = table != HPCW_CLOG2_TABLE_MESSAGES,
                                         .before = before,
                                         .begin = table == HPCW_CLOG2_TABLE_STATES ? begin_state : NULL,
                                         .state = table == HPCW_CLOG2_TABLE_STATES ? put_state : NULL,
                                         .solo = table == HPCW_CLOG2_TABLE_SOLOS ? put_solo : NULL,
                                         .message = table == HPCW_CLOG2_TABLE_MESSAGES ? put_message : NULL};
    read_clog2_pass_open(&s->pass, reader->r, 0, false, &s->watch);
    reader->selection = s;
    return HPCW_OK;
}

/* Checks that columns of the table can be filled now. */
static hpcw_status check_fill(const hpcw_clog2_reader *reader, hpcw_clog2_table table, const void *columns,
                              size_t capacity, size_t *count, hpcw_error *err) {
    if (count != NULL) {
        *count = 0;
    }
    if (reader == NULL || columns == NULL || count == NULL) {
        return read_clog2_missing(reader == NULL ? "handle" : columns == NULL ? "columns" : "count", err);
    }
    if (reader->calls_back) {
        return read_clog2_in_callback(reader, err);
    }
    if (capacity == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a capacity of at least one row, got 0",
                           read_clog2_name(reader->r));
    }
    if (reader->selection == NULL || reader->selection->table != table) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: expected table %d to be selected, got %s",
                           read_clog2_name(reader->r), (int)table,
                           reader->selection == NULL ? "none" : "another");
    }
    return HPCW_OK;
}

static hpcw_status fill(struct read_clog2_selection *s, size_t capacity, size_t *count, hpcw_error *err) {
    s->capacity = capacity;
    s->count = 0;
    if (s->pass.status == HPCW_OK && !s->over) {
        const hpcw_status status = read_clog2_pass_step(&s->pass, &s->failure);
        s->over = s->over || (status == HPCW_OK && !s->pass.ended);
    }
    if (s->pass.status != HPCW_OK && s->count == 0) {
        return hpcw_i_fail_as(err, &s->failure);
    }
    *count = s->count;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_reader_states(hpcw_clog2_reader *reader, const hpcw_clog2_states *columns,
                                     size_t capacity, size_t *count, hpcw_error *err) {
    hpcw_status status = check_fill(reader, HPCW_CLOG2_TABLE_STATES, columns, capacity, count, err);
    if (status == HPCW_OK) {
        reader->selection->states = *columns;
        status = fill(reader->selection, capacity, count, err);
    }
    return status;
}

hpcw_status hpcw_clog2_reader_messages(hpcw_clog2_reader *reader, const hpcw_clog2_messages *columns,
                                       size_t capacity, size_t *count, hpcw_error *err) {
    hpcw_status status = check_fill(reader, HPCW_CLOG2_TABLE_MESSAGES, columns, capacity, count, err);
    if (status == HPCW_OK) {
        reader->selection->messages = *columns;
        status = fill(reader->selection, capacity, count, err);
    }
    return status;
}

hpcw_status hpcw_clog2_reader_solos(hpcw_clog2_reader *reader, const hpcw_clog2_solos *columns, size_t capacity,
                                    size_t *count, hpcw_error *err) {
    hpcw_status status = check_fill(reader, HPCW_CLOG2_TABLE_SOLOS, columns, capacity, count, err);
    if (status == HPCW_OK) {
        reader->selection->solos = *columns;
        status = fill(reader->selection, capacity, count, err);
    }
    return status;
}

bool hpcw_clog2_reader_definition(const hpcw_clog2_reader *reader, uint32_t index,
                                  hpcw_clog2_definition *definition) {
    if (reader == NULL || definition == NULL || reader->selection == NULL ||
        index >= reader->selection->pass.definitions) {
        return false;
    }
    const struct read_clog2_definition *d = &reader->selection->pass.definition[index];
    *definition = (hpcw_clog2_definition){
        .state = d->state, .number = d->number, .name = d->name, .colour = d->colour, .format = d->format};
    return true;
}
