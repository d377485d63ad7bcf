/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts write data to the expected offsets in every mode, and misplaced data are found. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/layout/layout.h"
#include "bench/measure/workdir.h"
#include "bench/sweep/sweep.h"
#include "libreader/sion/sion.h"
#include "libwriter/base/mem.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/sys.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static struct bench_processes alone;
static struct bench_data data;

static int set_up(void **state) {
    hpcw_error err;
    (void)scratch_set_up(state);
    alone = (struct bench_processes){.comm = hpcw_i_comm_or_self(NULL), .count = 1};
    return bench_data_init(&data, 7, 1, &err) == HPCW_OK ? 0 : -1;
}

static int tear_down(void **state) {
    bench_data_free(&data);
    return scratch_tear_down(state);
}

static struct bench_shape shape_of(enum bench_layout layout, enum bench_mode mode) {
    return (struct bench_shape){.layout = layout,
                                .mode = mode,
                                .block_size = 4096,
                                .record_size = 1000,
                                .rank_size = 9001,
                                .ranks = 7,
                                .files = 1,
                                .seed = 7};
}

/* Runs all steps. Returns the first failure. */
static hpcw_status run(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t k = 0; k < BENCH_STEPS; k++) {
        hpcw_error e;
        hpcw_status now = bench_work_side.phase[k].run(w, &e);
        if (s == HPCW_OK && now != HPCW_OK) {
            s = now;
            *err = e;
        }
    }
    return s;
}

static hpcw_status write_all(struct bench_work *w, const struct bench_shape *shape, bool ceiling,
                             hpcw_error *err) {
    hpcw_status s = bench_work_init(w, shape, ceiling, &alone, scratch, &data, err);
    return s == HPCW_OK ? run(w, err) : s;
}

static void clear(struct bench_work *w) {
    hpcw_error err;
    bench_work_free(w);
    assert_int_equal(bench_workdir_clear(scratch, &err), HPCW_OK);
    assert_int_equal(count_entries(scratch), 0);
}

/* ---- the data directory ---- */

static char new_lock[400]; /* path of the new run's lock file */
static int other_fd = -1;  /* the lock file, as another run holds it */
static bool other_done;

static void other_ends(void) {
    char directory[400];
    (void)snprintf(directory, sizeof directory, "%.*s", (int)(strlen(new_lock) - strlen(".owner")), new_lock);
    (void)rmdir(directory);
    (void)unlink(new_lock);
    (void)close(other_fd);
    other_done = true;
}

/* Another run comes between the creation of the new lock file and its lock. It takes the file for that of a killed
 * run, and removes the data directory and the file when the new run looks again, or at the end. */
static int other_comes(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call == HPCW_I_SYS_OWN && other_fd < 0) {
        other_fd = open(new_lock, O_RDWR | O_CLOEXEC);
        assert_true(other_fd >= 0);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(hpcw_i_sys_own(other_fd), 0);
        hpcw_i_sys_gate = other_comes;
    } else if (call == HPCW_I_SYS_OPEN && other_fd >= 0 && !other_done) {
        other_ends();
    }
    return 0;
}

static void another_run_takes_it_for_a_killed_one(void **state) {
    (void)state;
    char path[BENCH_WORKDIR];
    hpcw_error err;
    (void)snprintf(new_lock, sizeof new_lock, "%s/.hpcw-bench.%ld.owner", scratch, (long)getpid());
    hpcw_i_sys_gate = other_comes;
    hpcw_status s = bench_workdir_make(&alone, scratch, path, &err);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(s, HPCW_OK);
    if (!other_done) {
        other_ends();
    }
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(new_lock, F_OK), 0);
    bench_workdir_remove(&alone, path);
    assert_int_equal(count_entries(scratch), 0);
}

/* Another sweep holds and locks the new directory before the sweep that made it. */
static int other_locks(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OWN ? EAGAIN : 0;
}

static void the_results_directory_of_another_sweep_stays(void **state) {
    (void)state;
    struct bench_options o = {.resume = true};
    const struct bench_results r = {0};
    struct bench_output out = {.lock = -1};
    hpcw_error err;
    (void)snprintf(o.output, sizeof o.output, "%s/results", scratch);
    hpcw_i_sys_gate = other_locks;
    assert_int_equal(bench_output_make(&o, &r, &out, &err), HPCW_EEXIST);
    hpcw_i_sys_gate = NULL;
    bench_output_close(&out, true);
    assert_int_equal(rmdir(o.output), 0);
}

static void every_layout_in_every_mode(void **state) {
    (void)state;
    for (int layout = BENCH_SION_ALIGNED; layout <= BENCH_SHARED_POSIX; layout++) {
        for (int mode = 0; mode < BENCH_MODES; mode++) {
            for (int ceiling = 0; ceiling < 2; ceiling++) {
                struct bench_shape shape = shape_of((enum bench_layout)layout, (enum bench_mode)mode);
                struct bench_work w;
                hpcw_error err;
                hpcw_status s = write_all(&w, &shape, ceiling != 0, &err);
                if (s != HPCW_ENOTSUP) { /* ENOTSUP: the file system does not support this mode */
                    assert_int_equal(s, HPCW_OK);
                    assert_true(ceiling != 0 || bench_work_check(&w, &err) == HPCW_OK);
                }
                clear(&w);
            }
        }
    }
}

