/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The original tools' data, said again call by call: what vt wrote must come out byte for byte, what was made by
 * hand with the same content.
 */
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

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MOST 64

static void ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

/* ---- From tree to calls ---------------------------------------------------------------------------------- */

/* An entity with the place of its index. */
struct indexed {
    hpcw_vom_entity entity;
    uint64_t index[MOST];
};

static uint64_t number_or_0(const struct json_tree *object, const char *key) {
    return json_get(object, key) == NULL ? 0 : json_u64(object, key);
}

static void read_entity(const struct json_tree *t, struct indexed *out) {
    hpcw_vom_entity *e = &out->entity;
    *e = (hpcw_vom_entity){.home = (uint32_t)json_u64(t, "home"), .migratable = json_bool(t, "migratable")};
    assert_string_equal(json_text(t, "type"), "object");
    e->by_seq_id = json_get(t, "seq_id") != NULL;
    e->seq_id = number_or_0(t, "seq_id");
    e->id = number_or_0(t, "id");
    e->collection_id = number_or_0(t, "collection_id");
    e->objgroup_id = number_or_0(t, "objgroup_id");
    const struct json_tree *index = json_get(t, "index");
    if (index != NULL) {
        e->index = out->index;
        for (const struct json_tree *i = index->child; i != NULL; i = i->next) {
            assert_true(e->dimensions < MOST);
            out->index[e->dimensions++] = strtoull(i->text, NULL, 10);
        }
    }
}

static size_t read_values(const struct json_tree *t, hpcw_vom_value values[MOST]) {
    size_t n = 0;
    for (const struct json_tree *c = t == NULL ? NULL : t->child; c != NULL; c = c->next, n++) {
        assert_true(n < MOST);
        values[n] = (hpcw_vom_value){.key = c->key};
        if (c->kind == JSON_STRING) {
            values[n].type = HPCW_VOM_TEXT;
            values[n].text = c->text;
        } else if (json_is_float(c)) {
            values[n].type = HPCW_VOM_FLOAT;
            values[n].number = strtod(c->text, NULL);
        } else {
            values[n].integer = strtoll(c->text, NULL, 10);
        }
    }
    return n;
}

static void say_task(hpcw_vom *v, const struct json_tree *t) {
    struct indexed entity;
    double subphase[MOST];
    hpcw_vom_value attributes[MOST];
    hpcw_vom_value values[MOST];
    hpcw_error err;
    read_entity(json_get(t, "entity"), &entity);
    hpcw_vom_task task = {.entity = entity.entity,
                          .time_s = json_f64(t, "time"),
                          .subphase_s = subphase,
                          .resource = json_text(t, "resource"),
                          .attributes = attributes,
                          .attribute_count = read_values(json_get(t, "attributes"), attributes),
                          .values = values,
                          .value_count = read_values(json_get(t, "user_defined"), values)};
    const struct json_tree *subphases = json_get(t, "subphases");
    for (const struct json_tree *s = subphases == NULL ? NULL : subphases->child; s != NULL; s = s->next) {
        assert_true(task.subphases < MOST && json_u64(s, "id") == task.subphases);
        subphase[task.subphases++] = json_f64(s, "time");
    }
    if (strcmp(task.resource, "cpu") == 0) {
        task.resource = NULL;
    }
    ok(hpcw_vom_task_add(v, &task, &err), &err);
}

static void say_edge(hpcw_vom *v, const struct json_tree *t) {
    static const char *const names[] = {
        [HPCW_VOM_SEND_RECV] = "SendRecv",
        [HPCW_VOM_BROADCAST] = "Broadcast",
        [HPCW_VOM_WRITE_SHARED] = "WriteShared",
        [HPCW_VOM_READ_ONLY_SHARED] = "ReadOnlyShared",
    };
    struct indexed from = {.index = {0}};
    struct indexed to = {.index = {0}};
    hpcw_error err;
    hpcw_vom_edge edge = {.bytes = json_f64(t, "bytes"), .messages = json_u64(t, "messages")};
    for (unsigned i = 0; i < COUNT(names); i++) {
        if (names[i] != NULL && strcmp(names[i], json_text(t, "type")) == 0) {
            edge.category = (hpcw_vom_category)i;
        }
    }
    const struct json_tree *sender = json_get(t, "from");
    const struct json_tree *receiver = json_get(t, "to");
    if (strcmp(json_text(sender, "type"), "shared_id") == 0) {
        edge.shared_id = (int32_t)json_u64(sender, "id");
        edge.node = (uint32_t)json_u64(receiver, "id");
    } else {
        read_entity(sender, &from);
        read_entity(receiver, &to);
    }
    edge.from = from.entity;
    edge.to = to.entity;
    ok(hpcw_vom_edge_add(v, &edge, &err), &err);
}

