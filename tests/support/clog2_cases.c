/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/clog2_cases.h"

#include <stdlib.h>
#include <string.h>

static void identity(uint32_t index, hpcw_clog2_comm_id *id) {
    *id = (hpcw_clog2_comm_id){.random = 7 + (int32_t)index, .created = 0.25 * index, .host = "node0001"};
}

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    identity(index, &entry->id);
    entry->index = (int32_t)index;
    entry->kind = 1;
}

static hpcw_clog2_record *add(struct clog2_case *c, hpcw_clog2_kind kind, uint32_t rank) {
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        c->record = realloc(c->record, c->room * sizeof *c->record);
        if (c->record == NULL) {
            abort();
        }
    }
    hpcw_clog2_record *r = &c->record[c->count++];
    memset(r, 0, sizeof *r);
    r->time = c->time;
    r->rank = (int32_t)rank;
    r->kind = kind;
    c->time += 1.0 / 1048576;
    return r;
}

static void define(struct clog2_case *c) {
    static const struct {
        const char *name;
        int32_t value;
    } constants[] = {{"MPI_PROC_NULL", -2}, {"MPI_ANY_SOURCE", -1}, {"MPI_ANY_TAG", -1}};
    for (size_t i = 0; i < 3; i++) {
        hpcw_clog2_record *r = add(c, HPCW_CLOG2_CONST_DEF, 0);
        r->as.constant.name = constants[i].name;
        r->as.constant.value = constants[i].value;
    }
    static const char *const name[] = {"Compute", "Exchange"},
                             *const colour[] = {"navy blue", "DarkOliveGreen2"},
                             *const format[] = {NULL, "step=%d bytes=%l"};
    for (int32_t i = 0; i < 2; i++) {
        hpcw_clog2_record *r = add(c, HPCW_CLOG2_STATE_DEF, 0);
        r->as.state.state = 300 + i;
        r->as.state.start = 600 + 2 * i;
        r->as.state.end = 601 + 2 * i;
        r->as.state.name = name[i];
        r->as.state.colour = colour[i];
        r->as.state.format = format[i];
    }
    hpcw_clog2_record *r = add(c, HPCW_CLOG2_EVENT_DEF, 0);
    r->as.solo.event = 5000;
    r->as.solo.name = "Residual";
    r->as.solo.colour = "gray42";
    r->as.solo.format = "%E %s";
}

static void introduce(struct clog2_case *c, uint32_t rank) {
    static hpcw_clog2_comm_id id[64]; /* static: test programs have one thread */
    add(c, HPCW_CLOG2_TIME_SHIFT, rank)->as.shift = -0.0;
    for (uint32_t self = 0; self < 2; self++) {
        hpcw_clog2_record *r = add(c, HPCW_CLOG2_COMM_EVENT, rank);
        uint32_t index = self == 0 ? 0 : 1 + rank;
        identity(index, &id[index]);
        r->as.comm.event = self == 0 ? HPCW_CLOG2_WORLD_CREATE : HPCW_CLOG2_SELF_CREATE;
        r->as.comm.comm = (int32_t)index;
        r->as.comm.rank = self == 0 ? (int32_t)rank : 0;
        r->as.comm.world_rank = (int32_t)rank;
        r->as.comm.id = &id[index];
    }
}

static void message(struct clog2_case *c, int32_t event, uint32_t rank, uint32_t peer, uint32_t step) {
    hpcw_clog2_record *r = add(c, HPCW_CLOG2_MESSAGE, rank);
    r->as.message.event = event;
    r->as.message.peer_rank = (int32_t)peer;
    r->as.message.tag = (int32_t)(step % 10);
    r->as.message.size = (int32_t)(1000 + step);
}

