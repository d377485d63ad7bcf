/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOM reader and what surrounds the records: brotli streams, JSON syntax, limits of sizes, numbers, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/verify.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/vom_judge.h"

#define STRICT READ_VOM_STRICT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Returns a text of `count` times a character. To be freed. */
static char *run_of(char c, size_t count) {
    char *text = malloc(count + 1);
    assert_non_null(text);
    memset(text, c, count);
    text[count] = '\0';
    return text;
}

/* Returns the text of rank 0 with an additional user-defined value. `value` is JSON. The caller frees the text. */
static char *with_value(const char *value) {
    size_t size = strlen(value) + 32;
    char *to = malloc(size);
    assert_non_null(to);
    (void)snprintf(to, size, "\"user_defined\":{\"v\":%s,", value);
    char *text = vom_edit(vom_rank[0], "\"user_defined\":{", to);
    free(to);
    return text;
}

/* ---- brotli --------------------------------------------------------------------------------------------- */

static void every_window_is_read(void **state) {
    (void)state;
    /* The text is so long that the decoder's input and output have several pieces. */
    char *blanks = run_of(' ', 300000);
    blanks[0] = ',';
    char *text = vom_edit(vom_rank[0], ",", blanks);
    for (int window = 10; window <= 24; window++) {
        for (int quality = 0; quality <= 9; quality += 3) {
            size_t size;
            unsigned char *packed = vom_compress(text, strlen(text), quality, window, false, &size);
            hpcw_error err = {0};
            if (read_vom_verify_memory("m", packed, size, STRICT, &err) != HPCW_OK) {
                fail_msg("window %d, quality %d: %s", window, quality, err.message);
            }
            free(packed);
        }
    }
    size_t stored_size;
    unsigned char *stored = vom_store(vom_rank[0], &stored_size);
    assert_int_equal(read_vom_verify_memory("m", stored, stored_size, STRICT, NULL), HPCW_OK);
    free(stored);
    for (int window = 10; window <= 30; window += 4) {
        size_t size;
        unsigned char *packed = vom_compress(text, strlen(text), 5, window, true, &size);
        refuse_vom_bytes(packed, size, 0, HPCW_EFORMAT,
                         "expected a window of 10 to 24 bits, got a large-window stream");
        free(packed);
    }
    free(blanks);
    free(text);
}

static void streams_end_where_they_should(void **state) {
    (void)state;
    size_t size;
    unsigned char *packed = vom_compress(vom_rank[0], strlen(vom_rank[0]), 8, 20, false, &size);
    for (size_t cut = 1; cut < size; cut++) {
        /* A copy of exactly `cut` bytes, so that sanitizers detect reads beyond its end. */
        unsigned char *copy = malloc(cut);
        assert_non_null(copy);
        memcpy(copy, packed, cut);
        refuse_vom_bytes(copy, cut, 0, HPCW_ETRUNCATED, "the brotli stream is cut");
        free(copy);
    }
    refuse_vom_bytes(packed, 0, 0, HPCW_ETRUNCATED, "got an empty file");
    unsigned char *longer = malloc(2 * size);
    assert_non_null(longer);
    memcpy(longer, packed, size);
    memcpy(longer + size, packed, size);
    char part[128];
    (void)snprintf(part, sizeof part,
                   "expected nothing after the brotli stream, which ends at offset %zu, got %zu bytes", size,
                   size);
    refuse_vom_bytes(longer, 2 * size, 0, HPCW_EFORMAT, part);
    longer[size] = 0;
    refuse_vom_bytes(longer, size + 1, 0, HPCW_EFORMAT, "got 1 bytes");
    longer[0] ^= 0x80;
    refuse_vom_bytes(longer, size, 0, HPCW_EFORMAT,
                     "expected '{' or a brotli stream at the start, got byte 97, which is none");
    free(longer);
    free(packed);
}

