/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that depend on earlier calls: subphases, duplicates, the order of phases; options; and sets of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/vom.h>

#include "libwriter/base/mem.h"
#include "tests/support/vom_memory.h"

static const double no_time[2] = {0, 0};

static void uneven_subphases(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_error err;
    for (int allow = 0; allow < 2; allow++) {
        o.allow = allow == 1 ? HPCW_VOM_ALLOW_UNEVEN_SUBPHASES : 0;
        hpcw_vom *v = vom_open(&o);
        /* the number of subphases may differ between phases */
        for (uint64_t phase = 0; phase < 2; phase++) {
            vom_ok(hpcw_vom_begin_phase(v, phase, &err), &err);
            for (uint32_t k = 0; k < 4; k++) {
                hpcw_vom_task task = vom_task(0, k);
                task.subphase_s = no_time;
                task.subphases = 1 + (uint32_t)phase;
                if (k == 2) { /* tasks that cannot migrate may have any number of subphases */
                    task.entity = hpcw_vom_handler(0);
                    task.subphases = 0;
                }
                if (k == 3) {
                    task.subphases = 0;
                }
                hpcw_status s = hpcw_vom_task_add(v, &task, &err);
                if (k == 3 && allow == 0) {
                    vom_refused(s, HPCW_EINVAL, &err, "as in the phase's other migratable tasks, got 0");
                } else {
                    vom_ok(s, &err);
                }
            }
            vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
        }
        vom_ok(hpcw_vom_close(v, &err), &err);
        hpcw_vom_free(v);
    }
}

/* ---- rules that need memory ------------------------------------------------------------------------------- */

static void duplicates(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    hpcw_error err;
    for (uint64_t phase = 0; phase < 3; phase++) {
        vom_ok(hpcw_vom_begin_phase(v, phase, &err), &err);
        hpcw_vom_edge edge = vom_edge(1, 0);
        vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
        vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_EINVAL, &err,
                    "edge 1: expected each pair once, got the SendRecv from 524291 to 262147 again");
        edge.category = HPCW_VOM_BROADCAST;
        vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
        edge = vom_edge(0, 1);
        vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
        edge = (hpcw_vom_edge){.category = HPCW_VOM_WRITE_SHARED, .shared_id = 1};
        vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
        vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_EINVAL, &err,
                    "got the WriteShared from 1 to 0 again");
        for (uint64_t k = 0; k < 2; k++) {
            hpcw_vom_task task = vom_task(0, k);
            vom_ok(hpcw_vom_task_add(v, &task, &err), &err);
            vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_EINVAL, &err,
                        "expected each entity once, got id");
        }
        hpcw_vom_task nobody = {.entity = hpcw_vom_nobody()};
        vom_ok(hpcw_vom_task_add(v, &nobody, &err), &err);
        vom_refused(hpcw_vom_task_add(v, &nobody, &err), HPCW_EINVAL, &err,
                    "expected each entity once, got id 0 again");
        vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    }
    vom_ok(hpcw_vom_close(v, &err), &err);
    hpcw_vom_free(v);
}

static void edges_of_others(void **state) {
    (void)state;
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_error err;
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
    for (uint64_t to = 4; to > 0; to--) {
        hpcw_vom_edge edge = vom_edge(0, to);
        vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
    }
    hpcw_vom_task task = vom_task(0, 1);
    vom_ok(hpcw_vom_task_add(v, &task, &err), &err);
    vom_refused(
        hpcw_vom_end_phase(v, NULL, 0, &err), HPCW_EINVAL, &err,
        "memory: phase 0: expected edges whose recording end is a task of rank 0, got some of 3 entities "
        "that are "
        "not, the lowest is id 786435");
    vom_refused(hpcw_vom_end_phase(v, NULL, 0, &err), HPCW_ESTATE, &err,
                "an earlier call failed: memory: phase 0: expected");
    vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_ESTATE, &err, "an earlier call failed");
    vom_refused(hpcw_vom_close(v, &err), HPCW_ESTATE, &err, "an earlier call failed");
    hpcw_vom_free(v);

    /* If tasks come first, an edge whose recording end is no task of this rank fails at once. */
    o.allow = HPCW_VOM_ALLOW_TASKS_FIRST;
    v = vom_open(&o);
    vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
    vom_ok(hpcw_vom_task_add(v, &task, &err), &err);
    hpcw_vom_edge edge = vom_edge(1, 0);
    vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_EINVAL, &err,
                "expected a SendRecv whose recording end is a task of rank 0, got one of id 262147");
    edge = vom_edge(0, 1);
    vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    vom_ok(hpcw_vom_close(v, &err), &err);
    hpcw_vom_free(v);

    o.allow = HPCW_VOM_ALLOW_FOREIGN_EDGES;
    v = vom_open(&o);
    vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
    edge = vom_edge(1, 0);
    vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    vom_ok(hpcw_vom_close(v, &err), &err);
    hpcw_vom_free(v);
}

