/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/sion_read.h> with one process: what it refuses, and how much memory it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/sion.h>
#include <hpcw/sion_read.h>

#include "libreader/sion/streams/private.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/sion_image.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Three tasks; the middle one uses three blocks. */
static const uint64_t chunks[3] = {512, 512, 0};
static const int64_t counts[3] = {1, 3, 1};
static const int64_t sizes[3][3] = {{100, 512, 0}, {0, 300, 0}, {0, 7, 0}};

static struct sion_image_spec three_tasks(void) {
    struct sion_image_spec spec = sion_image_defaults();
    spec.tasks = 3;
    spec.chunk_sizes = chunks;
    spec.counts = counts;
    spec.blocks = 3;
    spec.sizes = &sizes[0][0];
    return spec;
}

static hpcw_sion_reader *opened(const struct sion_image *image) {
    struct read_sion_image one = {image->data, image->size};
    hpcw_sion_reader *r;
    hpcw_error err = {0};
    if (read_sion_reader_open_memory(&one, 1, &r, &err) != HPCW_OK) {
        fail_msg("not opened: %s", err.message);
    }
    return r;
}

static void refuses(const struct sion_image *image, hpcw_status status, const char *text) {
    struct read_sion_image one = {image->data, image->size};
    hpcw_sion_reader *r = (hpcw_sion_reader *)&r;
    hpcw_error err = {0};
    hpcw_status got = read_sion_reader_open_memory(&one, 1, &r, &err);
    if (got != status || strstr(err.message, text) == NULL) {
        fail_msg("expected %s \"%s\", got %s \"%s\"", hpcw_status_name(status), text, hpcw_status_name(got),
                 err.message);
    }
    assert_null(r);
}

static void description(void **state) {
    (void)state;
    struct sion_image_spec spec = three_tasks();
    spec.big = spec.data_big = true;
    spec.prefix = "plasma.sion";
    struct sion_image image = sion_image_make(&spec);
    hpcw_sion_reader *r = opened(&image);
    const hpcw_sion_info *info = hpcw_sion_reader_info(r);
    assert_int_equal(info->tasks, 3);
    assert_int_equal(info->files, 1);
    assert_false(info->keys);
    assert_int_equal(info->endian, HPCW_SION_BIG);
    assert_int_equal(info->data_endian, HPCW_SION_BIG);
    assert_int_equal(info->fs_block_size, 512);
    assert_int_equal(info->format, 5);
    assert_int_equal(info->library_version, 1007);
    assert_int_equal(info->library_patch, 6);
    assert_string_equal(info->name, "plasma.sion");
    const hpcw_sion_task *task = hpcw_sion_reader_find(r, 1);
    assert_ptr_equal(task, hpcw_sion_reader_task(r, 1));
    assert_int_equal(task->blocks, 3);
    assert_int_equal(task->size, 819);
    assert_int_equal(task->start, 1536 + 512);
    assert_null(hpcw_sion_reader_task(r, 3));
    assert_null(hpcw_sion_reader_find(r, 3));
    hpcw_sion_reader_free(r);
    sion_image_free(&image);
}

/* The serial writer stores any ranks. They are found and returned in order. */
static void ranks_in_any_order(void **state) {
    (void)state;
    struct sion_image_spec spec = three_tasks();
    static const int64_t ranks[3] = {77, 5, 1000000}, twice[3] = {5, 77, 5}, large[3] = {0, 1, UINT32_MAX};
    spec.ranks = ranks;
    struct sion_image image = sion_image_make(&spec);
    hpcw_sion_reader *r = opened(&image);
    static const uint32_t sorted[3] = {5, 77, 1000000};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(hpcw_sion_reader_task(r, i)->rank, sorted[i]);
        assert_ptr_equal(hpcw_sion_reader_find(r, sorted[i]), hpcw_sion_reader_task(r, i));
    }
    unsigned char byte;
    size_t got;
    assert_int_equal(hpcw_sion_reader_skip(r, 5, 515, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_reader_read(r, 5, &byte, 1, &got, NULL), HPCW_OK);
    assert_int_equal(byte, sion_image_byte(5, 515));
    hpcw_sion_reader_free(r);
    sion_image_free(&image);

    spec.ranks = twice;
    image = sion_image_make(&spec);
    refuses(&image, HPCW_EFORMAT, "expected a task for each, got two with rank 5");
    sion_image_free(&image);
    spec.ranks = large;
    image = sion_image_make(&spec);
    refuses(&image, HPCW_EFORMAT,
            "global rank of task 2 at offset 1092: expected less than 4294967295, got 4294967295");
    sion_image_free(&image);
}

