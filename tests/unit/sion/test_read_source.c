/* SPDX-License-Identifier: BSD-3-Clause */
/* The readers with real files: holes, very large and very many files, names of sets, and files that are not
 * regular. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libreader/sion/sion.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/sion_image.h"

#define MIB ((uint64_t)1 << 20)

static const char *in_scratch(const char *name) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void write_at(int fd, uint64_t offset, const void *data, size_t size) {
    assert_int_equal(pwrite(fd, data, size, (off_t)offset), (ssize_t)size);
}

static int create(const char *name) {
    int fd = open(in_scratch(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void what_is_no_file(void **state) {
    (void)state;
    struct read_source *source;
    hpcw_error err = {0};
    assert_int_equal(read_source_open(in_scratch("nothing"), &source, &err), HPCW_ENOENT);
    assert_null(source);
    assert_non_null(strstr(err.message, "nothing: cannot open"));
    assert_int_equal(read_source_open(scratch, &source, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "got a directory"));
    /* A pipe without a writer must not block. */
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    assert_int_equal(read_source_open(in_scratch("pipe"), &source, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "expected a regular file"));
}

static void reads_are_exact(void **state) {
    (void)state;
    int fd = create("exact");
    write_at(fd, 0, "0123456789", 10);
    struct read_source *sources[2];
    assert_int_equal(read_source_open(in_scratch("exact"), &sources[0], NULL), HPCW_OK);
    assert_int_equal(read_source_open_memory("memory", "0123456789", 10, &sources[1], NULL), HPCW_OK);
    for (int i = 0; i < 2; i++) {
        char bytes[11] = {0};
        hpcw_error err = {0};
        assert_int_equal(read_source_size(sources[i]), 10);
        assert_int_equal(read_source_read(sources[i], 2, bytes, 8, "it", &err), HPCW_OK);
        assert_string_equal(bytes, "23456789");
        assert_int_equal(read_source_read(sources[i], 10, bytes, 0, "it", &err), HPCW_OK);
        assert_int_equal(read_source_read(sources[i], 2, bytes, 9, "it", &err), HPCW_ETRUNCATED);
        assert_non_null(strstr(err.message, "it at offset 2 needs 9 bytes, but the file ends at 10"));
        assert_int_equal(read_source_read(sources[i], UINT64_MAX, bytes, 2, "it", &err), HPCW_ETRUNCATED);
        assert_int_equal(read_source_read(sources[i], 0, bytes, SIZE_MAX, "it", &err), HPCW_ETRUNCATED);
    }
    /* A file that is truncated while it is read. */
    char bytes[8];
    hpcw_error err = {0};
    assert_int_equal(ftruncate(fd, 4), 0);
    assert_int_equal(read_source_read(sources[0], 2, bytes, 8, "it", &err), HPCW_ETRUNCATED);
    assert_non_null(strstr(err.message, "became shorter"));
    (void)close(fd);
    read_source_free(sources[0]);
    read_source_free(sources[1]);
    read_source_free(NULL);
}

/* Returns whether the file system of the scratch directory keeps holes. The file ends at 1 GiB, with data at 512
 * MiB. */
static bool has_holes(int fd) {
    write_at(fd, 512 * MIB, "x", 1);
    assert_int_equal(ftruncate(fd, (off_t)(1024 * MIB)), 0);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_blocks * 512 < 64 * MIB && lseek(fd, 0, SEEK_DATA) > 0;
}

static void holes_are_reported(void **state) {
    (void)state;
    int fd = create("holes");
    bool holes = has_holes(fd);
    (void)close(fd);
    if (!holes) {
        skip();
    }
    struct read_source *source;
    assert_int_equal(read_source_open(in_scratch("holes"), &source, NULL), HPCW_OK);
    uint64_t begin, end;
    assert_int_equal(read_source_data(source, 0, &begin, &end, NULL), HPCW_OK);
    assert_true(begin > 500 * MIB && begin <= 512 * MIB);
    assert_true(end > 512 * MIB && end < 530 * MIB);
    assert_int_equal(read_source_data(source, end, &begin, &end, NULL), HPCW_OK);
    assert_int_equal(begin, 1024 * MIB);
    assert_int_equal(end, 1024 * MIB);
    assert_int_equal(read_source_data(source, UINT64_MAX, &begin, &end, NULL), HPCW_OK);
    assert_int_equal(begin, 1024 * MIB);
    read_source_free(source);
}