static void say_phase(hpcw_vom *v, const struct json_tree *t) {
    hpcw_vom_value values[MOST];
    hpcw_error err;
    ok(hpcw_vom_begin_phase(v, json_u64(t, "id"), &err), &err);
    const struct json_tree *edges = json_get(t, "communications");
    for (const struct json_tree *e = edges == NULL ? NULL : edges->child; e != NULL; e = e->next) {
        say_edge(v, e);
    }
    for (const struct json_tree *c = json_get(t, "tasks")->child; c != NULL; c = c->next) {
        say_task(v, c);
    }
    size_t count = read_values(json_get(t, "user_defined"), values);
    ok(hpcw_vom_end_phase(v, values, count, &err), &err);
}

static int by_first(const void *a, const void *b) {
    const hpcw_vom_range *x = a;
    const hpcw_vom_range *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static size_t read_ranges(const struct json_tree *t, hpcw_vom_range ranges[MOST]) {
    size_t n = 0;
    if (t == NULL) {
        return 0;
    }
    for (const struct json_tree *c = json_get(t, "list")->child; c != NULL; c = c->next, n++) {
        ranges[n].first = ranges[n].last = strtoull(c->text, NULL, 10);
    }
    for (const struct json_tree *c = json_get(t, "range")->child; c != NULL; c = c->next, n++) {
        ranges[n].first = strtoull(c->child->text, NULL, 10);
        ranges[n].last = strtoull(c->child->next->text, NULL, 10);
    }
    qsort(ranges, n, sizeof ranges[0], by_first);
    return n;
}

/* Says all of a file again, into `path`. */
static void say_file(const struct json_tree *t, const char *path, hpcw_vom_options *o) {
    hpcw_vom_range skipped[MOST];
    hpcw_vom_range identical[MOST];
    hpcw_error err;
    hpcw_vom *v;
    const struct json_tree *metadata = json_get(t, "metadata");
    const struct json_tree *phases = json_get(metadata, "phases");
    const struct json_tree *node = json_get(metadata, "shared_node");
    if (phases != NULL) {
        o->phase_count = number_or_0(phases, "count");
        o->skipped = skipped;
        o->skipped_count = read_ranges(json_get(phases, "skipped"), skipped);
        o->identical = identical;
        o->identical_count = read_ranges(json_get(phases, "identical_to_previous"), identical);
    }
    if (node != NULL) {
        o->node = (hpcw_vom_node){.id = (uint32_t)json_u64(node, "id"),
                                  .num_nodes = (uint32_t)json_u64(node, "num_nodes"),
                                  .rank = (uint32_t)json_u64(node, "rank"),
                                  .size = (uint32_t)json_u64(node, "size")};
    }
    ok(hpcw_vom_open(path, o, &v, &err), &err);
    for (const struct json_tree *p = json_get(t, "phases")->child; p != NULL; p = p->next) {
        say_phase(v, p);
    }
    uint64_t size = hpcw_vom_text_size(v);
    ok(hpcw_vom_close(v, &err), &err);
    assert_true(hpcw_vom_text_size(v) >= size + 2);
    hpcw_vom_free(v);
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
    const char *name; /* of the folder and the files; %u becomes the rank */
    uint32_t ranks;
    unsigned allow;
    bool exact; /* vt wrote it, so ours has the same bytes */
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
    {"lbaf_ccm_2ranks_plain/data.%u.json", 2, HPCW_VOM_ALLOW_SEQ_IDS | HPCW_VOM_ALLOW_FOREIGN_EDGES, false},
    {"lbaf_toy_16ranks_plain/toy.%u.json", 16, 0, false},
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
                o.check = true; /* nothing in them is there twice, or on a wrong rank */
                (void)snprintf(name, sizeof name, "%s/data.%%p.json", dir);
                ok(hpcw_vom_file_name(path, sizeof path, name, rank, compressed == 1, &err), &err);
                say_file(tree, path, &o);
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

/* vt divides the variance by a count whose inverse is rounded to a float: not more than 2^-24 off. */
static bool near(double a, double b) {
    double d = a - b;
    return (d < 0 ? -d : d) <= 0x1p-24 * (a < 0 ? -a : a);
}

/* The statistics of a run, computed from the data of the same run. */
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
            /* vt leaves the id-0 entity out. */
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