/* A mapping that swaps the places of two tasks is refused, as by the check of a file. */
static void wrong_mapping(void **state) {
    (void)state;
    struct sion_image_spec spec = three_tasks();
    static const int32_t good[3][2] = {{0, 0}, {0, 1}, {0, 2}}, wrong[3][2] = {{0, 0}, {0, 2}, {0, 1}};
    spec.file_number = 0;
    spec.mapping = 3;
    spec.mapped = good;
    struct sion_image image = sion_image_make(&spec);
    hpcw_sion_reader_free(opened(&image));
    sion_image_free(&image);
    spec.mapped = wrong;
    image = sion_image_make(&spec);
    refuses(&image, HPCW_EFORMAT, "mapping of global rank 1");
    sion_image_free(&image);
    spec.mapped = good;
    spec.flag1 = UINT64_C(52) << 32;
    image = sion_image_make(&spec);
    refuses(&image, HPCW_ENOTSUP, "mode in flag1");
    sion_image_free(&image);
}

static void bad_arguments(void **state) {
    (void)state;
    struct sion_image_spec spec = three_tasks();
    struct sion_image image = sion_image_make(&spec);
    hpcw_sion_reader *r = opened(&image), *none = r;
    unsigned char byte;
    size_t got = 1;
    uint64_t size;
    bool more = true;
    hpcw_sion_record record;
    hpcw_error err = {0};
    assert_int_equal(hpcw_sion_reader_open(NULL, NULL, 0, NULL, &none, &err), HPCW_EINVAL);
    assert_null(none);
    assert_int_equal(hpcw_sion_reader_open("", NULL, 0, NULL, &none, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_open(scratch, NULL, 0, NULL, &none, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "expected a regular file, got a directory"));
    assert_int_equal(hpcw_sion_reader_open("x.sion", NULL, 0, NULL, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_read(r, 3, &byte, 1, &got, &err), HPCW_EINVAL);
    assert_int_equal(got, 0);
    assert_string_equal(err.message, "(memory): expected a task that this process reads, got rank 3");
    assert_int_equal(hpcw_sion_reader_read(r, 0, NULL, 1, &got, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_read(r, 0, &byte, 1, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_read(r, 0, NULL, 0, &got, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_reader_read(NULL, 0, &byte, 1, &got, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_block_size(r, 1, 3, &size, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_block_size(r, 1, 0, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_block_size(r, 4, 0, &size, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_chunk_left(r, 4, &size, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_chunk_left(r, 1, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_seek(r, 4, 0, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_skip(r, 4, 0, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_reader_next_key(r, 4, &record, &more, NULL), HPCW_EINVAL);
    assert_false(more);
    assert_int_equal(hpcw_sion_reader_next_key(r, 1, &record, &more, &err), HPCW_ENOTSUP);
    assert_non_null(strstr(err.message, "expected key-value records, got plain streams"));
    assert_int_equal(hpcw_sion_reader_find_key(r, 1, 7, &record, NULL, NULL), HPCW_EINVAL);
    assert_true(hpcw_sion_reader_at_end(r, 4));
    assert_int_equal(hpcw_sion_reader_position(r, 4), 0);
    assert_null(hpcw_sion_reader_info(NULL));
    assert_int_equal(hpcw_sion_reader_count(NULL), 0);
    hpcw_sion_reader_free(r);
    hpcw_sion_reader_free(NULL);
    sion_image_free(&image);
}

/* A stream ends within a record. The records before the damage are read, and later calls fail. */
static void damaged_records(void **state) {
    (void)state;
    unsigned char stream[100] = {0};
    const void *const streams[1] = {stream};
    static const uint64_t chunk[1] = {512};
    static const int64_t count[1] = {1}, size[1] = {sizeof stream};
    struct sion_image_spec spec = sion_image_defaults();
    spec.tasks = 1;
    spec.chunk_sizes = chunk;
    spec.counts = count;
    spec.blocks = 1;
    spec.sizes = size;
    spec.streams = streams;
    spec.flag1 = (uint64_t)READ_SION_MODE_KEYVAL << 32;
    stream[0] = 7; /* key 7, four bytes; then a record longer than the stream */
    stream[8] = 4;
    stream[28] = 200;
    struct sion_image image = sion_image_make(&spec);
    hpcw_sion_reader *r = opened(&image);
    hpcw_sion_record record;
    bool more;
    hpcw_error err;
    assert_int_equal(hpcw_sion_reader_next_key(r, 0, &record, &more, &err), HPCW_OK);
    assert_true(more && record.key == 7 && record.size == 4 && record.offset == 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(hpcw_sion_reader_next_key(r, 0, &record, &more, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "expected at most the remaining 64 bytes, got 200"));
        assert_false(more);
        assert_int_equal(hpcw_sion_reader_position(r, 0), 16);
    }
    /* If a key is not found, `record` does not change. */
    record.key = 99;
    assert_int_equal(hpcw_sion_reader_seek(r, 0, 0, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_reader_find_key(r, 0, 8, &record, &more, &err), HPCW_EFORMAT);
    assert_true(!more && record.key == 99);
    assert_int_equal(hpcw_sion_reader_position(r, 0), 16);
    hpcw_sion_reader_free(r);
    sion_image_free(&image);
}

/* The sizes of a task's data in the blocks change after the open. */
static void changed_files(void **state) {
    (void)state;
    struct sion_image_spec spec = three_tasks();
    struct sion_image image = sion_image_make(&spec);
    static const struct {
        uint32_t block;
        uint64_t size;
    } cases[] = {{0, 100}, {2, 0}, {1, 513}, {1, UINT64_MAX}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char bytes[1000];
        size_t got = 1, at = sion_image_size_at(&image, 1, cases[i].block);
        uint64_t before = sion_image_get(&image, at, 8, false), left;
        hpcw_error err;
        hpcw_sion_reader *r = opened(&image);
        sion_image_put(&image, at, 8, false, cases[i].size);
        assert_int_equal(hpcw_sion_reader_read(r, 1, bytes, sizeof bytes, &got, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "the block sizes changed while the file was read"));
        assert_int_equal(got, 0);
        assert_int_equal(hpcw_sion_reader_position(r, 1), 0);
        assert_int_equal(hpcw_sion_reader_seek(r, 1, 818, NULL), HPCW_OK);
        assert_int_equal(hpcw_sion_reader_chunk_left(r, 1, &left, &err), HPCW_EFORMAT);
        hpcw_sion_reader_free(r);
        sion_image_put(&image, at, 8, false, before);
    }
    sion_image_free(&image);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

#define MOST ((size_t)192 << 20)

static size_t requested;

/* Sums all allocated bytes. Freed memory is not subtracted. */
static bool count_memory(size_t size) {
    requested += size;
    return requested <= MOST;
}

static void read_all(hpcw_sion_reader *r) {
    unsigned char bytes[512];
    hpcw_sion_record record;
    size_t got;
    for (uint32_t i = 0; i < hpcw_sion_reader_count(r); i++) {
        uint32_t rank = hpcw_sion_reader_task(r, i)->rank;
        bool more = true;
        while (hpcw_sion_reader_read(r, rank, bytes, sizeof bytes, &got, NULL) == HPCW_OK && got > 0) {
        }
        assert_int_equal(hpcw_sion_reader_seek(r, rank, 0, NULL), HPCW_OK);
        while (more && hpcw_sion_reader_next_key(r, rank, &record, &more, NULL) == HPCW_OK) {
        }
    }
}

/* Puts values that ask for much memory into every word of the metadata. */
static void hostile_words_take_no_memory(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 134217659};
    struct sion_image_spec spec = three_tasks();
    struct sion_image image = sion_image_make(&spec);
    unsigned good = 0;
    hpcw_i_mem_gate = count_memory;
    for (size_t at = 0; at + 4 <= image.size; at += at == 52 ? 1024 : at == 1168 ? image.counts - 1168 : 4) {
        uint64_t before = sion_image_get(&image, at, 4, false);
        for (size_t i = 0; i < COUNT(values); i++) {
            struct read_sion_image one = {image.data, image.size};
            hpcw_sion_reader *r;
            hpcw_error err;
            sion_image_put(&image, at, 4, false, values[i]);
            requested = 0;
            if (read_sion_reader_open_memory(&one, 1, &r, &err) == HPCW_OK) {
                read_all(r);
                hpcw_sion_reader_free(r);
                good++;
            }
            assert_true(requested <= MOST);
        }
        sion_image_put(&image, at, 4, false, before);
    }
    hpcw_i_mem_gate = NULL;
    assert_true(good > 0);
    sion_image_free(&image);
}

static void write_many(const char *path, uint32_t tasks, uint32_t files) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = tasks;
    o.files = files;
    o.chunk_size = o.fs_block_size = 8;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, NULL), HPCW_OK);
    for (uint64_t t = 0; t < tasks; t++) {
        assert_int_equal(hpcw_sion_write(h, (uint32_t)t, &t, sizeof t, NULL), HPCW_OK);
    }
    assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
    hpcw_sion_free(h);
}

/* Large reads, and reads of whole short streams, need no copy and no buffer. */
static void large_reads_take_no_buffer(void **state) {
    (void)state;
    enum { SIZE = 200000, LARGE = 32768, REST = SIZE % LARGE };
    char path[300];
    unsigned char *bytes = malloc(SIZE), *got_bytes = malloc(SIZE);
    assert_true(bytes != NULL && got_bytes != NULL);
    for (size_t k = 0; k < SIZE; k++) {
        bytes[k] = sion_image_byte(0, k);
    }
    (void)snprintf(path, sizeof path, "%s/large.sion", scratch);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 1;
    o.chunk_size = SIZE;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_write(h, 0, bytes, SIZE, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
    hpcw_sion_free(h);
    hpcw_sion_reader *r;
    size_t got;
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL), HPCW_OK);
    requested = 0;
    hpcw_i_mem_gate = count_memory;
    for (size_t at = 0; at < SIZE - REST; at += got) {
        assert_int_equal(hpcw_sion_reader_read(r, 0, got_bytes + at, LARGE, &got, NULL), HPCW_OK);
        assert_int_equal(got, LARGE);
        assert_int_equal(requested, 0);
    }
    /* A smaller read has a buffer, which a later large read empties first. */
    assert_int_equal(hpcw_sion_reader_seek(r, 0, 10, NULL), HPCW_OK);
    assert_int_equal(hpcw_sion_reader_read(r, 0, got_bytes + 10, 90, &got, NULL), HPCW_OK);
    assert_true(requested > 0);
    assert_int_equal(hpcw_sion_reader_read(r, 0, got_bytes + 100, SIZE, &got, NULL), HPCW_OK);
    assert_int_equal(got, SIZE - 100);
    assert_memory_equal(got_bytes, bytes, SIZE);
    hpcw_sion_reader_free(r);
    write_many(path, 2, 1);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL), HPCW_OK);
    requested = 0;
    assert_int_equal(hpcw_sion_reader_read(r, 1, bytes, 8, &got, NULL), HPCW_OK);
    assert_int_equal(requested, 0);
    hpcw_i_mem_gate = NULL;
    hpcw_sion_reader_free(r);
    free(bytes);
    free(got_bytes);
}

/* The largest share of a process is accepted. A larger one is refused, and read in several opens. */
static void very_many_tasks(void **state) {
    (void)state;
    char path[300];
    uint32_t tasks = HPCW_SION_READER_MAX_SHARE;
    (void)snprintf(path, sizeof path, "%s/many.sion", scratch);
    write_many(path, tasks, 1);
    hpcw_sion_reader *r;
    hpcw_error err;
    requested = 0;
    hpcw_i_mem_gate = count_memory;
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err), HPCW_OK);
    for (uint32_t t = 0; t < tasks; t++) {
        uint64_t got_t;
        size_t got;
        assert_int_equal(hpcw_sion_reader_read(r, t, &got_t, sizeof got_t, &got, &err), HPCW_OK);
        assert_true(got == sizeof got_t && got_t == t);
    }
    hpcw_sion_reader_free(r);
    hpcw_i_mem_gate = NULL;

    write_many(path, tasks + 1, 1);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "expected at most 1048576, got 1048577: name fewer in each"));
    uint32_t *ranks = malloc((tasks + 1) * sizeof *ranks);
    assert_non_null(ranks);
    for (uint32_t t = 0; t <= tasks; t++) {
        ranks[t] = t;
    }
    assert_int_equal(hpcw_sion_reader_open(path, NULL, tasks + 1, ranks, &r, &err), HPCW_ERANGE);
    free(ranks);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 1, &tasks, &r, &err), HPCW_OK);
    assert_int_equal(hpcw_sion_reader_count(r), 1);
    assert_int_equal(hpcw_sion_reader_task(r, 0)->rank, tasks);
    hpcw_sion_reader_free(r);
}

/* ---- tasks in turn -------------------------------------------------------------------------------------- */

/* Every seventh stream is long, some are empty. A chunk has 700 bytes, so long streams have many blocks. */
static size_t length_of(uint32_t task, uint32_t tasks) {
    uint32_t kind = tasks > 20 && task % 16384 > 20 ? 1 : task % 7;
    return kind == 0 ? 20000 + task % 90 : kind == 1 ? 10 : kind == 2 ? 0 : 997 * kind;
}

static unsigned char stream_byte(uint32_t task, size_t at) {
    return (unsigned char)(31 * task + 7 * at + at / 256);
}

static void write_lengths(const char *path, uint32_t tasks) {
    unsigned char bytes[20100];
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = tasks;
    o.chunk_size = 700;
    o.fs_block_size = 100;
    o.content = HPCW_SION_STREAM;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *h;
    assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, NULL), HPCW_OK);
    for (uint32_t t = 0; t < tasks; t++) {
        for (size_t k = 0; k < length_of(t, tasks); k++) {
            bytes[k] = stream_byte(t, k);
        }
        assert_int_equal(hpcw_sion_write(h, t, bytes, length_of(t, tasks), NULL), HPCW_OK);
    }
    assert_int_equal(hpcw_sion_close(h, NULL), HPCW_OK);
    hpcw_sion_free(h);
}

