/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks that compare with a file: bytes that nobody wrote must be zero, and the system is rarely asked for holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "gen/dataset/compare.h"
#include "tests/support/files.h"

enum { BLOCK = 4096, BLOCKS = 1000 };

static char path[512];
static unsigned long seeks;

/* Takes the place of libc's call, in this program only. */
off_t lseek(int fd, off_t offset, int whence) {
    seeks++;
    return (off_t)syscall(SYS_lseek, fd, offset, whence);
}

static int make_scratch(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/file", scratch);
    return 0;
}

static bool all_files(void *context, const char *name, uint64_t *order) {
    (void)context;
    (void)name;
    *order = 0;
    return true;
}

/* Writes odd blocks of 'x' into a file. `zeros`: also even blocks of zeros, so that the file may have no hole. A
 * byte at `wrong` becomes 1; 0: none does. */
static void make_file(bool zeros, long wrong) {
    char block[BLOCK];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (long i = 0; i < BLOCKS; i++) {
        if (i % 2 == 1 || zeros) {
            memset(block, i % 2 == 1 ? 'x' : 0, sizeof block);
            assert_int_equal(fseek(file, i * BLOCK, SEEK_SET), 0);
            assert_int_equal(fwrite(block, 1, BLOCK, file), BLOCK);
        }
    }
    if (wrong > 0) {
        assert_int_equal(fseek(file, wrong, SEEK_SET), 0);
        assert_int_equal(fputc(1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* Compares the file with one whose odd blocks are 'x', and returns the message of the fault, or "". */
static const char *compare(void) {
    static char message[sizeof((hpcw_error *)0)->message];
    struct gen_faults faults;
    struct gen_compare compare = {.directory = scratch, .faults = &faults, .order = all_files};
    const hpcw_sink_source source = gen_compare_source(&compare);
    hpcw_sink *sink = NULL;
    char block[BLOCK];
    memset(block, 'x', sizeof block);
    gen_faults_init(&faults);
    assert_int_equal(source.open(source.context, path, 0, true, &sink, NULL), HPCW_OK);
    for (uint64_t i = 1; i < BLOCKS; i += 2) {
        assert_int_equal(hpcw_sink_write_at(sink, i * BLOCK, block, BLOCK, NULL), HPCW_OK);
    }
    seeks = 0;
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    hpcw_sink_free(sink);
    assert_true(faults.count <= 1);
    (void)snprintf(message, sizeof message, "%s", faults.count == 0 ? "" : faults.fault[0].message);
    gen_faults_free(&faults);
    return message;
}

static void one_question_for_many_gaps(void **state) {
    (void)state;
    make_file(true, 0);
    assert_string_equal(compare(), "");
    assert_in_range(seeks, 1,
                    4); /* a kernel may tell the zeros from the rest, but not on the file systems of tests */
}

static void bytes_in_gaps_are_found(void **state) {
    (void)state;
    for (int zeros = 0; zeros < 2; zeros++) {
        const long gap[] = {0, 2, BLOCKS / 2, BLOCKS - 2};
        make_file(zeros == 1, 0);
        assert_string_equal(compare(), "");
        for (size_t g = 0; g < sizeof gap / sizeof gap[0]; g++) {
            for (long at = g == 0; at < BLOCK; at += BLOCK - 1 - (g == 0)) {
                char expected[64];
                make_file(zeros == 1, gap[g] * BLOCK + at);
                (void)snprintf(expected, sizeof expected, ": offset %ld: expected the byte",
                               gap[g] * BLOCK + at);
                assert_non_null(strstr(compare(), expected));
            }
        }
    }
}

/* A file that cannot be opened is a fault. */
static void missing_file(void **state) {
    (void)state;
    assert_int_equal(remove(path), 0);
    struct gen_faults faults;
    struct gen_compare compare = {.directory = scratch, .faults = &faults, .order = all_files};
    const hpcw_sink_source source = gen_compare_source(&compare);
    hpcw_sink *sink = NULL;
    gen_faults_init(&faults);
    assert_int_equal(source.open(source.context, path, 0, true, &sink, NULL), HPCW_OK);
    hpcw_sink_free(sink);
    assert_int_equal(faults.count, 1);
    gen_faults_free(&faults);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_question_for_many_gaps),
        cmocka_unit_test(bytes_in_gaps_are_found),
        cmocka_unit_test(missing_file),
    };
    return cmocka_run_group_tests(tests, make_scratch, scratch_tear_down);
}
