/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures per phase, output of info, and the statistics file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "libreader/vom/figures.h"
#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/info.h"
#include "libreader/vom/set/summary.h"
#include "libreader/vom/set/verify.h"
#include "libwriter/io/json.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/vom_judge.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void near(double want, double got, double scale) {
    if (fabs(want - got) > 1e-12 * scale) {
        fail_msg("expected %.17g, got %.17g", want, got);
    }
}

/* ---- moments -------------------------------------------------------------------------------------------- */

/* Compares the moments with their definitions, computed in two passes. */
static void figures_follow_their_definitions(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 100; round++) {
        double value[200];
        size_t n = 2 + random_below(&random, COUNT(value) - 1);
        struct read_vom_moments m = {0};
        double sum = 0;
        double min = 1e9;
        double max = -1;
        size_t nonzero = 0;
        for (size_t i = 0; i < n; i++) {
            value[i] = random_below(&random, 5) == 0 ? 0 : (double)random_below(&random, 1000000) / 1024;
            read_vom_moments_add(&m, value[i]);
            sum += value[i];
            min = value[i] < min ? value[i] : min;
            max = value[i] > max ? value[i] : max;
            nonzero += value[i] != 0;
        }
        double mean = sum / (double)n;
        double power[5] = {0};
        for (size_t i = 0; i < n; i++) {
            double d = value[i] - mean;
            power[2] += d * d;
            power[3] += d * d * d;
            power[4] += d * d * d * d;
        }
        double count = (double)n;
        double unbiased = power[2] / (count - 1);
        double figure[READ_VOM_FIGURES];
        read_vom_moments_figures(&m, figure);
        near(mean, figure[READ_VOM_AVG], max);
        near(count, figure[READ_VOM_CAR], 0);
        near(max / mean - 1, figure[READ_VOM_IMB], max / mean);
        near(power[4] / count / (unbiased * unbiased) - 3, figure[READ_VOM_KUR], 1000);
        near(max, figure[READ_VOM_MAX], 0);
        near(min, figure[READ_VOM_MIN], 0);
        near((double)nonzero, figure[READ_VOM_NPR], 0);
        near(power[3] / count / pow(unbiased, 1.5), figure[READ_VOM_SKW], 1000);
        near(sqrt(power[2] / count), figure[READ_VOM_STD], max);
        near(sum, figure[READ_VOM_SUM], 0);
        near(power[2] / count, figure[READ_VOM_VAR], max * max);
    }
}

static void figures_of_little(void **state) {
    (void)state;
    double figure[READ_VOM_FIGURES];
    struct read_vom_moments m = {0};
    read_vom_moments_figures(&m, figure);
    for (int i = 0; i < READ_VOM_FIGURES; i++) {
        assert_true(figure[i] == 0);
    }
    read_vom_moments_add(&m, 2.5);
    read_vom_moments_figures(&m, figure);
    const double one[READ_VOM_FIGURES] = {2.5, 1, 0, 0, 2.5, 2.5, 1, 0, 0, 2.5, 0};
    assert_memory_equal(figure, one, sizeof one);
    read_vom_moments_add(&m, 2.5);
    read_vom_moments_figures(&m, figure);
    assert_true(figure[READ_VOM_VAR] == 0 && figure[READ_VOM_KUR] == 0 && figure[READ_VOM_SKW] == 0);
    static const char *const names[] = {"avg", "car", "imb", "kur", "max", "min",
                                        "npr", "skw", "std", "sum", "var"};
    for (int i = 0; i < READ_VOM_FIGURES; i++) {
        assert_string_equal(read_vom_figure_name((enum read_vom_figure)i), names[i]);
    }
}

/* ---- info ----------------------------------------------------------------------------------------------- */

/* Returns the parsed output of info; NULL after a failure. */
static cJSON *info_of(const char *path, hpcw_status want, hpcw_error *err) {
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_status status = read_vom_info(path, &json, err);
    if (status != want) {
        fail_msg("%s: %s", hpcw_status_name(status), err->message);
    }
    cJSON *tree = NULL;
    if (status == HPCW_OK) {
        hpcw_i_json_end_object(&json);
        assert_int_equal(hpcw_i_json_finish(&json, err), HPCW_OK);
        tree = cJSON_ParseWithLength((const char *)buf.data, buf.size);
        assert_non_null(tree);
    } else {
        hpcw_i_json_free(&json);
    }
    hpcw_i_buf_free(&buf);
    return tree;
}

static double number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item)) {
        fail_msg("no number %s", key);
        return 0;
    }
    return item->valuedouble;
}

