/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that calls produce: layout, metadata, order of keys, disabled phases, and what some readers misread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/vom.h>

#include "tests/support/brotli_text.h"
#include "tests/support/files.h"
#include "tests/support/json_tree.h"
#include "tests/support/vom_memory.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void begin(hpcw_vom *v, uint64_t phase) {
    hpcw_error err;
    vom_ok(hpcw_vom_begin_phase(v, phase, &err), &err);
}

static void end(hpcw_vom *v) {
    hpcw_error err;
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
}

static void add_task(hpcw_vom *v, const hpcw_vom_task *task) {
    hpcw_error err;
    vom_ok(hpcw_vom_task_add(v, task, &err), &err);
}

static void add_edge(hpcw_vom *v, const hpcw_vom_edge *edge) {
    hpcw_error err;
    vom_ok(hpcw_vom_edge_add(v, edge, &err), &err);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static void smallest(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(1, 0);
    begin(v, 0);
    add_edge(v, &edge);
    add_task(v, &task);
    end(v);
    char want[2048];
    int n = snprintf(want, sizeof want, "{\"communications\":[%s],", vom_edge_text(1, 0));
    (void)snprintf(want + n, sizeof want - (size_t)n, "\"id\":0,\"tasks\":[%s]}", vom_task_text(0));
    vom_expect(v, &memory, want);
}

static void nothing_at_all(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_vom *v = vom_open(&o);
    vom_expect(v, &memory, "");

    v = vom_open(&o);
    begin(v, 0);
    end(v);
    begin(v, 1);
    end(v);
    vom_expect(v, &memory, "{\"id\":0,\"tasks\":[]},{\"id\":1,\"tasks\":[]}");
}

static void every_field_of_a_task(void **state) {
    (void)state;
    static const uint64_t index[3] = {0, UINT64_MAX, 18};
    static const double seconds[3] = {0.1, 0, 1e-5};
    static const uint64_t ns[2] = {1500000000, 1};
    static const hpcw_vom_value attributes[] = {{.key = "level", .integer = -3},
                                                {.key = "a\"b", .type = HPCW_VOM_TEXT, .text = "\xc3\xa4\n"},
                                                {.key = "weight", .type = HPCW_VOM_FLOAT, .number = -1}};
    static const hpcw_vom_value values[] = {
        {.key = "shared_id", .integer = INT64_MAX},
        {.key = "bytes", .type = HPCW_VOM_FLOAT, .number = 1e15},
        {.key = "far", .type = HPCW_VOM_BOOLEAN},
        {.key = "near", .type = HPCW_VOM_BOOLEAN, .integer = 1},
        {.key = "deep", .type = HPCW_VOM_JSON, .text = " [ {\"a b\" : null}\n] "}};
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 2, 4);
    o.allow = HPCW_VOM_ALLOW_UNEVEN_SUBPHASES | HPCW_VOM_ALLOW_TEXT_VALUES;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = {.entity = hpcw_vom_element(3, 0, 524295, index, 3),
                          .time_s = 0.30000000000000004,
                          .subphase_s = seconds,
                          .subphases = 3,
                          .resource = "gpu",
                          .attributes = attributes,
                          .attribute_count = 3,
                          .values = values,
                          .value_count = 5};
    begin(v, 0);
    add_task(v, &task);
    hpcw_vom_task plain = {.entity = hpcw_vom_element(2, 1, 7, index, 1),
                           .whole_ns = true,
                           .time_ns = 1500000001,
                           .subphase_ns = ns,
                           .subphases = 2};
    add_task(v, &plain);
    hpcw_vom_task group = {.entity = hpcw_vom_group(7, 2, true), .time_s = -0.0};
    add_task(v, &group);
    hpcw_vom_task handler = {.entity = hpcw_vom_handler(2)};
    add_task(v, &handler);
    hpcw_vom_task nobody = {.entity = hpcw_vom_nobody(), .whole_ns = true};
    add_task(v, &nobody);
    end(v);
    vom_expect(
        v, &memory,
        "{\"id\":0,\"tasks\":[{\"attributes\":{\"a\\\"b\":\"\\u00e4\\n\",\"level\":-3,\"weight\":-1.0},"
        "\"entity\":{\"collection_id\":524295,\"home\":3,\"id\":262159,\"index\":[0,18446744073709551615,18],"
        "\"migratable\":true,\"type\":\"object\"},\"node\":2,\"resource\":\"gpu\",\"subphases\":["
        "{\"id\":0,\"time\":0.1},{\"id\":1,\"time\":0.0},{\"id\":2,\"time\":1e-05}],"
        "\"time\":0.30000000000000004,\"user_defined\":{\"bytes\":1e+15,\"deep\":[{\"a "
        "b\":null}],\"far\":false,\"near\":true,\"shared_"
        "id\":9223372036854775807}},"
        "{\"entity\":{\"collection_id\":7,\"home\":2,\"id\":524299,\"index\":[0],\"migratable\":true,"
        "\"type\":\"object\"},\"node\":2,\"resource\":\"cpu\",\"subphases\":[{\"id\":0,\"time\":1.5},"
        "{\"id\":1,\"time\":0.000000001}],\"time\":1.500000001},"
        "{\"entity\":{\"home\":2,\"id\":7340076,\"migratable\":false,\"objgroup_id\":1835011,\"type\":"
        "\"object\"},"
        "\"node\":2,\"resource\":\"cpu\",\"time\":0.0},"
        "{\"entity\":{\"home\":2,\"id\":9,\"migratable\":false,\"type\":\"object\"},\"node\":2,"
        "\"resource\":\"cpu\",\"time\":0.0},"
        "{\"entity\":{\"home\":0,\"id\":0,\"migratable\":false,\"type\":\"object\"},\"node\":2,"
        "\"resource\":\"cpu\",\"time\":0.0}]}");
}

