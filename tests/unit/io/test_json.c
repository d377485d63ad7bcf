/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cJSON.h>

#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

typedef void write_fn(struct hpcw_i_json *j);

static const struct hpcw_i_json_options indented = {.indent = true};
static const struct hpcw_i_json_options ascii = {.ascii = true};
static const struct hpcw_i_json_options replacing = {.replace_bad_utf8 = true};

/* Returns the text that `write` produces, to be freed. The text is written twice, to a buffer and to a sink,
 * with equal results. */
static char *text_of(write_fn *write, const struct hpcw_i_json_options *options) {
    struct hpcw_i_json j;
    struct hpcw_i_buf buf = {0};
    assert_true(hpcw_i_buf_append_str(&buf, "before"));
    hpcw_i_json_open_buf(&j, &buf, options);
    write(&j);
    hpcw_error err;
    hpcw_status status = hpcw_i_json_finish(&j, &err);
    if (status != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_memory_equal(buf.data, "before", 6);
    size_t size = buf.size - 6;
    assert_true(hpcw_i_json_size(&j) == size);

    hpcw_sink *sink = NULL;
    assert_int_equal(hpcw_sink_open_memory(&sink, NULL), HPCW_OK);
    hpcw_i_json_open_sink(&j, sink, options);
    write(&j);
    assert_int_equal(hpcw_i_json_finish(&j, NULL), HPCW_OK);
    assert_true(hpcw_i_json_size(&j) == size);
    size_t sink_size = 0;
    const void *data = hpcw_sink_memory_data(sink, &sink_size);
    assert_true(sink_size == size);
    assert_memory_equal(data, buf.data + 6, size);
    hpcw_sink_free(sink);

    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, buf.data + 6, size);
    text[size] = '\0';
    hpcw_i_buf_free(&buf);
    return text;
}