static void what_vt_would_lose_is_refused(void **state) {
    (void)state;
    for (size_t extra = 0; extra < 3; extra++) {
        size_t blanks = 2 * 65536 + extra - strlen(vom_rank[0]);
        char *room = run_of(' ', blanks + 1);
        room[0] = ',';
        char *text = vom_edit(vom_rank[0], ",", room);
        size_t size;
        unsigned char *packed = vom_compress(text, strlen(text), 5, 20, false, &size);
        assert_int_equal(strlen(text), 2 * 65536 + extra);
        assert_int_equal(read_vom_verify_memory("m", packed, size, 0, NULL), HPCW_OK);
        accept_vom(text, STRICT);
        if (extra == 1) {
            refuse_vom_bytes(
                packed, size, STRICT, HPCW_EFORMAT,
                "expected an inflated size that is not 1 more than a multiple of 65536, because vt loses the "
                "last byte then, got 131073");
        } else {
            assert_int_equal(read_vom_verify_memory("m", packed, size, STRICT, NULL), HPCW_OK);
        }
        free(packed);
        free(text);
        free(room);
    }
}

static void bombs_are_refused(void **state) {
    (void)state;
    size_t size;
    char *blanks = run_of(' ', (size_t)80 << 20);
    blanks[0] = '{';
    unsigned char *packed = vom_compress(blanks, (size_t)80 << 20, 5, 24, false, &size);
    assert_true(size < 80000);
    refuse_vom_bytes(packed, size, 0, HPCW_ERANGE,
                     "expected a text of at most 1000 times its brotli stream, got 67");
    free(packed);
    free(blanks);
}

/* ---- JSON ----------------------------------------------------------------------------------------------- */

