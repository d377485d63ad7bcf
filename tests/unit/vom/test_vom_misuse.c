/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer refuses invalid records with a message. The file then continues as if the call had not been made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/vom.h>

#include "tests/support/vom_memory.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define EVERYTHING (2 * HPCW_VOM_ALLOW_TASKS_FIRST - 1)

static double not_a_number(void) {
    return strtod("nan", NULL);
}
static double infinite(void) {
    return strtod("inf", NULL);
}

static const uint64_t index_of[1] = {0};
static double bad_subphase[3] = {0, 0, -1e-300};
static hpcw_vom_value value = {.key = "key"};
static hpcw_vom_value twice[3] = {{.key = "b"}, {.key = "a"}, {.key = "b"}};

/* ---- Tasks ----------------------------------------------------------------------------------------------- */

typedef void spoil_task(hpcw_vom_task *t);

static void other_home(hpcw_vom_task *t) {
    t->entity.home = 1;
}
static void home_beyond(hpcw_vom_task *t) {
    t->entity = hpcw_vom_element(3, 0, 7, index_of, 1);
}
static void not_migratable(hpcw_vom_task *t) {
    t->entity.migratable = false;
}
static void migratable_handler(hpcw_vom_task *t) {
    t->entity = hpcw_vom_handler(0);
    t->entity.migratable = true;
}
static void migratable_nobody(hpcw_vom_task *t) {
    t->entity = hpcw_vom_nobody();
    t->entity.migratable = true;
}
static void nobody_with_home(hpcw_vom_task *t) {
    t->entity = hpcw_vom_nobody();
    t->entity.home = 2;
}
static void no_id(hpcw_vom_task *t) {
    t->entity.id = 8;
}
static void element_without_sequence(hpcw_vom_task *t) {
    t->entity.id = 3;
}
static void no_collection(hpcw_vom_task *t) {
    t->entity.collection_id = 0;
}
static void no_index(hpcw_vom_task *t) {
    t->entity.index = NULL;
    t->entity.dimensions = 0;
}
static void index_without_size(hpcw_vom_task *t) {
    t->entity.dimensions = 0;
}
static void size_without_index(hpcw_vom_task *t) {
    t->entity.index = NULL;
}
static void many_dimensions(hpcw_vom_task *t) {
    t->entity.dimensions = HPCW_VOM_MAX_DIMENSIONS + 1;
}
static void handler_with_collection(hpcw_vom_task *t) {
    t->entity = hpcw_vom_handler(0);
    t->entity.collection_id = 7;
}
static void handler_with_index(hpcw_vom_task *t) {
    t->entity = hpcw_vom_handler(0);
    t->entity.index = index_of;
    t->entity.dimensions = 1;
}
static void other_rank_handler(hpcw_vom_task *t) {
    t->entity = hpcw_vom_handler(2);
}
static void other_rank_group(hpcw_vom_task *t) {
    t->entity = hpcw_vom_group(1, 1, true);
}
static void group_without_group(hpcw_vom_task *t) {
    t->entity = hpcw_vom_group(1, 0, true);
    t->entity.objgroup_id = 0;
}
static void group_of_another(hpcw_vom_task *t) {
    t->entity = hpcw_vom_group(1, 0, true);
    t->entity.objgroup_id = hpcw_vom_group(2, 0, true).objgroup_id;
}
static void element_with_group(hpcw_vom_task *t) {
    t->entity.objgroup_id = 262147;
}
static void seq_id(hpcw_vom_task *t) {
    t->entity.id = 0;
    t->entity.by_seq_id = true;
    t->entity.seq_id = 5;
}
static void negative_time(hpcw_vom_task *t) {
    t->time_s = -1e-9;
}
static void nan_time(hpcw_vom_task *t) {
    t->time_s = not_a_number();
}
static void infinite_time(hpcw_vom_task *t) {
    t->time_s = infinite();
}
static void negative_subphase(hpcw_vom_task *t) {
    t->subphase_s = bad_subphase;
    t->subphases = 3;
}
static void subphases_nowhere(hpcw_vom_task *t) {
    t->subphases = 3;
}
static void subphases_in_the_other_unit(hpcw_vom_task *t) {
    t->subphase_s = bad_subphase;
    t->subphases = 1;
    t->whole_ns = true;
}
static void many_subphases(hpcw_vom_task *t) {
    t->subphase_s = bad_subphase;
    t->subphases = 65536;
}
static void bad_resource(hpcw_vom_task *t) {
    t->resource = "c\xffpu";
}
static void values_nowhere(hpcw_vom_task *t) {
    t->value_count = 1;
}
static void with_value(hpcw_vom_task *t, const char *key, hpcw_vom_type type, double number, const char *text) {
    value = (hpcw_vom_value){.key = key, .type = type, .number = number, .text = text};
    t->values = &value;
    t->value_count = 1;
}
static void no_key(hpcw_vom_task *t) {
    with_value(t, NULL, HPCW_VOM_FLOAT, 0, NULL);
}
static void bad_key(hpcw_vom_task *t) {
    with_value(t, "\xc3", HPCW_VOM_FLOAT, 0, NULL);
}
static void bad_type(hpcw_vom_task *t) {
    with_value(t, "key", (hpcw_vom_type)5, 0, NULL);
}
static void no_json(hpcw_vom_task *t) {
    with_value(t, "deep", HPCW_VOM_JSON, 0, NULL);
}
static void bad_json(hpcw_vom_task *t) {
    with_value(t, "deep", HPCW_VOM_JSON, 0, "[1,]");
}
static void deep_json(hpcw_vom_task *t) {
    with_value(t, "deep", HPCW_VOM_JSON, 0, "[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]");
}
static void json_value(hpcw_vom_task *t) {
    with_value(t, "deep", HPCW_VOM_JSON, 0, "[1]");
}
static void boolean_value(hpcw_vom_task *t) {
    with_value(t, "moved", HPCW_VOM_BOOLEAN, 0, NULL);
}
static void nan_value(hpcw_vom_task *t) {
    with_value(t, "key", HPCW_VOM_FLOAT, not_a_number(), NULL);
}
static void infinite_value(hpcw_vom_task *t) {
    with_value(t, "key", HPCW_VOM_FLOAT, -infinite(), NULL);
}
static void text_value(hpcw_vom_task *t) {
    with_value(t, "label", HPCW_VOM_TEXT, 0, "cell");
}
static void no_text(hpcw_vom_task *t) {
    with_value(t, "label", HPCW_VOM_TEXT, 0, NULL);
}
static void bad_text(hpcw_vom_task *t) {
    with_value(t, "label", HPCW_VOM_TEXT, 0, "\xed\xa0\x80");
}
static void key_twice(hpcw_vom_task *t) {
    t->values = twice;
    t->value_count = 3;
}
static void large_attribute(hpcw_vom_task *t) {
    value = (hpcw_vom_value){.key = "level", .integer = INT64_C(1) << 31};
    t->attributes = &value;
    t->attribute_count = 1;
}
static void json_attribute(hpcw_vom_task *t) {
    value = (hpcw_vom_value){.key = "level", .type = HPCW_VOM_JSON, .text = "{}"};
    t->attributes = &value;
    t->attribute_count = 1;
}
static void boolean_attribute(hpcw_vom_task *t) {
    value = (hpcw_vom_value){.key = "level", .type = HPCW_VOM_BOOLEAN};
    t->attributes = &value;
    t->attribute_count = 1;
}