#define OBJECT "{\"home\":0,\"id\":262147,\"migratable\":true,\"type\":\"object\"}"

static void every_category(void **state) {
    (void)state;
    static const struct {
        hpcw_vom_category category;
        const char *text;
    } rows[] = {
        {HPCW_VOM_SEND_RECV,
         "\"from\":" OBJECT ",\"messages\":18446744073709551615,\"to\":" OBJECT ",\"type\":\"SendRecv\"}"},
        {HPCW_VOM_COLLECTION_TO_NODE, "\"from\":" OBJECT ",\"messages\":18446744073709551615,\"to\":{\"id\":12,"
                                      "\"type\":\"node\"},\"type\":\"CollectionToNode\"}"},
        {HPCW_VOM_NODE_TO_COLLECTION,
         "\"from\":{\"id\":12,\"type\":\"node\"},\"messages\":18446744073709551615,\"to\":" OBJECT
         ",\"type\":\"NodeToCollection\"}"},
        {HPCW_VOM_BROADCAST,
         "\"from\":" OBJECT ",\"messages\":18446744073709551615,\"to\":" OBJECT ",\"type\":\"Broadcast\"}"},
        {HPCW_VOM_COLLECTION_TO_NODE_BCAST,
         "\"from\":" OBJECT ",\"messages\":18446744073709551615,\"to\":{\"id\":12,\"type\":"
         "\"node\"},\"type\":\"CollectionToNodeBcast\"}"},
        {HPCW_VOM_NODE_TO_COLLECTION_BCAST,
         "\"from\":{\"id\":12,\"type\":\"node\"},\"messages\":18446744073709551615,\"to\":" OBJECT
         ",\"type\":\"NodeToCollectionBcast\"}"},
        {HPCW_VOM_WRITE_SHARED,
         "\"from\":{\"id\":2147483647,\"type\":\"shared_id\"},\"messages\":18446744073709551615,\"to\":{"
         "\"id\":12,\"type\":\"node\"},\"type\":\"WriteShared\"}"},
        {HPCW_VOM_READ_ONLY_SHARED,
         "\"from\":{\"id\":2147483647,\"type\":\"shared_id\"},\"messages\":18446744073709551615,\"to\":"
         "{\"id\":12,\"type\":\"node\"},\"type\":\"ReadOnlyShared\"}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct vom_memory memory = {0};
        hpcw_vom_options o = vom_options(&memory, 0, 13);
        hpcw_vom *v = vom_open(&o);
        hpcw_vom_edge edge = {.category = rows[i].category,
                              .from = hpcw_vom_far(262147),
                              .to = hpcw_vom_far(262147),
                              .node = 12,
                              .shared_id = INT32_MAX,
                              .bytes = -0.0,
                              .messages = UINT64_MAX};
        char want[1024];
        begin(v, 0);
        add_edge(v, &edge);
        end(v);
        (void)snprintf(want, sizeof want, "{\"communications\":[{\"bytes\":0.0,%s],\"id\":0,\"tasks\":[]}",
                       rows[i].text);
        vom_expect(v, &memory, want);
    }
}

/* Records larger than what the writer assembles at once: dimensions, subphases, values. */
static void large_records(void **state) {
    (void)state;
    static uint64_t index[HPCW_VOM_MAX_DIMENSIONS];
    static double subphases[HPCW_VOM_MAX_SUBPHASES];
    static hpcw_vom_value values[500];
    static char keys[500][8];
    char *text = malloc(1000000);
    assert_non_null(text);
    memset(text, 'x', 999999);
    text[999999] = '\0';
    memset(index, 0xff, sizeof index);
    for (size_t i = 0; i < COUNT(subphases); i++) {
        subphases[i] = 2.2250738585072014e-308;
    }
    for (size_t i = 0; i < COUNT(values); i++) {
        (void)snprintf(keys[i], sizeof keys[i], "k%03zu", (i * 7) % 500);
        values[i] = (hpcw_vom_value){.key = keys[i], .type = HPCW_VOM_TEXT, .text = i == 0 ? text : keys[i]};
    }
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.allow = HPCW_VOM_ALLOW_TEXT_VALUES;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = {.entity = hpcw_vom_element(0, 0, 7, index, HPCW_VOM_MAX_DIMENSIONS),
                          .time_s = 1.7976931348623157e+308,
                          .subphase_s = subphases,
                          .subphases = HPCW_VOM_MAX_SUBPHASES,
                          .values = values,
                          .value_count = COUNT(values)};
    hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV, .from = task.entity, .to = task.entity};
    hpcw_error err;
    begin(v, 0);
    for (int i = 0; i < 200; i++) {
        add_edge(v, &edge);
    }
    add_task(v, &task);
    end(v);
    vom_ok(hpcw_vom_close(v, &err), &err);
    size_t size = 0;
    const char *got = hpcw_sink_memory_data(memory.sink, &size);
    struct json_tree *tree = json_parse(got, size);
    assert_non_null(tree);
    const struct json_tree *phase = json_get(tree, "phases")->child;
    assert_int_equal(json_get(phase, "communications")->count, 200);
    const struct json_tree *t = json_get(phase, "tasks")->child;
    assert_int_equal(json_get(t, "subphases")->count, HPCW_VOM_MAX_SUBPHASES);
    assert_int_equal(json_get(json_get(t, "entity"), "index")->count, HPCW_VOM_MAX_DIMENSIONS);
    assert_true(json_f64(t, "time") == 1.7976931348623157e+308);
    const struct json_tree *value = json_get(t, "user_defined")->child;
    assert_string_equal(value->text, text);
    for (size_t i = 0; i < COUNT(values); i++, value = value->next) {
        char key[8];
        (void)snprintf(key, sizeof key, "k%03zu", i);
        assert_string_equal(value->key, key);
    }
    json_free(tree);
    hpcw_vom_free(v);
    free(text);
}

