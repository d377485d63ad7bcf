/* SPDX-License-Identifier: BSD-3-Clause */
/* The SION reader with sets of files and key-value streams assembled by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "libreader/sion/sion.h"
#include "libwriter/base/mem.h"
#include "tests/support/sion_image.h"
#include "tests/support/sion_judge.h"

#define STRICT READ_SION_STRICT
#define GAPS READ_SION_GAPS
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- sets ----------------------------------------------------------------------------------------------- */

struct set {
    struct sion_image image[3];
    struct read_sion_image view[3];
};

static const uint64_t set_chunks[4] = {64, 128, 64, 64};
static const int64_t set_counts[4] = {1, 1, 1, 1}, set_sizes[4] = {60, 100, 0, 64};

/* Three files of 2, 3 and 1 tasks, with ranks 0..5 distributed over them. */
static struct set make_set(bool big) {
    static const int64_t ranks[3][3] = {{0, 4, 0}, {1, 2, 5}, {3, 0, 0}};
    static const int32_t mapped[6][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {0, 1}, {1, 2}};
    struct set set;
    for (uint32_t k = 0; k < 3; k++) {
        struct sion_image_spec spec = sion_image_defaults();
        spec.big = big;
        spec.fs_block_size = 64;
        spec.files = 3;
        spec.file_number = k;
        spec.tasks = k == 0 ? 2 : k == 1 ? 3 : 1;
        spec.ranks = ranks[k];
        spec.chunk_sizes = set_chunks;
        spec.counts = set_counts;
        spec.sizes = set_sizes;
        spec.mapping = k == 0 ? 6 : -1;
        spec.mapped = mapped;
        set.image[k] = sion_image_make(&spec);
        set.view[k] = sion_image_view(&set.image[k]);
    }
    return set;
}

static void free_set(struct set *set) {
    for (int k = 0; k < 3; k++) {
        sion_image_free(&set->image[k]);
    }
}

static void refused_set(const struct set *set, uint32_t count, unsigned flags, hpcw_status status,
                        const char *text) {
    hpcw_error err = {0};
    assert_int_equal(judge_files(set->view, count, flags, &err), status);
    if (strstr(err.message, text) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", text, err.message);
    }
}

static void sets(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct set set = make_set(big != 0);
        hpcw_error err = {0};
        assert_int_equal(judge_files(set.view, 3, STRICT | GAPS, &err), HPCW_OK);
        struct read_sion *reader = open_images(set.view, 3);
        assert_int_equal(read_sion_files(reader), 3);
        assert_int_equal(read_sion_tasks(reader), 6);
        for (uint32_t rank = 0; rank < 6; rank++) {
            struct read_sion_task task;
            assert_int_equal(read_sion_find(reader, rank, &task, NULL), HPCW_OK);
            assert_int_equal(task.rank, rank);
            check_stream(reader, &task, 13);
        }
        struct read_sion_task none;
        assert_int_equal(read_sion_find(reader, 6, &none, NULL), HPCW_EINVAL);
        read_sion_free(reader);
        /* One file of the set alone. */
        assert_int_equal(judge_files(set.view + 1, 1, STRICT | GAPS, &err), HPCW_OK);
        reader = open_images(set.view + 1, 1);
        assert_int_equal(read_sion_files(reader), 1);
        assert_int_equal(read_sion_tasks(reader), 3);
        read_sion_free(reader);
        free_set(&set);
    }
}