static const char *text(const cJSON *object, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static void info_sums_up(void **state) {
    (void)state;
    char directory[256];
    char path[512];
    hpcw_error err = {0};
    scratch_make(directory, sizeof directory);
    vom_put(directory, 0, vom_rank[0], true);
    vom_put(directory, 1, vom_rank[1], false);
    cJSON *info = info_of(directory, HPCW_OK, &err);
    assert_string_equal(text(info, "type"), "LBDatafile");
    assert_true(number(info, "files") == 2);
    assert_true(number(info, "compressed_files") == 1);
    assert_true(number(info, "text_bytes") == (double)(strlen(vom_rank[0]) + strlen(vom_rank[1])));
    assert_true(number(info, "file_bytes") < number(info, "text_bytes"));
    assert_true(number(info, "phase_count") == 2);
    const cJSON *phase = cJSON_GetObjectItemCaseSensitive(info, "phases")->child;
    static const struct {
        double id, tasks, migratable, communications, messages, bytes;
        /* count, sum and maximum of each quantity */
        double quantity[READ_VOM_QUANTITIES][3];
    } want[2] = {
        {0,
         7,
         2,
         15,
         42,
         1456 + 64 + 8 + 16 + 250 + 32 + 33 + 34 + 35 + 8192 + 512 + 256,
         {{5, 0.375 + 0.0009765625 + 2, 2},
          {2, 0.375 + 0.0009765625 + 2, 2},
          /* volumes between objects, without that from id 1 to itself */
          {7, 1456 + 64 + 8 + 100 + 48 + 52 + 56, 1456},
          /* volumes to another rank: rank 0 sends to id 5, to node 1 (twice) and to two blocks, rank 1 sends to
           * id 1 */
          {2, 64 + 32 + 34 + 8192 + 512 + 48, 64 + 32 + 34 + 8192 + 512}}},
        {4, 3, 2, 1, 1, 12, {{3, 1.5, 1}, {2, 1.5, 1}, {1, 12, 12}, {2, 0, 0}}},
    };
    for (size_t p = 0; p < 2; p++, phase = phase->next) {
        assert_non_null(phase);
        assert_true(number(phase, "id") == want[p].id);
        assert_true(number(phase, "tasks") == want[p].tasks);
        assert_true(number(phase, "migratable") == want[p].migratable);
        assert_true(number(phase, "communications") == want[p].communications);
        assert_true(number(phase, "messages") == want[p].messages);
        assert_true(number(phase, "bytes") == want[p].bytes);
        for (int q = 0; q < READ_VOM_QUANTITIES; q++) {
            const char *name = read_vom_quantity_name((enum read_vom_quantity)q);
            const cJSON *figures = cJSON_GetObjectItemCaseSensitive(phase, name);
            assert_int_equal(cJSON_GetArraySize(figures), READ_VOM_FIGURES);
            assert_true(number(figures, "car") == want[p].quantity[q][0]);
            assert_true(number(figures, "sum") == want[p].quantity[q][1]);
            assert_true(number(figures, "max") == want[p].quantity[q][2]);
        }
    }
    assert_null(phase);
    cJSON_Delete(info);

    /* One file of the set; then a set in which rank 1 has another phase. */
    (void)snprintf(path, sizeof path, "%s/data.1.json", directory);
    info = info_of(path, HPCW_OK, &err);
    assert_true(number(info, "files") == 1);
    assert_true(number(cJSON_GetObjectItemCaseSensitive(info, "phases")->child, "tasks") == 4);
    cJSON_Delete(info);
    char *edited = vom_edit(vom_rank[1], "\"id\":4,", "\"id\":5,");
    vom_put(directory, 1, edited, false);
    assert_null(info_of(directory, HPCW_EFORMAT, &err));
    assert_non_null(strstr(err.message, "id: expected 4 as in the ranks before, got 5"));
    free(edited);

    /* A rank with more or fewer phases, as a killed run leaves. The existing phases are summed up. */
    static const struct {
        unsigned phases;
        const char *warning;
    } uneven[] = {
        {3, "data.1.json: expected 2 phases as in the ranks before, got 3, which are read as they are"},
        {2, "data.1.json: expected 2 phases as in the ranks before, got 0, which are read as they are"}};
    for (size_t i = 0; i < COUNT(uneven); i++) {
        edited = i == 0 ? vom_edit(vom_rank[1], "]}]}", "]},{\"id\":7,\"tasks\":[]}]}") : NULL;
        vom_put(directory, 1,
                i == 0 ? edited : "{\"metadata\":{\"rank\":1,\"type\":\"LBDatafile\"},\"phases\":[]}", false);
        info = info_of(directory, HPCW_OK, &err);
        assert_true(number(info, "phase_count") == uneven[i].phases);
        assert_non_null(strstr(text(info, "warning"), uneven[i].warning));
        cJSON_Delete(info);
        free(edited);
    }
    (void)snprintf(path, sizeof path, "%s/none", directory);
    assert_null(info_of(path, HPCW_ENOENT, &err));
    scratch_remove(directory);
}

/* ---- the statistics file -------------------------------------------------------------------------------- */

static enum read_vom_file_type type_of(const char *path) {
    enum read_vom_file_type type;
    assert_int_equal(read_vom_file_type(path, &type, NULL), HPCW_OK);
    return type;
}

static void statistics_are_read(void **state) {
    (void)state;
    char directory[256];
    char path[512];
    hpcw_error err = {0};
    char *statistics = vom_statistics();
    scratch_make(directory, sizeof directory);
    for (unsigned packed = 0; packed < 2; packed++) {
        vom_put(directory, packed, statistics, packed != 0);
        (void)snprintf(path, sizeof path, "%s/data.%u.json%s", directory, packed, packed != 0 ? ".br" : "");
        assert_int_equal(type_of(path), READ_VOM_STATISTICS_FILE);
        assert_int_equal(read_vom_verify(path, READ_VOM_STRICT, &err), HPCW_OK);
        cJSON *info = info_of(path, HPCW_OK, &err);
        assert_string_equal(text(info, "type"), "LBStatsfile");
        const cJSON *phases = cJSON_GetObjectItemCaseSensitive(info, "phases");
        assert_int_equal(cJSON_GetArraySize(phases), 2);
        const cJSON *first = phases->child;
        assert_true(number(first, "id") == 0 && number(first, "migration count") == 16);
        assert_true(number(first->next, "id") == 2);
        assert_null(cJSON_GetObjectItemCaseSensitive(first->next, "post-LB"));
        static const char *const groups[] = {"pre-LB", "post-LB"};
        static const char *const quantities[] = {"Object_comm", "Object_load_modeled", "Object_load_raw",
                                                 "Rank_comm",   "Rank_load_modeled",   "Rank_load_raw"};
        for (size_t g = 0; g < 3; g++) {
            const cJSON *group = cJSON_GetObjectItemCaseSensitive(g < 2 ? first : first->next, groups[g % 2]);
            assert_int_equal(cJSON_GetArraySize(group), COUNT(quantities));
            for (size_t q = 0; q < COUNT(quantities); q++) {
                const cJSON *figures = cJSON_GetObjectItemCaseSensitive(group, quantities[q]);
                assert_true(number(figures, "kur") == -1.5 && number(figures, "var") == 2.25);
                assert_int_equal(cJSON_GetArraySize(figures), READ_VOM_FIGURES);
            }
        }
        cJSON_Delete(info);
    }
    free(statistics);
    scratch_remove(directory);
}

static void statistics_rules_hold(void **state) {
    (void)state;
#define WHERE "phases[0].post-LB.Object_comm"
    static const struct vom_broken broken[] = {
        {"\"LBStatsfile\"", "\"LBStatsfile2\"", "metadata.type", "\"LBStatsfile2",
         "expected \"LBStatsfile\", got \"LBStatsfile2\""},
        {"\"type\":\"LBStatsfile\"", "\"type\":\"LBStatsfile\",\"rank\":0", "metadata", "{\"type\"",
         "expected a key of the schema, got \"rank\""},
        {"\"id\":0,", "", "phases[0]", "{\"migration", "expected the key \"id\""},
        {"\"id\":2", "\"id\":0", "phases[1]", "{\"id\":0",
         "id: expected ids in ascending order, above 0, got 0"},
        {"\"migration count\":16", "\"migration count\":16.0", "phases[0].migration count", "16.0",
         "expected an integer"},
        {"{\"id\":2,\"pre-LB\":", "{\"id\":2,\"post-LB\":", "phases[1]", "{\"id\":2",
         "expected the key \"pre-LB\""},
        {"\"Object_comm\":", "\"Object_com\":", "phases[0].post-LB", "{\"Object_com\"",
         "expected a key of the schema, got \"Object_com\""},
        {"\"avg\":2.0,", "", WHERE, "{\"car\"", "expected the key \"avg\""},
        {"\"avg\":2.0", "\"avg\":2", WHERE ".avg", "2,",
         "expected a float (with a point or an exponent), got 2"},
        {"\"car\":4.0", "\"car\":4.5", WHERE, "{\"avg\"", "car: expected a whole number >= 0, got 4.5"},
        {"\"npr\":3.0", "\"npr\":5.0", WHERE, "{\"avg\"", "npr: expected a whole number from 0 to car, got 5"},
        {"\"min\":0.0", "\"min\":4.5", WHERE, "{\"avg\"", "min: expected at most max, got 4.5"},
        {"\"min\":0.0", "\"min\":2.5", WHERE, "{\"avg\"", "avg: expected between min and max, got 2"},
        {"\"sum\":8.0", "\"sum\":8.1", WHERE, "{\"avg\"", "sum: expected avg * car, got 8.1"},
        {"\"var\":2.25", "\"var\":2.26", WHERE, "{\"avg\"", "var: expected the square of std, got 2.2"},
        {"\"imb\":1.0", "\"imb\":1.01", WHERE, "{\"avg\"", "imb: expected max / avg - 1, got 1.01"},
    };
    char *statistics = vom_statistics();
    break_vom(statistics, broken, COUNT(broken), 0);
    for (size_t cut = 60; cut < strlen(statistics); cut++) {
        if (strchr("\",:{}", statistics[cut - 1]) != NULL) {
            refuse_vom_bytes(statistics, cut, 0, HPCW_ETRUNCATED, "expected JSON");
        }
    }
    free(statistics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_follow_their_definitions),
        cmocka_unit_test(figures_of_little),
        cmocka_unit_test(info_sums_up),
        cmocka_unit_test(statistics_are_read),
        cmocka_unit_test(statistics_rules_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
