/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong calls are refused with a reason and leave the container unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/memory_source.h"

static struct memory_source memory;

static hpcw_sion_options good_options(void) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    memory = (struct memory_source){0};
    o.count = 3;
    o.chunk_size = 100;
    o.fs_block_size = 1;
    o.sink_source = memory_source(&memory);
    return o;
}

#define REFUSED(call, status, what)                                                                            \
    do {                                                                                                       \
        hpcw_error err = {.message = ""};                                                                      \
        assert_int_equal(call, status);                                                                        \
        assert_int_equal(err.code, status);                                                                    \
        if (strstr(err.message, what) == NULL) {                                                               \
            fail_msg("expected \"%s\" in: %s", what, err.message);                                             \
        }                                                                                                      \
    } while (0)

#define OPEN_REFUSED(path, status, what)                                                                       \
    do {                                                                                                       \
        hpcw_sion *h_ = (hpcw_sion *)&o;                                                                       \
        REFUSED(hpcw_sion_open(path, NULL, &o, &h_, &err), status, what);                                      \
        assert_null(h_);                                                                                       \
    } while (0)

#define BAD(field, value, status, what)                                                                        \
    o = good_options();                                                                                        \
    o.field = (value);                                                                                         \
    OPEN_REFUSED("x.sion", status, what)

static uint64_t huge(void *context, uint32_t rank) {
    (void)context;
    return UINT64_MAX - rank;
}

