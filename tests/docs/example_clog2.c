/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked example of doc/formats/clog2.md: one rank in three blocks of 256 bytes. */
#include <stdio.h>
#include <string.h>

#include <hpcw/clog2.h>

#include "libreader/clog2/clog2.h"
#include "tests/docs/example.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const hpcw_clog2_comm_id identity[2] = {
    {.random = 1, .created = 0.0, .host = "node0001"},
    {.random = 2, .created = 0.0, .host = "node0001"},
};

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    *entry = (hpcw_clog2_comm_entry){.id = identity[index], .index = (int32_t)index, .kind = 1};
}

static hpcw_status put_records(hpcw_clog2_slice *slice, hpcw_error *err) {
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_i32(&cargo, 7);
    hpcw_clog2_record record[] = {
        {.kind = HPCW_CLOG2_TIME_SHIFT, .as.shift = -0.0},
        {.kind = HPCW_CLOG2_COMM_EVENT, .as.comm = {HPCW_CLOG2_WORLD_CREATE, 0, 0, 0, &identity[0]}},
        {.kind = HPCW_CLOG2_COMM_EVENT, .as.comm = {HPCW_CLOG2_SELF_CREATE, 1, 0, 0, &identity[1]}},
        {.kind = HPCW_CLOG2_STATE_DEF, .as.state = {300, 600, 601, "blue", "Compute", "step %d"}},
        {.time = 0.25, .kind = HPCW_CLOG2_BARE, .as.event = 600},
        {.time = 0.5, .kind = HPCW_CLOG2_WITH_CARGO, .as.cargo = {.event = 601, .size = cargo.size}},
        {.time = 0.75, .kind = HPCW_CLOG2_MESSAGE, .as.message = {HPCW_CLOG2_SEND, 0, 0, 5, 100}},
        {.time = 1.0, .kind = HPCW_CLOG2_MESSAGE, .as.message = {HPCW_CLOG2_RECEIVE, 0, 0, 5, 100}},
    };
    memcpy(record[5].as.cargo.bytes, cargo.bytes, sizeof cargo.bytes);
    return hpcw_clog2_slice_put(slice, record, COUNT(record), err);
}

static hpcw_status write_log(const char *directory, hpcw_error *err) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/one_rank.clog2", directory);
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = 1;
    o.states = 1;
    o.block_size = 256;
    o.comms = 2;
    o.comm_of = comm_of;
    hpcw_clog2 *log = NULL;
    hpcw_clog2_slice *slice = NULL;
    hpcw_status s = hpcw_clog2_open(path, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_new(log, 0, &slice, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_place(slice, 0, err);
    }
    if (s == HPCW_OK) {
        s = put_records(slice, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_close(log, hpcw_clog2_slice_blocks(slice), err);
    }
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(log);
    return s;
}

static hpcw_status verify_log(const char *path, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_verify(reader, READ_CLOG2_STRICT, err);
        read_clog2_free(reader);
    }
    return s;
}

const struct docs_example docs_clog2[] = {
    {"clog2.md", "hex one_rank.clog2", write_log, verify_log},
    {NULL, NULL, NULL, NULL},
};