/* ---- Metadata -------------------------------------------------------------------------------------------- */

static void expect_metadata(const hpcw_vom_options *o, const struct vom_memory *memory, const char *want) {
    hpcw_error err;
    hpcw_vom *v = vom_open(o);
    if (o->identical_count > 0) {
        begin(v, 0); /* phase 0, to which the next is identical */
        end(v);
    }
    vom_ok(hpcw_vom_close(v, &err), &err);
    char text[1024];
    int n = snprintf(text, sizeof text, "{\"metadata\":{%s},\"phases\":[%s]}", want,
                     o->identical_count > 0 ? "{\"id\":0,\"tasks\":[]}" : "");
    size_t size = 0;
    const char *got = hpcw_sink_memory_data(memory->sink, &size);
    if (size != (size_t)n || memcmp(got, text, size) != 0) {
        fail_msg("wanted %s\ngot    %.*s", text, (int)size, got);
    }
    hpcw_vom_free(v);
}

#define NO_PHASES                                                                                              \
    "\"phases\":{\"identical_to_previous\":{\"list\":[],\"range\":[]},\"skipped\":{\"list\":[],\"range\":[]}}"

static void metadata(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 5, 8);
    expect_metadata(&o, &memory,
                    NO_PHASES ",\"rank\":5,\"shared_node\":{\"id\":5,\"num_nodes\":8,\"rank\":0,\"size\":1},"
                              "\"type\":\"LBDatafile\"");
    static const hpcw_vom_value attributes[] = {{.key = "b", .type = HPCW_VOM_TEXT, .text = "x"},
                                                {.key = "a", .type = HPCW_VOM_FLOAT, .number = 2}};
    static const hpcw_vom_range skipped[] = {{2, 3}, {4, 4}, {9, 9}, {11, 12}};
    static const hpcw_vom_range identical[] = {{1, 1}, {7, 7}, {8, 8}, {20, UINT64_MAX - 1}};
    o.node = hpcw_vom_node_of(8, 4, 5);
    o.attributes = attributes;
    o.attribute_count = 2;
    o.skipped = skipped;
    o.skipped_count = COUNT(skipped);
    o.identical = identical;
    o.identical_count = COUNT(identical);
    o.phase_count = UINT64_MAX;
    o.allow = HPCW_VOM_ALLOW_GAPS;
    o.has_rank_alpha = true;
    o.rank_alpha = 1;
    expect_metadata(&o, &memory,
                    "\"attributes\":{\"a\":2.0,\"b\":\"x\"},\"phases\":{\"count\":18446744073709551615,"
                    "\"identical_to_previous\":{\"list\":[1],\"range\":[[7,8],[20,18446744073709551614]]},"
                    "\"skipped\":{\"list\":[9],\"range\":[[2,4],[11,12]]}},\"rank\":5,\"rank_alpha\":1.0,"
                    "\"shared_node\":{\"id\":1,\"num_nodes\":2,\"rank\":1,\"size\":4},\"type\":\"LBDatafile\"");
}