static void bad_opens(void **state) {
    (void)state;
    hpcw_sion_options o = good_options();
    char name[HPCW_SION_MAX_NAME + 8] = "dir/";
    memset(name + 4, 'n', HPCW_SION_MAX_NAME + 1);
    name[4 + HPCW_SION_MAX_NAME + 1] = '\0';
    char stored[HPCW_SION_MAX_STORED_NAME + 2] = "";
    OPEN_REFUSED(NULL, HPCW_EINVAL, "got \"NULL\"");
    OPEN_REFUSED("", HPCW_EINVAL, "path of a file");
    OPEN_REFUSED("dir/", HPCW_EINVAL, "path of a file");
    OPEN_REFUSED(name, HPCW_ERANGE, "at most 1016 bytes, got 1017");
    REFUSED(hpcw_sion_open("x.sion", NULL, &o, NULL, &err), HPCW_EINVAL, "got NULL");
    BAD(count, 0, HPCW_EINVAL, "1 to 4294967294 tasks in all, got 0");
    BAD(layout, (hpcw_sion_layout)2, HPCW_EINVAL, "option layout: expected 0 to 1, got 2");
    BAD(content, (hpcw_sion_content)3, HPCW_EINVAL, "option content: expected 0 to 2, got 3");
    BAD(endian, (hpcw_sion_endian)2, HPCW_EINVAL, "option endian");
    BAD(data_endian, (hpcw_sion_endian)2, HPCW_EINVAL, "option data_endian");
    BAD(flavour, (hpcw_sion_flavour)3, HPCW_EINVAL, "option flavour");
    BAD(durability, (hpcw_durability)3, HPCW_EINVAL, "option durability");
    BAD(fs_block_size, (uint32_t)INT32_MAX + 1, HPCW_ERANGE, "file system block size");
    BAD(files, 4, HPCW_EINVAL, "at most one file per task, got 4 files for 3 tasks");
    BAD(chunk_size, UINT64_MAX, HPCW_ERANGE, "at most 2^61 bytes");
    BAD(sizes, ((uint64_t[3]){1, 2, UINT64_MAX}), HPCW_ERANGE, "own task 2");
    BAD(all_sizes, ((uint64_t[3]){1, 2, UINT64_MAX}), HPCW_ERANGE, "chunks of one block");
    BAD(size_of, huge, HPCW_ERANGE, "chunks of one block");
    BAD(name, "", HPCW_EINVAL, "option name: expected 1 to 1023 bytes, got 0");
    memset(stored, 'n', sizeof stored - 1);
    BAD(name, stored, HPCW_EINVAL, "option name: expected 1 to 1023 bytes, got 1024");
    BAD(ranks, ((uint32_t[3]){0, 2, 1}), HPCW_EINVAL, "ascending task numbers, got 1 after 2");
    BAD(ranks, ((uint32_t[3]){0, 1, 1}), HPCW_EINVAL, "got 1 after 1");
    BAD(ranks, ((uint32_t[3]){0, 1, 3}), HPCW_EMISMATCH, "below 3, got 3");
    BAD(ranks, ((uint32_t[3]){0, 1, UINT32_MAX}), HPCW_EMISMATCH, "below 3");
    BAD(file_tasks, ((uint32_t[1]){0}), HPCW_EINVAL, "1 task or more in file 0");
    BAD(file_tasks, ((uint32_t[1]){2}), HPCW_EINVAL, "as many tasks as the processes own, 3, got 2");
    BAD(global_ranks, ((uint32_t[3]){0, 1, 1U << 31}), HPCW_ERANGE, "below 2^31, got 2147483648");
    o = good_options();
    o.flavour = HPCW_SION_MAPPED;
    o.global_ranks = (uint32_t[3]){0, 2, 2};
    OPEN_REFUSED("x.sion", HPCW_EMISMATCH, "got task 2 on two");
    o.global_ranks = (uint32_t[3]){0, 3, 2};
    OPEN_REFUSED("x.sion", HPCW_EMISMATCH, "below 3 (the number of tasks), got 3");
    o.files = 0;
    OPEN_REFUSED("x.sion", HPCW_EINVAL, "neither colours nor a part of a set");
    o = good_options();
    o.files = 2;
    o.file_tasks = (uint32_t[2]){3, UINT32_MAX};
    OPEN_REFUSED("x.sion", HPCW_EINVAL, "fewer than 2^32 in all, got 4294967295");
    o = good_options();
    o.files = 2;
    o.tasks_per_file = 3;
    OPEN_REFUSED("x.sion", HPCW_EINVAL, "a task for each of the 2 files, got 3 tasks with 3 in a file");
    o = good_options();
    o.flavour = HPCW_SION_SERIAL;
    o.files = 2;
    OPEN_REFUSED("x.sion", HPCW_EINVAL, "serial flavour has one file");
    o = good_options();
    o.sink_source = (hpcw_sink_source){NULL, NULL};
    OPEN_REFUSED("/nowhere/at/all/x.sion", HPCW_ENOENT, "/nowhere/at/all/x.sion");
    o.fs_block_size = 0;
    OPEN_REFUSED("/nowhere/at/all/x.sion", HPCW_ENOENT, "block size");
}