static void beginnings_are_looked_at(void **state) {
    (void)state;
    static const struct {
        const char *before, *part;
    } bad[] = {
        {"\xef\xbb\xbf{",
         "expected '{' or a brotli stream at the start, got byte ef of a byte order mark, which is none"},
        {"\r{", "expected '{' or a brotli stream at the start, got byte 0d"},
        {" \n\r{", "expected '{' or a brotli stream at the start, got byte 20"},
        {"[{", "expected '{' or a brotli stream at the start, got byte 5b"},
        {"x{", "expected '{' or a brotli stream at the start, got byte 78"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *text = vom_edit(vom_rank[0], "{", bad[i].before);
        refuse_vom(text, 0, HPCW_EFORMAT, bad[i].part);
        free(text);
    }
    char *text = vom_edit(vom_rank[0], "{\"meta", " \t\n{\"meta");
    accept_vom(text, STRICT);
    free(text);
}

static void texts_end_where_they_should(void **state) {
    (void)state;
    size_t size = strlen(vom_rank[0]);
    for (size_t cut = 1; cut < size; cut++) {
        char *copy = malloc(cut);
        assert_non_null(copy);
        memcpy(copy, vom_rank[0], cut);
        hpcw_error err = {0};
        hpcw_status status = read_vom_verify_memory("m", copy, cut, 0, &err);
        /* A number or name that is cut short may also be invalid. */
        bool inside = strchr("\",:[]{}", vom_rank[0][cut - 1]) == NULL;
        if (status != HPCW_ETRUNCATED && !(inside && status == HPCW_EFORMAT)) {
            fail_msg("cut at %zu: %s %s", cut, hpcw_status_name(status), err.message);
        }
        free(copy);
    }
    static const char *const after[] = {"{", "}", "0", "[]", "\"\"", ",", "x"};
    for (size_t i = 0; i < COUNT(after); i++) {
        char text[8192];
        (void)snprintf(text, sizeof text, "%s \n%s", vom_rank[0], after[i]);
        refuse_vom(text, 0, HPCW_EFORMAT, "expected JSON, got at offset ");
    }
}

static void broken_json_is_refused(void **state) {
    (void)state;
    static const struct vom_broken broken[] = {
        {"\"id\":0,\"tasks\"", "\"id\":00,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\":+0,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\":0,,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\" 0,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "id:0,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "xid\":0,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\"0,\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\":0,/* */\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"time\":0.375", "\"time\":.375", NULL, NULL, "expected JSON"},
        {"\"time\":0.375", "\"time\":0.", NULL, NULL, "expected JSON"},
        {"\"time\":0.375", "\"time\":Infinity", NULL, NULL, "expected JSON"},
        {"\"label\":\"first\"", "\"label\":\"fi\nrst\"", NULL, NULL, "expected JSON"},
        {"\"label\":\"first\"", "\"label\":\"fi\\xrst\"", NULL, NULL, "expected JSON"},
        {"\"label\":\"first\"", "\"label\":\"fi\\u12g4rst\"", NULL, NULL, "expected JSON"},
        {"\"label\":\"first\"", "\"label\":\"fi\\", NULL, NULL, "expected JSON"},
        {"\"time\":0.375", "\"time\":1e+", NULL, NULL, "expected JSON"},
        {"\"time\":0.375", "\"time\":-", NULL, NULL, "expected JSON"},
        {"\"id\":0,\"tasks\"", "\"id\":0,\v\"tasks\"", NULL, NULL, "expected JSON"},
        {"\"label\":\"first\"", "\"label\":\"fi\\ud834rst\"", NULL, NULL, "expected text in UTF-8"},
        {"\"label\":\"first\"", "\"label\":\"fi\x80rst\"", NULL, NULL, "expected text in UTF-8"},
    };
    static const char *const not_utf8[] = {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\xaf",
                                           "a\xc1\xbf"};
    break_vom(vom_rank[0], broken, COUNT(broken), 0);
    for (size_t i = 0; i < COUNT(not_utf8); i++) {
        for (int key = 0; key < 2; key++) {
            char to[64];
            (void)snprintf(to, sizeof to, key ? "\"%s\":\"label" : "\"label\":\"%s", not_utf8[i]);
            char *text = vom_edit(vom_rank[0], "\"label\":\"first", to);
            refuse_vom(text, 0, HPCW_EFORMAT, "expected text in UTF-8, got other bytes");
            free(text);
        }
    }
    char *text = vom_edit(vom_rank[0], "\"label\":\"first\"", "\"label\":\"f\\u00e4\xc3\xa4\\ud834\\udd1e\"");
    accept_vom(text, STRICT);
    free(text);
}

/* ---- sizes ---------------------------------------------------------------------------------------------- */

static void refuse_value(const char *value, hpcw_status status, const char *part) {
    char *text = with_value(value);
    refuse_vom(text, 0, status, part);
    size_t size;
    unsigned char *packed = vom_compress(text, strlen(text), 1, 20, false, &size);
    refuse_vom_bytes(packed, size, 0, status, part);
    free(packed);
    free(text);
}

static void what_is_too_large_is_refused(void **state) {
    (void)state;
    /* The user-defined value is on level 6. At most 32 levels are allowed. */
    char nested[64 + 1];
    for (int deep = 26; deep <= 27; deep++) {
        (void)snprintf(nested, sizeof nested, "%.*s%.*s", deep, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", deep,
                       "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
        if (deep == 26) {
            char *text = with_value(nested);
            accept_vom(text, 0);
            free(text);
        } else {
            refuse_value(nested, HPCW_ERANGE, "expected at most 32 levels of nesting, got more");
        }
    }
    char *million = run_of('[', 1000000);
    refuse_value(million, HPCW_ERANGE, "expected at most 32 levels of nesting");
    free(million);

    /* Strings: one of the largest size, many such strings, and one that is too large. */
    size_t size = 1000000;
    char *text = run_of('a', size);
    text[0] = text[size - 1] = '"';
    char *good = with_value(text);
    accept_vom(good, 0);
    free(good);
    char *many = run_of(' ', 5 * (size + 8));
    for (size_t i = 0, used = 0; i < 5; i++) {
        used += (size_t)snprintf(many + used, size + 8, "%s%s", i == 0 ? "" : ",\"v\":", text);
    }
    refuse_value(many, HPCW_ERANGE, "expected values of at most 4194304 bytes in all");
    free(many);
    free(text);
    for (size = 1200000; size <= 20000000; size += 18800000) {
        text = run_of('a', size);
        text[0] = text[size - 1] = '"';
        refuse_value(text, HPCW_ERANGE, "strings, numbers and keys of less than 1 MiB, got a longer one");
        free(text);
    }
    text = run_of('7', 257);
    refuse_value(text, HPCW_ERANGE, "expected a number of at most 256 characters, got 257");
    free(text);
    text = run_of('7', (size_t)20 << 20);
    refuse_value(text, HPCW_ERANGE, "strings, numbers and keys of less than 1 MiB");
    free(text);

    text = vom_edit(vom_rank[0], "\"index\":[0,4]", "\"index\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]");
    refuse_vom(text, 0, HPCW_ERANGE,
               "communications[0].to.index[16] at offset 493: expected at most 16 numbers, got more");
    free(text);

    size_t room = (size_t)9 << 20;
    size_t used = 0;
    text = malloc(room);
    assert_non_null(text);
    used += (size_t)snprintf(text, room, "\"list\":[1");
    for (size_t i = 0; i <= READ_VOM_MOST_INTERVALS; i++) {
        used += (size_t)snprintf(text + used, room - used, ",%zu", i + 2);
    }
    (void)snprintf(text + used, room - used, "]");
    char *lists = vom_edit(vom_rank[0], "\"list\":[1]", text);
    refuse_vom(lists, 0, HPCW_ERANGE, "identical_to_previous.list[1048576] at offset");
    free(lists);
    free(text);
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

struct numbers {
    double got[64];
    size_t count;
};

static hpcw_status take_numbers(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    struct numbers *n = context;
    for (size_t i = 0; i < t->user_defined.count && t->number == 0; i++) {
        const struct read_vom_member *m = &t->user_defined.item[i];
        if (m->key[0] == 'N') {
            n->got[n->count++] = m->number;
        }
    }
    return HPCW_OK;
}

/* Lets the reader convert numbers to doubles, and compares their bits with those of strtod. */
static void convert(char literal[][64], size_t count) {
    char value[64 * 80];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(value + used, sizeof value - used, "%s%s",
                                 i == 0 ? "0,\"N\":" : ",\"N\":", literal[i]);
    }
    char *text = with_value(value);
    struct numbers n = {.count = 0};
    const struct read_vom_events events = {.context = &n, .task = take_numbers};
    struct read_vom *reader;
    hpcw_error err = {0};
    assert_int_equal(read_vom_open_memory("m", text, strlen(text), 0, 0, &reader, &err), HPCW_OK);
    if (read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    read_vom_free(reader);
    free(text);
    assert_int_equal(n.count, count);
    for (size_t i = 0; i < count; i++) {
        double want = strtod(literal[i], NULL);
        uint64_t bits[2];
        memcpy(&bits[0], &want, sizeof want);
        memcpy(&bits[1], &n.got[i], sizeof want);
        if (bits[0] != bits[1]) {
            fail_msg("%s: expected %.17g, got %.17g", literal[i], want, n.got[i]);
        }
    }
}

static void numbers_are_exact(void **state) {
    (void)state;
    char hard[][64] = {"0.0",
                       "-0.0",
                       "0.1",
                       "1e22",
                       "1e23",
                       "-1e-22",
                       "1e-23",
                       "9007199254740992.0",
                       "9007199254740993.0",
                       "9007199254740993",
                       "9007199254740991.5",
                       "123456789012345678",
                       "4.9e-324",
                       "2.4e-324",
                       "2.2250738585072011e-308",
                       "2.2250738585072014e-308",
                       "1.7976931348623157e+308",
                       "0.3",
                       "0.00031375000025946065",
                       "1.1669999366858974e-06",
                       "100000000000000.0",
                       "1e+15",
                       "16872.0",
                       "0.000000000000000000000000001",
                       "18446744073709551615",
                       "1234567890.123456789",
                       "90071992547409.9",
                       "900719925474099.1",
                       "0.9007199254740991",
                       "1E5",
                       "1.5e-0"};
    convert(hard, COUNT(hard));
    uint64_t random = 7;
    for (int round = 0; round < 200; round++) {
        char literal[60][64];
        for (size_t i = 0; i < COUNT(literal); i++) {
            uint64_t bits = random_word(&random);
            double v = (double)(bits >> 11) / (double)(UINT64_C(1) << bits % 64);
            int digits = (int)random_below(&random, 20);
            if (bits % 2 == 0) {
                (void)snprintf(literal[i], sizeof literal[i], "%.*f", digits, v);
            } else {
                (void)snprintf(literal[i], sizeof literal[i], "%.*e", digits, v);
            }
        }
        convert(literal, COUNT(literal));
    }
}

/* ---- memory and files ----------------------------------------------------------------------------------- */

static unsigned long allocations_left;
static bool only_one_fails;

static bool gate(size_t size) {
    (void)size;
    bool good = allocations_left != 0;
    allocations_left -= good || only_one_fails;
    return good;
}

static void no_memory_is_said(void **state) {
    (void)state;
    size_t size;
    unsigned char *packed = vom_compress(vom_rank[1], strlen(vom_rank[1]), 8, 20, false, &size);
    char *statistics = vom_statistics();
    const struct {
        const void *data;
        size_t size;
    } files[] = {{vom_rank[1], strlen(vom_rank[1])}, {packed, size}, {statistics, strlen(statistics)}};
    for (size_t i = 0; i < 2 * COUNT(files); i++) {
        hpcw_status status = HPCW_ENOMEM;
        unsigned long n = 0;
        only_one_fails = i % 2 == 0;
        for (; status != HPCW_OK; n++) {
            hpcw_error err = {0};
            allocations_left = n;
            hpcw_i_mem_gate = gate;
            status = read_vom_verify_memory("m", files[i / 2].data, files[i / 2].size, STRICT, &err);
            hpcw_i_mem_gate = NULL;
            if (status != HPCW_OK && (status != HPCW_ENOMEM || strncmp(err.message, "m: ", 3) != 0)) {
                fail_msg("file %zu, allocation %lu: %s \"%s\"", i / 2, n, hpcw_status_name(status),
                         err.message);
            }
            assert_true(n < 1000);
        }
        assert_true(n > 4);
    }
    free(packed);
    free(statistics);
}

static enum read_vom_file_type type_of(const char *path) {
    enum read_vom_file_type type;
    assert_int_equal(read_vom_file_type(path, &type, NULL), HPCW_OK);
    return type;
}

static void other_files_are_refused(void **state) {
    (void)state;
    char directory[256];
    char path[512];
    hpcw_error err = {0};
    scratch_make(directory, sizeof directory);
    assert_int_equal(read_vom_verify(directory, 0, &err), HPCW_EINVAL);
    (void)snprintf(path, sizeof path, "%s/none", directory);
    assert_int_equal(read_vom_verify(path, 0, &err), HPCW_ENOENT);
    assert_int_equal(type_of(path), READ_VOM_UNKNOWN_FILE);

    /* The rank in the text must be that of the file name. */
    vom_put(directory, 0, vom_rank[0], false);
    vom_put(directory, 1, vom_rank[0], true);
    (void)snprintf(path, sizeof path, "%s/data.0.json", directory);
    assert_int_equal(read_vom_verify(path, STRICT, &err), HPCW_OK);
    assert_int_equal(type_of(path), READ_VOM_DATA_FILE);
    (void)snprintf(path, sizeof path, "%s/data.1.json.br", directory);
    assert_int_equal(type_of(path), READ_VOM_DATA_FILE);
    assert_int_equal(read_vom_verify(path, STRICT, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "data.1.json.br: metadata.rank at offset "));
    assert_non_null(strstr(err.message, ": expected 1, the rank of the file, got 0"));
    scratch_remove(directory);
}

static void a_failed_handle_reads_no_further(void **state) {
    (void)state;
    const struct read_vom_events none = {0};
    struct read_vom *reader;
    hpcw_error err = {0};
    char *text = vom_edit(vom_rank[0], "\"node\":0", "\"node\":0.0");
    assert_int_equal(read_vom_open_memory("m", text, strlen(text), 0, 0, &reader, &err), HPCW_OK);
    assert_int_equal(read_vom_run(reader, 1, &none, &err), HPCW_EFORMAT);
    assert_int_equal(read_vom_run(reader, 1, &none, &err), HPCW_ESTATE);
    struct read_vom_facts facts;
    struct read_vom_position place;
    read_vom_facts(reader, &facts);
    read_vom_position(reader, &place);
    assert_false(facts.ended || place.ended);
    read_vom_free(reader);

    /* A reader moved to an offset after the end has not ended, either. */
    assert_int_equal(read_vom_open_memory("m", text, strlen(text), 0, 0, &reader, &err), HPCW_OK);
    place.offset = strlen(text) + 1;
    assert_int_equal(read_vom_resume(reader, &place, &err), HPCW_ETRUNCATED);
    assert_int_equal(read_vom_run(reader, 1, &none, &err), HPCW_ESTATE);
    read_vom_facts(reader, &facts);
    read_vom_position(reader, &place);
    read_vom_free(reader);
    free(text);
    read_vom_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_is_read),
        cmocka_unit_test(streams_end_where_they_should),
        cmocka_unit_test(what_vt_would_lose_is_refused),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(beginnings_are_looked_at),
        cmocka_unit_test(texts_end_where_they_should),
        cmocka_unit_test(broken_json_is_refused),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_failed_handle_reads_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
