/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/linktest/linktest.h"
#include "gen/model/machine/machine.h"
#include "gen/model/particles/particles.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "ui/param/param.h"

struct param_owner {
    bool flag;
    uint32_t u32;
    uint64_t u64, size;
    double f64;
    int choice;
    char text[8];
};

static const char *const colours[] = {"red", "green", "blue", NULL};
#define AT(f) .offset = offsetof(struct param_owner, f)
enum { FLAG, U32, U64, SIZE, F64, CHOICE, STRING };
static const struct ui_param table[] = {
    [FLAG] = {.key = "t.flag", .type = UI_PARAM_BOOL, AT(flag)},
    [U32] = {.key = "t.u32", .type = UI_PARAM_U32, AT(u32), .min = 2, .max = 0x1p40},
    [U64] = {.key = "t.u64", .type = UI_PARAM_U64, AT(u64), .min = 0, .max = 0x1p64},
    [SIZE] = {.key = "t.size", .type = UI_PARAM_SIZE, AT(size), .min = 1, .max = 0x1p50},
    [F64] = {.key = "t.f64", .type = UI_PARAM_F64, AT(f64), .min = -1, .max = 1e9},
    [CHOICE] = {.key = "t.choice", .type = UI_PARAM_CHOICE, AT(choice), .choices = colours},
    [STRING] = {.key = "t.text", .type = UI_PARAM_STRING, AT(text), .size = 8},
};

static void test_set_and_get(void **state) {
    (void)state;
    static const struct {
        int field;
        const char *text, *back;
    } cases[] = {
        {FLAG, "yes", "true"},
        {FLAG, "off", "false"},
        {FLAG, "1", "true"},
        {FLAG, "false", "false"},
        {U32, "2", "2"},
        {U32, "4294967295", "4294967295"},
        {U64, "0", "0"},
        {SIZE, "1", "1"},
        {U64, "18446744073709551615", "18446744073709551615"},
        {SIZE, "4096", "4K"},
        {SIZE, "3k", "3K"},
        {SIZE, "2M", "2M"},
        {SIZE, "1G", "1G"},
        {SIZE, "16MiB", "16M"},
        {SIZE, "16 MiB", "16M"},
        {SIZE, "16 M", "16M"},
        {SIZE, "16MB", "15625K"},
        {SIZE, "16 mb", "15625K"},
        {SIZE, "5B", "5"},
        {SIZE, "5 kB", "5000"},
        {SIZE, "1025", "1025"},
        {SIZE, "1024T", "1024T"},
        {F64, "0.1", "0.1"},
        {F64, "-1", "-1"},
        {F64, "1e-300", "1e-300"},
        {F64, "123456.789", "123456.789"},
        {CHOICE, "blue", "blue"},
        {STRING, "", ""},
        {STRING, "seven c", "seven c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct param_owner o = {0};
        char text[64];
        hpcw_error err;
        const struct ui_param *p = &table[cases[i].field];
        assert_int_equal(ui_param_set(p, &o, cases[i].text, &err), HPCW_OK);
        ui_param_get(p, &o, text, sizeof text);
        assert_string_equal(text, cases[i].back);
        struct param_owner again = {0};
        assert_int_equal(ui_param_set(p, &again, text, &err), HPCW_OK);
        assert_memory_equal(&o, &again, sizeof o);
    }
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        int field;
        const char *text;
        hpcw_status status;
        const char *message;
    } cases[] = {
        {FLAG, "maybe", HPCW_EINVAL, "t.flag: expected true or false, got \"maybe\""},
        {FLAG, "", HPCW_EINVAL, NULL},
        {U32, "1", HPCW_ERANGE, NULL},
        {U32, "4294967296", HPCW_ERANGE, NULL},
        {U32, "-1", HPCW_EINVAL, NULL},
        {U64, "18446744073709551616", HPCW_ERANGE, NULL},
        {U64, "x", HPCW_EINVAL, NULL},
        {SIZE, "0", HPCW_ERANGE, NULL},
        {SIZE, "K", HPCW_EINVAL, NULL},
        {SIZE, "4Ki", HPCW_EINVAL, NULL},
        {SIZE, "4KBs", HPCW_EINVAL, NULL},
        {SIZE, "4  K", HPCW_EINVAL, NULL},
        {SIZE, " 4K", HPCW_EINVAL, NULL},
        {SIZE, "4.5K", HPCW_EINVAL, NULL},
        {SIZE, "", HPCW_EINVAL, NULL},
        {SIZE, "-4K", HPCW_EINVAL, NULL},
        {SIZE, "1.5M", HPCW_EINVAL, NULL},
        {SIZE, "1025T", HPCW_ERANGE, "t.size: expected 1 to 1125899906842624 bytes, got \"1025T\""},
        {SIZE, "18446744073709551615G", HPCW_ERANGE, NULL},
        {SIZE, "99999999999999999999", HPCW_ERANGE,
         "t.size: expected 1 to 1125899906842624 bytes, got \"99999999999999999999\""},
        {SIZE, "99999999999999999999999999999999999", HPCW_EINVAL, NULL},
        {F64, "nan", HPCW_EINVAL, NULL},
        {F64, "1e10", HPCW_ERANGE, NULL},
        {F64, "0,5", HPCW_EINVAL, NULL},
        {CHOICE, "pink", HPCW_EINVAL, "t.choice: expected one of red, green, blue, got \"pink\""},
        {CHOICE, "re", HPCW_EINVAL, NULL},
        {STRING, "eight ch", HPCW_ERANGE, "t.text: expected at most 7 characters, got 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct param_owner o, before;
        hpcw_error err;
        memset(&o, 0x5a, sizeof o);
        memcpy(&before, &o, sizeof o);
        const struct ui_param *p = &table[cases[i].field];
        assert_int_equal(ui_param_set(p, &o, cases[i].text, &err), cases[i].status);
        assert_memory_equal(&o, &before, sizeof o);
        assert_non_null(strstr(err.message, p->key));
        assert_non_null(strstr(err.message, "expected"));
        assert_non_null(strstr(err.message, "got"));
        if (cases[i].message != NULL) {
            assert_string_equal(err.message, cases[i].message);
        }
        assert_int_equal(ui_param_set(p, &o, cases[i].text, NULL), cases[i].status);
    }
}

static void test_get_cuts(void **state) {
    (void)state;
    struct param_owner o = {.u64 = 123456};
    char text[4] = "xxx";
    ui_param_get(&table[U64], &o, text, sizeof text);
    assert_string_equal(text, "123");
    ui_param_get(&table[U64], &o, text, 0);
    assert_string_equal(text, "123");
}

static void test_json(void **state) {
    (void)state;
    const struct param_owner o = {
        .flag = true, .u32 = 7, .u64 = UINT64_MAX, .size = 4096, .f64 = 0.1, .choice = 1, .text = "a\"b"};
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        ui_param_json(&table[i], &o, &json);
    }
    hpcw_i_json_end_object(&json);
    assert_int_equal(hpcw_i_json_finish(&json, NULL), HPCW_OK);
    assert_true(hpcw_i_buf_append(&buf, "", 1));
    assert_string_equal((char *)buf.data,
                        "{\"t.flag\":true,\"t.u32\":7,\"t.u64\":18446744073709551615,\"t.size\":4096,"
                        "\"t.f64\":0.1,\"t.choice\":\"green\",\"t.text\":\"a\\\"b\"}");
    hpcw_i_buf_free(&buf);
}