/* The library writes the data of each rank where an independent reader finds them. */
static void containers_lie_where_they_are_expected(void **state) {
    (void)state;
    static const struct {
        uint32_t ranks, files;
        uint64_t rank_size, block;
    } cases[] = {{1, 1, 1, 4096},      {7, 1, 9001, 4096},   {64, 1, 100, 4096}, {64, 3, 5000, 512},
                 {40, 4, 4096, 65536}, {33, 1, 70000, 4096}, {5, 5, 17, 1},      {100, 1, 333, 1000}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (int layout = BENCH_SION_ALIGNED; layout <= BENCH_SION_PACKED; layout++) {
            struct bench_shape shape = shape_of((enum bench_layout)layout, BENCH_BUFFERED);
            struct bench_work w;
            hpcw_error err;
            char path[512];
            shape.ranks = cases[c].ranks;
            shape.files = cases[c].files;
            shape.rank_size = cases[c].rank_size;
            shape.record_size = cases[c].rank_size;
            shape.block_size = cases[c].block;
            assert_int_equal(write_all(&w, &shape, false, &err), HPCW_OK);
            (void)snprintf(path, sizeof path, "%s/data", scratch);
            struct read_sion *reader = NULL;
            assert_int_equal(read_sion_open(path, &reader, &err), HPCW_OK);
            for (uint32_t r = 0; r < shape.ranks; r++) {
                struct read_sion_task task;
                assert_int_equal(read_sion_find(reader, r, &task, &err), HPCW_OK);
                assert_int_equal(task.start, w.spot[r].offset);
                assert_int_equal(task.file, w.spot[r].file);
            }
            read_sion_free(reader);
            clear(&w);
        }
    }
}

/* The shifted twin is the aligned container with all offsets two thirds of a block larger. */
static void the_shifted_twin(void **state) {
    (void)state;
    unsigned char *file[2];
    size_t size[2];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/data", scratch);
    for (int i = 0; i < 2; i++) {
        struct bench_shape shape = shape_of(i == 0 ? BENCH_SION_ALIGNED : BENCH_SION_SHIFTED, BENCH_DIRECT);
        struct bench_work w;
        hpcw_error err;
        hpcw_status s = write_all(&w, &shape, false, &err);
        if (s == HPCW_ENOTSUP) {
            clear(&w);
            skip();
        }
        assert_int_equal(s, HPCW_OK);
        file[i] = read_file(path, &size[i]);
        assert_non_null(file[i]);
        clear(&w);
    }
    assert_int_equal(size[1], size[0] + 2731);
    assert_true(same_bytes("shifted", file[0], size[0], file[1] + 2731, size[1] - 2731));
    free(file[0]);
    free(file[1]);
}

static void overwrite(const char *name, uint64_t offset, const void *bytes, size_t size) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", scratch, name);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void wrong_data_are_found(void **state) {
    (void)state;
    struct bench_shape shape = shape_of(BENCH_SHARED_POSIX, BENCH_FSYNC);
    struct bench_work w;
    hpcw_error err;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/data", scratch);
    assert_int_equal(write_all(&w, &shape, false, &err), HPCW_OK);
    size_t size;
    unsigned char *whole = read_file(path, &size);
    assert_non_null(whole);
    assert_int_equal(size, 7 * 9001);

    unsigned char other = (unsigned char)~whole[3 * 9001 + 500];
    overwrite("data", 3 * 9001 + 500, &other, 1);
    assert_int_equal(bench_work_check(&w, &err), HPCW_ECHECKSUM);
    assert_non_null(strstr(err.message, "byte 500 of rank 3"));
    overwrite("data", 3 * 9001 + 500, whole + 3 * 9001 + 500, 1);
    assert_int_equal(bench_work_check(&w, &err), HPCW_OK);

    overwrite("data", 0, whole + 5 * 9001, 8000); /* rank 0 gets data of rank 5 */
    assert_int_equal(bench_work_check(&w, &err), HPCW_ECHECKSUM);
    assert_non_null(strstr(err.message, "of rank 0, got one from near byte 0 of rank 5"));
    overwrite("data", 0, whole, 8000);

    unsigned char *zeros = calloc(1, 9001);
    assert_non_null(zeros);
    overwrite("data", 6 * 9001, zeros, 9001); /* nobody's */
    assert_int_equal(bench_work_check(&w, &err), HPCW_ECHECKSUM);
    assert_non_null(strstr(err.message, "rank 6, got 0x00"));
    free(zeros);
    free(whole);
    clear(&w);
}

