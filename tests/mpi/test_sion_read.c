/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of processes can read what any number wrote, and after a failure of one no other waits. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/comm_faults.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/sion_cases.h"
#include "tests/support/sion_image.h"
#include "tests/support/world.h"

/* Bytes of task t's stream, golden_byte(t, k). Task 2 has none. */
static size_t size_of(uint32_t task) {
    return task == 2 ? 0 : 700 * task % 4001 + 1;
}

enum shape { SINGLE, SET, COLOURS, MAPPED, KEYS_BIG, SERIAL, WIDE, SHAPES };

static const uint32_t task_counts[] = {3, 7, 5000};

/* Writes a file from one process. */
static hpcw_status write_file(const char *path, enum shape shape, uint32_t tasks, hpcw_error *err) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = tasks;
    o.chunk_size = 600;
    o.fs_block_size = 100;
    o.durability = HPCW_SYNC_NONE;
    o.content = shape == KEYS_BIG ? HPCW_SION_KEYVAL : HPCW_SION_STREAM;
    o.endian = o.data_endian = shape == KEYS_BIG ? HPCW_SION_BIG : HPCW_SION_LITTLE;
    o.flavour = shape == MAPPED ? HPCW_SION_MAPPED : shape == SERIAL ? HPCW_SION_SERIAL : HPCW_SION_PARALLEL;
    o.files = shape == SET || shape == WIDE ? 3 : 1;
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, NULL, &o, &h, err);
    if (s != HPCW_OK) {
        return s;
    }
    unsigned char data[4096];
    for (uint32_t t = 0; s == HPCW_OK && t < tasks; t++) {
        size_t size = size_of(t);
        for (size_t k = 0; k < size; k++) {
            data[k] = golden_byte(t, k);
        }
        if (shape == KEYS_BIG) {
            s = hpcw_sion_write_key(h, t, 1000 + t, data, size, err);
        } else {
            s = hpcw_sion_write(h, t, data, size, err);
        }
    }
    hpcw_status c = hpcw_sion_close(h, s == HPCW_OK ? err : NULL);
    hpcw_sion_free(h);
    return s == HPCW_OK ? c : s;
}

/* Writes a set by colours from all processes, so that no file has consecutive ranks. */
static hpcw_status write_colours(const char *path, uint32_t tasks, hpcw_error *err) {
    uint32_t *ranks = malloc(tasks * sizeof *ranks);
    assert_non_null(ranks);
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = own_tasks(ROUND_ROBIN, tasks, ranks);
    o.ranks = ranks;
    o.chunk_size = 600;
    o.fs_block_size = 100;
    o.durability = HPCW_SYNC_NONE;
    o.content = HPCW_SION_STREAM;
    o.files = 0;
    o.colour = (uint32_t)(process % 2);
    hpcw_sion *h;
    hpcw_status s = hpcw_sion_open(path, world, &o, &h, err);
    assert_true(on_all(s == HPCW_OK));
    unsigned char data[4096];
    for (uint32_t i = 0; s == HPCW_OK && i < o.count; i++) {
        for (size_t k = 0; k < size_of(ranks[i]); k++) {
            data[k] = golden_byte(ranks[i], k);
        }
        s = hpcw_sion_write(h, ranks[i], data, size_of(ranks[i]), err);
    }
    hpcw_status c = hpcw_sion_close(h, s == HPCW_OK ? err : NULL);
    hpcw_sion_free(h);
    free(ranks);
    return s == HPCW_OK ? c : s;
}

static bool good_stream(hpcw_sion_reader *r, uint32_t rank, size_t step) {
    unsigned char data[4096];
    hpcw_error err;
    size_t size = size_of(rank), at = 0, got = 0;
    if (hpcw_sion_reader_info(r)->keys) {
        hpcw_sion_record record;
        bool more;
        if (hpcw_sion_reader_next_key(r, rank, &record, &more, &err) != HPCW_OK || !more ||
            record.key != 1000 + rank || record.size != size) {
            return false;
        }
    } else if (hpcw_sion_reader_find(r, rank)->size != size) {
        return false;
    }
    do {
        if (hpcw_sion_reader_read(r, rank, data, step, &got, &err) != HPCW_OK) {
            return false;
        }
        for (size_t k = 0; k < got; k++) {
            if (data[k] != golden_byte(rank, at + k)) {
                return false;
            }
        }
        at += got;
    } while (got == step);
    return at == size && hpcw_sion_reader_at_end(r, rank);
}

/* Reads all own tasks; adds their number and the sum of their ranks. */
static bool read_own(hpcw_sion_reader *r, uint64_t *tasks, uint64_t *ranks) {
    bool good = true;
    for (uint32_t i = 0; good && i < hpcw_sion_reader_count(r); i++) {
        uint32_t rank = hpcw_sion_reader_task(r, i)->rank;
        good = hpcw_sion_reader_find(r, rank) == hpcw_sion_reader_task(r, i) &&
               (i == 0 || rank > hpcw_sion_reader_task(r, i - 1)->rank) && good_stream(r, rank, 64 + i % 1000);
        *tasks += 1;
        *ranks += rank;
    }
    return good;
}