/* Every parameter of a table has a valid unique key, a help text, and a valid default. */
static void check_table(const struct ui_param *params, size_t count, const char *group, void *defaults,
                        size_t size) {
    for (size_t i = 0; i < count; i++) {
        const struct ui_param *p = &params[i];
        char text[128];
        unsigned char before[2048];
        hpcw_error err;
        size_t length = strlen(group);
        assert_true(strncmp(p->key, group, length) == 0 && p->key[length] == '.' && p->key[length + 1] != '\0');
        assert_int_equal(strspn(p->key, "abcdefghijklmnopqrstuvwxyz0123456789_."), strlen(p->key));
        assert_non_null(p->help);
        assert_true(p->help[0] != '\0' && p->help[strlen(p->help) - 1] != '.');
        assert_true(p->offset < size);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(p->key, params[k].key);
            assert_int_not_equal(p->offset, params[k].offset);
        }
        assert_true(size <= sizeof before);
        memcpy(before, defaults, size);
        ui_param_get(p, defaults, text, sizeof text);
        if (ui_param_set(p, defaults, text, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_memory_equal(before, defaults, size);
    }
}

static void test_tables_of_the_models(void **state) {
    (void)state;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        struct model_machine_params machine;
        assert_int_equal(model_machine_params_init(&machine, model_machine_preset[i].name, NULL), HPCW_OK);
        check_table(model_machine_param, model_machine_param_count, "machine", &machine, sizeof machine);
    }
    struct model_linktest_params linktest;
    model_linktest_params_init(&linktest);
    check_table(model_linktest_param, model_linktest_param_count, "linktest", &linktest, sizeof linktest);
    struct model_particles_params particles;
    model_particles_params_init(&particles);
    check_table(model_particles_param, model_particles_param_count, "sion", &particles, sizeof particles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_get),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_get_cuts),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_tables_of_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
