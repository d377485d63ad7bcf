/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the original tools' data and writes them again, one record per call. Files of vt must be reproduced byte
 * for byte. Files made by hand must be reproduced with the same content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "tests/support/brotli_text.h"
#include "tests/support/files.h"
#include "tests/support/json_tree.h"
#include "tests/support/vom_again.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

static unsigned char *golden_text(const char *name, size_t *size) {
    char path[512];
    size_t file_size = 0;
    unsigned char *file = read_file(golden_path(name, path, sizeof path), &file_size);
    if (file == NULL) {
        fail_msg("no %s", path);
    }
    if (file[0] == '{') {
        *size = file_size;
        return file;
    }
    unsigned char *text = brotli_text(file, file_size, size);
    free(file);
    assert_non_null(text);
    return text;
}

static const struct {
    const char *name; /* name of the folder and its files; %u is the rank */
    uint32_t ranks;
    unsigned allow;
    bool exact; /* written by vt, so ours has the same bytes */
} sets[] = {
    {"seed1_plain/data.%u.json", 1, 0, true},
    {"seed1_br/data.%u.json.br", 1, 0, true},
    {"seed2_3ranks_plain/data.%u.json", 3, 0, true},
    {"seed2_3ranks_br/data.%u.json.br", 3, 0, true},
    {"lbgen_4ranks_plain/data.%u.json", 4, 0, true},
    {"lbgen_4ranks_br/data.%u.json.br", 4, 0, true},
    {"rotate_4ranks_plain/data.%u.json", 4, HPCW_VOM_ALLOW_TEXT_VALUES, true},
    {"rotate_4ranks_br/data.%u.json.br", 4, HPCW_VOM_ALLOW_TEXT_VALUES, true},
    {"sparse_phases_3ranks_plain/data.%u.json", 3, 0, true},
    {"phase_user_defined_4ranks_br/data.%u.json.br", 4,
     HPCW_VOM_ALLOW_TEXT_VALUES | HPCW_VOM_ALLOW_PHASE_VALUES, true},
    {"lbaf_ccm_2ranks_plain/data.%u.json", 2,
     HPCW_VOM_ALLOW_SEQ_IDS | HPCW_VOM_ALLOW_FOREIGN_EDGES | HPCW_VOM_ALLOW_TASKS_FIRST, false},
    {"lbaf_toy_16ranks_plain/toy.%u.json", 16, HPCW_VOM_ALLOW_TASKS_FIRST, false},
};

static void compare(const char *name, bool exact, const unsigned char *want, size_t want_size,
                    const struct json_tree *want_tree, const unsigned char *got, size_t got_size) {
    if (exact) {
        assert_true(same_bytes(name, want, want_size, got, got_size));
        return;
    }
    struct json_tree *tree = json_parse((const char *)got, got_size);
    assert_non_null(tree);
    assert_string_equal(json_text(json_get(tree, "metadata"), "type"), "LBDatafile");
    assert_true(json_equal(json_get(want_tree, "phases"), json_get(tree, "phases")));
    json_free(tree);
}

static void golden_sets(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    if (golden_path("", path, sizeof path) == NULL) {
        skip();
    }
    scratch_make(dir, sizeof dir);
    unsigned files = 0;
    for (size_t i = 0; i < COUNT(sets); i++) {
        for (uint32_t rank = 0; rank < sets[i].ranks; rank++) {
            char form[128] = "vom/";
            char name[512];
            (void)strncat(form, sets[i].name, sizeof form - 5);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(name, sizeof name, form, rank);
#pragma GCC diagnostic pop
            size_t want_size = 0;
            char from[512];
            (void)golden_path(name, from, sizeof from);
            unsigned char *want = golden_text(name, &want_size);
            struct json_tree *tree = json_parse((const char *)want, want_size);
            assert_non_null(tree);
            for (int compressed = 0; compressed < 2; compressed++) {
                hpcw_vom_options o;
                hpcw_error err;
                hpcw_vom_options_init(&o);
                o.rank = rank;
                o.ranks = sets[i].ranks;
                o.allow = sets[i].allow;
                o.durability = HPCW_SYNC_NONE;
                o.check = true; /* refuses duplicate records and records on a wrong rank */
                (void)snprintf(name, sizeof name, "%s/data.%%p.json", dir);
                ok(hpcw_vom_file_name(path, sizeof path, name, rank, compressed == 1, &err), &err);
                ok(vom_again(from, path, &o, &err), &err);
                size_t size = 0;
                unsigned char *got = read_file(path, &size);
                assert_non_null(got);
                if (compressed == 1) {
                    unsigned char *stream = got;
                    got = brotli_text(stream, size, &size);
                    free(stream);
                    assert_non_null(got);
                }
                compare(sets[i].name, sets[i].exact, want, want_size, tree, got, size);
                free(got);
            }
            json_free(tree);
            free(want);
            files++;
        }
    }
    scratch_remove(dir);
    assert_int_equal(files, 1 + 1 + 3 + 3 + 4 + 4 + 4 + 4 + 3 + 4 + 2 + 16);
}

/* ---- Statistics ------------------------------------------------------------------------------------------ */