static void damaged_sets(void **state) {
    (void)state;
    struct set set = make_set(false);
    size_t mapping = set.image[0].mapping;
    refused_set(&set, 2, 0, HPCW_ENOENT, ".000002: expected file 2 of the set");
    struct read_sion_image third = set.view[2];
    set.view[2] = set.view[1];
    refused_set(&set, 3, 0, HPCW_EFORMAT, ".000002: filenumber at offset 32: expected 2 as in the name, got 1");
    set.view[2] = third;

    /* Each damage: file of the set, offset, bytes, new value. */
    static const struct {
        uint32_t file;
        size_t offset, size;
        uint64_t value;
        const char *text;
    } cases[] = {
        {1, 4, 4, 0x00010100, "byte order of user data at offset 5: expected 0 as in file 0, got 1"},
        {1, 8, 4, 1005, "library version at offset 8: expected 1007 as in file 0, got 1005"},
        {1, 12, 4, 5, "library patch level at offset 12"},
        {2, 16, 4, 4, "file format version at offset 16: expected 5 as in file 0, got 4"},
        {1, 20, 4, 32, "fsblksize at offset 20: expected 64 as in file 0, got 32"},
        {2, 28, 4, 4, "nfiles at offset 28: expected 3 as in file 0, got 4"},
        {2, 32, 4, 3, "filenumber at offset 32"},
        {1, 36, 8, 0, "flag1 at offset 36"},
        {1, 44, 8, 1, "flag2 at offset 44"},
        {2, 52, 1, 'j',
         "file name prefix at offset 52: expected \"image.sion\" as in file 0, got \"jmage.sion\""},
        {1, 1076, 8, 6, "global rank of task 0 at offset 1076: expected one of the 6 of the mapping, got 6"},
        {1, 1076, 8, 2, "mapping of global rank 2"},
        {1, 1076, 8, (uint64_t)-2,
         "global rank of task 0 at offset 1076: expected >= 0, or a chunk of 0 bytes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sion_image *image = &set.image[cases[i].file];
        uint64_t before = sion_image_get(image, cases[i].offset, cases[i].size, false);
        sion_image_put(image, cases[i].offset, cases[i].size, false, cases[i].value);
        refused_set(&set, 3, 0, HPCW_EFORMAT, cases[i].text);
        sion_image_put(image, cases[i].offset, cases[i].size, false, before);
    }
    /* Every number of the mapping, with every kind of wrong value. */
    static const uint32_t wrong[] = {0xffffffff, 0, 1, 2, 3, 6, 7, 0x7fffffff, 0x80000000};
    for (size_t at = mapping; at < set.image[0].size; at += 4) {
        uint64_t before = sion_image_get(&set.image[0], at, 4, false);
        for (size_t i = 0; i < COUNT(wrong); i++) {
            sion_image_put(&set.image[0], at, 4, false, wrong[i]);
            hpcw_error err = {0};
            hpcw_status status = judge_files(set.view, 3, 0, &err);
            assert_true(wrong[i] == before ? status == HPCW_OK
                                           : status == HPCW_EFORMAT || status == HPCW_ETRUNCATED);
        }
        /* Lookups must stay inside the files, verified or not. */
        sion_image_put(&set.image[0], at, 4, false, 0x7fffffff);
        struct read_sion *reader;
        if (read_sion_open_memory(set.view, 3, &reader, NULL) == HPCW_OK) {
            struct read_sion_task task;
            assert_int_equal(read_sion_find(reader, (uint32_t)(at - mapping - 4) / 8, &task, NULL),
                             HPCW_EFORMAT);
        }
        read_sion_free(reader);
        sion_image_put(&set.image[0], at, 4, false, before);
    }
    /* The mapping has one entry too many. */
    struct sion_image longer = sion_image_copy(&set.image[0]);
    longer.data = realloc(longer.data, longer.size + 8);
    assert_non_null(longer.data);
    memcpy(longer.data + longer.size, longer.data + longer.size - 8, 8);
    longer.size += 8;
    sion_image_put(&longer, mapping, 4, false, 7);
    set.view[0] = sion_image_view(&longer);
    refused_set(&set, 3, 0, HPCW_EFORMAT,
                "size of the mapping at offset 1376: expected 6, the tasks in all files, got 7");
    set.view[0] = sion_image_view(&set.image[0]);
    sion_image_free(&longer);
    /* File 0 is truncated within its mapping. */
    for (set.view[0].size = mapping; set.view[0].size < set.image[0].size; set.view[0].size++) {
        refused_set(&set, 3, 0, HPCW_ETRUNCATED, "mapping");
    }
    free_set(&set);
}

/* With SIONlib's buddy copies, each file has tasks for the other file's data. These tasks appear as collectors
 * without data. */
static void buddy_copies(void **state) {
    (void)state;
    static const int64_t ranks[2][4] = {{-3, -4, 0, 1}, {-1, -2, 2, 3}};
    static const uint64_t chunks[4] = {0, 0, 100, 412};
    static const int64_t counts[4] = {1, 1, 1, 1}, sizes[4] = {0, 0, 60, 120};
    static const int32_t mapped[4][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 3}};
    struct sion_image image[2];
    struct read_sion_image views[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct sion_image_spec spec = sion_image_defaults();
        spec.files = 2;
        spec.file_number = k;
        spec.tasks = 4;
        spec.ranks = ranks[k];
        spec.chunk_sizes = chunks;
        spec.counts = counts;
        spec.sizes = sizes;
        spec.mapping = k == 0 ? 4 : -1;
        spec.mapped = mapped;
        image[k] = sion_image_make(&spec);
        views[k] = sion_image_view(&image[k]);
    }
    hpcw_error err = {0};
    assert_int_equal(judge_files(views, 2, GAPS, &err), HPCW_OK);
    assert_int_equal(judge_files(views, 2, STRICT, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "buddy"));
    struct read_sion *reader = open_images(views, 2);
    assert_int_equal(read_sion_tasks(reader), 4);
    struct read_sion_info info;
    assert_int_equal(read_sion_info(reader, 1, &info, NULL), HPCW_OK);
    assert_int_equal(info.collectors, 2);
    struct read_sion_task task;
    assert_int_equal(read_sion_find(reader, 3, &task, NULL), HPCW_OK);
    assert_int_equal(task.file, 1);
    assert_int_equal(task.index, 3);
    check_stream(reader, &task, 50);
    read_sion_free(reader);
    /* A collector task of a rank that does not exist. */
    sion_image_put(&image[1], 1076, 8, false, (uint64_t)-5);
    assert_int_equal(judge_files(views, 2, 0, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "global rank of task 0 at offset 1076"));
    sion_image_free(&image[0]);
    sion_image_free(&image[1]);
}