/* Writes of any offset and size give the right data, whichever part bypasses the page cache. */
static void direct_writes_at_any_place(void **state) {
    (void)state;
    enum { SIZE = 40000 };
    static unsigned char want[2 * SIZE];
    static const struct {
        uint64_t offset;
        size_t a, b, c;
    } cases[] = {{0, 4096, 0, 0},        {0, SIZE, 0, 0},          {1, 10, 0, 0},       {4095, 2, 0, 0},
                 {100, 20000, 15000, 0}, {4096, 8192, 8192, 8192}, {5000, 1, 39990, 9}, {8191, 4097, 4096, 1},
                 {0, 12288, 20000, 0},   {17, 0, 30000, 0},        {4094, 1, 1, 4097},  {1, 3000, 5000, 30000}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct bench_file f = {.align = 4096, .bounce = data.other, .bounce_size = 8192, .shift = 512};
        char path[512];
        hpcw_error err;
        (void)snprintf(path, sizeof path, "%s/direct", scratch);
        hpcw_status s = bench_file_open(&f, path, true, &err);
        if (s == HPCW_ENOTSUP) {
            assert_int_equal(bench_file_close(&f, &err), HPCW_OK);
            (void)remove(path);
            skip();
        }
        assert_int_equal(s, HPCW_OK);
        memset(want, 0, sizeof want);
        uint64_t at = cases[c].offset + 512;
        memcpy(want + at, data.source, cases[c].a);
        memcpy(want + at + cases[c].a, data.source + 50001, cases[c].b);
        memcpy(want + at + cases[c].a + cases[c].b, data.source + 7, cases[c].c);
        struct hpcw_i_piece piece[] = {
            {data.source, cases[c].a}, {data.source + 50001, cases[c].b}, {data.source + 7, cases[c].c}};
        size_t all = cases[c].a + cases[c].b + cases[c].c;
        assert_int_equal(bench_file_write_pieces(&f, cases[c].offset, piece, 3, all, &err), HPCW_OK);
        assert_int_equal(bench_file_sync(&f, &err), HPCW_OK);
        assert_int_equal(bench_file_close(&f, &err), HPCW_OK);
        size_t size;
        unsigned char *got = read_file(path, &size);
        assert_true(same_bytes(path, want, (size_t)at + all, got, size));
        free(got);
        assert_int_equal(remove(path), 0);
    }
}

/* Buffered data that are to be read from disk are flushed first, so errors of the flush are reported. */
static int syncs_fail(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_FSYNC ? EIO : 0;
}

static void errors_of_the_disk_are_found(void **state) {
    (void)state;
    struct bench_shape shape = shape_of(BENCH_SHARED_POSIX, BENCH_BUFFERED);
    struct bench_work w;
    hpcw_error err;
    assert_int_equal(write_all(&w, &shape, false, &err), HPCW_OK);
    hpcw_i_sys_gate = syncs_fail;
    hpcw_status s = bench_work_check(&w, &err);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(s, HPCW_EIO);
    clear(&w);
}

static unsigned long opens;

/* Simulates a file system on which another host creates the same file at the same time. */
static int first_open_exists(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && opens++ == 0 ? EEXIST : 0;
}

static void another_host_creates_it(void **state) {
    (void)state;
    struct bench_file f = {0};
    hpcw_error err;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/at-once", scratch);
    for (int exists = 0; exists < 2; exists++) {
        if (exists) {
            FILE *made = fopen(path, "w");
            assert_non_null(made);
            assert_int_equal(fclose(made), 0);
        }
        opens = 0;
        hpcw_i_sys_gate = first_open_exists;
        hpcw_status s = bench_file_open(&f, path, false, &err);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(s, exists ? HPCW_OK : HPCW_ENOENT);
        assert_int_equal(opens, 2);
        assert_int_equal(bench_file_close(&f, &err), HPCW_OK);
    }
    assert_int_equal(remove(path), 0);
}

/* Each system call fails once. The run reports the failure, and no file stays open. */
static void faults(void **state) {
    (void)state;
    for (int fault = 0; fault < FAULTS; fault++) {
        for (int layout = BENCH_SION_ALIGNED; layout <= BENCH_SHARED_POSIX; layout++) {
            for (unsigned long n = 1;; n++) {
                struct bench_shape shape = shape_of((enum bench_layout)layout, BENCH_FSYNC);
                struct bench_work w;
                hpcw_error err;
                int open = count_descriptors();
                fault_arm((enum fault)fault, n);
                hpcw_status s = write_all(&w, &shape, n % 2 == 0, &err);
                bool met = fault_disarm();
                if (met && !fault_is_harmless((enum fault)fault)) {
                    assert_int_equal(s, fault_status((enum fault)fault));
                } else {
                    assert_int_equal(s, HPCW_OK);
                }
                clear(&w);
                assert_int_equal(count_descriptors(), open);
                if (!met) {
                    break;
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_run_takes_it_for_a_killed_one),
        cmocka_unit_test(the_results_directory_of_another_sweep_stays),
        cmocka_unit_test(every_layout_in_every_mode),
        cmocka_unit_test(containers_lie_where_they_are_expected),
        cmocka_unit_test(the_shifted_twin),
        cmocka_unit_test(wrong_data_are_found),
        cmocka_unit_test(direct_writes_at_any_place),
        cmocka_unit_test(errors_of_the_disk_are_found),
        cmocka_unit_test(another_host_creates_it),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