static void one_step(struct clog2_case *c, uint32_t ranks, uint32_t step) {
    for (uint32_t r = 0; r < ranks; r++) {
        add(c, HPCW_CLOG2_BARE, r)->as.event = 600;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        add(c, HPCW_CLOG2_BARE, r)->as.event = 601;
        add(c, HPCW_CLOG2_BARE, r)->as.event = 602;
        message(c, HPCW_CLOG2_SEND, r, (r + 1) % ranks, step);
    }
    for (uint32_t r = 0; r < ranks; r++) {
        message(c, HPCW_CLOG2_RECEIVE, r, (r + ranks - 1) % ranks, step);
        hpcw_clog2_cargo cargo = {0};
        hpcw_clog2_cargo_i32(&cargo, (int32_t)step);
        hpcw_clog2_cargo_i64(&cargo, INT64_C(1) << 40);
        hpcw_clog2_record *e = add(c, HPCW_CLOG2_WITH_CARGO, r);
        e->as.cargo.event = 603;
        e->as.cargo.size = cargo.size;
        memcpy(e->as.cargo.bytes, cargo.bytes, cargo.size);
    }
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_f64(&cargo, 1.0 / (1 + step));
    hpcw_clog2_cargo_text(&cargo, "ok", 2);
    hpcw_clog2_record *e = add(c, HPCW_CLOG2_WITH_CARGO, step % ranks);
    e->as.cargo.event = 5000;
    e->as.cargo.size = cargo.size;
    memcpy(e->as.cargo.bytes, cargo.bytes, cargo.size);
}

void clog2_case_make(struct clog2_case *c, uint32_t ranks, uint32_t steps) {
    memset(c, 0, sizeof *c);
    hpcw_clog2_options_init(&c->options);
    c->options.ranks = ranks;
    c->options.states = 2;
    c->options.solos = 1;
    c->options.comms = 1 + ranks;
    c->options.comm_of = comm_of;
    c->options.durability = HPCW_SYNC_NONE;
    for (uint32_t r = 0; r < ranks; r++) {
        introduce(c, r);
    }
    define(c);
    for (uint32_t step = 0; step < steps; step++) {
        one_step(c, ranks, step);
    }
}

void clog2_case_free(struct clog2_case *c) {
    free(c->record);
}

hpcw_status clog2_case_slice(const struct clog2_case *c, hpcw_clog2 *log, size_t from, size_t to, bool place,
                             uint64_t first_block, uint64_t *blocks, hpcw_error *err) {
    hpcw_clog2_slice *slice;
    hpcw_status s = hpcw_clog2_slice_new(log, from, &slice, err);
    if (s == HPCW_OK && place) {
        s = hpcw_clog2_slice_place(slice, first_block, err);
    }
    /* Writes pieces of changing length, which must make no difference. */
    for (size_t i = from, n = 1; s == HPCW_OK && i < to; i += n, n = n % 1000 + 1) {
        n = to - i < n ? to - i : n;
        s = hpcw_clog2_slice_put(slice, c->record + i, n, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, to == c->count ? HPCW_CLOG2_LAST : c->record[to].time, err);
    }
    if (s == HPCW_OK && !place) {
        s = hpcw_clog2_slice_place(slice, first_block, err);
    }
    *blocks += hpcw_clog2_slice_blocks(slice);
    hpcw_clog2_slice_free(slice);
    return s;
}

hpcw_status clog2_case_write(const struct clog2_case *c, const char *path, size_t segments, hpcw_error *err) {
    hpcw_clog2 *log;
    hpcw_status s = hpcw_clog2_open(path, NULL, &c->options, &log, err);
    size_t step = segments == 0 ? c->count : segments * HPCW_CLOG2_SEGMENT;
    uint64_t blocks = 0;
    for (size_t from = 0; s == HPCW_OK && from < c->count; from += step) {
        size_t to = c->count - from < step ? c->count : from + step;
        s = clog2_case_slice(c, log, from, to, from / step % 2 == 0, blocks, &blocks, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_close(log, blocks, err);
    }
    hpcw_clog2_free(log);
    return s;
}
