/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of real files with each of their bits (doc/formats/vom.md, "Bits of an id"), and names of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/vom.h>

#include "libwriter/base/mem.h"
#include "libwriter/format/vom/handle.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void known_ids(void **state) {
    (void)state;
    assert_true(hpcw_vom_element_id(0, 0, true) == 262147);
    assert_true(hpcw_vom_element_id(1, 0, true) == 262151);
    assert_true(hpcw_vom_element_id(0, 1, true) == 524291);
    assert_true(hpcw_vom_element_id(0, 0, false) == 262146);
    assert_true(hpcw_vom_element_id(32767, HPCW_VOM_MAX_ELEMENTS - 1, true) == UINT64_C(0xfffffffffffdffff));
    assert_true(hpcw_vom_handler_id(0) == 1 && hpcw_vom_handler_id(3) == 13);
    assert_true(hpcw_vom_group_id(3, 0, true) == 3145740 && hpcw_vom_objgroup_id(3145740) == 786435);
    assert_true(hpcw_vom_group_id(8, 1, true) == 8388636 && hpcw_vom_objgroup_id(8388636) == 2097155);
    assert_true(hpcw_vom_objgroup_id(hpcw_vom_group_id(5, 9, false)) == hpcw_vom_group_id(5, 9, false) >> 2);
    assert_true(hpcw_vom_collection_id(0) == 7 && hpcw_vom_collection_id(1) == 524295);
    assert_true(hpcw_vom_collection_id(2) == 1048583);
    assert_true(hpcw_vom_collection_id(UINT32_MAX) == (UINT64_C(0xffffffff) << 19 | 7));
    assert_true(hpcw_vom_objgroup_id(0) == 0 && hpcw_vom_objgroup_id(262147) == 0 &&
                hpcw_vom_objgroup_id(8) == 0);
}

static void beyond_the_limits(void **state) {
    (void)state;
    assert_true(hpcw_vom_element_id(32768, 0, true) == 0);
    assert_true(hpcw_vom_element_id(0, HPCW_VOM_MAX_ELEMENTS, true) == 0);
    assert_true(hpcw_vom_handler_id(32768) == 0);
    assert_true(hpcw_vom_group_id(0, 32768, true) == 0);
    assert_true(hpcw_vom_group_id(UINT64_C(1) << 32, 0, true) == 0);
}

static void there_and_back(void **state) {
    (void)state;
    uint64_t seed = 1;
    hpcw_vom_id parts;
    for (int i = 0; i < 100000; i++) {
        uint32_t home = (uint32_t)random_below(&seed, HPCW_VOM_MAX_RANKS);
        uint64_t number = random_word(&seed) >> (18 + random_below(&seed, 46));
        number -= number == HPCW_VOM_MAX_ELEMENTS;
        bool flag = random_below(&seed, 2) != 0;
        assert_int_equal(hpcw_vom_id_parts(hpcw_vom_element_id(home, number, flag), &parts, NULL), HPCW_OK);
        assert_int_equal(parts.kind, flag ? HPCW_VOM_ELEMENT : HPCW_VOM_FIXED);
        assert_true(parts.home == home && parts.number == number && !parts.collective);
        number &= UINT32_MAX;
        uint64_t id = hpcw_vom_group_id(number, home, flag);
        assert_int_equal(hpcw_vom_id_parts(id, &parts, NULL), HPCW_OK);
        assert_int_equal(parts.kind, HPCW_VOM_GROUP);
        assert_true(parts.home == home && parts.number == number && parts.collective == flag);
        assert_int_equal(hpcw_vom_id_parts(hpcw_vom_handler_id(home), &parts, NULL), HPCW_OK);
        assert_true(parts.kind == HPCW_VOM_HANDLER && parts.home == home && parts.number == 0);
    }
    assert_int_equal(hpcw_vom_id_parts(0, &parts, NULL), HPCW_OK);
    assert_int_equal(parts.kind, HPCW_VOM_NOBODY);
}

static void no_ids(void **state) {
    (void)state;
    static const struct {
        uint64_t id;
        const char *message;
    } rows[] = {
        {3, "expected a sequence number from 1 on for an element, got 0"},
        {2, "expected a sequence number from 1 on for an element, got 0"},
        {262145, "expected a sequence number of 0 for a handler, got 1"},
        {8, "expected the bits of a group, got 0x8"},
        {UINT64_C(1) << 52 | 12, "expected the bits of a group"},
        {262144 | 32768 << 2 | 3, "expected a home of 0 to 32767, got 32768"},
        {UINT64_MAX, "expected a home of 0 to 32767, got 65535"},
    };
    hpcw_vom_id parts;
    hpcw_error err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(hpcw_vom_id_parts(rows[i].id, &parts, &err), HPCW_EINVAL);
        assert_non_null(strstr(err.message, rows[i].message));
    }
    assert_int_equal(hpcw_vom_id_parts(1, NULL, &err), HPCW_EINVAL);
}

