/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/vom_read.h>, "Columns": the rows have the values that the callbacks get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/vom_read.h>

#include "tests/support/files.h"
#include "tests/support/vom_image.h"

static char path[300];

/* Returns the text of rank 0 without a NUL in a string, which public records cannot have. */
static char *rank_0(void) {
    return vom_edit(vom_rank[0], "a\\u0000b", "a b");
}

static hpcw_vom_reader *opened(const char *text, bool compressed) {
    hpcw_vom_reader *r;
    hpcw_error err = {0};
    vom_put(scratch, 0, text, compressed);
    (void)snprintf(path, sizeof path, "%s/data.0.json%s", scratch, compressed ? ".br" : "");
    if (hpcw_vom_reader_open(path, &r, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return r;
}

enum { MOST = 20 };

struct table {
    size_t tasks, edges;
    uint64_t task_phase[MOST], id[MOST], collection_id[MOST], objgroup_id[MOST];
    uint32_t home[MOST];
    bool migratable[MOST];
    double time_s[MOST];
    uint64_t edge_phase[MOST], from[MOST], to[MOST], messages[MOST];
    hpcw_vom_category category[MOST];
    uint32_t from_home[MOST], to_home[MOST];
    double bytes[MOST];
    size_t told_tasks, told_edges; /* numbers of records whose phase is set */
};

/* ---- by callbacks ---- */

static hpcw_status see_task(void *context, const hpcw_vom_task *t) {
    struct table *all = context;
    const size_t i = all->tasks++;
    all->id[i] = t->entity.by_seq_id ? t->entity.seq_id : t->entity.id;
    all->collection_id[i] = t->entity.collection_id;
    all->objgroup_id[i] = t->entity.objgroup_id;
    all->home[i] = t->entity.home;
    all->migratable[i] = t->entity.migratable;
    all->time_s[i] = t->time_s;
    return HPCW_OK;
}

static hpcw_status see_edge(void *context, const hpcw_vom_edge *e) {
    struct table *all = context;
    const size_t i = all->edges++;
    const bool from_node =
        e->category == HPCW_VOM_NODE_TO_COLLECTION || e->category == HPCW_VOM_NODE_TO_COLLECTION_BCAST;
    const bool to_node =
        e->category == HPCW_VOM_COLLECTION_TO_NODE || e->category == HPCW_VOM_COLLECTION_TO_NODE_BCAST;
    all->category[i] = e->category;
    all->from[i] = from_node ? e->node : e->from.id;
    all->to[i] = to_node ? e->node : e->to.id;
    all->from_home[i] = e->from.home;
    all->to_home[i] = e->to.home;
    all->bytes[i] = e->bytes;
    all->messages[i] = e->messages;
    return HPCW_OK;
}

static hpcw_status see_end(void *context, const hpcw_vom_section *phase) {
    struct table *all = context;
    while (all->told_tasks < all->tasks) {
        all->task_phase[all->told_tasks++] = phase->id;
    }
    while (all->told_edges < all->edges) {
        all->edge_phase[all->told_edges++] = phase->id;
    }
    return HPCW_OK;
}

/* ---- by columns ---- */

/* Reads `step` rows at a time. */
static void fill(const hpcw_vom_reader *r, const hpcw_vom_rows *rows, size_t step, struct table *all) {
    memset(all, 0, sizeof *all);
    for (size_t i = 0; i < rows->tasks; i += step) {
        const size_t n = rows->tasks - i < step ? rows->tasks - i : step;
        const hpcw_vom_tasks columns = {
            all->task_phase + i,    all->id + i,          all->home + i,  all->migratable + i,
            all->collection_id + i, all->objgroup_id + i, all->time_s + i};
        assert_int_equal(hpcw_vom_reader_tasks(r, i, n, &columns, NULL), HPCW_OK);
    }
    for (size_t i = 0; i < rows->edges; i += step) {
        const size_t n = rows->edges - i < step ? rows->edges - i : step;
        const hpcw_vom_edges columns = {all->edge_phase + i, all->category + i,  all->from + i,
                                        all->to + i,         all->from_home + i, all->to_home + i,
                                        all->bytes + i,      all->messages + i};
        assert_int_equal(hpcw_vom_reader_edges(r, i, n, &columns, NULL), HPCW_OK);
    }
    all->tasks = rows->tasks;
    all->edges = rows->edges;
}

static void rows_are_the_records(void **state) {
    (void)state;
    char *text = rank_0();
    for (size_t step = 1; step <= 20; step += 6) {
        const bool compressed = step % 4 == 1;
        struct table seen = {0}, all;
        const hpcw_vom_watch watch = {
            .context = &seen, .task = see_task, .edge = see_edge, .end_phase = see_end};
        hpcw_vom_reader *r = opened(text, compressed);
        assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
        hpcw_vom_reader_free(r);
        hpcw_vom_rows rows;
        r = opened(text, compressed);
        assert_int_equal(hpcw_vom_reader_load(r, 0, UINT64_MAX, &rows, NULL), HPCW_OK);
        assert_true(rows.tasks == 4 && rows.edges == 11 && seen.tasks == 4 && seen.edges == 11);
        assert_true(hpcw_vom_reader_info(r)->ended && hpcw_vom_reader_info(r)->phases == 2);
        fill(r, &rows, step, &all);
        for (size_t i = 0; i < rows.tasks; i++) {
            assert_true(all.task_phase[i] == seen.task_phase[i] && all.id[i] == seen.id[i]);
            assert_true(all.home[i] == seen.home[i] && all.migratable[i] == seen.migratable[i]);
            assert_true(all.collection_id[i] == seen.collection_id[i]);
            assert_true(all.objgroup_id[i] == seen.objgroup_id[i] && all.time_s[i] == seen.time_s[i]);
        }
        for (size_t i = 0; i < rows.edges; i++) {
            const bool shared =
                all.category[i] == HPCW_VOM_WRITE_SHARED || all.category[i] == HPCW_VOM_READ_ONLY_SHARED;
            assert_true(all.edge_phase[i] == seen.edge_phase[i] && all.category[i] == seen.category[i]);
            assert_true(shared || (all.from[i] == seen.from[i] && all.to[i] == seen.to[i]));
            assert_true(shared || (all.from_home[i] == seen.from_home[i] && all.to_home[i] == seen.to_home[i]));
            assert_true(all.bytes[i] == seen.bytes[i] && all.messages[i] == seen.messages[i]);
        }
        hpcw_vom_reader_free(r);
    }
    free(text);
}

static void phases_by_their_ids(void **state) {
    (void)state;
    static const struct {
        uint64_t first, last;
        size_t tasks, edges;
    } cases[] = {{0, 0, 3, 11}, {1, 3, 0, 0}, {4, 4, 1, 0}, {1, UINT64_MAX, 1, 0}, {5, 4, 0, 0}};
    char *text = rank_0();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hpcw_vom_reader *r = opened(text, false);
        hpcw_vom_rows rows;
        struct table all;
        assert_int_equal(hpcw_vom_reader_load(r, cases[i].first, cases[i].last, &rows, NULL), HPCW_OK);
        assert_true(rows.tasks == cases[i].tasks && rows.edges == cases[i].edges);
        fill(r, &rows, 20, &all);
        for (size_t k = 0; k < rows.tasks; k++) {
            assert_true(all.task_phase[k] >= cases[i].first && all.task_phase[k] <= cases[i].last);
        }
        /* At the end of the file there is nothing more. */
        assert_int_equal(hpcw_vom_reader_load(r, 0, UINT64_MAX, &rows, NULL), HPCW_OK);
        assert_true(rows.tasks == 0 && rows.edges == 0);
        hpcw_vom_reader_free(r);
    }
    free(text);
}

/* Callers may ask for single columns or none. An entity may have only a seq_id. */
static void columns_may_be_missing(void **state) {
    (void)state;
    hpcw_vom_reader *r = opened(vom_old, true);
    hpcw_vom_rows rows;
    uint64_t id[MOST] = {7};
    assert_int_equal(hpcw_vom_reader_load(r, 0, UINT64_MAX, &rows, NULL), HPCW_OK);
    assert_true(rows.tasks == 2 && rows.edges == 1);
    assert_int_equal(hpcw_vom_reader_tasks(r, 0, rows.tasks, &(hpcw_vom_tasks){.id = id}, NULL), HPCW_OK);
    assert_int_equal(hpcw_vom_reader_tasks(r, 0, rows.tasks, &(hpcw_vom_tasks){0}, NULL), HPCW_OK);
    assert_int_equal(hpcw_vom_reader_edges(r, 0, rows.edges, &(hpcw_vom_edges){0}, NULL), HPCW_OK);
    assert_true(id[0] == 0 && id[1] == UINT64_MAX);
    hpcw_vom_reader_free(r);
}

static hpcw_status load_in_callback(void *context, uint64_t number) {
    hpcw_vom_rows rows;
    (void)number;
    assert_int_equal(hpcw_vom_reader_load(context, 0, 9, &rows, NULL), HPCW_ESTATE);
    assert_int_equal(hpcw_vom_reader_tasks(context, 0, 0, &(hpcw_vom_tasks){0}, NULL), HPCW_ESTATE);
    return HPCW_OK;
}

static void refusals(void **state) {
    (void)state;
    char *text = rank_0();
    hpcw_vom_reader *r = opened(text, false);
    hpcw_vom_rows rows = {7, 7};
    hpcw_error err;
    assert_int_equal(hpcw_vom_reader_load(NULL, 0, 9, &rows, NULL), HPCW_EINVAL);
    assert_true(rows.tasks == 0 && rows.edges == 0);
    assert_int_equal(hpcw_vom_reader_load(r, 0, 9, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_tasks(r, 0, 1, &(hpcw_vom_tasks){0}, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "expected rows below 0, which were loaded, got 0 and 1 more"));
    assert_int_equal(hpcw_vom_reader_tasks(r, 0, 0, NULL, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_edges(r, SIZE_MAX, 2, &(hpcw_vom_edges){0}, NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_vom_reader_edges(NULL, 0, 0, &(hpcw_vom_edges){0}, NULL), HPCW_EINVAL);
    const hpcw_vom_watch watch = {.context = r, .begin_phase = load_in_callback};
    assert_int_equal(hpcw_vom_reader_watch(r, UINT64_MAX, &watch, NULL), HPCW_OK);
    hpcw_vom_reader_free(r);

    /* After a damaged file, no rows are kept, and the handle reads no further. */
    char *bad = vom_edit(text, "\"id\":4", "\"id\":-4");
    r = opened(bad, false);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(hpcw_vom_reader_load(r, 0, UINT64_MAX, &rows, &err),
                         again == 0 ? HPCW_EFORMAT : HPCW_ESTATE);
        assert_true(rows.tasks == 0 && rows.edges == 0);
    }
    assert_int_equal(hpcw_vom_reader_tasks(r, 0, 1, &(hpcw_vom_tasks){0}, NULL), HPCW_EINVAL);
    hpcw_vom_reader_free(r);
    free(bad);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_records),
        cmocka_unit_test(phases_by_their_ids),
        cmocka_unit_test(columns_may_be_missing),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