static const struct {
    spoil_task *spoil;
    hpcw_status status;
    unsigned lifted_by; /* HPCW_VOM_ALLOW_ flag with which the record is accepted */
    const char *message;
} task_rows[] = {
    {other_home, HPCW_EINVAL, 0, "memory: phase 0, task 0: entity: home: expected 0 as id 262147 says, got 1"},
    {home_beyond, HPCW_EINVAL, 0, "entity: home: expected less than 3 ranks, got 3"},
    {not_migratable, HPCW_EINVAL, 0, "entity: migratable: expected true as id 262147 says, got false"},
    {migratable_handler, HPCW_EINVAL, 0, "entity: migratable: expected false as id 1 says, got true"},
    {migratable_nobody, HPCW_EINVAL, 0, "entity: migratable: expected false as id 0 says, got true"},
    {nobody_with_home, HPCW_EINVAL, 0, "entity: home: expected 0 as id 0 says, got 2"},
    {no_id, HPCW_EINVAL, 0, "entity: vom: id 8: expected the bits of a group, got 0x8"},
    {element_without_sequence, HPCW_EINVAL, 0,
     "id 3: expected a sequence number from 1 on for an element, got 0"},
    {no_collection, HPCW_EINVAL, 0, "expected collection and index of element 262147, got no collection"},
    {no_index, HPCW_EINVAL, 0, "expected collection and index of element 262147, got no index"},
    {index_without_size, HPCW_ERANGE, 0, "entity: index: expected 1 to 16 numbers, got 0"},
    {size_without_index, HPCW_ERANGE, 0, "entity: index: expected an array for its numbers, got 1"},
    {many_dimensions, HPCW_ERANGE, 0, "entity: index: expected 1 to 16 numbers, got 17"},
    {handler_with_collection, HPCW_EINVAL, 0, "as id 1 is no element, got a collection"},
    {handler_with_index, HPCW_EINVAL, 0, "as id 1 is no element, got an index"},
    {other_rank_handler, HPCW_EINVAL, 0, "expected an entity of rank 0, got handler 9 of rank 2"},
    {other_rank_group, HPCW_EINVAL, 0, "expected an entity of rank 0, got group member 1048604 of rank 1"},
    {group_without_group, HPCW_EINVAL, 0, "objgroup_id: expected 262147 as id 1048588 says, got 0"},
    {group_of_another, HPCW_EINVAL, 0, "objgroup_id: expected 262147 as id 1048588 says, got 524291"},
    {element_with_group, HPCW_EINVAL, 0, "objgroup_id: expected 0 as id 262147 says, got 262147"},
    {seq_id, HPCW_EINVAL, HPCW_VOM_ALLOW_SEQ_IDS,
     "expected an id, got seq_id 5 without HPCW_VOM_ALLOW_SEQ_IDS"},
    {negative_time, HPCW_EINVAL, 0, "time: expected finite seconds of at least 0, got -1e-09"},
    {nan_time, HPCW_EINVAL, 0, "time: expected finite seconds of at least 0, got nan"},
    {infinite_time, HPCW_EINVAL, 0, "time: expected finite seconds of at least 0, got inf"},
    {negative_subphase, HPCW_EINVAL, 0,
     "time of subphase 2: expected finite seconds of at least 0, got -1e-300"},
    {subphases_nowhere, HPCW_EINVAL, 0, "expected the times of 3 subphases in seconds, got NULL"},
    {subphases_in_the_other_unit, HPCW_EINVAL, 0, "expected the times of 1 subphases in nanoseconds, got NULL"},
    {many_subphases, HPCW_ERANGE, 0, "subphases: expected at most 65535, got 65536"},
    {bad_resource, HPCW_EINVAL, 0, "resource: expected a text in UTF-8"},
    {values_nowhere, HPCW_EINVAL, 0, "expected 1 values, got NULL"},
    {no_key, HPCW_EINVAL, 0, "value: expected a key in UTF-8, got NULL"},
    {bad_key, HPCW_EINVAL, 0, "value: expected a key in UTF-8, got other bytes"},
    {bad_type, HPCW_EINVAL, 0, "value key: expected a type of 0 to 4, got 5"},
    {no_json, HPCW_EINVAL, 0, "value deep: expected JSON in UTF-8 of at most 24 levels, got NULL"},
    {bad_json, HPCW_EINVAL, 0, "value deep: expected JSON in UTF-8 of at most 24 levels, got [1,]"},
    {deep_json, HPCW_EINVAL, 0, "value deep: expected JSON in UTF-8 of at most 24 levels, got [[["},
    {json_value, HPCW_EINVAL, HPCW_VOM_ALLOW_TEXT_VALUES,
     "value deep: expected a number, got JSON without HPCW_VOM_ALLOW_TEXT_VALUES"},
    {boolean_value, HPCW_EINVAL, HPCW_VOM_ALLOW_TEXT_VALUES,
     "value moved: expected a number, got a boolean without HPCW_VOM_ALLOW_TEXT_VALUES"},
    {json_attribute, HPCW_EINVAL, HPCW_VOM_ALLOW_TEXT_VALUES,
     "attribute level: expected an integer, a float or a text, got JSON"},
    {boolean_attribute, HPCW_EINVAL, HPCW_VOM_ALLOW_TEXT_VALUES,
     "attribute level: expected an integer, a float or a text, got a boolean"},
    {nan_value, HPCW_EINVAL, 0, "value key: expected a finite number, got nan"},
    {infinite_value, HPCW_EINVAL, 0, "value key: expected a finite number, got -inf"},
    {text_value, HPCW_EINVAL, HPCW_VOM_ALLOW_TEXT_VALUES,
     "value label: expected a number (vt's TemperedLB aborts on texts), got \"cell\""},
    {no_text, HPCW_EINVAL, 0, "value label: expected a text in UTF-8, got NULL"},
    {bad_text, HPCW_EINVAL, 0, "value label: expected a text in UTF-8, got other bytes"},
    {key_twice, HPCW_EINVAL, 0, "expected each key once, got b twice"},
    {large_attribute, HPCW_ERANGE, HPCW_VOM_ALLOW_TEXT_VALUES,
     "attribute level: expected 32 bits, got 2147483648"},
};