static hpcw_vom_figures read_figures(const struct json_tree *t) {
    assert_non_null(t);
    return (hpcw_vom_figures){.avg = json_f64(t, "avg"),
                              .car = json_f64(t, "car"),
                              .imb = json_f64(t, "imb"),
                              .kur = json_f64(t, "kur"),
                              .max = json_f64(t, "max"),
                              .min = json_f64(t, "min"),
                              .npr = json_f64(t, "npr"),
                              .skw = json_f64(t, "skw"),
                              .std = json_f64(t, "std"),
                              .sum = json_f64(t, "sum"),
                              .var = json_f64(t, "var")};
}

static void read_balance(const struct json_tree *t, hpcw_vom_balance *b) {
    *b = (hpcw_vom_balance){.has_strategy_loads = false};
    b->figures[HPCW_VOM_OBJECT_COMM] = read_figures(json_get(t, "Object_comm"));
    b->figures[HPCW_VOM_OBJECT_LOAD_MODELED] = read_figures(json_get(t, "Object_load_modeled"));
    b->figures[HPCW_VOM_OBJECT_LOAD_RAW] = read_figures(json_get(t, "Object_load_raw"));
    b->figures[HPCW_VOM_RANK_COMM] = read_figures(json_get(t, "Rank_comm"));
    b->figures[HPCW_VOM_RANK_LOAD_MODELED] = read_figures(json_get(t, "Rank_load_modeled"));
    b->figures[HPCW_VOM_RANK_LOAD_RAW] = read_figures(json_get(t, "Rank_load_raw"));
}

static void golden_statistics(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    if (golden_path("", path, sizeof path) == NULL) {
        skip();
    }
    size_t want_size = 0;
    size_t size = 0;
    unsigned char *want = golden_text("vom/lbstats/vt_lb_statistics.json", &want_size);
    struct json_tree *tree = json_parse((const char *)want, want_size);
    hpcw_vom_stats *stats;
    hpcw_error err;
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/stats.json", dir);
    ok(hpcw_vom_stats_open(path, NULL, &stats, &err), &err);
    for (const struct json_tree *p = json_get(tree, "phases")->child; p != NULL; p = p->next) {
        hpcw_vom_balance before;
        hpcw_vom_balance after;
        uint64_t migrations = json_u64(p, "migration count");
        read_balance(json_get(p, "pre-LB"), &before);
        read_balance(json_get(p, "post-LB"), &after);
        ok(hpcw_vom_stats_phase(stats, json_u64(p, "id"), &migrations, &before, &after, &err), &err);
    }
    ok(hpcw_vom_stats_close(stats, &err), &err);
    hpcw_vom_stats_free(stats);
    unsigned char *got = read_file(path, &size);
    assert_true(same_bytes("statistics", want, want_size, got, size));
    free(got);
    json_free(tree);
    free(want);
    scratch_remove(dir);
}

/* vt divides the variance by a count whose inverse is rounded to a float, so the error is up to 2^-24. */
static bool near(double a, double b) {
    double d = a - b;
    return (d < 0 ? -d : d) <= 0x1p-24 * (a < 0 ? -a : a);
}

/* Computes the statistics of a run from its data. */
static void figures_of_a_run(void **state) {
    (void)state;
    char path[512];
    if (golden_path("", path, sizeof path) == NULL) {
        skip();
    }
    size_t size = 0;
    unsigned char *text = golden_text("vom/lbstats/vt_lb_statistics.json", &size);
    struct json_tree *stats = json_parse((const char *)text, size);
    free(text);
    const struct json_tree *phase = json_get(stats, "phases")->child;
    double rank_load[4] = {0};
    double object_load[64];
    size_t objects = 0;
    for (unsigned rank = 0; rank < 4; rank++) {
        char name[128];
        (void)snprintf(name, sizeof name, "vom/rotate_4ranks_plain/data.%u.json", rank);
        text = golden_text(name, &size);
        struct json_tree *tree = json_parse((const char *)text, size);
        free(text);
        const struct json_tree *tasks = json_get(json_get(tree, "phases")->child, "tasks");
        for (const struct json_tree *t = tasks->child; t != NULL; t = t->next) {
            rank_load[rank] += json_f64(t, "time");
            /* vt leaves out the entity with id 0. */
            if (json_u64(json_get(t, "entity"), "id") != 0) {
                object_load[objects++] = json_f64(t, "time");
            }
        }
        json_free(tree);
    }
    const struct {
        const char *key;
        hpcw_vom_figures got;
    } rows[] = {{"Rank_load_raw", hpcw_vom_figures_of(rank_load, 4)},
                {"Object_load_raw", hpcw_vom_figures_of(object_load, objects)}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        hpcw_vom_figures want = read_figures(json_get(json_get(phase, "pre-LB"), rows[i].key));
        const hpcw_vom_figures *got = &rows[i].got;
        assert_true(near(want.avg, got->avg) && near(want.car, got->car) && near(want.imb, got->imb));
        assert_true(near(want.kur, got->kur) && near(want.max, got->max) && near(want.min, got->min));
        assert_true(near(want.npr, got->npr) && near(want.skw, got->skw) && near(want.std, got->std));
        assert_true(near(want.sum, got->sum) && near(want.var, got->var));
    }
    json_free(stats);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_sets),
        cmocka_unit_test(golden_statistics),
        cmocka_unit_test(figures_of_a_run),
    };
    return cmocka_run_group_tests_name("vom_write", tests, NULL, NULL);
}