/* ---- Orders ---------------------------------------------------------------------------------------------- */

static void tasks_first(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.allow = HPCW_VOM_ALLOW_TASKS_FIRST;
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(1, 0);
    hpcw_error err;
    begin(v, 0);
    add_task(v, &task);
    add_edge(v, &edge);
    vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_ESTATE, &err, "got a task after the edges");
    end(v);
    char want[2048];
    int n = snprintf(want, sizeof want, "{\"id\":0,\"tasks\":[%s],", vom_task_text(0));
    (void)snprintf(want + n, sizeof want - (size_t)n, "\"communications\":[%s]}", vom_edge_text(1, 0));
    vom_expect(v, &memory, want);
}

static void iterations_last(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.allow = HPCW_VOM_ALLOW_TASKS_FIRST;
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(0, 0);
    hpcw_error err;
    begin(v, 0); /* the order of LBAF */
    add_task(v, &task);
    add_edge(v, &edge);
    for (uint64_t id = 0; id < 2; id++) {
        vom_ok(hpcw_vom_begin_iteration(v, id, &err), &err);
        add_task(v, &task);
        add_edge(v, &edge);
        vom_ok(hpcw_vom_end_iteration(v, NULL, 0, &err), &err);
    }
    vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_ESTATE, &err, "got a task after the iterations");
    vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_ESTATE, &err, "got an edge after an iteration");
    end(v);
    begin(v, 1);
    vom_ok(hpcw_vom_begin_iteration(v, 0, &err), &err);
    vom_ok(hpcw_vom_end_iteration(v, NULL, 0, &err), &err);
    add_task(v, &task);
    vom_refused(hpcw_vom_begin_iteration(v, 1, &err), HPCW_ESTATE, &err,
                "expected all iterations before the tasks, or all after them");
    end(v);
    char want[8192];
    char e[1024];
    char t[512];
    (void)snprintf(e, sizeof e, "%s", vom_edge_text(0, 0));
    (void)snprintf(t, sizeof t, "%s", vom_task_text(0));
    (void)snprintf(want, sizeof want,
                   "{\"id\":0,\"tasks\":[%s],\"communications\":[%s],\"lb_iterations\":["
                   "{\"id\":0,\"tasks\":[%s],\"communications\":[%s]},"
                   "{\"id\":1,\"tasks\":[%s],\"communications\":[%s]}]},"
                   "{\"id\":1,\"lb_iterations\":[{\"id\":0,\"tasks\":[]}],\"tasks\":[%s]}",
                   t, e, t, e, t, e, t);
    vom_expect(v, &memory, want);
}