/* ---- key-value content ---------------------------------------------------------------------------------- */

/* Writes records, {key, length}. A length of UINT64_MAX ends the list. */
static size_t put_records(unsigned char *to, bool big, const uint64_t (*records)[2]) {
    size_t at = 0;
    for (uint64_t k = 0; (*records)[1] != UINT64_MAX; records++) {
        for (size_t word = 0; word < 2; word++) {
            for (size_t i = 0; i < 8; i++) {
                to[at + (big ? 7 - i : i)] = (unsigned char)((*records)[word] >> 8 * i);
            }
            at += 8;
        }
        for (uint64_t i = 0; i < (*records)[1]; i++) {
            to[at++] = sion_image_byte(0, k++);
        }
    }
    return at;
}

/* One task with chunks of 64 bytes; all except the last are full. */
static struct sion_image keyval_image(bool big, const void *stream, size_t size) {
    uint64_t chunk = 64;
    int64_t sizes[64] = {0}, count = size == 0 ? 1 : (int64_t)((size + 63) / 64);
    for (int64_t b = 0; b < count; b++) {
        sizes[b] = (size_t)(b + 1) * 64 <= size ? 64 : (int64_t)size - b * 64;
    }
    struct sion_image_spec spec = sion_image_defaults();
    spec.big = big;
    spec.fs_block_size = 64;
    spec.flag1 = UINT64_C(51) << 32;
    spec.tasks = 1;
    spec.chunk_sizes = &chunk;
    spec.blocks = (uint32_t)count;
    spec.counts = &count;
    spec.sizes = sizes;
    spec.streams = &stream;
    return sion_image_make(&spec);
}

static void key_value_records(void **state) {
    (void)state;
    /* Headers split over chunks in several ways, an empty value, the largest key, and a value over three chunks. */
    static const uint64_t records[][2] = {{7, 44},  {9, 5}, {7, 33},        {4711, 0}, {UINT64_MAX - 1, 3},
                                          {1, 150}, {2, 1}, {0, UINT64_MAX}};
    for (int big = 0; big < 2; big++) {
        unsigned char stream[1024];
        size_t size = put_records(stream, big != 0, records);
        struct sion_image image = keyval_image(big != 0, stream, size);
        accept_image(&image, STRICT | GAPS);
        struct read_sion_image one = sion_image_view(&image);
        struct read_sion *reader = open_images(&one, 1);
        struct read_sion_task task;
        assert_int_equal(read_sion_task(reader, 0, 0, &task, NULL), HPCW_OK);
        struct read_sion_keys keys;
        read_sion_keys_begin(&keys, &task);
        struct read_sion_record record;
        bool more;
        uint64_t k = 0;
        for (size_t i = 0; i < COUNT(records) - 1; i++) {
            assert_int_equal(read_sion_keys_next(reader, &keys, &record, &more, NULL), HPCW_OK);
            assert_true(more);
            assert_int_equal(record.key, records[i][0]);
            assert_int_equal(record.size, records[i][1]);
            unsigned char value[256];
            assert_int_equal(read_sion_read(reader, &task, record.offset, value, (size_t)record.size, NULL),
                             HPCW_OK);
            for (size_t b = 0; b < record.size; b++) {
                assert_int_equal(value[b], sion_image_byte(0, k++));
            }
        }
        assert_int_equal(read_sion_keys_next(reader, &keys, &record, &more, NULL), HPCW_OK);
        assert_false(more);
        read_sion_free(reader);
        sion_image_free(&image);

        /* A truncated stream is valid only if it ends after a value. */
        size_t good = 0;
        for (size_t cut = 0; cut < size; cut++) {
            image = keyval_image(big != 0, stream, cut);
            hpcw_error err = {0};
            hpcw_status status = judge_image(&image, 0, &err);
            good += status == HPCW_OK;
            assert_true(status == HPCW_OK || strstr(err.message, "key-value stream of task 0") != NULL);
            sion_image_free(&image);
        }
        assert_int_equal(good, COUNT(records) - 1); /* streams that end before a record are valid */
    }
}