static void check_text(write_fn *write, const struct hpcw_i_json_options *options, const char *expected) {
    char *text = text_of(write, options);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- Structure and values -------------------------------------------------------------------------------- */

static void write_all_kinds(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "empty object");
    hpcw_i_json_begin_object(j);
    hpcw_i_json_end_object(j);
    hpcw_i_json_key(j, "empty array");
    hpcw_i_json_begin_array(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_key(j, "");
    hpcw_i_json_begin_array(j);
    hpcw_i_json_u64(j, UINT64_MAX);
    hpcw_i_json_i64(j, INT64_MIN);
    hpcw_i_json_f64(j, 160);
    hpcw_i_json_f64(j, 1e-7);
    hpcw_i_json_seconds(j, 1234567890);
    hpcw_i_json_bool(j, true);
    hpcw_i_json_bool(j, false);
    hpcw_i_json_null(j);
    hpcw_i_json_str(j, "text");
    hpcw_i_json_str(j, "");
    hpcw_i_json_begin_array(j);
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_u64(j, "u", 9007199254740993);
    hpcw_i_json_put_i64(j, "i", -5);
    hpcw_i_json_put_f64(j, "f", 0);
    hpcw_i_json_put_seconds(j, "t", 3000000000);
    hpcw_i_json_put_bool(j, "yes", true);
    hpcw_i_json_put_bool(j, "no", false);
    hpcw_i_json_put_str(j, "a key of more than twenty-four characters", "and a value of more than that");
    hpcw_i_json_put_str(j, "twenty-four characters..", "twenty-four characters.;");
    hpcw_i_json_end_object(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_end_object(j);
}

static void all_kinds(void **state) {
    (void)state;
    const char *compact =
        "{\"empty object\":{},\"empty array\":[],\"\":[18446744073709551615,-9223372036854775808,160.0,1e-07,"
        "1.23456789,true,false,null,\"text\",\"\",[{\"u\":9007199254740993,\"i\":-5,\"f\":0.0,\"t\":3.0,"
        "\"yes\":true,\"no\":false,"
        "\"a key of more than twenty-four characters\":\"and a value of more than that\","
        "\"twenty-four characters..\":\"twenty-four characters.;\"}]]}";
    check_text(write_all_kinds, NULL, compact);
    check_text(write_all_kinds, &indented,
               "{\n"
               "  \"empty object\": {},\n"
               "  \"empty array\": [],\n"
               "  \"\": [\n"
               "    18446744073709551615,\n"
               "    -9223372036854775808,\n"
               "    160.0,\n"
               "    1e-07,\n"
               "    1.23456789,\n"
               "    true,\n"
               "    false,\n"
               "    null,\n"
               "    \"text\",\n"
               "    \"\",\n"
               "    [\n"
               "      {\n"
               "        \"u\": 9007199254740993,\n"
               "        \"i\": -5,\n"
               "        \"f\": 0.0,\n"
               "        \"t\": 3.0,\n"
               "        \"yes\": true,\n"
               "        \"no\": false,\n"
               "        \"a key of more than twenty-four characters\": \"and a value of more than that\",\n"
               "        \"twenty-four characters..\": \"twenty-four characters.;\"\n"
               "      }\n"
               "    ]\n"
               "  ]\n"
               "}\n");
}

static void write_number(struct hpcw_i_json *j) {
    hpcw_i_json_u64(j, 42);
}

static void write_records(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "links");
    hpcw_i_json_begin_array(j);
    for (uint64_t i = 0; i < 2; i++) {
        hpcw_i_json_flat(j);
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "from", i);
        hpcw_i_json_key(j, "to");
        hpcw_i_json_begin_array(j);
        hpcw_i_json_u64(j, 1);
        hpcw_i_json_u64(j, 2);
        hpcw_i_json_end_array(j);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
    hpcw_i_json_flat(j);
    hpcw_i_json_key(j, "ranks");
    hpcw_i_json_begin_array(j);
    hpcw_i_json_end_array(j);
    hpcw_i_json_put_u64(j, "last", 3);
    hpcw_i_json_end_object(j);
}

static void other_shapes(void **state) {
    (void)state;
    check_text(write_number, NULL, "42");
    check_text(write_number, &indented, "42\n");
    check_text(write_records, NULL,
               "{\"links\":[{\"from\":0,\"to\":[1,2]},{\"from\":1,\"to\":[1,2]}],\"ranks\":[],\"last\":3}");
    check_text(write_records, &indented,
               "{\n"
               "  \"links\": [\n"
               "    {\"from\": 0, \"to\": [1, 2]},\n"
               "    {\"from\": 1, \"to\": [1, 2]}\n"
               "  ],\n"
               "  \"ranks\": [],\n"
               "  \"last\": 3\n"
               "}\n");
}

static void write_deepest(struct hpcw_i_json *j) {
    for (int i = 0; i < HPCW_I_JSON_DEPTH; i++) {
        if (i % 3 == 0) {
            hpcw_i_json_begin_array(j);
        } else {
            hpcw_i_json_begin_object(j);
        }
        if (i % 3 != 0 && i + 1 < HPCW_I_JSON_DEPTH) {
            hpcw_i_json_key(j, "k");
        }
    }
    for (int i = HPCW_I_JSON_DEPTH; i-- > 0;) {
        if (i % 3 == 0) {
            hpcw_i_json_end_array(j);
        } else {
            hpcw_i_json_end_object(j);
        }
    }
}

static void deepest_level(void **state) {
    (void)state;
    const struct hpcw_i_json_options *layouts[] = {NULL, &indented};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        char *text = text_of(write_deepest, layouts[i]);
        cJSON *tree = cJSON_Parse(text);
        assert_non_null(tree);
        int depth = 0;
        for (const cJSON *node = tree; node != NULL; node = node->child) {
            depth++;
        }
        assert_int_equal(depth, HPCW_I_JSON_DEPTH);
        cJSON_Delete(tree);
        free(text);
    }
}

/* ---- Strings --------------------------------------------------------------------------------------------- */

static const char *said; /* text for write_said */
static size_t said_size;

static void write_said(struct hpcw_i_json *j) {
    hpcw_i_json_str_n(j, said, said_size);
}
static void write_said_as_key(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key_n(j, said, said_size);
    hpcw_i_json_null(j);
    hpcw_i_json_end_object(j);
}

static void check_string(const char *text, size_t size, const struct hpcw_i_json_options *options,
                         const char *expected) {
    char key[256];
    said = text;
    said_size = size;
    check_text(write_said, options, expected);
    (void)snprintf(key, sizeof key, "{%s:null}", expected);
    check_text(write_said_as_key, options, key);
}
#define CHECK_STRING(text, options, expected) check_string(text, sizeof text - 1, options, expected)