static void iterations(void **state) {
    (void)state;
    static const hpcw_vom_value value = {.key = "imbalance", .type = HPCW_VOM_FLOAT, .number = 0.5};
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.check = true; /* the check does not affect iterations */
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(0, 0);
    hpcw_error err;
    begin(v, 0);
    add_edge(v, &edge);
    vom_ok(hpcw_vom_begin_iteration(v, 0, &err), &err);
    add_edge(v, &edge);
    add_task(v, &task);
    vom_ok(hpcw_vom_end_iteration(v, &value, 1, &err), &err);
    vom_ok(hpcw_vom_begin_iteration(v, 2, &err), &err);
    vom_refused(hpcw_vom_begin_iteration(v, 3, &err), HPCW_ESTATE, &err, "expected the end of an iteration");
    vom_refused(hpcw_vom_end_phase(v, NULL, 0, &err), HPCW_ESTATE, &err, "expected the end of iteration 2");
    vom_ok(hpcw_vom_end_iteration(v, NULL, 0, &err), &err);
    vom_refused(hpcw_vom_begin_iteration(v, 2, &err), HPCW_EINVAL, &err,
                "expected an iteration above 2, got 2");
    vom_refused(hpcw_vom_end_iteration(v, NULL, 0, &err), HPCW_ESTATE, &err, "expected an open iteration");
    vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_ESTATE, &err, "got an edge after an iteration");
    add_task(v, &task);
    vom_refused(hpcw_vom_begin_iteration(v, 3, &err), HPCW_ESTATE, &err,
                "expected iterations before the tasks");
    end(v);
    begin(v, 1);
    vom_ok(hpcw_vom_begin_iteration(v, 0, &err), &err);
    vom_ok(hpcw_vom_end_iteration(v, NULL, 0, &err), &err);
    end(v);
    char want[4096];
    char e[1024];
    char t[512];
    (void)snprintf(e, sizeof e, "%s", vom_edge_text(0, 0));
    (void)snprintf(t, sizeof t, "%s", vom_task_text(0));
    (void)snprintf(
        want, sizeof want,
        "{\"communications\":[%s],\"id\":0,\"lb_iterations\":[{\"communications\":[%s],\"id\":0,\"tasks\":[%s],"
        "\"user_defined\":{\"imbalance\":0.5}},{\"id\":2,\"tasks\":[]}],\"tasks\":[%s]},"
        "{\"id\":1,\"lb_iterations\":[{\"id\":0,\"tasks\":[]}],\"tasks\":[]}",
        e, e, t, t);
    vom_expect(v, &memory, want);
}

