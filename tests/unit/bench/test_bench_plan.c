/* SPDX-License-Identifier: BSD-3-Clause */
/* Points (layouts with sizes and modes) that a sweep plans or drops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/sweep/sweep.h"
#include "libwriter/base/mem.h"

struct plan {
    struct bench_options o;
    struct bench_results r;
    struct bench_planned *planned;
    const char *no_direct;
};

static void make(struct plan *p, uint64_t bytes) {
    hpcw_error err;
    p->o.budget = 10;
    p->r.processes = 1;
    p->r.fs.block_size = 4096;
    assert_int_equal(
        bench_sweep_plan(&p->o, p->no_direct == NULL ? "" : p->no_direct, bytes, &p->r, &p->planned, &err),
        HPCW_OK);
}

static void drop(struct plan *p) {
    hpcw_i_free(p->planned);
    bench_results_free(&p->r);
}

static size_t find(const struct plan *p, const char *id) {
    for (size_t i = 0; i < p->r.points; i++) {
        if (strcmp(p->r.point[i].id, id) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void the_default(void **state) {
    (void)state;
    struct plan p = {.r.left_out_mpi = "no MPI"};
    make(&p, 256 << 20);
    for (size_t i = 0; i < p.r.points; i++) {
        const struct bench_point *x = &p.r.point[i];
        assert_true(x->bytes >= 256 << 20 && x->bytes < 272 << 20);
        assert_int_equal(find(&p, x->id), i); /* unique */
        bool mpi = x->layout == BENCH_MPIIO_INDEPENDENT || x->layout == BENCH_MPIIO_COLLECTIVE;
        assert_int_equal(p.planned[i].active, !mpi);
        assert_string_equal(x->reason, mpi ? "no MPI" : "");
        assert_true(x->twin == SIZE_MAX || p.r.point[x->twin].twin == i);
        assert_int_equal(x->twin == SIZE_MAX,
                         x->files != 1 || (x->layout != BENCH_SION_ALIGNED && x->layout != BENCH_SION_SHIFTED));
    }
    static const char *const there[] = {"sion-aligned/fsync/16M",
                                        "sion-shifted/fsync/4K",
                                        "sion-packed/direct/4K",
                                        "sion-aligned/fsync/4K/4-files",
                                        "shared-posix/fsync/records-1M",
                                        "task-local/preallocated/records-47K",
                                        "mpiio-collective/preallocated/records-47K"};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        assert_true(find(&p, there[i]) != SIZE_MAX);
    }
    /* direct I/O is planned only at the file system's block size */
    assert_true(find(&p, "sion-aligned/direct/16M") == SIZE_MAX);
    assert_true(find(&p, "hdf5-collective/fsync/records-47K") == SIZE_MAX);
    assert_true(find(&p, "task-local/buffered/records-47K") == SIZE_MAX);
    /* Points that compare block sizes come first: three sizes, then those in between. All other points follow. */
    static const char *const order[] = {
        "sion-aligned/fsync/4K",          "sion-shifted/fsync/4K",         "sion-aligned/fsync/16M",
        "sion-shifted/fsync/16M",         "sion-aligned/fsync/256K",       "sion-shifted/fsync/256K",
        "sion-aligned/fsync/16K",         "sion-shifted/fsync/16K",        "sion-aligned/fsync/4M",
        "task-local/fsync/records-47K",   "sion-packed/fsync/4K",          "sion-aligned/direct/4K",
        "shared-posix/fsync/records-1M",  "sion-aligned/fsync/4K/4-files", "sion-packed/fsync/16M",
        "shared-posix/direct/records-47K"};
    for (size_t i = 1; i < sizeof order / sizeof order[0]; i++) {
        assert_true(p.planned[find(&p, order[i - 1])].priority < p.planned[find(&p, order[i])].priority);
    }
    drop(&p);
}

/* The shifted twin (a container at larger offsets) is not aligned to any block size up to the container's.
 * At the block size of the file system, the data of each rank end in a block of the next rank. */
static void the_twin_is_unaligned(void **state) {
    (void)state;
    struct plan p = {.r.left_out_mpi = "no MPI"};
    make(&p, 256 << 20);
    for (uint64_t block = 4096; block <= 16 << 20; block *= 2) {
        const uint64_t shift = bench_layout_shift(BENCH_SION_SHIFTED, block);
        for (uint64_t real = 512; real <= block; real *= 2) {
            assert_in_range(shift % real, real / 4, real / 4 * 3);
        }
    }
    const uint64_t end = p.r.point[find(&p, "sion-shifted/fsync/4K")].rank_size % 4096;
    assert_true(end > 0 && end + bench_layout_shift(BENCH_SION_SHIFTED, 4096) > 4096);
    drop(&p);
}