/* Sum of the bytes of all allocations. Freed memory is not subtracted, so the memory in use is never larger
 * than this. */
static size_t largest_sum;

static bool count_bytes(size_t size) {
    largest_sum += size;
    return true;
}

static void bytes_for_each_record(void **state) {
    (void)state;
    enum { TASKS = 100000, EDGES = 200000 };
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_vom_spec *spec = NULL;
    hpcw_error err;
    vom_ok(hpcw_vom_spec_parse("none", "9\n", 2, &spec, &err), &err);
    o.spec = spec; /* no phase is written, so all allocations are the check's */
    o.check = true;
    hpcw_vom *v = vom_open(&o);
    for (uint64_t phase = 0; phase < 2; phase++) {
        largest_sum = 0;
        hpcw_i_mem_gate = count_bytes;
        vom_ok(hpcw_vom_begin_phase(v, phase, &err), &err);
        for (uint64_t i = 0; i < EDGES; i++) {
            hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                                  .from = hpcw_vom_far(hpcw_vom_element_id(0, i * 3, true)),
                                  .to = hpcw_vom_far(hpcw_vom_element_id(0, i % TASKS, true))};
            vom_ok(hpcw_vom_edge_add(v, &edge, &err), &err);
        }
        for (uint64_t i = 0; i < TASKS; i++) {
            hpcw_vom_task task = {.entity = hpcw_vom_element(0, i, 7, &i, 1)};
            vom_ok(hpcw_vom_task_add(v, &task, &err), &err);
        }
        vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
        hpcw_i_mem_gate = NULL;
        /* Doubling the tables allocates twice their final size in total. A second phase allocates nothing. */
        assert_true(phase == 0 ? largest_sum < 2 * (24 * (size_t)(TASKS + EDGES) + 2 * 49152)
                               : largest_sum == 0);
    }
    hpcw_vom_free(v);
    hpcw_vom_spec_free(spec);
}

/* ---- Phases and options ---------------------------------------------------------------------------------- */

