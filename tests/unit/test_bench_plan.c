/* SPDX-License-Identifier: BSD-3-Clause */
/* Which points a sweep plans, how large they become, and which it gives up. */
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

static void make(struct plan *p) {
    hpcw_error err;
    p->o.repeat = 5;
    p->o.budget = 10;
    p->r.processes = 1;
    p->r.fs.block_size = 4096;
    assert_int_equal(
        bench_sweep_plan(&p->o, p->no_direct == NULL ? "" : p->no_direct, &p->r, &p->planned, &err), HPCW_OK);
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
    make(&p);
    for (size_t i = 0; i < p.r.points; i++) {
        const struct bench_point *x = &p.r.point[i];
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
                                        "task-local/buffered/records-47K",
                                        "mpiio-collective/preallocated/records-47K",
                                        "linktest/fsync/real",
                                        "rank2file/fsync/real"};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        assert_true(find(&p, there[i]) != SIZE_MAX);
    }
    assert_true(find(&p, "sion-aligned/direct/16M") == SIZE_MAX); /* at the file system's block size alone */
    assert_int_equal(p.planned[find(&p, "sion-aligned/fsync/4K")].priority, 0);
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
    make(&p);
    assert_int_equal(p.r.points, 2 * (2 + 1)); /* a size given twice is one */
    assert_true(find(&p, "sion-aligned/fsync/8K") != SIZE_MAX);
    size_t direct = find(&p, "sion-aligned/direct/64K");
    assert_true(direct != SIZE_MAX);
    assert_int_equal(p.r.point[direct].fate, BENCH_LEFT_OUT);
    assert_string_equal(p.r.point[direct].reason, "none here");
    bench_sweep_sizes(&p.o, &p.r, 64 * 10500);
    const struct bench_point *x = &p.r.point[find(&p, "sion-aligned/fsync/64K")];
    assert_int_equal(x->ranks, 64);
    assert_int_equal(x->rank_size, 8000); /* 10000 and 9000 fill less than half of their last block */
    assert_int_equal(x->bytes, 64 * 8000);
    assert_int_equal(x->files, 2);
    bench_sweep_sizes(&p.o, &p.r, 0); /* at least a record */
    assert_int_equal(x->rank_size, 1000);
    drop(&p);
}

static void nothing_to_measure(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_VOM, .modes = 1u << BENCH_DIRECT}};
    hpcw_error err;
    p.r.fs.block_size = 4096;
    assert_int_equal(bench_sweep_plan(&p.o, "", &p.r, &p.planned, &err), HPCW_EINVAL);
    drop(&p);
    p = (struct plan){.o = {.ranks = 2, .files = {.count = 1, .at = {3}}}};
    p.r.fs.block_size = 4096;
    assert_int_equal(bench_sweep_plan(&p.o, "", &p.r, &p.planned, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "--files: expected at most one for each of 2 ranks, got 3"));
    drop(&p);
}

static void giving_up(void **state) {
    (void)state;
    struct plan p = {.o = {.layouts = 1u << BENCH_SION_ALIGNED | 1u << BENCH_SHARED_POSIX,
                           .modes = 1u << BENCH_FSYNC,
                           .block_sizes = {.count = 2, .at = {4096, 65536}},
                           .records = {.count = 1, .at = {1000}},
                           .files = {.count = 1, .at = {1}}}};
    make(&p);
    size_t important = find(&p, "sion-aligned/fsync/4K");
    size_t other = find(&p, "sion-aligned/fsync/64K");
    assert_int_equal(p.r.points, 3);
    /* Of runs of 10 each, six of three points are 180. */
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 180, 10));
    assert_int_equal(p.planned[other].active, true);
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 179, 10));
    assert_int_equal(p.planned[other].active, false);
    assert_int_equal(p.r.point[other].fate, BENCH_LEFT_OUT);
    assert_non_null(strstr(p.r.point[other].reason, "the budget of 10.0 s is too small for it"));
    assert_int_equal(p.planned[important].active, true);
    /* What has its runs costs nothing, so it stays. */
    p.planned[important].runs = 6;
    p.planned[important].spent_ns = 600;
    assert_true(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 0, 10));
    assert_int_equal(p.planned[important].active, true);
    p.planned[important].runs = 1;
    p.planned[important].spent_ns = 100;
    assert_float_equal(bench_sweep_scale(&p.r, p.planned, 1000, 5), 2.0, 1e-9);
    assert_false(bench_sweep_fit(&p.o, &p.r, p.planned, 6, 1, 10));
    assert_int_equal(p.planned[important].active, false);
    drop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default),
        cmocka_unit_test(what_was_asked_for),
        cmocka_unit_test(nothing_to_measure),
        cmocka_unit_test(giving_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