static void bad_parts_of_sets(void **state) {
    (void)state;
    static const uint64_t sizes[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const hpcw_sion_options base = good_options();
    hpcw_sion_options o;
#define PART(first_, files_, count_, ranks_, status, what)                                                     \
    o = base;                                                                                                  \
    memory.files = 0;                                                                                          \
    o.files = 3;                                                                                               \
    o.set_tasks = 9;                                                                                           \
    o.all_sizes = sizes;                                                                                       \
    o.set_first_file = (first_);                                                                               \
    o.set_files = (files_);                                                                                    \
    o.count = (count_);                                                                                        \
    o.ranks = (ranks_);                                                                                        \
    OPEN_REFUSED("x.sion", status, what)
    PART(0, 0, 3, NULL, HPCW_EINVAL, "part of a set");
    PART(3, 1, 3, NULL, HPCW_EINVAL, "part of a set");
    PART(2, 2, 3, NULL, HPCW_EINVAL, "part of a set");
    PART(1, UINT32_MAX, 3, NULL, HPCW_EINVAL, "part of a set");
    PART(1, 1, 2, NULL, HPCW_EMISMATCH, "expected the 3 tasks of its files, got 2");
    PART(1, 1, 3, ((uint32_t[3]){2, 3, 4}), HPCW_EMISMATCH, "from 3 on, got a lower one");
    PART(1, 1, 3, ((uint32_t[3]){4, 5, 6}), HPCW_EMISMATCH, "below 6, got 6");
    PART(1, 1, 3, ((uint32_t[3]){3, 4, 8}), HPCW_EMISMATCH, "below 6, got 8");
    o.all_sizes = NULL;
    o.ranks = NULL;
    OPEN_REFUSED("x.sion", HPCW_EINVAL, "sizes of all tasks");
#undef PART
    /* Valid options: this process writes only the second of three files. */
    o.all_sizes = sizes;
    hpcw_sion *h;
    hpcw_error err;
    assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, &err), HPCW_OK);
    assert_int_equal(hpcw_sion_tasks(h), 9);
    assert_int_equal(hpcw_sion_first_rank(h), 3);
    assert_int_equal(hpcw_sion_write(h, 2, "x", 1, &err), HPCW_EINVAL);
    for (uint32_t t = 3; t < 6; t++) {
        assert_int_equal(hpcw_sion_write(h, t, "x", 1, &err), HPCW_OK);
    }
    assert_int_equal(hpcw_sion_close(h, &err), HPCW_OK);
    assert_int_equal(memory.files, 1);
    hpcw_sion_free(h);
}