/* Reads `size` bytes of each task in turn until the end, and compares them. Returns the number of tasks that
 * failed. */
static uint32_t read_in_turn(hpcw_sion_reader *r, size_t size) {
    uint32_t tasks = hpcw_sion_reader_count(r), failed = 0;
    unsigned char bytes[5000];
    for (uint32_t open = tasks; open > failed;) {
        open = failed = 0;
        for (uint32_t t = 0; t < tasks; t++) {
            uint64_t at = hpcw_sion_reader_position(r, t);
            size_t rest = length_of(t, tasks) - (size_t)at, want = rest < size ? rest : size, got;
            hpcw_status s = hpcw_sion_reader_read(r, t, bytes, size, &got, NULL);
            assert_int_equal(got, s == HPCW_OK ? want : 0);
            assert_int_equal(hpcw_sion_reader_position(r, t), at + got);
            for (size_t k = 0; k < got; k++) {
                assert_int_equal(bytes[k], stream_byte(t, (size_t)at + k));
            }
            failed += s != HPCW_OK;
            open += !hpcw_sion_reader_at_end(r, t);
        }
    }
    return failed;
}

/* With 4 tasks, buffers are large; with 40, smaller; with 16500, some tasks share a buffer. */
static void tasks_in_turn(void **state) {
    (void)state;
    static const uint32_t task_counts[] = {4, 40, 16500};
    static const size_t sizes_in_turn[] = {63, 64, 1001, 4999};
    char path[300];
    (void)snprintf(path, sizeof path, "%s/turn.sion", scratch);
    for (size_t c = 0; c < COUNT(task_counts); c++) {
        write_lengths(path, task_counts[c]);
        hpcw_sion_reader *r;
        assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL), HPCW_OK);
        for (size_t s = 0; s < COUNT(sizes_in_turn); s++) {
            assert_int_equal(read_in_turn(r, sizes_in_turn[s]), 0);
            for (uint32_t t = 0; t < task_counts[c]; t++) {
                assert_int_equal(hpcw_sion_reader_seek(r, t, 0, NULL), HPCW_OK);
            }
        }
        hpcw_sion_reader_free(r);
    }
}