static void phase_values(void **state) {
    (void)state;
    static const hpcw_vom_value values[] = {{.key = "step", .integer = 10},
                                            {.key = "name", .type = HPCW_VOM_TEXT, .text = "x"}};
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.allow = HPCW_VOM_ALLOW_PHASE_VALUES;
    hpcw_vom *v = vom_open(&o);
    hpcw_error err;
    begin(v, 0);
    vom_ok(hpcw_vom_end_phase(v, values, 2, &err), &err);
    vom_expect(v, &memory, "{\"id\":0,\"tasks\":[],\"user_defined\":{\"name\":\"x\",\"step\":10}}");
}

static void switched_off(void **state) {
    (void)state;
    static const char text[] = "%3\n";
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_vom_spec *spec = NULL;
    hpcw_error err;
    vom_ok(hpcw_vom_spec_parse("spec", text, sizeof text - 1, &spec, &err), &err);
    o.spec = spec;
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(0, 0);
    for (uint64_t phase = 0; phase < 5; phase++) {
        begin(v, phase);
        add_edge(v, &edge);
        vom_ok(hpcw_vom_begin_iteration(v, 0, &err), &err);
        add_task(v, &task);
        vom_ok(hpcw_vom_end_iteration(v, NULL, 0, &err), &err);
        add_task(v, &task);
        /* A phase that is not written is checked, too. */
        vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_EINVAL, &err, "again");
        end(v);
    }
    char want[4096] = "";
    for (int phase = 0; phase < 5; phase += 3) {
        size_t n = strlen(want);
        n += (size_t)snprintf(want + n, sizeof want - n, "%s{\"communications\":[%s],\"id\":%d,",
                              phase == 0 ? "" : ",", vom_edge_text(0, 0), phase);
        n += (size_t)snprintf(want + n, sizeof want - n, "\"lb_iterations\":[{\"id\":0,\"tasks\":[%s]}],",
                              vom_task_text(0));
        (void)snprintf(want + n, sizeof want - n, "\"tasks\":[%s]}", vom_task_text(0));
    }
    vom_expect(v, &memory, want);
    hpcw_vom_spec_free(spec);
}

/* ---- Containers ------------------------------------------------------------------------------------------ */

/* Writes a file whose text has `size` bytes, by the length of a value. Returns the bytes of the file. */
static unsigned char *write_sized(const char *path, hpcw_vom_content content, size_t size, size_t *text_size) {
    static char filler[200000];
    hpcw_vom_value value = {.key = "filler", .type = HPCW_VOM_TEXT, .text = filler};
    hpcw_vom_options o;
    hpcw_error err;
    hpcw_vom *v = NULL;
    size_t file_size = 0;
    unsigned char *file = NULL;
    memset(filler, 'x', sizeof filler);
    filler[0] = '\0';
    for (int attempt = 0; attempt < 2; attempt++) {
        hpcw_vom_options_init(&o);
        o.durability = HPCW_SYNC_NONE;
        o.content = content;
        o.attributes = &value;
        o.attribute_count = 1;
        vom_ok(hpcw_vom_open(path, &o, &v, &err), &err);
        uint64_t before = hpcw_vom_text_size(v) + 2;
        vom_ok(hpcw_vom_close(v, &err), &err);
        *text_size = (size_t)hpcw_vom_text_size(v);
        hpcw_vom_free(v);
        assert_true(before <= size);
        memset(filler, 'x', size - (size_t)before);
        filler[size - (size_t)before] = '\0';
    }
    free(file);
    file = read_file(path, &file_size);
    assert_non_null(file);
    if (content == HPCW_VOM_BROTLI) {
        unsigned char *text = brotli_text(file, file_size, &file_size);
        free(file);
        file = text;
        assert_non_null(file);
    }
    assert_int_equal(file_size, *text_size);
    return file;
}

