/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/base/mem.h"
#include "ui/cli/text.h"

static void sizes_are_rounded_within_their_unit(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *decimal, *binary, *exact;
    } rows[] = {
        {0, "0 B", "0 B", "0"},
        {999, "999 B", "999 B", "999"},
        {1000, "1.0 kB", "1000 B", "1000"},
        {1024, "1.0 kB", "1.0 KiB", "1K"},
        {1049, "1.0 kB", "1.0 KiB", "1049"},
        {1050, "1.1 kB", "1.0 KiB", "1050"},
        {4096, "4.1 kB", "4.0 KiB", "4K"},
        {999949, "999.9 kB", "976.5 KiB", "999949"},
        {999950, "1.0 MB", "976.5 KiB", "999950"}, /* not 1000.0 kB */
        {1048524, "1.0 MB", "1023.9 KiB", "1048524"},
        {1048525, "1.0 MB", "1.0 MiB", "1048525"}, /* not 1024.0 KiB */
        {285300000, "285.3 MB", "272.1 MiB", "285300000"},
        {UINT64_C(17200000000), "17.2 GB", "16.0 GiB", "16796875K"},
        {UINT64_C(1) << 44, "17.6 TB", "16.0 TiB", "16T"},
        {UINT64_C(1) << 54, "18.0 PB", "16.0 PiB", "16384T"},
        {UINT64_MAX, "18.4 EB", "16.0 EiB", "18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[UI_TEXT_SIZE];
        assert_string_equal(ui_text_bytes(text, rows[i].bytes), rows[i].decimal);
        assert_string_equal(ui_text_bytes_binary(text, rows[i].bytes), rows[i].binary);
        assert_string_equal(ui_text_size(text, rows[i].bytes), rows[i].exact);
    }
}

static void rates_take_any_double(void **state) {
    (void)state;
    char text[UI_TEXT_SIZE];
    assert_string_equal(ui_text_rate(text, 812.4e6), "812.4 MB/s");
    assert_string_equal(ui_text_rate(text, 0), "0 B/s");
    assert_string_equal(ui_text_rate(text, -1), "- B/s");
    assert_string_equal(ui_text_rate(text, 1e300), "- B/s");
    assert_string_equal(ui_text_rate(text, strtod("nan", NULL)), "- B/s");
}

static void durations_change_units(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {
        {0, "0 s"},
        {1.5e-9, "1.50 ns"},
        {12.34e-6, "12.3 us"},
        {999.4e-6, "999 us"},
        {999.6e-6, "1.00 ms"}, /* not 1000 us */
        {0.25, "250 ms"},
        {1.5, "1.50 s"},
        {9.996, "10.0 s"},
        {59.94, "59.9 s"},
        {59.96, "1 min 00 s"}, /* not 60.0 s */
        {125, "2 min 05 s"},
        {3599.4, "59 min 59 s"},
        {3599.6, "1 h 00 min"},
        {11220, "3 h 07 min"},
        {86399, "1 d 00 h"},
        {183600, "2 d 03 h"},
        {-1, "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[UI_TEXT_SIZE];
        assert_string_equal(ui_text_duration(text, rows[i].seconds), rows[i].text);
    }
    char text[UI_TEXT_SIZE];
    assert_string_equal(ui_text_duration(text, strtod("inf", NULL)), "-");
}

static void width_comes_from_the_environment_without_a_terminal(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_false(ui_text_is_terminal(file));
    assert_int_equal(setenv("COLUMNS", "97", 1), 0);
    assert_int_equal(ui_text_width(file), 97);
    assert_int_equal(setenv("COLUMNS", "3", 1), 0);
    assert_int_equal(ui_text_width(file), 20);
    assert_int_equal(setenv("COLUMNS", "-1", 1), 0);
    assert_int_equal(ui_text_width(file), 80);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    assert_int_equal(ui_text_width(file), 80);
    assert_int_equal(fclose(file), 0);
}

static char *wrapped(const char *text, unsigned column, unsigned indent, unsigned width) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    ui_text_wrap(stream, text, column, indent, width);
    assert_int_equal(fclose(stream), 0);
    return out;
}