/* ---- Edges ----------------------------------------------------------------------------------------------- */

typedef void spoil_edge(hpcw_vom_edge *e);

static void category_0(hpcw_vom_edge *e) {
    e->category = (hpcw_vom_category)0;
}
static void category_7(hpcw_vom_edge *e) {
    e->category = (hpcw_vom_category)7;
}
static void category_11(hpcw_vom_edge *e) {
    e->category = (hpcw_vom_category)11;
}
static void negative_bytes(hpcw_vom_edge *e) {
    e->bytes = -1;
}
static void nan_bytes(hpcw_vom_edge *e) {
    e->bytes = not_a_number();
}
static void bad_sender(hpcw_vom_edge *e) {
    e->from.home = 2;
}
static void bad_receiver(hpcw_vom_edge *e) {
    e->to.migratable = false;
}
static void end_of_another_group(hpcw_vom_edge *e) {
    e->from = hpcw_vom_group(1, 1, true);
    e->from.objgroup_id++;
}
static void node_beyond(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_COLLECTION_TO_NODE;
    e->node = 3;
}
static void home_of_block_beyond(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_WRITE_SHARED;
    e->node = 3;
}
static void negative_block(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_READ_ONLY_SHARED;
    e->shared_id = -1;
}
static void handler_elsewhere_to_handler(hpcw_vom_edge *e) {
    e->from = hpcw_vom_handler(1);
    e->to = hpcw_vom_handler(0);
}
static void group_elsewhere_to_handler(hpcw_vom_edge *e) {
    e->from = hpcw_vom_far(hpcw_vom_group_id(1, 2, true));
    e->to = hpcw_vom_handler(0);
}
static void broadcast_to_elsewhere(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_BROADCAST;
    e->to = hpcw_vom_handler(2);
}
static void node_to_elsewhere(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_NODE_TO_COLLECTION;
    e->to = hpcw_vom_handler(2);
}
static void elsewhere_to_node(hpcw_vom_edge *e) {
    e->category = HPCW_VOM_COLLECTION_TO_NODE_BCAST;
    e->from = hpcw_vom_handler(2);
}
static void seq_end(hpcw_vom_edge *e) {
    e->to = (hpcw_vom_entity){.by_seq_id = true, .seq_id = 3, .migratable = true, .collection_id = 7};
}
static void seq_end_without_collection(hpcw_vom_edge *e) {
    e->to = (hpcw_vom_entity){.by_seq_id = true, .seq_id = 3, .migratable = true};
}
static void seq_and_id(hpcw_vom_edge *e) {
    e->to.by_seq_id = true;
}