static void lost_last_byte(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/data.0.json", dir);
    for (size_t k = 1; k <= 2; k++) {
        for (size_t more = 0; more < 3; more++) {
            size_t size = 0;
            unsigned char *text = write_sized(path, HPCW_VOM_BROTLI, 65536 * k + more, &size);
            assert_int_equal(size, 65536 * k + more + (more == 1));
            assert_int_equal(text[size - 1], more == 1 ? '\n' : '}');
            free(text);
            text = write_sized(path, HPCW_VOM_PLAIN, 65536 * k + more, &size);
            assert_int_equal(size, 65536 * k + more);
            assert_int_equal(text[size - 1], '}');
            free(text);
        }
    }
    scratch_remove(dir);
}

static void containers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        hpcw_vom_content content;
        bool stored, compressed;
    } rows[] = {
        {"data.0.json", HPCW_VOM_BY_NAME, false, false}, {"data.1.json.br", HPCW_VOM_BY_NAME, false, true},
        {"data.2.json", HPCW_VOM_BROTLI, false, true},   {"data.3.json", HPCW_VOM_PLAIN, false, false},
        {"data.4.json.br", HPCW_VOM_BROTLI, true, true},
    };
    char dir[256];
    char path[512];
    unsigned char *want = NULL;
    size_t want_size = 0;
    scratch_make(dir, sizeof dir);
    for (size_t i = 0; i < COUNT(rows); i++) {
        hpcw_vom_options o;
        hpcw_error err;
        hpcw_vom *v = NULL;
        hpcw_vom_options_init(&o);
        o.durability = HPCW_SYNC_NONE;
        o.content = rows[i].content;
        o.brotli.stored = rows[i].stored;
        (void)snprintf(path, sizeof path, "%s/%s", dir, rows[i].name);
        vom_ok(hpcw_vom_open(path, &o, &v, &err), &err);
        hpcw_vom_task task = vom_task(0, 0);
        begin(v, 0);
        add_task(v, &task);
        end(v);
        assert_int_equal(count_entries(dir), (int)i + 1);
        vom_ok(hpcw_vom_close(v, &err), &err);
        hpcw_vom_free(v);
        size_t size = 0;
        unsigned char *file = read_file(path, &size);
        assert_non_null(file);
        assert_int_equal(file[0] == '{', !rows[i].compressed);
        if (rows[i].compressed) {
            unsigned char *text = brotli_text(file, size, &size);
            free(file);
            file = text;
        }
        if (want == NULL) {
            want = file;
            want_size = size;
            continue;
        }
        assert_true(same_bytes(rows[i].name, want, want_size, file, size));
        free(file);
    }
    free(want);
    assert_int_equal(count_entries(dir), COUNT(rows));
    scratch_remove(dir);
}

/* ---- Statistics ------------------------------------------------------------------------------------------ */

static void figures(void **state) {
    (void)state;
    static const double values[] = {1, 2, 3, 4, 0};
    static const double same[] = {2, 2};
    hpcw_vom_figures f = hpcw_vom_figures_of(values, 5);
    assert_true(f.avg == 2 && f.car == 5 && f.imb == 1 && f.max == 4 && f.min == 0 && f.npr == 4 &&
                f.sum == 10);
    assert_true(f.var == 2 && f.std > 1.414213562373095 && f.std < 1.414213562373096 && f.skw == 0);
    assert_true(f.kur > -1.912 - 1e-12 && f.kur < -1.912 + 1e-12); /* 34 / 5 / 2.5^2 - 3 */
    f = hpcw_vom_figures_of(same, 2);
    assert_true(f.avg == 2 && f.var == 0 && f.skw == 0 && f.kur == 0 && f.imb == 0);
    f = hpcw_vom_figures_of(values + 4, 1);
    assert_true(f.car == 1 && f.avg == 0 && f.imb == 0 && f.npr == 0 && f.kur == 0);
    f = hpcw_vom_figures_of(NULL, 0);
    assert_true(f.car == 0 && f.avg == 0 && f.min == 0);
}

