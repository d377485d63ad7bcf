/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of options with the size of another version of the headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libwriter/base/options.h"

/* Two versions of a struct of options: version 1 has one option, version 2 has three. */
struct old {
    size_t size;
    uint64_t a;
};
struct new {
    size_t size;
    uint64_t a, b, c;
};

static void defaults_end_where_the_struct_does(void **state) {
    (void)state;
    const struct new defaults = {.a = 1, .b = 2, .c = 3};
    struct {
        struct old options;
        uint64_t after;
    } program = {.after = 99};
    hpcw_i_options_fill(&program.options, sizeof program.options, &defaults, sizeof defaults);
    assert_int_equal(program.options.size, sizeof program.options);
    assert_int_equal(program.options.a, 1);
    assert_int_equal(program.after, 99);
    struct new later;
    memset(&later, 0xff, sizeof later);
    hpcw_i_options_fill(&later, sizeof later, &(struct old){.a = 1}, sizeof(struct old));
    assert_int_equal(later.size, sizeof later);
    assert_int_equal(later.a, 1);
    assert_int_equal(later.b | later.c, 0);
}

static void older_options_leave_the_defaults(void **state) {
    (void)state;
    struct new own = {.size = sizeof own, .a = 1, .b = 2, .c = 3};
    const struct old given = {sizeof given, 7};
    assert_int_equal(hpcw_i_options_take(&own, sizeof own, &given, "x", NULL), HPCW_OK);
    assert_int_equal(own.size, sizeof own);
    assert_int_equal(own.a, 7);
    assert_int_equal(own.b, 2);
    assert_int_equal(own.c, 3);
}

static void later_options_must_be_zero(void **state) {
    (void)state;
    struct old own = {sizeof own, 1};
    struct new given = {.size = sizeof given, .a = 7};
    hpcw_error err;
    assert_int_equal(hpcw_i_options_take(&own, sizeof own, &given, "x", &err), HPCW_OK);
    assert_int_equal(own.a, 7);
    given.c = 1;
    assert_int_equal(hpcw_i_options_take(&own, sizeof own, &given, "x", &err), HPCW_EINVAL);
    assert_string_equal(
        err.message,
        "x: expected only options of this version of hpcw, 16 bytes, got one of a later version at byte 24");
}

/* Tests all structs of options of the headers: with an invalid size, and with an option of a later version. */
static char path[] = "/nonexistent/directory/file";

static hpcw_status open_sion(const void *options, hpcw_error *err) {
    hpcw_sion *handle;
    return hpcw_sion_open(path, NULL, options, &handle, err);
}
static hpcw_status open_vom(const void *options, hpcw_error *err) {
    hpcw_vom *handle;
    return hpcw_vom_open(path, options, &handle, err);
}
static hpcw_status open_stats(const void *options, hpcw_error *err) {
    hpcw_vom_stats *handle;
    return hpcw_vom_stats_open(path, options, &handle, err);
}
static hpcw_status open_clog2(const void *options, hpcw_error *err) {
    hpcw_clog2 *handle;
    return hpcw_clog2_open(path, NULL, options, &handle, err);
}
static hpcw_status write_clog2(const void *options, hpcw_error *err) {
    return hpcw_clog2_write(path, options, NULL, 0, err);
}
static hpcw_status open_log(const void *options, hpcw_error *err) {
    hpcw_clog2_log *handle;
    return hpcw_clog2_log_open(path, NULL, options, &handle, err);
}
static hpcw_status open_rank2file(const void *options, hpcw_error *err) {
    hpcw_rank2file *handle;
    return hpcw_rank2file_open(path, NULL, options, &handle, err);
}

static void every_open_looks_at_the_size(void **state) {
    (void)state;
    union {
        size_t size;
        max_align_t any;
        unsigned char bytes[1024];
    } o;
    static const struct {
        const char *name;
        size_t size;
        hpcw_status (*open)(const void *, hpcw_error *);
    } row[] = {
        {"hpcw_sion_options", sizeof(hpcw_sion_options), open_sion},
        {"hpcw_vom_options", sizeof(hpcw_vom_options), open_vom},
        {"hpcw_vom_options", sizeof(hpcw_vom_options), open_stats},
        {"hpcw_clog2_options", sizeof(hpcw_clog2_options), open_clog2},
        {"hpcw_clog2_options", sizeof(hpcw_clog2_options), write_clog2},
        {"hpcw_clog2_log_options", sizeof(hpcw_clog2_log_options), open_log},
        {"hpcw_rank2file_options", sizeof(hpcw_rank2file_options), open_rank2file},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        hpcw_error err = {.message = ""};
        char expected[256];
        memset(&o, 0, sizeof o);
        assert_int_equal(row[i].open(&o, &err), HPCW_EINVAL);
        (void)snprintf(expected, sizeof expected,
                       "%s: expected a struct that %s_init has filled in, got size 0", row[i].name,
                       row[i].name);
        assert_string_equal(err.message, expected);
        o.size = row[i].size + 16;
        o.bytes[row[i].size + 8] = 1;
        assert_int_equal(row[i].open(&o, &err), HPCW_EINVAL);
        assert_non_null(strstr(err.message, "of a later version"));
    }
}

static void world(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    (void)index;
    memset(entry, 0, sizeof *entry);
}

/* Memory after the struct of an older program is not read as options. */
static void checks_end_where_the_struct_does(void **state) {
    (void)state;
    union {
        hpcw_clog2_options clog2;
        hpcw_rank2file_options rank2file;
        unsigned char bytes[1024];
    } o;
    hpcw_clog2_options_init(&o.clog2);
    o.clog2.ranks = o.clog2.comms = 1;
    o.clog2.comm_of = world;
    o.clog2.size = offsetof(hpcw_clog2_options, durability);
    memset(o.bytes + o.clog2.size, 0xff, sizeof o - o.clog2.size);
    assert_int_equal(hpcw_clog2_options_check(&o.clog2, NULL), HPCW_OK);
    hpcw_rank2file_options_init(&o.rank2file);
    o.rank2file.dataset.id = 1;
    o.rank2file.size = offsetof(hpcw_rank2file_options, leaf_bytes);
    memset(o.bytes + o.rank2file.size, 0xff, sizeof o - o.rank2file.size);
    assert_int_equal(hpcw_rank2file_options_check(&o.rank2file, NULL), HPCW_OK);
}

/* A struct that no init function has filled may have arbitrary pointers, but its size is refused first. */
static void pointers_count_only_after_the_size(void **state) {
    (void)state;
    hpcw_rank2file_options o;
    memset(&o, 1, sizeof o);
    assert_int_equal(hpcw_rank2file_options_check(&o, NULL), HPCW_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_end_where_the_struct_does),
        cmocka_unit_test(older_options_leave_the_defaults),
        cmocka_unit_test(later_options_must_be_zero),
        cmocka_unit_test(every_open_looks_at_the_size),
        cmocka_unit_test(checks_end_where_the_struct_does),
        cmocka_unit_test(pointers_count_only_after_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