static const struct {
    spoil_edge *spoil;
    hpcw_status status;
    unsigned lifted_by;
    const char *message;
} edge_rows[] = {
    {category_0, HPCW_EINVAL, 0, "memory: phase 0, edge 0: category: expected 1 to 6, 9 or 10, got 0"},
    {category_7, HPCW_EINVAL, 0, "category: expected 1 to 6, 9 or 10, got 7"},
    {category_11, HPCW_EINVAL, 0, "category: expected 1 to 6, 9 or 10, got 11"},
    {negative_bytes, HPCW_EINVAL, 0, "bytes: expected a finite number of at least 0, got -1"},
    {nan_bytes, HPCW_EINVAL, 0, "bytes: expected a finite number of at least 0, got nan"},
    {bad_sender, HPCW_EINVAL, 0, "from: home: expected 0 as id 524291 says, got 2"},
    {bad_receiver, HPCW_EINVAL, 0, "to: migratable: expected true as id 262147 says, got false"},
    {end_of_another_group, HPCW_EINVAL, 0, "from: objgroup_id: expected 262147 as id 1048604 says, got 262148"},
    {node_beyond, HPCW_EINVAL, 0, "node: expected less than 3 ranks, got 3"},
    {home_of_block_beyond, HPCW_EINVAL, 0, "node: expected less than 3 ranks, got 3"},
    {negative_block, HPCW_EINVAL, 0, "shared_id: expected at least 0, got -1"},
    {handler_elsewhere_to_handler, HPCW_EINVAL, HPCW_VOM_ALLOW_FOREIGN_EDGES,
     "expected a SendRecv that rank 0 records, got one for rank 1, where its sender (id 5) lives"},
    {group_elsewhere_to_handler, HPCW_EINVAL, HPCW_VOM_ALLOW_FOREIGN_EDGES,
     "where its sender (id 1048620) lives"},
    {broadcast_to_elsewhere, HPCW_EINVAL, HPCW_VOM_ALLOW_FOREIGN_EDGES,
     "expected a Broadcast that rank 0 records, got one for rank 2, where its receiver (id 9) lives"},
    {node_to_elsewhere, HPCW_EINVAL, HPCW_VOM_ALLOW_FOREIGN_EDGES, "where its receiver (id 9) lives"},
    {elsewhere_to_node, HPCW_EINVAL, HPCW_VOM_ALLOW_FOREIGN_EDGES, "where its sender (id 9) lives"},
    {seq_end, HPCW_EINVAL, HPCW_VOM_ALLOW_SEQ_IDS, "to: expected an id, got seq_id 3"},
    {seq_end_without_collection, HPCW_EINVAL, 0, "to: expected "},
    {seq_and_id, HPCW_EINVAL, 0, "to: expected "},
};