static void phases(void **state) {
    (void)state;
    static const hpcw_vom_range skipped[] = {{1, 2}, {5, 5}};
    static const hpcw_vom_range identical[] = {{3, 3}, {6, UINT64_MAX}};
    struct vom_memory memory = {0};
    hpcw_vom_options o = vom_options(&memory, 0, 1);
    hpcw_error err;
    o.skipped = skipped;
    o.skipped_count = 2;
    o.identical = identical;
    o.identical_count = 2;
    hpcw_vom *v = vom_open(&o);
    hpcw_vom_task task = vom_task(0, 0);
    hpcw_vom_edge edge = vom_edge(0, 0);
    vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_ESTATE, &err,
                "memory: expected an open phase for a task, got none");
    vom_refused(hpcw_vom_edge_add(v, &edge, &err), HPCW_ESTATE, &err, "expected an open phase for an edge");
    vom_refused(hpcw_vom_end_phase(v, NULL, 0, &err), HPCW_ESTATE, &err, "expected an open phase for its end");
    vom_refused(hpcw_vom_begin_iteration(v, 0, &err), HPCW_ESTATE, &err,
                "expected an open phase for an iteration");
    vom_refused(hpcw_vom_end_iteration(v, NULL, 0, &err), HPCW_ESTATE, &err,
                "expected an open phase for the end");
    vom_refused(hpcw_vom_begin_phase(v, 2, &err), HPCW_EINVAL, &err,
                "expected a phase with data, got 2, which is listed");
    vom_refused(hpcw_vom_begin_phase(v, UINT64_MAX, &err), HPCW_EINVAL, &err, "which is listed");
    vom_refused(hpcw_vom_begin_phase(v, 4, &err), HPCW_EINVAL, &err,
                "expected phase 0, or the phases left out listed");
    vom_ok(hpcw_vom_begin_phase(v, 0, &err), &err);
    vom_refused(hpcw_vom_task_add(v, NULL, &err), HPCW_EINVAL, &err, "expected a task, got NULL");
    vom_refused(hpcw_vom_edge_add(v, NULL, &err), HPCW_EINVAL, &err, "expected an edge, got NULL");
    vom_refused(hpcw_vom_end_phase(v, NULL, 1, &err), HPCW_EINVAL, &err, "expected no values of a phase");
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    vom_refused(hpcw_vom_begin_phase(v, 0, &err), HPCW_EINVAL, &err, "expected a phase above 0, got 0");
    vom_ok(hpcw_vom_begin_phase(v, 4, &err), &err);
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    vom_expect(v, &memory, "{\"id\":0,\"tasks\":[]},{\"id\":4,\"tasks\":[]}");

    o = vom_options(&memory, 0, 1);
    o.allow = HPCW_VOM_ALLOW_GAPS;
    o.phase_count = 11;
    v = vom_open(&o);
    vom_refused(hpcw_vom_begin_phase(v, 11, &err), HPCW_EINVAL, &err,
                "expected a phase below the count 11, got 11");
    vom_ok(hpcw_vom_begin_phase(v, 10, &err), &err);
    vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
    vom_expect(v, &memory, "{\"id\":10,\"tasks\":[]}");

    /* hpcw_vom_close refuses a file in which phases are missing. The file can then be continued. */
    static const hpcw_vom_range first = {0, 0};
    static const hpcw_vom_range second = {1, 1};
    static const hpcw_vom_range fourth = {3, 3};
    o = vom_options(&memory, 0, 1);
    o.skipped = &first;
    o.skipped_count = 1;
    o.identical = &second;
    o.identical_count = 1;
    v = vom_open(&o);
    vom_refused(hpcw_vom_begin_phase(v, 2, &err), HPCW_EINVAL, &err,
                "expected a phase with data before the identical phase 1, got none");
    vom_refused(hpcw_vom_close(v, &err), HPCW_EINVAL, &err, "before the identical phase 1, got none");
    hpcw_vom_free(v);
    o = vom_options(&memory, 0, 1);
    o.skipped = &fourth;
    o.skipped_count = 1;
    o.phase_count = 6;
    v = vom_open(&o);
    for (uint64_t phase = 0; phase < 6; phase++) {
        const char *want = phase < 3 ? "expected phase " : "expected 6 phases, the count";
        vom_refused(hpcw_vom_close(v, &err), HPCW_EINVAL, &err, want);
        if (phase != 3) {
            vom_ok(hpcw_vom_begin_phase(v, phase, &err), &err);
            vom_ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
        }
    }
    vom_ok(hpcw_vom_close(v, &err), &err);
    hpcw_vom_free(v);

    /* All calls refuse a closed handle and NULL. */
    o = vom_options(&memory, 0, 1);
    v = vom_open(&o);
    vom_ok(hpcw_vom_close(v, &err), &err);
    vom_refused(hpcw_vom_close(v, &err), HPCW_ESTATE, &err, "memory: it was closed before");
    vom_refused(hpcw_vom_begin_phase(v, 0, &err), HPCW_ESTATE, &err, "closed before");
    vom_refused(hpcw_vom_task_add(v, &task, &err), HPCW_ESTATE, &err, "closed before");
    hpcw_vom_free(v);
    hpcw_vom_free(NULL);
    vom_refused(hpcw_vom_begin_phase(NULL, 0, &err), HPCW_EINVAL, &err, "expected an open file, got NULL");
    vom_refused(hpcw_vom_task_add(NULL, &task, &err), HPCW_EINVAL, &err, "expected an open file, got NULL");
    vom_refused(hpcw_vom_edge_add(NULL, &edge, &err), HPCW_EINVAL, &err, "expected an open file, got NULL");
    vom_refused(hpcw_vom_end_phase(NULL, NULL, 0, &err), HPCW_EINVAL, &err, "expected an open file, got NULL");
    vom_refused(hpcw_vom_close(NULL, &err), HPCW_EINVAL, &err, "expected an open file, got NULL");
    assert_true(hpcw_vom_text_size(NULL) == 0);
}