static void statistics(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_vom_stats *stats = NULL;
    hpcw_vom_balance b = {.has_strategy_loads = true};
    hpcw_error err;
    vom_ok(hpcw_vom_stats_open("stats", &o, &stats, &err), &err);
    vom_ok(hpcw_vom_stats_phase(stats, 3, NULL, &b, NULL, &err), &err);
    vom_refused(hpcw_vom_stats_phase(stats, 3, NULL, &b, NULL, &err), HPCW_EINVAL, &err,
                "expected a phase above 3, got 3");
    vom_refused(hpcw_vom_stats_phase(stats, 4, NULL, NULL, &b, &err), HPCW_EINVAL, &err,
                "expected the figures before");
    b.figures[HPCW_VOM_RANK_COMM].kur = strtod("nan", NULL);
    vom_refused(hpcw_vom_stats_phase(stats, 4, NULL, &b, NULL, &err), HPCW_EINVAL, &err,
                "phase 4: kur of Rank_comm: expected a finite number");
    hpcw_vom_balance good = {.has_strategy_loads = false};
    vom_refused(hpcw_vom_stats_phase(stats, 4, NULL, &good, &b, &err), HPCW_EINVAL, &err, "kur of Rank_comm");
    /* this figure is not written, so it is not checked */
    good.figures[HPCW_VOM_RANK_STRATEGY_LOAD].avg = strtod("inf", NULL);
    vom_ok(hpcw_vom_stats_phase(stats, 4, NULL, &good, NULL, &err), &err);
    vom_ok(hpcw_vom_stats_close(stats, &err), &err);
    vom_refused(hpcw_vom_stats_close(stats, &err), HPCW_ESTATE, &err, "closed before");
    size_t size = 0;
    const char *text = hpcw_sink_memory_data(memory.sink, &size);
    struct json_tree *tree = json_parse(text, size);
    const struct json_tree *phase = json_get(tree, "phases")->child;
    assert_string_equal(json_text(json_get(tree, "metadata"), "type"), "LBStatsfile");
    assert_true(phase->count == 2 && json_get(phase, "pre-LB")->count == 8);
    assert_non_null(json_get(json_get(phase, "pre-LB"), "Object_strategy_specific_load_modeled"));
    assert_true(phase->next->count == 2 && json_get(phase->next, "pre-LB")->count == 6);
    json_free(tree);
    hpcw_vom_stats_free(stats);
    hpcw_vom_stats_free(NULL);
    vom_refused(hpcw_vom_stats_phase(NULL, 0, NULL, &b, NULL, &err), HPCW_EINVAL, &err, "got NULL");
    vom_refused(hpcw_vom_stats_close(NULL, &err), HPCW_EINVAL, &err, "got NULL");
    vom_refused(hpcw_vom_stats_open("stats", &o, NULL, &err), HPCW_EINVAL, &err, "got NULL");
    vom_refused(hpcw_vom_stats_open(NULL, NULL, &stats, &err), HPCW_EINVAL, &err, "got NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(every_field_of_a_task),
        cmocka_unit_test(every_category),
        cmocka_unit_test(large_records),
        cmocka_unit_test(metadata),
        cmocka_unit_test(tasks_first),
        cmocka_unit_test(iterations_last),
        cmocka_unit_test(iterations),
        cmocka_unit_test(phase_values),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(lost_last_byte),
        cmocka_unit_test(containers),
        cmocka_unit_test(figures),
        cmocka_unit_test(statistics),
    };
    return cmocka_run_group_tests_name("vom_text", tests, NULL, NULL);
}
