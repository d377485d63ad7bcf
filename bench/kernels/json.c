/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel for JSON output. Each record is an edge of load-balancing data. One variant writes a record member by
 * member, the other one reserves space for the whole record and fills it. */
#include <inttypes.h>
#include <string.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/random.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

enum { EDGES = 300000, ELEMENTS = 409600000, RECORD = 512 };

typedef void put_edge_fn(struct hpcw_i_json *j, uint64_t from, uint64_t to, double bytes);

struct json_work {
    struct bench_common common;
    uint64_t edges;
    uint64_t size; /* size of the last run's text */
};

static hpcw_status json_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    (void)parameter;
    (void)err;
    struct json_work *w = work;
    w->edges = bench_scaled(w->common.place, EDGES, 0) + 1;
    *amount = (struct bench_amount){.items = w->edges};
    return HPCW_OK;
}

static uint64_t element_id(uint64_t element) {
    return (element / 4096 + 1) << 18 | (element % 4096) << 2 | 3;
}

/* ---- a record written member by member ---- */

static void put_entity(struct hpcw_i_json *j, uint64_t element, bool local) {
    hpcw_i_json_begin_object(j);
    if (local) {
        hpcw_i_json_put_u64(j, "collection_id", 7);
    }
    hpcw_i_json_put_u64(j, "home", element % 4096);
    hpcw_i_json_put_u64(j, "id", element_id(element));
    if (local) {
        hpcw_i_json_key_array(j, "index");
        hpcw_i_json_u64(j, element);
        hpcw_i_json_end_array(j);
    }
    hpcw_i_json_put_bool(j, "migratable", true);
    hpcw_i_json_put_str(j, "type", "object");
    hpcw_i_json_end_object(j);
}

static void put_edge(struct hpcw_i_json *j, uint64_t from, uint64_t to, double bytes) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_f64(j, "bytes", bytes);
    hpcw_i_json_key(j, "from");
    put_entity(j, from, false);
    hpcw_i_json_put_u64(j, "messages", 1);
    hpcw_i_json_key(j, "to");
    put_entity(j, to, true);
    hpcw_i_json_put_str(j, "type", "SendRecv");
    hpcw_i_json_end_object(j);
}

/* ---- a record written into reserved space ---- */

static char *copy(char *p, const char *literal, size_t size) {
    memcpy(p, literal, size);
    return p + size;
}
#define COPY(p, literal) copy(p, literal, sizeof literal - 1)

static void reserve_edge(struct hpcw_i_json *j, uint64_t from, uint64_t to, double bytes) {
    char *p = hpcw_i_json_reserve(j, RECORD);
    if (p == NULL) {
        return;
    }
    p = COPY(p, "{\"bytes\":");
    p = hpcw_i_fmt_f64(p, bytes, HPCW_I_FLOAT_JSON);
    p = COPY(p, ",\"from\":{\"home\":");
    p = hpcw_i_fmt_u64(p, from % 4096);
    p = COPY(p, ",\"id\":");
    p = hpcw_i_fmt_u64(p, element_id(from));
    p = COPY(p, ",\"migratable\":true,\"type\":\"object\"},\"messages\":");
    p = hpcw_i_fmt_u64(p, 1);
    p = COPY(p, ",\"to\":{\"collection_id\":");
    p = hpcw_i_fmt_u64(p, 7);
    p = COPY(p, ",\"home\":");
    p = hpcw_i_fmt_u64(p, to % 4096);
    p = COPY(p, ",\"id\":");
    p = hpcw_i_fmt_u64(p, element_id(to));
    p = COPY(p, ",\"index\":[");
    p = hpcw_i_fmt_u64(p, to);
    p = COPY(p, "],\"migratable\":true,\"type\":\"object\"},\"type\":\"SendRecv\"}");
    hpcw_i_json_commit(j, p);
}

/* ---- all edges, written to a sink that discards its bytes ---- */

static hpcw_status write_edges(struct json_work *w, put_edge_fn *put, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = hpcw_sink_open_null(&sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_json j;
    uint64_t random = 1;
    hpcw_i_json_open_sink(&j, sink, NULL);
    hpcw_i_json_begin_array(&j);
    for (uint64_t i = 0; i < w->edges; i++) {
        uint64_t r = bench_random(&random);
        put(&j, r % ELEMENTS, r >> 32, (double)(r % 100000));
    }
    hpcw_i_json_end_array(&j);
    s = hpcw_i_json_finish(&j, err);
    uint64_t size = hpcw_i_json_size(&j);
    if (s == HPCW_OK && w->size != 0 && w->size != size) {
        s = hpcw_i_fail(err, HPCW_ECHECKSUM,
                        "both ways to write an edge: expected the same size, got %" PRIu64 " and %" PRIu64,
                        w->size, size);
    }
    w->size = size;
    hpcw_i_json_free(&j);
    hpcw_sink_free(sink);
    return s;
}

static hpcw_status by_member(void *work, hpcw_error *err) {
    return write_edges(work, put_edge, err);
}

static hpcw_status by_record(void *work, hpcw_error *err) {
    return write_edges(work, reserve_edge, err);
}

static const struct bench_side sides[] = {
    {.name = "record", .what = "each edge in reserved memory", .phase = {BENCH_PHASE("write", by_record)}},
    {.name = "members", .what = "a call for each member", .phase = {BENCH_PHASE("write", by_member)}},
};

static const struct bench_figure figures[] = {
    {"record / members", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 0, false},
    {"record, an edge", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"members, an edge", BENCH_PER_ITEM, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_json_records = {
    .name = "json-records",
    .what = "300 000 edges as JSON that goes nowhere",
    .needs = BENCH_ONE_PROCESS,
    .size = sizeof(struct json_work),
    .setup = json_setup,
    .subject = {BENCH_ROWS(sides), NULL},
    BENCH_FIGURES(figures),
};