static void path_of(char *path, size_t size, enum shape shape, uint32_t tasks) {
    (void)snprintf(path, size, "%s/0/%d-%u.sion", scratch, shape, tasks);
}

static void every_task_is_read_once(void **state) {
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        for (unsigned k = 0; k < sizeof task_counts / sizeof task_counts[0]; k++) {
            uint32_t tasks = task_counts[k];
            char path[512];
            hpcw_error err = {.message = ""};
            path_of(path, sizeof path, (enum shape)shape, tasks);
            hpcw_status s = shape == COLOURS ? write_colours(path, tasks, &err)
                            : process == 0   ? write_file(path, (enum shape)shape, tasks, &err)
                                             : HPCW_OK;
            assert_true(on_all(s == HPCW_OK));
            hpcw_sion_reader *r;
            s = hpcw_sion_reader_open(path, world, 0, NULL, &r, &err);
            if (s != HPCW_OK) {
                print_error("%s, process %d: %s\n", path, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            uint64_t own[2] = {0, 0}, all[2];
            uint64_t least = tasks / (uint32_t)processes;
            bool good = read_own(r, &own[0], &own[1]) && hpcw_sion_reader_info(r)->tasks == tasks &&
                        own[0] >= least && own[0] <= least + 1;
            assert_true(on_all(good));
            assert_int_equal(MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
            assert_int_equal(all[0], tasks);
            assert_int_equal(all[1], (uint64_t)tasks * (tasks - 1) / 2);
            if (tasks == (uint32_t)processes) {
                assert_true(on_all(hpcw_sion_reader_task(r, 0)->rank == (uint32_t)process));
            }
            hpcw_sion_reader_free(r);
        }
    }
}

/* Processes open a container with lists of ranks that lack tasks, repeat tasks of other lists, or are empty. */
static void named_tasks_are_read(void **state) {
    (void)state;
    static const uint32_t tasks = 7;
    for (int shape = 0; shape < SHAPES; shape++) {
        char path[512];
        path_of(path, sizeof path, (enum shape)shape, tasks);
        uint32_t ranks[] = {0, 2, (uint32_t)process % 3 + 3, 6};
        uint32_t count = process == processes - 1 && processes > 1 ? 0 : 4;
        hpcw_sion_reader *r;
        hpcw_error err;
        assert_true(on_all(hpcw_sion_reader_open(path, world, count, ranks, &r, &err) == HPCW_OK));
        uint64_t own[2] = {0, 0};
        assert_true(on_all(read_own(r, &own[0], &own[1]) && own[0] == count));
        assert_true(on_all(count == 0 || own[1] == 8 + ranks[2]));
        assert_true(on_all(hpcw_sion_reader_find(r, 1) == NULL));
        hpcw_sion_reader_free(r);

        /* A single process reads one of many tasks. */
        uint32_t one = (uint32_t)process;
        assert_true(on_all(hpcw_sion_reader_open(path, NULL, 1, &one, &r, &err) == HPCW_OK));
        assert_true(on_all(hpcw_sion_reader_count(r) == 1 && good_stream(r, one, 100)));
        hpcw_sion_reader_free(r);
    }
}

/* ---- failures ---- */

static hpcw_status open_and_fail(const char *path, uint32_t count, const uint32_t *ranks, hpcw_error *err) {
    hpcw_sion_reader *r = (hpcw_sion_reader *)&r; /* the open must set it to NULL */
    *err = (hpcw_error){.code = HPCW_OK, .message = ""};
    hpcw_status s = hpcw_sion_reader_open(path, world, count, ranks, &r, err);
    if (s == HPCW_OK) {
        hpcw_sion_reader_free(r);
    } else if (r != NULL) {
        err->code = HPCW_OK; /* `r` is not NULL: makes the test fail */
    }
    return s;
}

static void one_bad_argument_fails_all(void **state) {
    (void)state;
    char path[512];
    path_of(path, sizeof path, SET, 7);
    hpcw_error err;
    for (int culprit = 0; culprit < processes; culprit++) {
        bool me = process == culprit;
        const uint32_t falling[2] = {3, 1}, good[2] = {1, 3}, unknown[2] = {1, 7};
        assert_int_equal(open_and_fail(path, 2, me ? falling : good, &err), HPCW_EINVAL);
        assert_true(same_verdict(HPCW_EINVAL, &err));
        assert_int_equal(err.process, culprit);
        assert_non_null(strstr(err.message, "expected ascending ones, got 1 after 3"));

        assert_int_equal(open_and_fail(path, 2, me ? unknown : good, &err), HPCW_EINVAL);
        assert_true(same_verdict(HPCW_EINVAL, &err));
        assert_int_equal(err.process, culprit);
        assert_non_null(strstr(err.message, "expected the task with global rank 7, got none"));

        assert_int_equal(open_and_fail(me ? NULL : path, 0, NULL, &err), HPCW_EINVAL);
        assert_true(same_verdict(HPCW_EINVAL, &err));
        if (processes > 1) {
            assert_int_equal(open_and_fail(path, 2, me ? NULL : good, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));
            char other[512];
            path_of(other, sizeof other, SET, 3);
            assert_int_equal(open_and_fail(me ? other : path, 0, NULL, &err), HPCW_EMISMATCH);
            assert_true(same_verdict(HPCW_EMISMATCH, &err));
        }
    }
}

/* Process 0 finds the damage, and all processes get the error. The damage is in file 0, in a later file, or at the
 * very end of a file. */
static void damage_fails_all(void **state) {
    (void)state;
    char path[512], file[600];
    struct stat st;
    hpcw_error err;
    (void)snprintf(path, sizeof path, "%s/0/none.sion", scratch);
    assert_int_equal(open_and_fail(path, 0, NULL, &err), HPCW_ENOENT);
    assert_true(same_verdict(HPCW_ENOENT, &err));
    for (uint32_t number = 0; number < 3; number++) {
        (void)snprintf(path, sizeof path, "%s/1/%u.sion", scratch, number);
        assert_true(on_all(process != 0 || write_file(path, WIDE, 5000, &err) == HPCW_OK));
        name_of_file(file, sizeof file, path, number);
        assert_true(on_all(process != 0 || (stat(file, &st) == 0 && truncate(file, st.st_size - 1000) == 0)));
        assert_int_equal(open_and_fail(path, 0, NULL, &err), HPCW_ETRUNCATED);
        assert_true(same_verdict(HPCW_ETRUNCATED, &err));
        assert_true(on_all(process != 0 || unlink(file) == 0));
        assert_int_equal(open_and_fail(path, 0, NULL, &err), HPCW_ENOENT);
        assert_true(same_verdict(HPCW_ENOENT, &err));
    }
    /* Damages the block count of the last task. The reader reads the table of counts in several pieces, and this
     * count is in the last piece. 7 rows of sizes follow the table of counts. */
    enum { TASKS = 5000, ROWS = 7 };
    (void)snprintf(path, sizeof path, "%s/1/count.sion", scratch);
    bool damaged = true;
    if (process == 0) {
        int fd = write_file(path, SINGLE, TASKS, &err) == HPCW_OK ? open(path, O_WRONLY) : -1;
        damaged = fd >= 0 && fstat(fd, &st) == 0 &&
                  pwrite(fd, "\xff", 1, st.st_size - ROWS * TASKS * 8 - 8) == 1 && close(fd) == 0;
    }
    assert_true(on_all(damaged));
    assert_int_equal(open_and_fail(path, 0, NULL, &err), HPCW_EFORMAT);
    assert_true(same_verdict(HPCW_EFORMAT, &err));
    assert_non_null(strstr(err.message, "block count of task 4999"));
}

/* A process in another directory finds another file under the same name. */
static void another_file_fails_all(void **state) {
    (void)state;
    if (processes == 1) {
        skip();
    }
    char here[512], there[512], before[512];
    hpcw_error err;
    (void)snprintf(here, sizeof here, "%s/2/x.sion", scratch);
    (void)snprintf(there, sizeof there, "%s/3/x.sion", scratch);
    assert_true(on_all(process != 0 || (write_file(here, SINGLE, 7, &err) == HPCW_OK &&
                                        write_file(there, SINGLE, 8, &err) == HPCW_OK)));
    assert_true(on_all(getcwd(before, sizeof before) != NULL));
    for (int culprit = 1; culprit < processes; culprit++) {
        *strrchr(process == culprit ? there : here, '/') = '\0';
        assert_true(on_all(chdir(process == culprit ? there : here) == 0));
        hpcw_status s = open_and_fail("x.sion", 0, NULL, &err);
        assert_true(on_all(chdir(before) == 0));
        assert_true(same_verdict(HPCW_EFORMAT, &err) && s == HPCW_EFORMAT);
        assert_int_equal(err.process, culprit);
        assert_non_null(strstr(err.message, "which another process sees"));
        (void)snprintf(here, sizeof here, "%s/2/x.sion", scratch);
        (void)snprintf(there, sizeof there, "%s/3/x.sion", scratch);
    }
}

/* Writes a single file like a serial writer, with ranks in any order. */
static bool write_any_order(const char *path, uint32_t tasks, int64_t *ranks) {
    uint64_t *chunk = calloc(tasks, sizeof *chunk);
    int64_t *count = calloc(tasks, sizeof *count), *size = calloc(tasks, sizeof *size);
    assert_true(chunk != NULL && count != NULL && size != NULL);
    for (uint32_t i = 0; i < tasks; i++) {
        chunk[i] = 512;
        count[i] = 1;
        size[i] = 9;
    }
    struct sion_image_spec spec = sion_image_defaults();
    spec.tasks = tasks;
    spec.ranks = ranks;
    spec.chunk_sizes = chunk;
    spec.counts = count;
    spec.blocks = 1;
    spec.sizes = size;
    struct sion_image image = sion_image_make(&spec);
    FILE *f = fopen(path, "wb");
    bool good = f != NULL && fwrite(image.data, 1, image.size, f) == image.size;
    good = f != NULL && fclose(f) == 0 && good;
    sion_image_free(&image);
    free(chunk);
    free(count);
    free(size);
    return good;
}

/* The ranks in the file are descending, in a table that is read in several pieces: each task is read once. Then two
 * tasks have the same rank, at different distances in the table. */
static void a_rank_that_occurs_twice_fails_all(void **state) {
    (void)state;
    enum { TASKS = 5000 };
    static int64_t ranks[TASKS];
    static const uint32_t places[][2] = {
        {0, TASKS - 1}, {0, 1}, {1249, 1250}, {2499, 2500}, {TASKS - 2, TASKS - 1}};
    char path[512];
    hpcw_error err;
    (void)snprintf(path, sizeof path, "%s/1/order.sion", scratch);
    for (uint32_t i = 0; i < TASKS; i++) {
        ranks[i] = 7 * (TASKS - (int64_t)i);
    }
    assert_true(on_all(process != 0 || write_any_order(path, TASKS, ranks)));
    hpcw_sion_reader *r;
    assert_true(on_all(hpcw_sion_reader_open(path, world, 0, NULL, &r, &err) == HPCW_OK));
    uint64_t own = 0, all;
    for (uint32_t i = 0; i < hpcw_sion_reader_count(r); i++) {
        own += hpcw_sion_reader_task(r, i)->rank;
    }
    assert_int_equal(MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_int_equal(all, UINT64_C(7) * TASKS * (TASKS + 1) / 2);
    hpcw_sion_reader_free(r);
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        uint32_t to = places[k][1];
        ranks[to] = ranks[places[k][0]];
        char text[64];
        (void)snprintf(text, sizeof text, "got two with rank %lld", (long long)ranks[to]);
        assert_true(on_all(process != 0 || write_any_order(path, TASKS, ranks)));
        assert_int_equal(open_and_fail(path, 0, NULL, &err), HPCW_EFORMAT);
        assert_true(same_verdict(HPCW_EFORMAT, &err));
        assert_non_null(strstr(err.message, text));
        uint32_t twice = (uint32_t)ranks[to];
        assert_int_equal(open_and_fail(path, process == processes - 1, &twice, &err), HPCW_EFORMAT);
        assert_true(same_verdict(HPCW_EFORMAT, &err));
        ranks[to] = 7 * (TASKS - (int64_t)to);
    }
}

/* Every allocation fails once, on one process or on all. */
static void no_memory_fails_all(void **state) {
    (void)state;
    char path[512];
    path_of(path, sizeof path, SET, 7);
    for (int culprit = 0; culprit <= processes; culprit++) {
        bool met = true;
        for (unsigned long n = 1; met; n++) {
            hpcw_error err;
            if (process == culprit || culprit == processes) {
                fault_arm(FAULT_NOMEM, n);
            }
            hpcw_status s = open_and_fail(path, 0, NULL, &err);
            met = on_any(fault_disarm());
            assert_true(met ? same_verdict(HPCW_ENOMEM, &err) && s == HPCW_ENOMEM : on_all(s == HPCW_OK));
        }
    }
}

/* Each collective call of the reader fails once, on all processes together. */
static void no_communication_fails_all(void **state) {
    (void)state;
    char path[512];
    path_of(path, sizeof path, SET, 7);
    bool met = true;
    for (unsigned long n = 1; met && processes > 1; n++) {
        hpcw_error err;
        comm_fault_arm(n);
        hpcw_status s = open_and_fail(path, 0, NULL, &err);
        met = comm_fault_disarm();
        assert_true(on_all(met ? s == HPCW_ECOMM : s == HPCW_OK));
    }
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 4);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_read_once),    cmocka_unit_test(named_tasks_are_read),
        cmocka_unit_test(one_bad_argument_fails_all), cmocka_unit_test(damage_fails_all),
        cmocka_unit_test(another_file_fails_all),     cmocka_unit_test(a_rank_that_occurs_twice_fails_all),
        cmocka_unit_test(no_memory_fails_all),        cmocka_unit_test(no_communication_fails_all),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