static void wrong_writes(void **state) {
    (void)state;
    for (int unbuffered = 0; unbuffered < 2; unbuffered++) {
        hpcw_sion_options o = good_options();
        static const uint64_t sizes[3] = {100, 0, 50};
        o.sizes = sizes;
        o.buffer_size = unbuffered ? 0 : o.buffer_size;
        hpcw_sion *h;
        assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, NULL), HPCW_OK);
        static const char data[200] = "0123456789";
        uint64_t place = 0;
        REFUSED(hpcw_sion_write(NULL, 0, data, 1, &err), HPCW_EINVAL, "got NULL");
        REFUSED(hpcw_sion_write(h, 3, data, 1, &err), HPCW_EINVAL,
                "x.sion: expected a task of this process, got 3");
        REFUSED(hpcw_sion_write(h, UINT32_MAX, data, 1, &err), HPCW_EINVAL, "task of this process");
        REFUSED(hpcw_sion_write(h, 0, NULL, 1, &err), HPCW_EINVAL, "1 bytes for task 0, got NULL");
        assert_int_equal(hpcw_sion_write(h, 0, NULL, 0, NULL), HPCW_OK);
        REFUSED(hpcw_sion_write(h, 0, data, 101, &err), HPCW_ERANGE, "at most 100 bytes (the chunk of task 0)");
        REFUSED(hpcw_sion_write(h, 1, data, 1, &err), HPCW_ERANGE, "at most 0 bytes");
        REFUSED(hpcw_sion_write_key(h, 0, 1, data, 1, &err), HPCW_EINVAL, "expected hpcw_sion_write");
        REFUSED(hpcw_sion_reserve(h, 0, 101, &place, &err), HPCW_ERANGE, "at most 100 bytes");
        REFUSED(hpcw_sion_reserve(h, 0, 1, NULL, &err), HPCW_EINVAL, "pointer for the offset");
        REFUSED(hpcw_sion_reserve(h, 7, 1, &place, &err), HPCW_EINVAL, "got 7");
        REFUSED(hpcw_sion_fill(h, 0, 0, data, 1, &err), HPCW_EINVAL, "expected bytes that task 0 reserved");
        REFUSED(hpcw_sion_keep_together(h, 0, 101, &err), HPCW_ERANGE, "at most 100 bytes");
        REFUSED(hpcw_sion_keep_together(h, 7, 1, &err), HPCW_EINVAL, "got 7");
        REFUSED(hpcw_sion_limit(h, 7, 1, &err), HPCW_EINVAL, "got 7");
        REFUSED(hpcw_sion_limit(h, 0, 101, &err), HPCW_ERANGE, "the 100 bytes of its chunk");
        assert_int_equal(hpcw_sion_limit(h, 0, 60, NULL), HPCW_OK);
        REFUSED(hpcw_sion_write(h, 0, data, 61, &err), HPCW_ERANGE, "at most 60 bytes");
        REFUSED(hpcw_sion_reserve(h, 0, 61, &place, &err), HPCW_ERANGE, "at most 60 bytes");
        REFUSED(hpcw_sion_keep_together(h, 0, 61, &err), HPCW_ERANGE, "at most 60 bytes");
        assert_int_equal(hpcw_sion_limit(h, 0, 100, NULL), HPCW_OK);
        /* the bytes fit into the chunk, so no block begins */
        assert_int_equal(hpcw_sion_keep_together(h, 0, 100, NULL), HPCW_OK);
        assert_int_equal(hpcw_sion_write(h, 0, data, 30, NULL), HPCW_OK);
        REFUSED(hpcw_sion_limit(h, 0, 60, &err), HPCW_EINVAL, "a task without data");
        assert_int_equal(hpcw_sion_reserve(h, 0, 40, &place, NULL), HPCW_OK);
        assert_true(hpcw_sion_stream_size(h, 0) == 70);
        REFUSED(hpcw_sion_fill(h, 0, place + 30, data, 11, &err), HPCW_EINVAL, "reserved");
        REFUSED(hpcw_sion_fill(h, 0, UINT64_MAX, data, 1, &err), HPCW_EINVAL, "reserved");
        REFUSED(hpcw_sion_fill(h, 0, place, NULL, 1, &err), HPCW_EINVAL, "NULL");
        REFUSED(hpcw_sion_fill(h, 1, 0, data, 1, &err), HPCW_EINVAL, "reserved");
        assert_int_equal(hpcw_sion_fill(h, 0, place, NULL, 0, NULL), HPCW_OK);
        assert_int_equal(hpcw_sion_fill(h, 0, place + 30, data, 10, NULL), HPCW_OK);
        /* The refused calls stored nothing, and the handle is still usable. */
        assert_true(hpcw_sion_stream_size(h, 0) == 70 && hpcw_sion_stream_size(h, 1) == 0);
        assert_int_equal(hpcw_sion_write(h, 0, data, 31, NULL), HPCW_OK); /* begins the next block */
        assert_true(hpcw_sion_stream_size(h, 0) == 101);
        assert_true(hpcw_sion_chunk_size(h, 2) == 50 && hpcw_sion_chunk_size(h, 3) == 0);
        assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
        const unsigned char *bytes = memory_source_data(&memory, 0, NULL) + 1088 + 3 * 16;
        assert_memory_equal(bytes, data, 30);
        assert_memory_equal(bytes + 60, data, 10);
        assert_memory_equal(bytes + 150, data, 31);
        REFUSED(hpcw_sion_write(h, 0, data, 1, &err), HPCW_ESTATE, "is closed");
        REFUSED(hpcw_sion_fill(h, 0, place, data, 1, &err), HPCW_ESTATE, "is closed");
        REFUSED(hpcw_sion_close(h, &err), HPCW_ESTATE, "is closed");
        hpcw_sion_free(h);
    }
    REFUSED(hpcw_sion_close(NULL, &err), HPCW_EINVAL, "got NULL");
    assert_int_equal(hpcw_sion_tasks(NULL), 0);
    assert_int_equal(hpcw_sion_first_rank(NULL), 0);
    assert_true(hpcw_sion_chunk_size(NULL, 0) == 0 && hpcw_sion_stream_size(NULL, 0) == 0);
    hpcw_sion_free(NULL);
    hpcw_sion_abandon(NULL, NULL);
}