static void escapes(void **state) {
    (void)state;
    CHECK_STRING("", NULL, "\"\"");
    CHECK_STRING("a/b'c<d>&", NULL, "\"a/b'c<d>&\"");
    CHECK_STRING("\"\\", NULL, "\"\\\"\\\\\"");
    CHECK_STRING("\b\f\n\r\t", NULL, "\"\\b\\f\\n\\r\\t\"");
    CHECK_STRING("\0\x01\x0b\x1f\x7f", NULL, "\"\\u0000\\u0001\\u000b\\u001f\\u007f\"");
    CHECK_STRING("\xc2\x9b|\xc2\xa0", NULL, "\"\\u009b|\xc2\xa0\"");
    CHECK_STRING("\x7f", &ascii, "\"\\u007f\"");
    CHECK_STRING("1234567\"", NULL, "\"1234567\\\"\"");
    CHECK_STRING("12345678\"", NULL, "\"12345678\\\"\"");
    CHECK_STRING("\"12345678", NULL, "\"\\\"12345678\"");
    /* U+0080, U+07FF, U+0800, U+D7FF, U+E000, U+FFFD, U+FFFF, U+10000, U+1F600, U+10FFFF */
    CHECK_STRING("\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbd|\xef\xbf\xbf|"
                 "\xf0\x90\x80\x80|\xf0\x9f\x98\x80|\xf4\x8f\xbf\xbf",
                 NULL,
                 "\"\\u0080|\xdf\xbf|\xe0\xa0\x80|\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbd|\xef\xbf\xbf|"
                 "\xf0\x90\x80\x80|\xf0\x9f\x98\x80|\xf4\x8f\xbf\xbf\"");
    CHECK_STRING("\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xed\x9f\xbf|\xee\x80\x80|\xef\xbf\xbd|\xef\xbf\xbf|"
                 "\xf0\x90\x80\x80|\xf0\x9f\x98\x80|\xf4\x8f\xbf\xbf",
                 &ascii,
                 "\"\\u0080|\\u07ff|\\u0800|\\ud7ff|\\ue000|\\ufffd|\\uffff|"
                 "\\ud800\\udc00|\\ud83d\\ude00|\\udbff\\udfff\"");
}

static void write_literals(struct hpcw_i_json *j) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "a\"b", "c\\d");
    hpcw_i_json_put_str(j, "line\nfeed in a long key", "tab\tin a long value...");
    hpcw_i_json_put_str(j, "k\xc3\xb6", "\x7f");
    hpcw_i_json_put_str(j, "seventeen\nand four..", "seventeen\nand four.,");
    hpcw_i_json_put_u64(j, "12345678\x01", 10);
    hpcw_i_json_put_bool(j, "1234567890123456\x01", true);
    hpcw_i_json_put_seconds(j,
                            "1234567\x01"
                            "890",
                            1);
    hpcw_i_json_end_object(j);
}

/* The fast path for literals must not be used if they need an escape. */
static void literals_with_escapes(void **state) {
    (void)state;
    check_text(write_literals, &ascii,
               "{\"a\\\"b\":\"c\\\\d\",\"line\\nfeed in a long key\":\"tab\\tin a long value...\","
               "\"k\\u00f6\":\"\\u007f\",\"seventeen\\nand four..\":\"seventeen\\nand "
               "four.,\",\"12345678\\u0001\":10,\"1234567890123456\\u0001\":true,"
               "\"1234567\\u0001890\":0.000000001}");
}

#define FFFD "\xef\xbf\xbd"

static void bad_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text, *replaced;
    } rows[] = {
        {"a\xff", "a" FFFD},
        {"\x80z", FFFD "z"},
        {"\xc0\xaf", FFFD FFFD},          /* overlong */
        {"\xc1\xbf", FFFD FFFD},          /* overlong */
        {"\xe0\x9f\xbf", FFFD FFFD FFFD}, /* overlong */
        {"\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD},
        {"\xed\xa0\x80", FFFD FFFD FFFD},          /* a surrogate */
        {"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD}, /* above U+10FFFF */
        {"\xf5\x80", FFFD FFFD},
        {"\xc3", FFFD},
        {"\xc3(", FFFD "("},
        {"\xe2\x82", FFFD},
        {"\xe2\x82z", FFFD "z"},
        {"\xf0\x9f\x98", FFFD},
        {"\xf0\x9f\x98\xf0\x9f\x98\x80", FFFD "\xf0\x9f\x98\x80"},
        {"\xf0\x9f\xc3\xb6", FFFD "\xc3\xb6"},
        {"1234567\xe2", "1234567" FFFD},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "\"%s\"", rows[i].replaced);
        check_string(rows[i].text, strlen(rows[i].text), &replacing, expected);
        assert_false(hpcw_i_json_is_utf8(rows[i].text, strlen(rows[i].text)));
        assert_true(hpcw_i_json_is_utf8(rows[i].replaced, strlen(rows[i].replaced)));

        for (int as_key = 0; as_key < 2; as_key++) {
            struct hpcw_i_json j;
            struct hpcw_i_buf buf = {0};
            hpcw_error err;
            hpcw_i_json_open_buf(&j, &buf, NULL);
            if (as_key != 0) {
                write_said_as_key(&j);
            } else {
                write_said(&j);
            }
            assert_int_equal(hpcw_i_json_finish(&j, &err), HPCW_EINVAL);
            assert_non_null(strstr(err.message, "UTF-8"));
            assert_true(buf.size == 0);
            hpcw_i_buf_free(&buf);
        }
    }
}