/* Tasks read one after the other use one large buffer in turn. A task read again gets its own. */
static void task_after_task_takes_one_buffer(void **state) {
    (void)state;
    enum { TASKS = 16500, LARGE = 1 << 20, ALL = 64 << 20 };
    char path[300];
    unsigned char bytes[64];
    size_t got;
    hpcw_sion_reader *r;
    (void)snprintf(path, sizeof path, "%s/turn.sion", scratch);
    write_lengths(path, TASKS);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL), HPCW_OK);
    requested = 0;
    hpcw_i_mem_gate = count_memory;
    for (uint32_t t = 0; t < TASKS; t++) {
        if (length_of(t, TASKS) <= 4096) { /* the stream fits into the task's small buffer */
            continue;
        }
        do {
            assert_int_equal(hpcw_sion_reader_read(r, t, bytes, sizeof bytes, &got, NULL), HPCW_OK);
        } while (got == sizeof bytes);
        assert_int_equal(requested, LARGE);
        assert_int_equal(hpcw_sion_reader_seek(r, t, 0, NULL), HPCW_OK);
    }
    assert_int_equal(read_in_turn(r, 1000), 0);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(requested, LARGE + ALL);
    hpcw_sion_reader_free(r);
}

/* A file is truncated after the open: reads beyond its new end fail, others succeed. */
static void cut_in_turn(void **state) {
    (void)state;
    enum { TASKS = 40 };
    char path[300];
    (void)snprintf(path, sizeof path, "%s/cut.sion", scratch);
    write_lengths(path, TASKS);
    hpcw_sion_reader *r;
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, NULL), HPCW_OK);
    uint64_t half = hpcw_sion_reader_task(r, TASKS / 2)->start;
    assert_int_equal(truncate(path, (off_t)half), 0);
    uint32_t failed = read_in_turn(r, 64);
    assert_true(failed >= TASKS / 2 - 3 && failed < TASKS); /* 3 streams of the second half are empty */
    unsigned char bytes[64];
    size_t got;
    hpcw_error err;
    assert_int_equal(hpcw_sion_reader_read(r, TASKS - 1, bytes, sizeof bytes, &got, &err), HPCW_ETRUNCATED);
    assert_non_null(strstr(err.message, "payload"));
    hpcw_sion_reader_free(r);
}