static void key_value_damage(void **state) {
    (void)state;
    static const uint64_t two[][2] = {{1, 10}, {2, 100}, {0, UINT64_MAX}};
    unsigned char stream[256];
    struct sion_image image = keyval_image(false, stream, put_records(stream, false, two));
    accept_image(&image, STRICT);
    /* Lengths beyond the end of the stream, including the largest ones. */
    static const uint64_t lengths[] = {11, 127, 128, UINT64_MAX, UINT64_MAX - 15, UINT64_C(1) << 63};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        sion_image_put(&image, image.data_start + 8, 8, false, lengths[i]);
        refuse_image(&image, 0, HPCW_EFORMAT, "key-value stream of task 0");
    }
    sion_image_put(&image, image.data_start + 8, 8, false, 10);
    /* A chunk before another one is not full. Without its last byte, the value is shorter, and only the strict
     * check refuses it. */
    sion_image_put(&image, sion_image_size_at(&image, 0, 0), 8, false, 63);
    refuse_image(&image, 0, HPCW_EFORMAT, "key-value stream of task 0");
    sion_image_put(&image, image.data_start + 34, 8, false, 99);
    accept_image(&image, 0);
    refuse_image(&image, STRICT, HPCW_EFORMAT, "expected all of its 3 chunks but the last full, got 1");
    sion_image_free(&image);

    /* A last record has no value. SIONlib's reader does not return this record. */
    static const uint64_t trap[][2] = {{1, 32}, {2, 0}, {0, UINT64_MAX}};
    image = keyval_image(false, stream, put_records(stream, false, trap));
    accept_image(&image, STRICT);
    sion_image_free(&image);

    /* Records are read from a container that has no records. */
    image = keyval_image(false, stream, 100);
    sion_image_put(&image, 36, 8, false, UINT64_C(50) << 32);
    struct read_sion_image one = sion_image_view(&image);
    struct read_sion *reader = open_images(&one, 1);
    struct read_sion_task task;
    assert_int_equal(read_sion_task(reader, 0, 0, &task, NULL), HPCW_OK);
    struct read_sion_keys keys;
    read_sion_keys_begin(&keys, &task);
    struct read_sion_record record;
    bool more;
    assert_int_equal(read_sion_keys_next(reader, &keys, &record, &more, NULL), HPCW_ENOTSUP);
    read_sion_free(reader);
    sion_image_free(&image);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static size_t requests, failing_request;

static bool fail_one(size_t size) {
    (void)size;
    return ++requests != failing_request;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct set set = make_set(false);
    hpcw_error err;
    hpcw_status status = HPCW_ENOMEM;
    hpcw_i_mem_gate = fail_one;
    for (failing_request = 1; status == HPCW_ENOMEM; failing_request++) {
        requests = 0;
        err = (hpcw_error){0};
        status = judge_files(set.view, 3, STRICT, &err);
        assert_int_equal(status, status == HPCW_OK ? HPCW_OK : HPCW_ENOMEM);
        assert_int_equal(err.code, status);
    }
    hpcw_i_mem_gate = NULL;
    assert_int_equal(status, HPCW_OK);
    assert_true(failing_request > 10);
    failing_request = 0;
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets),
        cmocka_unit_test(damaged_sets),
        cmocka_unit_test(buddy_copies),
        cmocka_unit_test(key_value_records),
        cmocka_unit_test(key_value_damage),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