/* Writes a file with one edge and one task, optionally with refused calls before each. */
static void tell(hpcw_vom *v, bool refusals) {
    hpcw_error err;
    vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
    for (size_t i = 0; i < COUNT(edge_rows) && refusals; i++) {
        hpcw_vom_edge edge = vom_edge(1, 0);
        edge_rows[i].spoil(&edge);
        vom_refused(hpcw_vom_edge_add(v, &edge, &err), edge_rows[i].status, &err, edge_rows[i].message);
        assert_int_equal(hpcw_vom_edge_add(v, &edge, NULL), edge_rows[i].status);
    }
    hpcw_vom_edge edge = vom_edge(1, 0);
    vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
    for (size_t i = 0; i < COUNT(task_rows) && refusals; i++) {
        hpcw_vom_task task = vom_task(0, 0);
        task_rows[i].spoil(&task);
        vom_refused(hpcw_vom_task_add(v, &task, &err), task_rows[i].status, &err, task_rows[i].message);
        assert_int_equal(hpcw_vom_task_add(v, &task, NULL), task_rows[i].status);
    }
    hpcw_vom_task task = vom_task(0, 0);
    vom_ok(hpcw_vom_task_add(v, &task, &err), &err);
    if (refusals) {
        task.subphases = 2;
        task.subphase_s = bad_subphase;
        vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_EINVAL, &err,
                    "subphases: expected 0 as in the phase's other migratable tasks, got 2");
        vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_ESTATE, &err, "got one after them");
        vom_refused(hpcw_vom_end_phase(v, &value, 1, &err), HPCW_EINVAL, &err,
                    "expected no values of a phase (vt's reader throws on them), got 1");
        vom_refused(hpcw_vom_begin_phase(v, 1, &err), HPCW_ESTATE, &err, "expected the end of phase 0");
        vom_refused(hpcw_vom_close(v, &err), HPCW_ESTATE, &err, "expected the end of phase 0, got the close");
    }
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
}