static unsigned open_descriptors(void) {
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

/* More physical files than can be open at once. Their path is relative, and the caller changes its directory. */
static void many_files_from_elsewhere(void **state) {
    (void)state;
    enum {
        FILES = 100,
        STREAMS_OPEN = 64 + 1,
        TABLES_OPEN = 9
    }; /* open at a time: 64 or 8 files, and file 0 */
    char path[300];
    (void)snprintf(path, sizeof path, "%s/files.sion", scratch);
    write_many(path, 2 * FILES, FILES);
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(before >= 0 && chdir(scratch) == 0);
    unsigned others = open_descriptors() + 1; /* includes the directory opened above */
    hpcw_sion_reader *r;
    hpcw_error err = {0};
    assert_int_equal(hpcw_sion_reader_open("files.sion", NULL, 0, NULL, &r, &err), HPCW_OK);
    assert_int_equal(open_descriptors(), others + STREAMS_OPEN);
    assert_int_equal(chdir("/"), 0);
    for (uint64_t t = 0; t < 2 * FILES; t++) {
        uint64_t value;
        size_t got;
        if (hpcw_sion_reader_read(r, (uint32_t)t, &value, sizeof value, &got, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(got == sizeof value && value == t);
    }
    assert_int_equal(open_descriptors(), others + STREAMS_OPEN);
    hpcw_sion_reader_free(r);

    struct read_sion *tables;
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(read_sion_open("./files.sion", &tables, &err), HPCW_OK);
    assert_int_equal(chdir("/"), 0);
    for (uint32_t rank = 0; rank < 2 * FILES; rank++) {
        struct read_sion_task task;
        assert_int_equal(read_sion_find(tables, rank, &task, &err), HPCW_OK);
    }
    assert_int_equal(open_descriptors(), others + TABLES_OPEN);
    read_sion_free(tables);
    assert_int_equal(open_descriptors(), others - 1);
    assert_true(fchdir(before) == 0 && close(before) == 0);
}

/* A sparse file whose header claims four million tasks, and whose size fits this number. */
static void sparse_file_takes_no_memory(void **state) {
    (void)state;
    enum { TASKS = 4000000 };
    char path[300];
    const uint64_t meta1 = 1076 + 16 * (uint64_t)TASKS + 12, meta2 = (meta1 + 511) / 512 * 512;
    struct sion_image_spec spec = three_tasks();
    struct sion_image image = sion_image_make(&spec);
    unsigned char mark[12] = {1}; /* one block */
    sion_image_put(&image, 24, 4, false, TASKS);
    for (int k = 0; k < 8; k++) {
        mark[4 + k] = (unsigned char)(meta2 >> 8 * k);
    }
    (void)snprintf(path, sizeof path, "%s/sparse.sion", scratch);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(image.data, 1, 1076, f), 1076);
    assert_int_equal(fseek(f, (long)meta1 - 12, SEEK_SET), 0);
    assert_int_equal(fwrite(mark, 1, sizeof mark, f), sizeof mark);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(truncate(path, (off_t)(meta2 + 16 * (uint64_t)TASKS)), 0);
    sion_image_free(&image);
    hpcw_sion_reader *r;
    hpcw_error err;
    static const uint32_t first[2] = {0, 1};
    requested = 0;
    hpcw_i_mem_gate = count_memory;
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 2, first, &r, &err), HPCW_EFORMAT);
    hpcw_i_mem_gate = NULL;
    assert_non_null(strstr(err.message, "block count of task 0"));
}