/* A build without HDF5 leaves HDF5's layouts out, with a reason. */
static void hdf5_was_asked_for(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_HDF5_INDEPENDENT | 1u << BENCH_HDF5_COLLECTIVE}};
    make(&p, 256 << 20);
    assert_int_equal(p.r.points, 2 * 3); /* two layouts with three record sizes, only in mode fsync */
    const char *missing = bench_layout_row(BENCH_HDF5_COLLECTIVE)->missing;
    for (size_t i = 0; i < p.r.points; i++) {
        assert_int_equal(p.planned[i].active, missing == NULL);
        assert_string_equal(p.r.point[i].reason, missing == NULL ? "" : missing);
    }
    drop(&p);
}

static void what_was_asked_for(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_SION_ALIGNED | 1u << BENCH_SHARED_POSIX,
                           .modes = 1u << BENCH_DIRECT | 1u << BENCH_FSYNC,
                           .block_sizes = {.count = 3, .at = {65536, 8192, 65536}},
                           .records = {.count = 1, .at = {1000}},
                           .files = {.count = 1, .at = {2}}},
                     .no_direct = "none here"};
    make(&p, 64 * 10500);
    assert_int_equal(p.r.points, 2 * (2 + 1)); /* in each layout a repeated size counts once */
    assert_true(find(&p, "sion-aligned/fsync/8K") != SIZE_MAX);
    size_t direct = find(&p, "sion-aligned/direct/64K");
    assert_true(direct != SIZE_MAX);
    assert_int_equal(p.r.point[direct].fate, BENCH_LEFT_OUT);
    assert_string_equal(p.r.point[direct].reason, "none here");
    const struct bench_point *x = &p.r.point[find(&p, "sion-aligned/fsync/64K")];
    assert_int_equal(x->ranks, 64);
    assert_int_equal(x->rank_size, 11000); /* 10500 rounded up to whole records of 1000 bytes */
    assert_int_equal(x->bytes, 64 * 11000);
    assert_int_equal(x->files, 2);
    bench_sweep_sizes(&p.o, &p.r, 64 * 12500);
    /* 13 records would fill less than a third of their last block */
    assert_int_equal(x->rank_size, 14000);
    bench_sweep_sizes(&p.o, &p.r, 0);
    assert_int_equal(x->rank_size, 2000); /* 1 record would fill less than a third of its block */
    drop(&p);
}

static void nothing_to_measure(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_HDF5_COLLECTIVE, .modes = 1u << BENCH_DIRECT}};
    hpcw_error err;
    p.r.fs.block_size = 4096;
    assert_int_equal(bench_sweep_plan(&p.o, "", 1, &p.r, &p.planned, &err), HPCW_EINVAL);
    drop(&p);
    p = (struct plan){.o = {.ranks = 2, .files = {.count = 1, .at = {3}}}};
    p.r.fs.block_size = 4096;
    assert_int_equal(bench_sweep_plan(&p.o, "", 1, &p.r, &p.planned, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "--files: expected at most one for each of 2 ranks, got 3"));
    drop(&p);
}

/* No record is larger than a rank's data. Names give the size really written, and equal points count once. */
static void names_are_what_is_written(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_SHARED_POSIX, .per_rank = 30000}};
    make(&p, 1);
    assert_true(find(&p, "shared-posix/fsync/records-4K") != SIZE_MAX);
    size_t i = find(&p, "shared-posix/fsync/records-30000");
    assert_true(i != SIZE_MAX);
    assert_int_equal(p.r.point[i].record_size, 30000);
    assert_int_equal(p.r.point[i].bytes, 64 * 30000);
    /* fsync with two different record sizes; direct; preallocated */
    assert_int_equal(p.r.points, 2 + 2);
    drop(&p);
}