static void bad_options(void **state) {
    (void)state;
    static const hpcw_vom_range descending[] = {{5, 5}, {4, 4}};
    static const hpcw_vom_range backwards[] = {{5, 4}};
    static const hpcw_vom_range phase_0[] = {{0, 1}};
    static const hpcw_vom_range late[] = {{3, 9}};
    static const hpcw_vom_range even[] = {{2, 2}, {4, 4}, {9, 9}};
    struct vom_memory memory = {0};
    hpcw_vom_options o;
    hpcw_vom *v = NULL;
    hpcw_error err;
#define REFUSED(change, want, message)                                                                         \
    o = vom_options(&memory, 0, 2);                                                                            \
    change;                                                                                                    \
    v = (hpcw_vom *)&o;                                                                                        \
    vom_refused(hpcw_vom_open("memory.br", &o, &v, &err), want, &err, message);                                \
    assert_null(v)
    REFUSED(o.ranks = 0, HPCW_EINVAL, "memory.br: ranks: expected 1 to 32768, got 0");
    REFUSED(o.ranks = 32769, HPCW_ERANGE, "ranks: expected 1 to 32768, got 32769");
    REFUSED(o.rank = 2, HPCW_EINVAL, "rank: expected less than 2 ranks, got 2");
    REFUSED(o.node = ((hpcw_vom_node){.id = 1, .num_nodes = 1, .size = 1}), HPCW_EINVAL,
            "node: expected an id below");
    REFUSED(o.node = ((hpcw_vom_node){.num_nodes = 1, .rank = 1, .size = 1}), HPCW_EINVAL, "node: expected");
    REFUSED(o.node = ((hpcw_vom_node){.num_nodes = 3, .size = 1}), HPCW_EINVAL, "node: expected");
    REFUSED(o.node = ((hpcw_vom_node){.num_nodes = 1, .size = 3}), HPCW_EINVAL, "0 of 1 and 0 of 3");
    REFUSED((o.has_rank_alpha = true, o.rank_alpha = -1), HPCW_EINVAL, "rank_alpha: expected");
    REFUSED(o.allow = 128, HPCW_EINVAL, "allow: expected flags of 0x7f, got 0x80");
    REFUSED(o.content = HPCW_VOM_PLAIN, HPCW_EINVAL, "content: expected brotli under this name, got 1");
    REFUSED(o.content = (hpcw_vom_content)3, HPCW_EINVAL, "content: expected");
    REFUSED(o.durability = (hpcw_durability)3, HPCW_EINVAL, "durability: expected 0 to 2, got 3");
    REFUSED(o.brotli.quality = 10, HPCW_EINVAL, "brotli quality: expected 0 to 9, got 10");
    REFUSED(o.brotli.window = 25, HPCW_EINVAL, "brotli window: expected 10 to 24 bits, got 25");
    REFUSED(o.brotli.window = 16, HPCW_EINVAL, "brotli window: expected other than 16 and 21 bits");
    REFUSED(o.brotli.window = 21, HPCW_EINVAL, "plain text, got 21");
    REFUSED((o.skipped = descending, o.skipped_count = 2), HPCW_EINVAL,
            "skipped phases: expected ascending disjoint ranges, got 4 to 4");
    REFUSED((o.identical = backwards, o.identical_count = 1), HPCW_EINVAL,
            "identical phases: expected ascending disjoint ranges, got 5 to 4");
    REFUSED((o.identical = phase_0, o.identical_count = 1), HPCW_EINVAL,
            "identical phases: expected none below 1");
    REFUSED(o.skipped_count = 1, HPCW_EINVAL, "skipped phases: expected 1 ranges, got NULL");
    REFUSED((o.skipped = late, o.skipped_count = 1, o.phase_count = 9), HPCW_EINVAL,
            "skipped phases: expected less than the count 9, got 9");
    REFUSED((o.skipped = late, o.skipped_count = 1, o.identical = even, o.identical_count = 3), HPCW_EINVAL,
            "expected each phase skipped or identical, got 4 as both");
    REFUSED(o.attribute_count = 1, HPCW_EINVAL, "memory.br: expected 1 values, got NULL");
#undef REFUSED
    o = vom_options(&memory, 0, 1);
    vom_refused(hpcw_vom_open(NULL, &o, &v, &err), HPCW_EINVAL, &err, "expected the path of a file, got NULL");
    vom_refused(hpcw_vom_open("memory", &o, NULL, &err), HPCW_EINVAL, &err,
                "expected a pointer for the handle");
}

static void sets(void **state) {
    (void)state;
    struct vom_memory memory[3] = {{0}};
    hpcw_vom *v[3] = {NULL};
    hpcw_error err;
    for (int i = 0; i < 3; i += 2) {
        hpcw_vom_options o = vom_options(&memory[i], 0, 1);
        v[i] = vom_open(&o);
    }
    vom_ok(hpcw_vom_close_set(v, 3, NULL, &err), &err);
    vom_refused(hpcw_vom_close_set(v, 3, NULL, &err), HPCW_ESTATE, &err, "closed before");
    vom_ok(hpcw_vom_close_set(NULL, 0, NULL, &err), &err);
    vom_refused(hpcw_vom_close_set(NULL, 1, NULL, &err), HPCW_EINVAL, &err, "expected 1 open files, got NULL");
    hpcw_vom_free(v[0]);
    hpcw_vom_free(v[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_subphases),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(edges_of_others),
        cmocka_unit_test(bytes_for_each_record),
        cmocka_unit_test(phases),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(sets),
    };
    return cmocka_run_group_tests_name("vom_state", tests, NULL, NULL);
}