/* ---- large containers ----------------------------------------------------------------------------------- */

static size_t requested;

static bool add_request(size_t size) {
    requested += size;
    return true;
}

/* Writes the header, without tables, of a little-endian container with chunks of one block each. Returns the
 * start of META2. */
static uint64_t put_header(int fd, uint32_t tasks, uint32_t chunk, uint32_t blocks) {
    uint64_t one = chunk;
    int64_t count = 1, size = 0;
    struct sion_image_spec spec = sion_image_defaults();
    spec.fs_block_size = chunk;
    spec.tasks = 1;
    spec.file_number = 0;
    spec.mapping = -1;
    spec.chunk_sizes = &one;
    spec.counts = &count;
    spec.sizes = &size;
    struct sion_image image = sion_image_make(&spec);
    sion_image_put(&image, 24, 4, false, tasks);
    write_at(fd, 0, image.data, 1076);
    uint64_t meta1 = 1088 + 16 * (uint64_t)tasks, start = (meta1 + chunk - 1) / chunk * chunk;
    uint64_t meta2 = start + (uint64_t)blocks * tasks * chunk;
    sion_image_put(&image, 0, 4, false, blocks);
    sion_image_put(&image, 4, 8, false, meta2);
    write_at(fd, meta1 - 12, image.data, 12);
    sion_image_free(&image);
    return meta2;
}

static void put_table(int fd, uint64_t offset, uint32_t count, uint64_t first, uint64_t step) {
    unsigned char *bytes = malloc(8 * (size_t)count);
    assert_non_null(bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = first + i * step;
        for (size_t k = 0; k < 8; k++) {
            bytes[8 * (size_t)i + k] = (unsigned char)(value >> 8 * k);
        }
    }
    write_at(fd, offset, bytes, 8 * (size_t)count);
    free(bytes);
}

static void a_million_tasks(void **state) {
    (void)state;
    enum { N = 1000000, BLOCKS = 2 };
    int fd = create("million");
    bool holes = has_holes(fd);
    assert_int_equal(ftruncate(fd, 0), 0);
    if (!holes) {
        (void)close(fd);
        skip();
    }
    uint64_t meta2 = put_header(fd, N, 4096, BLOCKS);
    put_table(fd, 1076, N, 0, 1);
    put_table(fd, 1076 + 8 * (uint64_t)N, N, 4096, 0);
    put_table(fd, meta2, N, BLOCKS, 0);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        put_table(fd, meta2 + 8 * (uint64_t)N * (1 + b), N, 100, 0);
    }
    (void)close(fd);

    requested = 0;
    hpcw_i_mem_gate = add_request;
    struct read_sion *reader;
    hpcw_error err = {0};
    assert_int_equal(read_sion_open(in_scratch("million"), &reader, &err), HPCW_OK);
    assert_int_equal(read_sion_verify(reader, READ_SION_STRICT, &err), HPCW_OK);
    struct read_sion_task task;
    assert_int_equal(read_sion_find(reader, N - 1, &task, &err), HPCW_OK);
    hpcw_i_mem_gate = NULL;
    assert_int_equal(task.size, 200);
    /* All requested memory counts, even if it was freed. */
    assert_true(requested < MIB);
    read_sion_free(reader);
}

/* A sparse file of 13 TB, as long as its header says. It cannot be read byte by byte. */
static void a_huge_hole(void **state) {
    (void)state;
    const uint32_t blocks = 0x7fffffff, tasks = 256;
    int fd = create("huge");
    bool holes = has_holes(fd);
    assert_int_equal(ftruncate(fd, 0), 0);
    uint64_t meta2 = put_header(fd, tasks, 16, blocks), size = meta2 + 8 * tasks * (1 + (uint64_t)blocks);
    put_table(fd, 1076, tasks, 0, 1);
    put_table(fd, 1076 + 8 * tasks, tasks, 16, 0);
    if (!holes || ftruncate(fd, (off_t)size) != 0) {
        (void)close(fd);
        skip();
    }
    put_table(fd, meta2, tasks, blocks, 0);
    put_table(fd, size - 8, 1, 5, 0);
    (void)close(fd);

    struct read_sion *reader;
    hpcw_error err = {0};
    requested = 0;
    hpcw_i_mem_gate = add_request;
    assert_int_equal(read_sion_open(in_scratch("huge"), &reader, &err), HPCW_OK);
    assert_int_equal(read_sion_verify(reader, READ_SION_GAPS, &err), HPCW_OK);
    assert_int_equal(read_sion_verify(reader, READ_SION_STRICT, &err), HPCW_EFORMAT);
    hpcw_i_mem_gate = NULL;
    assert_true(requested < MIB);
    assert_non_null(strstr(err.message, "task 0: expected a byte in each of its 2147483647 blocks, got 0"));
    struct read_sion_task task;
    assert_int_equal(read_sion_task(reader, 0, tasks - 1, &task, &err), HPCW_OK);
    assert_int_equal(task.size, 5);
    read_sion_free(reader);
}