static void key_values(void **state) {
    (void)state;
    hpcw_sion_options o = good_options();
    o.content = HPCW_SION_KEYVAL;
    o.count = 1;
    /* A last key without a value. Its header fills a chunk (32), leaves some of it (40), or continues in the
     * next one (24). The last case has a value after it. The file keeps every record. */
    static const struct {
        uint64_t chunk;
        bool value;
    } cases[] = {{32, false}, {40, false}, {24, false}, {32, true}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        memory.files = 0;
        o.fs_block_size = 1;
        o.chunk_size = cases[c].chunk;
        hpcw_sion *h;
        assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, NULL), HPCW_OK);
        REFUSED(hpcw_sion_write(h, 0, "x", 1, &err), HPCW_EINVAL, "expected hpcw_sion_write_key");
        REFUSED(hpcw_sion_write_key(h, 0, 1, NULL, 1, &err), HPCW_EINVAL, "got NULL");
        uint64_t place;
        REFUSED(hpcw_sion_reserve(h, 0, 1, &place, &err), HPCW_EINVAL, "no key-value container");
        /* the bytes fit into the chunk, so no block begins */
        assert_int_equal(hpcw_sion_keep_together(h, 0, 1, NULL), HPCW_OK);
        assert_int_equal(hpcw_sion_write_key(h, 0, 1, NULL, 0, NULL), HPCW_OK);
        assert_int_equal(hpcw_sion_write_key(h, 0, 2, "", 0, NULL), HPCW_OK);
        if (cases[c].value) {
            assert_int_equal(hpcw_sion_write_key(h, 0, 3, "v", 1, NULL), HPCW_OK);
        }
        assert_true(hpcw_sion_stream_size(h, 0) == (cases[c].value ? 49 : 32));
        assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
        hpcw_sion_free(h);
    }
}

/* Chunks too small for the header of a record are refused, even if the packed layout widens them. */
static void chunks_below_a_header(void **state) {
    (void)state;
    hpcw_sion_options o = good_options();
    const uint64_t sizes[] = {16, 15, 1, 0};
    o.count = 4;
    o.sizes = sizes;
    o.content = HPCW_SION_KEYVAL;
    o.layout = HPCW_SION_PACKED;
    o.fs_block_size = 36;
    memory.files = 0;
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_chunk_size(h, 3), 4);
    assert_int_equal(hpcw_sion_write_key(h, 0, 1, "value", 5, NULL), HPCW_OK);
    for (uint32_t task = 1; task < 4; task++) {
        REFUSED(hpcw_sion_write_key(h, task, 1, "value", 5, &err), HPCW_ERANGE, "of at least 16 bytes");
    }
    assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
    hpcw_sion_free(h);
}

static void abandoning(void **state) {
    (void)state;
    hpcw_sion_options o = good_options();
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, NULL), HPCW_OK);
    hpcw_error reason = {.code = HPCW_ENOSPC, .message = "no space for more"};
    hpcw_sion_abandon(h, &reason);
    reason.code = HPCW_EIO;
    hpcw_sion_abandon(h, &reason); /* the first reason is kept */
    REFUSED(hpcw_sion_write(h, 0, "x", 1, &err), HPCW_ESTATE, "broken by an earlier failure");
    REFUSED(hpcw_sion_close(h, &err), HPCW_ENOSPC, "x.sion: no space for more");
    hpcw_sion_free(h);
    /* Without a reason, or with one of success, the container must not be finished either. */
    reason = (hpcw_error){.code = HPCW_OK, .message = "no more particles"};
    for (int with = 0; with < 2; with++) {
        assert_int_equal(hpcw_sion_open("x.sion", NULL, &o, &h, NULL), HPCW_OK);
        hpcw_sion_abandon(h, with ? &reason : NULL);
        REFUSED(hpcw_sion_close(h, &err), HPCW_ESTATE,
                with ? "x.sion: no more particles" : "x.sion: the program abandoned it");
        hpcw_sion_free(h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_opens),  cmocka_unit_test(bad_parts_of_sets),     cmocka_unit_test(wrong_writes),
        cmocka_unit_test(key_values), cmocka_unit_test(chunks_below_a_header), cmocka_unit_test(abandoning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