static void refused_records(void **state) {
    (void)state;
    char want[2048];
    int n = snprintf(want, sizeof want, "{\"communications\":[%s],", vom_edge_text(1, 0));
    (void)snprintf(want + n, sizeof want - (size_t)n, "\"id\":0,\"tasks\":[%s]}", vom_task_text(0));
    for (int refusals = 0; refusals < 2; refusals++) {
        for (int check = 0; check < 2; check++) {
            struct vom_memory memory = {0};
            hpcw_vom_options o = vom_options(&memory, 0, 3);
            o.check = check == 1;
            hpcw_vom *v = vom_open(&o);
            tell(v, refusals == 1);
            vom_expect(v, &memory, want);
        }
    }
}

static void lifted_by_flags(void **state) {
    (void)state;
    unsigned lifted = 0;
    for (size_t i = 0; i < COUNT(task_rows) + COUNT(edge_rows); i++) {
        bool is_task = i < COUNT(task_rows);
        size_t k = is_task ? i : i - COUNT(task_rows);
        unsigned flag = is_task ? task_rows[k].lifted_by : edge_rows[k].lifted_by;
        for (int with = 0; with < 2; with++) {
            /* Allows everything except the row's flag, and then only the row's flag. */
            struct vom_memory memory = {0};
            hpcw_vom_options o = vom_options(&memory, 0, 3);
            hpcw_error err;
            o.allow = with == 1 ? flag : EVERYTHING & ~flag;
            hpcw_vom *v = vom_open(&o);
            vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
            hpcw_vom_task task = vom_task(0, 0);
            hpcw_vom_edge edge = vom_edge(1, 0);
            hpcw_status s;
            if (is_task) {
                task_rows[k].spoil(&task);
                s = hpcw_vom_task_add(v, &task, &err);
            } else {
                edge_rows[k].spoil(&edge);
                s = hpcw_vom_edge_add(v, &edge, &err);
            }
            bool accepted = with == 1 && flag != 0;
            if ((s == HPCW_OK) != accepted) {
                fail_msg("row %zu, flags 0x%x: status %d", i, o.allow, (int)s);
            }
            lifted += accepted;
            hpcw_vom_free(v);
        }
    }
    assert_int_equal(lifted, 4 + 6 + 3); /* number of rows with a flag */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_records),
        cmocka_unit_test(lifted_by_flags),
    };
    return cmocka_run_group_tests_name("vom_misuse", tests, NULL, NULL);
}