static bool name_of(void *context, const char *path, uint32_t file, char *name, size_t size) {
    uint32_t *last = context;
    *last = file > *last ? file : *last;
    return file < 2 && (size_t)snprintf(name, size, "%s-%" PRIu32, path, file) < size;
}

static void files_with_other_names(void **state) {
    (void)state;
    char path[300], from[320], to[320];
    (void)snprintf(path, sizeof path, "%s/named", scratch);
    hpcw_sion_reader *r;
    hpcw_error err;
    uint32_t last = 0;
    for (uint32_t files = 2; files <= 3; files++) {
        write_many(path, 6, files);
        for (uint32_t f = 0; f < files; f++) {
            (void)snprintf(from, sizeof from, f == 0 ? "%s" : "%s.%06" PRIu32, path, f);
            (void)snprintf(to, sizeof to, "%s-%" PRIu32, path, f);
            assert_int_equal(rename(from, to), 0);
        }
        hpcw_status s = hpcw_sion_reader_open_named(path, name_of, &last, NULL, 0, NULL, &r, &err);
        assert_int_equal(s, files == 2 ? HPCW_OK : HPCW_EINVAL);
        assert_int_equal(last, files == 2 ? 1 : 2);
        assert_int_equal(hpcw_sion_reader_count(r), files == 2 ? 6 : 0);
        hpcw_sion_reader_free(r);
    }
    assert_non_null(strstr(err.message, "expected a name of file 2"));
}