static void entities(void **state) {
    (void)state;
    uint64_t index[2] = {3, 4};
    hpcw_vom_entity e = hpcw_vom_element(2, 5, 7, index, 2);
    assert_true(e.id == hpcw_vom_element_id(2, 5, true) && e.home == 2 && e.migratable && e.collection_id == 7);
    assert_true(e.index == index && e.dimensions == 2 && !e.by_seq_id && e.objgroup_id == 0);
    e = hpcw_vom_far(e.id);
    assert_true(e.home == 2 && e.migratable && e.collection_id == 0 && e.index == NULL);
    e = hpcw_vom_far(hpcw_vom_group_id(8, 1, true));
    assert_true(e.home == 1 && !e.migratable && e.objgroup_id == 0);
    e = hpcw_vom_group(8, 1, true);
    assert_true(e.id == 8388636 && e.home == 1 && e.objgroup_id == 2097155 && !e.migratable);
    e = hpcw_vom_handler(3);
    assert_true(e.id == 13 && e.home == 3 && !e.migratable);
    e = hpcw_vom_nobody();
    assert_true(e.id == 0 && e.home == 0 && !e.migratable);
}

static void nodes(void **state) {
    (void)state;
    uint32_t members = 0;
    for (uint32_t rank = 0; rank < 10; rank++) {
        hpcw_vom_node n = hpcw_vom_node_of(10, 4, rank);
        assert_true(n.id == rank / 4 && n.num_nodes == 3 && n.rank == rank % 4 && n.size == (rank < 8 ? 4 : 2));
        members += n.rank == 0 ? n.size : 0;
    }
    assert_int_equal(members, 10);
    hpcw_vom_node n = hpcw_vom_node_of(10, UINT32_MAX, 9);
    assert_true(n.id == 0 && n.num_nodes == 1 && n.rank == 9 && n.size == 10);
    assert_int_equal(hpcw_vom_node_of(10, 0, 1).size, 0);
    assert_int_equal(hpcw_vom_node_of(10, 4, 10).size, 0);
}

static void file_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        uint32_t rank;
        bool compressed;
        const char *name; /* NULL: refused */
    } rows[] = {
        {NULL, 0, false, "data.0.json"},
        {NULL, 17, true, "data.17.json.br"},
        {"lb.1/data.%p.json", 32767, false, "lb.1/data.32767.json"},
        {"data.%p.json.br", 5, true, "data.5.json.br"},
        {"data.%p.json.br", 5, false, "data.5.json.br"},
        {"my.data.%p.json", 5, false, NULL},
        {"data%p.json", 5, false, NULL},
        {"data.json", 5, false, NULL},
        {".%p.json", 5, false, NULL},
        {"data.%p", 5, false, NULL},
        {"data.%p", 5, true, "data.5.br"},
        {"data.%p%p.json", 5, false, NULL},
        {"", 5, false, NULL},
    };
    char name[64];
    hpcw_error err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        hpcw_status s =
            hpcw_vom_file_name(name, sizeof name, rows[i].pattern, rows[i].rank, rows[i].compressed, &err);
        assert_int_equal(s, rows[i].name == NULL ? HPCW_EINVAL : HPCW_OK);
        assert_string_equal(name, rows[i].name == NULL ? "" : rows[i].name);
    }
    assert_int_equal(hpcw_vom_file_name(name, sizeof name, NULL, 32768, false, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_vom_file_name(name, 11, NULL, 0, false, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "expected space for 12 bytes, got 11"));
    assert_int_equal(hpcw_vom_file_name(name, 12, NULL, 0, false, &err), HPCW_OK);
    assert_int_equal(hpcw_vom_file_name(NULL, 12, NULL, 0, false, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_file_name(name, 0, NULL, 0, false, &err), HPCW_EINVAL);
}

static void names_of_sets(void **state) {
    (void)state;
    static const struct {
        const char *file, *set;
    } rows[] = {
        {"lb.1/data.3.json", "lb.1/data.json"},
        {"data.17.json.br", "data.json"},
        {"/a/data.0.br", "/a/data"},
        {"data.json", "data.json"},
        {"lb.1/data", "lb.1/data"},
        {"data.3", "data.3"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *set = hpcw_i_vom_set_path(rows[i].file);
        assert_non_null(set);
        assert_string_equal(set, rows[i].set);
        hpcw_i_free(set);
    }
}

static void directories(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    hpcw_error err;
    struct stat st;
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/set", dir);
    assert_int_equal(hpcw_vom_make_directory(path, NULL, &err), HPCW_OK);
    assert_true(stat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
    assert_int_equal(hpcw_vom_make_directory(path, NULL, &err), HPCW_OK);
    (void)snprintf(path, sizeof path, "%s/none/set", dir);
    assert_int_equal(hpcw_vom_make_directory(path, NULL, &err), HPCW_ENOENT);
    (void)snprintf(path, sizeof path, "%s/file", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fclose(f);
    assert_int_equal(hpcw_vom_make_directory(path, NULL, &err), HPCW_EEXIST);
    assert_int_equal(hpcw_vom_make_directory("", NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_make_directory(NULL, NULL, &err), HPCW_EINVAL);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ids),  cmocka_unit_test(beyond_the_limits), cmocka_unit_test(there_and_back),
        cmocka_unit_test(no_ids),     cmocka_unit_test(entities),          cmocka_unit_test(nodes),
        cmocka_unit_test(file_names), cmocka_unit_test(names_of_sets),     cmocka_unit_test(directories),
    };
    return cmocka_run_group_tests_name("vom_ids", tests, NULL, NULL);
}
