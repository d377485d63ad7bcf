/* SPDX-License-Identifier: BSD-3-Clause */
/* Restarts from maps and whole prefix directories of the real KVTree and SCR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "tests/support/files.h"

/* Returns NULL without the golden files. */
static const char *golden(const char *name) {
    static char path[1024];
    char below[512];
    (void)snprintf(below, sizeof below, "rank2file/%s", name);
    return golden_path(below, path, sizeof path);
}

static void assert_ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

/* Prefix directories that SCR made: the sizes in the maps, and the CRCs if a map has them, match the files. */
static void real_checkpoints(void **state) {
    (void)state;
    static const struct {
        const char *name;
        hpcw_rank2file_layout layout;
        bool attributes;
    } sets[] = {
        {"scr-1.1.8-4ranks", HPCW_RANK2FILE_SCR_1_1, true},
        {"scr-1.2.2-4ranks", HPCW_RANK2FILE_SCR_1_2, true},
        {"scr-3.1.0-4ranks", HPCW_RANK2FILE_SCR_3, false},
    };
    static const uint64_t sizes[4] = {1000, 1017, 0, 4097};
    static const uint32_t crcs[4] = {0x811ca0c3, 0xe25abe5, 0, 0x1117285b};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        if (golden(sets[i].name) == NULL) {
            skip();
        }
        assert_ok(hpcw_rank2file_restart_open(golden(sets[i].name), NULL, NULL, &r, &err), &err);
        const hpcw_rank2file_dataset *d = hpcw_rank2file_restart_dataset(r);
        assert_int_equal(hpcw_rank2file_restart_layout(r), sets[i].layout);
        assert_int_equal(hpcw_rank2file_restart_ranks(r), 4);
        assert_int_equal(d->files, 4);
        assert_int_equal(d->size, 6114);
        assert_string_equal(d->job_name, "simA");
        assert_ok(hpcw_rank2file_restart_load(r, 0, NULL, &err), &err);
        assert_ok(hpcw_rank2file_restart_check(r, true, &err), &err);
        for (uint32_t rank = 0; rank < 4; rank++) {
            hpcw_rank2file_found f;
            size_t size = 0;
            assert_ok(hpcw_rank2file_restart_file(r, rank, &f, &err), &err);
            assert_int_equal(f.rank, rank);
            assert_int_equal(f.has_size, sets[i].attributes);
            assert_int_equal(f.has_crc, sets[i].attributes);
            assert_true(!sets[i].attributes || (f.size == sizes[rank] && f.crc == crcs[rank]));
            unsigned char *data = read_file(f.path, &size);
            assert_non_null(data);
            assert_int_equal(size, sizes[rank]);
            for (size_t k = 0; k < size; k++) {
                assert_int_equal(data[k], (k * (2 * rank + 3) + 17 * (size_t)rank) % 256);
            }
            free(data);
        }
        hpcw_rank2file_restart_free(r);
    }
}

/* Maps without data files. Their numbers of ranks, leaves, inner nodes and levels are in a text beside each map. */
static void real_maps(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t ranks, leaves, inner, levels;
    } maps[] = {
        {"kvtree-1.5.0-gather4/rank2file", 4, 1, 1, 1},
        {"kvtree-1.5.0-togather10/rank2file", 10, 4, 1, 1},
        {"kvtree-1.5.0-offsets6/rank2file", 6, 3, 1, 1},
        {"kvtree-1.5.0-gather24-seg256/rank2file", 24, 10, 3, 2},
        {"scr-1.1.8-4ranks/scr.dataset.1/.scr/rank2file.scr", 4, 1, 1, 1},
        {"scr-1.2.2-4ranks/.scr/scr.dataset.1/rank2file.scr", 4, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        uint32_t leaves;
        uint32_t inner;
        uint32_t levels;
        if (golden(maps[i].name) == NULL) {
            skip();
        }
        assert_ok(hpcw_rank2file_restart_open_root(golden(maps[i].name), NULL, &r, &err), &err);
        hpcw_rank2file_restart_shape(r, &leaves, &inner, &levels);
        assert_int_equal(hpcw_rank2file_restart_ranks(r), maps[i].ranks);
        assert_int_equal(leaves, maps[i].leaves);
        assert_int_equal(inner, maps[i].inner);
        assert_int_equal(levels, maps[i].levels);
        assert_ok(hpcw_rank2file_restart_load(r, 0, NULL, &err), &err);
        hpcw_rank2file_restart_free(r);
    }
}

/* A map of three levels; ranks have several files or none. */
static void every_entry_of_a_deep_map(void **state) {
    (void)state;
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    if (golden("") == NULL) {
        skip();
    }
    assert_ok(
        hpcw_rank2file_restart_open_root(golden("kvtree-1.5.0-gather24-seg256/rank2file"), NULL, &r, &err),
        &err);
    assert_ok(hpcw_rank2file_restart_load(r, 0, NULL, &err), &err);
    assert_int_equal(hpcw_rank2file_restart_files(r), 36);
    for (uint64_t i = 0; i < 36; i++) {
        hpcw_rank2file_found f;
        unsigned rank;
        unsigned k;
        assert_ok(hpcw_rank2file_restart_file(r, i, &f, &err), &err);
        assert_int_equal(sscanf(f.name, "run/rank_%u.part%u.ckpt", &rank, &k), 2);
        assert_int_equal(rank, f.rank);
        assert_true(k < rank % 4);
        assert_int_equal(f.size, 1000 * rank + k);
        assert_int_equal(f.has_crc, rank % 3 != 0);
        assert_true(!f.has_crc || f.crc == (uint32_t)(rank * 2654435761u) >> 8 * k);
    }
    hpcw_rank2file_restart_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_checkpoints),
        cmocka_unit_test(real_maps),
        cmocka_unit_test(every_entry_of_a_deep_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