/* ---- sets ----------------------------------------------------------------------------------------------- */

/* More files than the reader keeps open; one task each, in reverse order of the files. */
static void names_of_a_large_set(void **state) {
    (void)state;
    enum { FILES = 150 };
    static int32_t mapped[FILES][2];
    for (int32_t g = 0; g < FILES; g++) {
        mapped[g][0] = FILES - 1 - g;
        mapped[g][1] = 0;
    }
    for (int32_t k = 0; k < FILES; k++) {
        uint64_t chunk = 64;
        int64_t rank = FILES - 1 - k, count = 1, size = 10 + k % 50;
        struct sion_image_spec spec = sion_image_defaults();
        spec.fs_block_size = 64;
        spec.files = FILES;
        spec.file_number = (uint32_t)k;
        spec.tasks = 1;
        spec.ranks = &rank;
        spec.chunk_sizes = &chunk;
        spec.counts = &count;
        spec.sizes = &size;
        spec.mapping = k == 0 ? FILES : -1;
        spec.mapped = (const int32_t(*)[2])mapped;
        struct sion_image image = sion_image_make(&spec);
        char name[32] = "set.sion";
        if (k > 0) {
            (void)snprintf(name, sizeof name, "set.sion.%06d", (int)k);
        }
        int fd = create(name);
        write_at(fd, 0, image.data, image.size);
        (void)close(fd);
        sion_image_free(&image);
    }
    struct read_sion *reader;
    hpcw_error err = {0};
    assert_int_equal(read_sion_open(in_scratch("set.sion"), &reader, &err), HPCW_OK);
    assert_int_equal(read_sion_verify(reader, READ_SION_STRICT | READ_SION_GAPS, &err), HPCW_OK);
    for (uint32_t i = 0; i < 2 * FILES; i++) {
        uint32_t rank = i * 7 % FILES;
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, rank, &task, &err), HPCW_OK);
        assert_int_equal(task.file, FILES - 1 - rank);
        unsigned char byte;
        assert_int_equal(read_sion_read(reader, &task, 9, &byte, 1, &err), HPCW_OK);
        assert_int_equal(byte, sion_image_byte(rank, 9));
    }
    read_sion_free(reader);

    assert_int_equal(unlink(in_scratch("set.sion.000149")), 0);
    assert_int_equal(read_sion_open(in_scratch("set.sion"), &reader, &err), HPCW_OK);
    assert_int_equal(read_sion_verify(reader, 0, &err), HPCW_ENOENT);
    assert_non_null(strstr(err.message, "set.sion.000149: cannot open"));
    read_sion_free(reader);
}

/* A file that cannot be read gives an error, and not the answer that it has another format. */
static void what_cannot_be_read_is_no_answer(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    bool does = true;
    int fd = create("magic");
    write_at(fd, 0, "magic", 5);
    (void)close(fd);
    assert_int_equal(read_source_begins_with(in_scratch("magic"), "magi", 4, &does, &err), HPCW_OK);
    assert_true(does);
    static const char *const others[] = {"nothing", "magic/below", ".", "magic"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(read_source_begins_with(in_scratch(others[i]), "magic1", 6, &does, &err), HPCW_OK);
        assert_false(does);
    }
    assert_int_equal(symlink("loop", in_scratch("loop")), 0);
    assert_int_equal(read_source_begins_with(in_scratch("loop"), "magic", 5, &does, &err), HPCW_EIO);
    assert_false(does);
    assert_non_null(strstr(err.message, "loop: cannot open for reading: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_no_answer),
        cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(reads_are_exact),
        cmocka_unit_test(holes_are_reported),
        cmocka_unit_test(a_million_tasks),
        cmocka_unit_test(a_huge_hole),
        cmocka_unit_test(names_of_a_large_set),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
