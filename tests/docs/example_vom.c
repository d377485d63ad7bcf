/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked example of doc/formats/vom.md: the files of two ranks. */
#include <stdio.h>
#include <string.h>

#include <hpcw/vom.h>

#include "libreader/vom/set/verify.h"
#include "libreader/vom/vom.h"
#include "tests/docs/example.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const uint64_t collection = 7;

/* Element 0 of a rank, at position `rank` of the collection. */
static hpcw_vom_entity element(uint32_t rank) {
    static const uint64_t index[2] = {0, 1};
    return hpcw_vom_element(rank, 0, collection, &index[rank], 1);
}

static hpcw_status add_phase(hpcw_vom *v, uint32_t rank, uint64_t phase, hpcw_error *err) {
    static const uint64_t subphase_ns[2] = {200000000, 50000000};
    const hpcw_vom_value value[] = {{.key = "task_footprint_bytes", .number = 1048576, .type = HPCW_VOM_FLOAT}};
    const hpcw_vom_task task[] = {
        {.entity = element(rank),
         .whole_ns = true,
         .time_ns = 250000000,
         .subphase_ns = subphase_ns,
         .subphases = 2,
         .values = value,
         .value_count = COUNT(value)},
        {.entity = hpcw_vom_handler(rank)},
        {.entity = hpcw_vom_nobody()},
    };
    const hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                                .from = hpcw_vom_far(hpcw_vom_element_id(1 - rank, 0, true)),
                                .to = element(rank),
                                .bytes = 4096,
                                .messages = 2};
    hpcw_status s = hpcw_vom_begin_phase(v, phase, err);
    if (s == HPCW_OK && rank == 1) {
        s = hpcw_vom_edge_add(v, &edge, err);
    }
    for (size_t i = 0; s == HPCW_OK && i < (phase == 0 ? COUNT(task) : 1); i++) {
        s = hpcw_vom_task_add(v, &task[i], err);
    }
    return s == HPCW_OK ? hpcw_vom_end_phase(v, NULL, 0, err) : s;
}

static hpcw_status write_rank(const char *directory, uint32_t rank, hpcw_error *err) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/data.%u.json", directory, rank);
    const hpcw_vom_range skipped = {1, 1};
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.rank = rank;
    o.ranks = 2;
    o.node = hpcw_vom_node_of(2, 2, rank);
    o.skipped = &skipped;
    o.skipped_count = 1;
    o.check = true;
    hpcw_vom *v = NULL;
    hpcw_status s = hpcw_vom_open(path, &o, &v, err);
    for (uint64_t phase = 0; s == HPCW_OK && phase <= 2; phase += 2) {
        s = add_phase(v, rank, phase, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_vom_close(v, err);
    }
    hpcw_vom_free(v);
    return s;
}

static hpcw_status write_set(const char *directory, hpcw_error *err) {
    hpcw_status s = write_rank(directory, 0, err);
    return s == HPCW_OK ? write_rank(directory, 1, err) : s;
}

/* Verifies a file and the set it belongs to. */
static hpcw_status verify_set(const char *path, hpcw_error *err) {
    char directory[1024];
    (void)snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    hpcw_status s = read_vom_verify(path, READ_VOM_STRICT, err);
    return s == HPCW_OK ? read_vom_verify_directory(directory, READ_VOM_STRICT, 0, err) : s;
}

const struct docs_example docs_vom[] = {
    {"vom.md", "json data.0.json", write_set, verify_set},
    {"vom.md", "json data.1.json", write_set, verify_set},
    {NULL, NULL, NULL, NULL},
};
