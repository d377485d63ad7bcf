/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast integers and JSON come out. Usage: numfmt_time [FILE]
 *
 * The JSON is one rank's load-balancing file as vt writes it: 100 000 tasks with two subphases and 300 000
 * edges. It goes to a null sink and, if FILE is given, there (the file is removed again). Every figure is the
 * median of nine runs on one core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/measure/random.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/io/json.h"

#define RUNS 9
#define NUMBERS ((size_t)1 << 16)
#define TASKS UINT64_C(100000)
#define EDGES UINT64_C(300000)

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double times[RUNS]) {
    qsort(times, RUNS, sizeof times[0], ascending);
    return times[RUNS / 2];
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static size_t total; /* keeps the work from being optimised away */

static void time_integers(unsigned shift) {
    double times[RUNS];
    char text[HPCW_I_FMT_ROOM];
    for (int run = 0; run < RUNS; run++) {
        uint64_t state = 1;
        double start = seconds();
        for (size_t i = 0; i < NUMBERS; i++) {
            total += (size_t)(hpcw_i_fmt_u64(text, bench_random(&state) >> shift) - text);
        }
        times[run] = seconds() - start;
    }
    printf("integer of %2u bits          %6.1f ns (drawing included)\n", 64 - shift,
           median(times) / (double)NUMBERS * 1e9);
}

/* ---- JSON, call by call ---------------------------------------------------------------------------------- */

static void put_entity(struct hpcw_i_json *j, uint64_t element, bool local) {
    hpcw_i_json_begin_object(j);
    if (local) {
        hpcw_i_json_put_u64(j, "collection_id", 7);
    }
    hpcw_i_json_put_u64(j, "home", element % 4096);
    hpcw_i_json_put_u64(j, "id", (element / 4096 + 1) << 18 | (element % 4096) << 2 | 3);
    if (local) {
        hpcw_i_json_key(j, "index");
        hpcw_i_json_begin_array(j);
        hpcw_i_json_u64(j, element);
        hpcw_i_json_end_array(j);
    }
    hpcw_i_json_put_bool(j, "migratable", true);
    hpcw_i_json_put_str(j, "type", "object");
    hpcw_i_json_end_object(j);
}

static void put_task(struct hpcw_i_json *j, uint64_t element, uint64_t time_ns) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "entity");
    put_entity(j, element, true);
    hpcw_i_json_put_u64(j, "node", 17);
    hpcw_i_json_put_str(j, "resource", "cpu");
    hpcw_i_json_key(j, "subphases");
    hpcw_i_json_begin_array(j);
    for (uint64_t k = 0; k < 2; k++) {
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "id", k);
        hpcw_i_json_put_seconds(j, "time", k == 0 ? time_ns / 3 : time_ns - time_ns / 3);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_put_seconds(j, "time", time_ns);
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

/* ---- JSON, the edges as reserved records ----------------------------------------------------------------- */

static char *copy(char *p, const char *literal, size_t size) {
    memcpy(p, literal, size);
    return p + size;
}
#define COPY(p, literal) copy(p, literal, sizeof literal - 1)

static void reserve_edge(struct hpcw_i_json *j, uint64_t from, uint64_t to, double bytes) {
    char *p = hpcw_i_json_reserve(j, 512);
    if (p == NULL) {
        return;
    }
    p = COPY(p, "{\"bytes\":");
    p = hpcw_i_fmt_f64(p, bytes, HPCW_I_FLOAT_JSON);
    p = COPY(p, ",\"from\":{\"home\":");
    p = hpcw_i_fmt_u64(p, from % 4096);
    p = COPY(p, ",\"id\":");
    p = hpcw_i_fmt_u64(p, (from / 4096 + 1) << 18 | (from % 4096) << 2 | 3);
    p = COPY(p, ",\"migratable\":true,\"type\":\"object\"},\"messages\":");
    p = hpcw_i_fmt_u64(p, 1);
    p = COPY(p, ",\"to\":{\"collection_id\":");
    p = hpcw_i_fmt_u64(p, 7);
    p = COPY(p, ",\"home\":");
    p = hpcw_i_fmt_u64(p, to % 4096);
    p = COPY(p, ",\"id\":");
    p = hpcw_i_fmt_u64(p, (to / 4096 + 1) << 18 | (to % 4096) << 2 | 3);
    p = COPY(p, ",\"index\":[");
    p = hpcw_i_fmt_u64(p, to);
    p = COPY(p, "],\"migratable\":true,\"type\":\"object\"},\"type\":\"SendRecv\"}");
    hpcw_i_json_commit(j, p);
}

/* ---- Both, to a sink ------------------------------------------------------------------------------------- */

typedef void put_edge_fn(struct hpcw_i_json *j, uint64_t from, uint64_t to, double bytes);

static hpcw_status write_text(hpcw_sink *sink, put_edge_fn *edge, uint64_t *size, hpcw_error *err) {
    struct hpcw_i_json j;
    uint64_t state = 1;
    hpcw_i_json_open_sink(&j, sink, NULL);
    hpcw_i_json_begin_object(&j);
    hpcw_i_json_key(&j, "communications");
    hpcw_i_json_begin_array(&j);
    for (uint64_t i = 0; i < EDGES; i++) {
        uint64_t r = bench_random(&state);
        edge(&j, r % (TASKS * 4096), r >> 32, (double)(r % 100000));
    }
    hpcw_i_json_end_array(&j);
    hpcw_i_json_key(&j, "tasks");
    hpcw_i_json_begin_array(&j);
    for (uint64_t i = 0; i < TASKS; i++) {
        put_task(&j, i * 4096 + 17, bench_random(&state) % 1000000000);
    }
    hpcw_i_json_end_array(&j);
    hpcw_i_json_end_object(&j);
    hpcw_status status = hpcw_i_json_finish(&j, err);
    *size = hpcw_i_json_size(&j);
    return status;
}

static hpcw_status time_json(const char *path, put_edge_fn *edge, const char *name, hpcw_error *err) {
    double times[RUNS];
    uint64_t size = 0;
    for (int run = 0; run < RUNS; run++) {
        hpcw_sink *sink = NULL;
        hpcw_status status = path != NULL ? hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err)
                                          : hpcw_sink_open_null(&sink, err);
        if (status == HPCW_OK) {
            double start = seconds();
            status = write_text(sink, edge, &size, err);
            times[run] = seconds() - start;
        }
        hpcw_sink_free(sink);
        if (status != HPCW_OK) {
            return status;
        }
    }
    printf("JSON, %s to %-9s %6.2f GB/s (%.1f MB)\n", name, path != NULL ? "the file" : "null",
           (double)size / median(times) * 1e-9, (double)size * 1e-6);
    return HPCW_OK;
}

int main(int argc, char **argv) {
    for (unsigned shift = 0; shift < 64; shift += 20) {
        time_integers(shift);
    }
    hpcw_error error;
    hpcw_status status = HPCW_OK;
    for (int i = 0; i < (argc > 1 ? 2 : 1) && status == HPCW_OK; i++) {
        const char *path = i == 0 ? NULL : argv[1];
        status = time_json(path, put_edge, "call by call    ", &error);
        if (status == HPCW_OK) {
            status = time_json(path, reserve_edge, "edges as records", &error);
        }
    }
    if (status != HPCW_OK) {
        fprintf(stderr, "numfmt_time: %s\n", error.message);
        return EXIT_FAILURE;
    }
    return total == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