/* Strings of all lengths and alignments, with a special character at every position. Each is an allocated block,
 * so that sanitizers detect reads beyond its end. */
static void every_length(void **state) {
    (void)state;
    for (size_t size = 0; size <= 40; size++) {
        for (size_t special = 0; special <= size; special++) {
            char *text = malloc(size == 0 ? 1 : size);
            char expected[96], *e = expected;
            assert_non_null(text);
            *e++ = '"';
            for (size_t i = 0; i < size; i++) {
                text[i] = (char)(i == special ? '\n' : 'a' + (int)(i % 26));
                if (i == special) {
                    *e++ = '\\';
                }
                *e++ = (char)(i == special ? 'n' : text[i]);
            }
            memcpy(e, "\"", 2);
            check_string(text, size, NULL, expected);
            free(text);
        }
    }
}

/* ---- Through another reader ------------------------------------------------------------------------------ */

static uint64_t tree_seed;
static int tree_values;

/* NOLINTNEXTLINE(misc-no-recursion): nine levels at most. */
static void write_tree(struct hpcw_i_json *j, uint64_t *seed, int depth) {
    uint64_t r = splitmix64(seed);
    char text[64];
    size_t n = (r >> 8) % sizeof text;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)(1 + splitmix64(seed) % 127);
    }
    tree_values++;
    switch (depth == 0 ? 4 + r % 2 : depth < 8 ? r % 6 : r % 4) {
    case 0:
        hpcw_i_json_f64(j, (double)(int64_t)splitmix64(seed) / 1e9);
        break;
    case 1:
        hpcw_i_json_str_n(j, text, n);
        break;
    case 2:
        hpcw_i_json_bool(j, (r & 256) != 0);
        break;
    case 3:
        hpcw_i_json_i64(j, (int64_t)splitmix64(seed) >> 12);
        break;
    case 4:
        hpcw_i_json_begin_array(j);
        for (uint64_t i = (r >> 16) % 8; i > 0; i--) {
            write_tree(j, seed, depth + 1);
        }
        hpcw_i_json_end_array(j);
        break;
    default:
        hpcw_i_json_begin_object(j);
        for (uint64_t i = (r >> 16) % 8; i > 0; i--) {
            hpcw_i_json_key_n(j, text, n);
            write_tree(j, seed, depth + 1);
        }
        hpcw_i_json_end_object(j);
        break;
    }
}

/* The same walk with the same draws over what cJSON read. NOLINTNEXTLINE(misc-no-recursion): nine levels at
 * most. */
static void check_tree(const cJSON *node, uint64_t *seed, int depth) {
    uint64_t r = splitmix64(seed);
    char text[65];
    size_t n = (r >> 8) % 64;
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)(1 + splitmix64(seed) % 127);
    }
    text[n] = '\0';
    assert_non_null(node);
    const cJSON *child = node->child;
    switch (depth == 0 ? 4 + r % 2 : depth < 8 ? r % 6 : r % 4) {
    case 0:
        assert_true(cJSON_IsNumber(node));
        assert_true(node->valuedouble == (double)(int64_t)splitmix64(seed) / 1e9);
        break;
    case 1:
        assert_true(cJSON_IsString(node));
        assert_string_equal(node->valuestring, text);
        break;
    case 2:
        assert_true((r & 256) != 0 ? cJSON_IsTrue(node) : cJSON_IsFalse(node));
        break;
    case 3:
        assert_true(cJSON_IsNumber(node));
        assert_true(node->valuedouble == (double)((int64_t)splitmix64(seed) >> 12));
        break;
    default:
        assert_true(cJSON_IsArray(node) || cJSON_IsObject(node));
        for (uint64_t i = (r >> 16) % 8; i > 0; i--) {
            if (cJSON_IsObject(node)) {
                assert_non_null(child);
                assert_string_equal(child->string, text);
            }
            check_tree(child, seed, depth + 1);
            child = child->next;
        }
        assert_null(child);
        break;
    }
}