/* A killed writer leaves a file that is empty, or has data and no header. Only its temporary name shows that it
 * was never complete. */
static void unfinished_files(void **state) {
    (void)state;
    char path[300], other[300];
    hpcw_sion_reader *r;
    hpcw_error err;
    (void)snprintf(path, sizeof path, "%s/.hpcw-0123456789abcdef-a.sion.tmp", scratch);
    (void)snprintf(other, sizeof other, "%s/zeros", scratch);
    for (off_t size = 0; size <= 8192; size += 4096) {
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        assert_int_equal(ftruncate(fd, size), 0);
        assert_int_equal(close(fd), 0);
        assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err), HPCW_ETRUNCATED);
        assert_non_null(strstr(err.message, ".tmp: expected a finished file, got one whose writer still runs"));
    }
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(hpcw_sion_reader_open(other, NULL, 0, NULL, &r, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "not a SION file"));
    /* A complete container with a temporary name, as between close and rename of a set. */
    write_many(other, 2, 1);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err), HPCW_OK);
    hpcw_sion_reader_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(description),
        cmocka_unit_test(ranks_in_any_order),
        cmocka_unit_test(wrong_mapping),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(damaged_records),
        cmocka_unit_test(changed_files),
        cmocka_unit_test(hostile_words_take_no_memory),
        cmocka_unit_test(large_reads_take_no_buffer),
        cmocka_unit_test(very_many_tasks),
        cmocka_unit_test(tasks_in_turn),
        cmocka_unit_test(task_after_task_takes_one_buffer),
        cmocka_unit_test(cut_in_turn),
        cmocka_unit_test(many_files_from_elsewhere),
        cmocka_unit_test(files_with_other_names),
        cmocka_unit_test(unfinished_files),
        cmocka_unit_test(sparse_file_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