static void paragraphs_are_wrapped(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned column, indent, width;
        const char *result;
    } rows[] = {
        {"one two three", 0, 0, 80, "one two three\n"},
        {"one two three", 0, 0, 7, "one two\nthree\n"},
        {"one two three", 0, 0, 6, "one\ntwo\nthree\n"},
        {"one two three", 0, 2, 9, "  one two\n  three\n"},
        {"one two", 4, 6, 9, "  one\n      two\n"},
        {"incomprehensible is", 0, 0, 5, "incomprehensible\nis\n"},
        {"a\n\nb", 0, 1, 20, " a\n\n b\n"},
        {"\xc2\xb5\xc2\xb5\xc2\xb5 x", 0, 0, 5, "\xc2\xb5\xc2\xb5\xc2\xb5 x\n"},
        {"", 0, 0, 10, "\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *out = wrapped(rows[i].text, rows[i].column, rows[i].indent, rows[i].width);
        assert_string_equal(out, rows[i].result);
        free(out);
    }
}

static const char *nearest(const char *word) {
    static const char *const names[] = {"ranks", "resume", "blocksize", "formats",
                                        "force", "files",  "checksums", NULL};
    return ui_text_nearest(word, ui_text_name_in_array, names);
}

static void near_names_are_found_and_far_ones_are_not(void **state) {
    (void)state;
    assert_string_equal(nearest("rank"), "ranks");   /* insertion */
    assert_string_equal(nearest("rankss"), "ranks"); /* deletion */
    assert_string_equal(nearest("renks"), "ranks");  /* replacement */
    assert_string_equal(nearest("arnks"), "ranks");  /* two swapped letters count as one change */
    assert_string_equal(nearest("blcoksiez"), "blocksize");
    assert_string_equal(nearest("block"), "blocksize"); /* the only name with this prefix */
    assert_string_equal(nearest("format"), "formats");
    assert_string_equal(nearest("ranks"), "ranks");
    assert_null(nearest("fo")); /* may be formats or force */
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(nearest("entirely-different"));
    assert_null(nearest("a-word-that-is-longer-than-any-name-could-possibly-be-in-our-tables-xxxxxxxxx"));
}

static void tables_are_aligned(void **state) {
    (void)state;
    struct ui_table table = {0};
    ui_table_column(&table, "file", UI_LEFT);
    ui_table_column(&table, "size", UI_RIGHT);
    ui_table_column(&table, "note", UI_LEFT);
    static const char *const cells[] = {"a.sion",   "5 B", "ok", "longer.sion", "285.3 MB", "",
                                        "\xc2\xb5", "1 B", "x"};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        ui_table_cell(&table, "%s", cells[i]);
    }
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    hpcw_error err;
    assert_int_equal(ui_table_print(&table, stream, 2, &err), HPCW_OK);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(out, "  file             size  note\n"
                             "  -----------  --------  ----\n"
                             "  a.sion            5 B  ok\n"
                             "  longer.sion  285.3 MB\n"
                             "  \xc2\xb5                 1 B  x\n");
    free(out);

    ui_table_cell(&table, "alone");
    assert_int_equal(ui_table_print(&table, stdout, 2, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "the last row has 1 cells"));
    ui_table_free(&table);
    assert_null(table.cells);
}

static _Bool no_memory(size_t size) {
    (void)size;
    return 0;
}

static void a_table_remembers_that_memory_ran_out(void **state) {
    (void)state;
    struct ui_table table = {0};
    ui_table_column(&table, "a", UI_LEFT);
    hpcw_i_mem_gate = no_memory;
    ui_table_cell(&table, "1");
    hpcw_i_mem_gate = NULL;
    ui_table_cell(&table, "2");
    hpcw_error err;
    assert_int_equal(ui_table_print(&table, stdout, 0, &err), HPCW_ENOMEM);
    ui_table_free(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_rounded_within_their_unit),
        cmocka_unit_test(rates_take_any_double),
        cmocka_unit_test(durations_change_units),
        cmocka_unit_test(width_comes_from_the_environment_without_a_terminal),
        cmocka_unit_test(paragraphs_are_wrapped),
        cmocka_unit_test(near_names_are_found_and_far_ones_are_not),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(a_table_remembers_that_memory_ran_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