static void write_seeded_tree(struct hpcw_i_json *j) {
    uint64_t seed = tree_seed;
    write_tree(j, &seed, 0);
}

static void read_by_cjson(void **state) {
    (void)state;
    const struct hpcw_i_json_options *layouts[] = {NULL, &indented, &ascii};
    for (tree_seed = 1; tree_seed <= 300; tree_seed++) {
        char *text = text_of(write_seeded_tree, layouts[tree_seed % COUNT(layouts)]);
        cJSON *tree = cJSON_ParseWithOpts(text, NULL, 1);
        uint64_t seed = tree_seed;
        check_tree(tree, &seed, 0);
        cJSON_Delete(tree);
        free(text);
    }
    assert_true(tree_values > 10000);
}

/* ---- Long texts ------------------------------------------------------------------------------------------ */

#define LONG_VALUES 60000

static void write_long(struct hpcw_i_json *j) {
    static char text[300000];
    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    uint64_t seed = 9;
    hpcw_i_json_begin_array(j);
    hpcw_i_json_str_n(j, text + 1, sizeof text - 2);
    hpcw_i_json_str_n(j, text, sizeof text);
    for (int i = 0; i < LONG_VALUES; i++) {
        uint64_t r = splitmix64(&seed);
        size_t size = r % 100 == 0 ? HPCW_I_JSON_RESERVE : 3 + (r >> 8) % 40;
        char *p = hpcw_i_json_reserve(j, size);
        if (p != NULL) {
            memset(p, 'y', size);
            p[0] = p[size - 1] = '"';
            hpcw_i_json_commit(j, p + size);
        }
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "value", r);
        hpcw_i_json_put_str(j, "name", "short");
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

/* A text far longer than the buffer gives the same result as when written at once. */
static void longer_than_the_buffer(void **state) {
    (void)state;
    const struct hpcw_i_json_options small = {.buffer_size = 1};
    const struct hpcw_i_json_options odd = {.buffer_size = 100001};
    const struct hpcw_i_json_options large = {.buffer_size = (size_t)64 << 20};
    char *whole = text_of(write_long, &large);
    char *pieces = text_of(write_long, &small);
    assert_true(strlen(whole) > (size_t)10 << 20);
    assert_string_equal(pieces, whole);
    free(pieces);
    pieces = text_of(write_long, &odd);
    assert_string_equal(pieces, whole);
    free(pieces);

    cJSON *tree = cJSON_Parse(whole);
    assert_int_equal(cJSON_GetArraySize(tree), 2 + 2 * LONG_VALUES);
    cJSON_Delete(tree);
    free(whole);
}

/* Puts escapes, a long number and a bool at every distance from the end of the buffer. */
static size_t filler_size;
static const struct hpcw_i_json_options smallest = {.buffer_size = 1};

static void write_at_the_edge(struct hpcw_i_json *j) {
    static char text[66000];
    memset(text, 'z', sizeof text);
    text[0] = text[filler_size - 1] = '"';
    hpcw_i_json_begin_array(j);
    hpcw_i_json_str_n(j, text + 1, filler_size - 2);
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "quotes", "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"");
    hpcw_i_json_put_f64(j, "number", -1.2345678901234568e-300);
    hpcw_i_json_put_bool(j, "bool", false);
    hpcw_i_json_end_object(j);
    hpcw_i_json_end_array(j);
}

static void edge_of_the_buffer(void **state) {
    (void)state;
    for (filler_size = 65536 - 420; filler_size < 65536 + 20; filler_size++) {
        char *text = text_of(write_at_the_edge, &smallest);
        assert_string_equal(text + filler_size + 1,
                            ",{\"quotes\":\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\","
                            "\"number\":-1.2345678901234568e-300,\"bool\":false}]");
        free(text);
    }
}

/* A sink that takes few bytes at a time gets the same text. */
static void sink_of_short_writes(void **state) {
    (void)state;
    char *expected = text_of(write_seeded_tree, NULL);
    hpcw_sink *memory = NULL, *sink = NULL;
    struct hpcw_i_json j;
    assert_int_equal(hpcw_sink_open_memory(&memory, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_open_limited(memory, UINT64_MAX, 7, &sink, NULL), HPCW_OK);
    hpcw_i_json_open_sink(&j, sink, NULL);
    write_seeded_tree(&j);
    assert_int_equal(hpcw_i_json_finish(&j, NULL), HPCW_OK);
    size_t size = 0;
    const void *data = hpcw_sink_memory_data(memory, &size);
    assert_true(size == strlen(expected));
    assert_memory_equal(data, expected, size);
    hpcw_sink_free(sink);
    free(expected);
}

/* A JSON value given as text loses its blanks and nothing else. */
static void write_texts(struct hpcw_i_json *j) {
    hpcw_i_json_begin_array(j);
    hpcw_i_json_text(j, "null");
    hpcw_i_json_text(j, " { \"a \\\" b\" : [ 1 , -2.50E+3 ,\r\n\t\"\\\\\" ] } ");
    hpcw_i_json_begin_object(j);
    hpcw_i_json_key(j, "k");
    hpcw_i_json_text(j, "[]");
    hpcw_i_json_end_object(j);
    hpcw_i_json_end_array(j);
}

static void texts(void **state) {
    (void)state;
    char *text = text_of(write_texts, NULL);
    assert_string_equal(text, "[null,{\"a \\\" b\":[1,-2.50E+3,\"\\\\\"]},{\"k\":[]}]");
    free(text);
}

static char long_value[70000];
static void write_long_text(struct hpcw_i_json *j) {
    hpcw_i_json_text(j, long_value);
}

static void text_longer_than_the_buffer(void **state) {
    (void)state;
    memset(long_value, '\\', sizeof long_value - 1);
    long_value[0] = long_value[sizeof long_value - 2] = '"';
    for (int shift = 0; shift < 2; shift++) {
        long_value[1] = shift == 0 ? '\\' : 'x';
        long_value[sizeof long_value - 3] = shift == 0 ? 'x' : '\\';
        char *text = text_of(write_long_text, &smallest);
        assert_string_equal(text, long_value);
        free(text);
    }
}

static void what_is_json(void **state) {
    (void)state;
    static const char *const good[] = {"0",
                                       "-0.5e-7",
                                       "12",
                                       "\"\"",
                                       "\"\\u12aF\\ud834\\udd1e\\/\"",
                                       "true",
                                       " false ",
                                       "null",
                                       "[]",
                                       "{}",
                                       "[[],{}]",
                                       "{\"a\":{\"b\":[1,2]},\"a\":0}",
                                       "\t[ 1 , 2 ]\r\n",
                                       "\"\xc3\xa4\"",
                                       "[{\"a\":[]}]"};
    static const char *const bad[] = {"",
                                      " ",
                                      "01",
                                      "+1",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "1e999",
                                      "0x1",
                                      "NaN",
                                      "tru",
                                      "truex",
                                      "nul",
                                      "'a'",
                                      "\"",
                                      "\"a",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"\\u12\"",
                                      "\"\\ud834\"",
                                      "\"\\ud834\\u0041\"",
                                      "\"\\udd1e\"",
                                      "\"\n\"",
                                      "\"\xff\"",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1}",
                                      "{",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{1:1}",
                                      "{\"a\" 1}",
                                      "{\"a\":1]",
                                      "1 1",
                                      "[] []",
                                      "[]]",
                                      "{}}",
                                      "[[[[]]]]"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!hpcw_i_json_is_text(good[i], 3)) {
            fail_msg("expected %s to be JSON", good[i]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (hpcw_i_json_is_text(bad[i], 3)) {
            fail_msg("expected %s not to be JSON", bad[i]);
        }
    }
    char number[300];
    memset(number, '1', sizeof number);
    number[256] = '\0';
    assert_true(hpcw_i_json_is_text(number, 0));
    number[256] = '1';
    number[257] = '\0';
    assert_false(hpcw_i_json_is_text(number, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(other_shapes),
        cmocka_unit_test(deepest_level),
        cmocka_unit_test(escapes),
        cmocka_unit_test(literals_with_escapes),
        cmocka_unit_test(bad_utf8),
        cmocka_unit_test(every_length),
        cmocka_unit_test(read_by_cjson),
        cmocka_unit_test(longer_than_the_buffer),
        cmocka_unit_test(edge_of_the_buffer),
        cmocka_unit_test(sink_of_short_writes),
        cmocka_unit_test(texts),
        cmocka_unit_test(text_longer_than_the_buffer),
        cmocka_unit_test(what_is_json),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