static void giving_up(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_SION_ALIGNED | 1u << BENCH_SHARED_POSIX,
                           .modes = 1u << BENCH_FSYNC,
                           .block_sizes = {.count = 2, .at = {4096, 65536}},
                           .records = {.count = 1, .at = {1000}},
                           .files = {.count = 1, .at = {1}}}};
    make(&p, 1);
    size_t first = find(&p, "sion-aligned/fsync/4K");
    size_t second = find(&p, "shared-posix/fsync/records-1000");
    size_t third = find(&p, "sion-aligned/fsync/64K");
    assert_int_equal(p.r.points, 3);
    /* No point has run. The probe estimates 10 ns for a run, so six runs of the first point fit into 60 ns. */
    assert_true(bench_sweep_admit(&p.o, &p.r, p.planned, first, 6, 60, 10));
    p.planned[first] = (struct bench_planned){.active = true, .runs = 1, .spent_ns = 20};
    /* Five more runs of each of two points, 20 ns each, and six of the third point fit into 320 ns. */
    p.planned[second] = p.planned[first];
    assert_true(bench_sweep_admit(&p.o, &p.r, p.planned, third, 6, 320, 10));
    assert_false(bench_sweep_admit(&p.o, &p.r, p.planned, third, 6, 319, 10));
    p.planned[second].runs = 0;
    p.planned[third].active = true;
    /* Of a second point, the warm-up run has to fit. */
    assert_true(bench_sweep_admit(&p.o, &p.r, p.planned, second, 6, 20, 10));
    assert_false(bench_sweep_admit(&p.o, &p.r, p.planned, second, 6, 19, 10));
    assert_int_equal(p.r.point[second].fate, BENCH_LEFT_OUT);
    assert_string_equal(p.r.point[second].reason, "the budget of 10.0 s is too small for it");
    assert_true(p.planned[first].active && p.planned[third].active);
    p.planned[third] = (struct bench_planned){.active = true, .priority = 14, .runs = 1, .spent_ns = 30};
    assert_int_equal(bench_sweep_repeat(&p.r, p.planned, 1050, 5, 30), 20);
    assert_int_equal(bench_sweep_repeat(&p.r, p.planned, 1, 5, 30), 5);
    assert_int_equal(bench_sweep_repeat(&p.r, p.planned, 100000, 5, 30), 30);
    /* The disk becomes slower, so less time is left. */
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 250));
    assert_true(p.planned[third].active);
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 249));
    assert_false(p.planned[third].active);
    /* A point that has all its runs costs no more time, so it stays. */
    p.planned[first].runs = 6;
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 0));
    p.planned[first].runs = 1;
    assert_false(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 1));
    assert_false(p.planned[first].active);
    drop(&p);
}

/* Within any budget from one minute on, aligned and shifted containers get ten rounds at three block sizes, on
 * fast and slow disks. A run of a container takes 1.7 times as long as plain writes. */
static void the_question_comes_first(void **state) {
    (void)state;
    static const double budget[] = {60, 90, 300, 3600}, rate[] = {60e6, 200e6, 2e9};
    for (size_t i = 0; i < sizeof budget / sizeof budget[0] * 3; i++) {
        struct plan p = {.r.left_out_mpi = "no MPI"};
        const double run = bench_sweep_run_seconds(budget[i / 3], 0.25);
        const double bytes = fmin(256 << 20, bench_sweep_run_seconds(budget[i / 3], 1e9) * rate[i % 3]);
        make(&p, (uint64_t)fmax(bytes, run * rate[i % 3]));
        size_t first = 0;
        uint64_t left = (uint64_t)(0.85e9 * budget[i / 3]);
        /* each point runs once, as in the warm-up round */
        for (uint32_t priority = 0; priority < 1000; priority++) {
            for (size_t k = 0; k < p.r.points; k++) {
                if (p.planned[k].priority == priority && p.planned[k].active &&
                    bench_sweep_admit(&p.o, &p.r, p.planned, k, 1 + BENCH_LEAST_REPEAT, left, 0)) {
                    const double pair = (double)p.r.point[k].bytes / rate[i % 3] * (1 + 1.7);
                    p.planned[k].runs = 1;
                    p.planned[k].spent_ns = (uint64_t)(1e9 * pair);
                    left = left > p.planned[k].spent_ns ? left - p.planned[k].spent_ns : 0;
                }
            }
        }
        assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 1 + BENCH_LEAST_REPEAT, left));
        static const char *const id[] = {"sion-aligned/fsync/4K",   "sion-shifted/fsync/4K",
                                         "sion-aligned/fsync/256K", "sion-shifted/fsync/256K",
                                         "sion-aligned/fsync/16M",  "sion-shifted/fsync/16M"};
        for (size_t k = 0; k < sizeof id / sizeof id[0]; k++) {
            first += p.planned[find(&p, id[k])].active;
        }
        assert_int_equal(first, BENCH_QUESTION_POINTS);
        /* Layouts that are neither aligned nor shifted are planned only if all block sizes fit. */
        for (size_t k = 0; k < p.r.points; k++) {
            if (p.planned[k].active && p.r.point[k].layout > BENCH_SION_SHIFTED) {
                assert_true(p.planned[find(&p, "sion-aligned/fsync/16K")].active);
            }
        }
        drop(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default),        cmocka_unit_test(the_twin_is_unaligned),
        cmocka_unit_test(hdf5_was_asked_for), cmocka_unit_test(what_was_asked_for),
        cmocka_unit_test(nothing_to_measure), cmocka_unit_test(names_are_what_is_written),
        cmocka_unit_test(giving_up),          cmocka_unit_test(the_question_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
