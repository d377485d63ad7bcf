/* SPDX-License-Identifier: BSD-3-Clause */
/* Several processes write load data into one directory. All ranks' files get their final names or none, and all
 * processes get the same status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/files.h"
#include "tests/support/world.h"

#define RANKS 8u

/* Opens a rank's file with one phase, ended or not. */
static hpcw_status open_rank(const char *dir, uint32_t rank, bool finished, hpcw_vom **v, hpcw_error *err) {
    char pattern[512];
    char path[512];
    uint64_t index = rank;
    hpcw_vom_options o;
    hpcw_vom_options_init(&o);
    o.rank = rank;
    o.ranks = RANKS;
    o.node = hpcw_vom_node_of(RANKS, 3, rank);
    o.durability = HPCW_SYNC_NONE;
    (void)snprintf(pattern, sizeof pattern, "%s/data.%%p.json", dir);
    hpcw_status s = hpcw_vom_file_name(path, sizeof path, pattern, rank, true, err);
    s = s == HPCW_OK ? hpcw_vom_open(path, &o, v, err) : s;
    s = s == HPCW_OK ? hpcw_vom_begin_phase(*v, 0, err) : s;
    hpcw_vom_task task = {.entity = hpcw_vom_element(rank, 0, 7, &index, 1), .time_s = rank};
    s = s == HPCW_OK ? hpcw_vom_task_add(*v, &task, err) : s;
    return s == HPCW_OK && finished ? hpcw_vom_end_phase(*v, NULL, 0, err) : s;
}

/* Rank r belongs to process r mod processes. broken: the rank whose file is never finished; RANKS: none. */
static hpcw_status write_set(const char *dir, uint32_t broken, hpcw_error *err) {
    hpcw_vom *v[RANKS] = {NULL};
    hpcw_status s = hpcw_vom_make_directory(dir, world, err);
    if (s != HPCW_OK) {
        return s;
    }
    bool opened = true;
    for (uint32_t rank = (uint32_t)process; rank < RANKS; rank += (uint32_t)processes) {
        opened = open_rank(dir, rank, rank != broken, &v[rank], err) == HPCW_OK && opened;
    }
    assert_true(on_all(opened));
    s = hpcw_vom_close_set(v, RANKS, world, err);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        hpcw_vom_free(v[rank]);
    }
    return s;
}

static void all_files(void **state) {
    (void)state;
    char together[300];
    char alone[300];
    hpcw_error err = {.message = ""};
    (void)snprintf(together, sizeof together, "%s/together", scratch);
    (void)snprintf(alone, sizeof alone, "%s/alone", scratch);
    assert_true(on_all(write_set(together, RANKS, &err) == HPCW_OK));
    assert_int_equal(entries_seen(together), RANKS);
    bool ok = true;
    if (process == 0) {
        ok = hpcw_vom_make_directory(alone, NULL, &err) == HPCW_OK;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            hpcw_vom *v = NULL;
            ok = ok && open_rank(alone, rank, true, &v, &err) == HPCW_OK && hpcw_vom_close(v, &err) == HPCW_OK;
            hpcw_vom_free(v);
        }
    }
    assert_true(on_all(ok));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        char want[400];
        char got[400];
        (void)snprintf(want, sizeof want, "%s/data.%u.json.br", alone, rank);
        (void)snprintf(got, sizeof got, "%s/data.%u.json.br", together, rank);
        assert_true(same_file(want, got));
    }
}

static void or_none(void **state) {
    (void)state;
    char dir[300];
    (void)snprintf(dir, sizeof dir, "%s/none", scratch);
    for (uint32_t broken = 0; broken < RANKS; broken++) {
        hpcw_error err = {.message = ""};
        char name[64];
        hpcw_status s = write_set(dir, broken, &err);
        assert_true(same_verdict(s, &err));
        assert_int_equal(s, HPCW_ESTATE);
        (void)snprintf(name, sizeof name, "data.%u.json.br: expected the end of phase 0", broken);
        assert_non_null(strstr(err.message, name));
        assert_int_equal(err.process, (int)broken % processes);
        assert_int_equal(entries_seen(dir), 0);
    }
}

static void no_directory(void **state) {
    (void)state;
    char dir[300];
    hpcw_error err = {.message = ""};
    (void)snprintf(dir, sizeof dir, "%s/no/directory", scratch);
    hpcw_status s = hpcw_vom_make_directory(dir, world, &err);
    assert_true(same_verdict(s, &err));
    assert_int_equal(s, HPCW_ENOENT);
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_files),
        cmocka_unit_test(or_none),
        cmocka_unit_test(no_directory),
    };
    return world_end(cmocka_run_group_tests_name("mpi_vom", tests, NULL, NULL));
}
