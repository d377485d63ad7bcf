/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the VOM reader with files of vt 1.6.0 and LBAF 1.6.0. Each set has a text that gives its sizes and
 * peculiarities. The statistics file belongs to the run with the load data rotate_4ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/figures.h"
#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/summary.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/statistics.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/buf.h"
#include "tests/support/files.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define STRICT READ_VOM_STRICT

/* Returns a path in the folder, or NULL without the folder. */
static const char *golden(const char *name) {
    static char path[1024];
    char file[272];
    (void)snprintf(file, sizeof file, "vom/%s", name);
    return golden_path(file, path, sizeof path);
}

/* Numbers in the text file beside each set. strict: message of a strict check; NULL: the check accepts the set. */
static const struct {
    const char *name;
    uint32_t ranks;
    size_t phases;
    uint64_t tasks, migratable, communications, messages;
    uint64_t file_bytes, text_bytes; /* 0: not given */
    const char *strict;
} sets[] = {
    {"seed1_plain", 1, 1, 6, 1, 1, 1, 1338, 1338, NULL},
    {"seed1_br", 1, 1, 6, 1, 1, 1, 374, 1338, NULL},
    {"seed2_3ranks_plain", 3, 1, 9, 3, 2, 52, 2283, 2283, NULL},
    {"seed2_3ranks_br", 3, 1, 9, 3, 2, 52, 0, 2283, NULL},
    {"lbgen_4ranks_plain", 4, 2, 68, 16, 52, 332, 22736, 22736, NULL},
    {"lbgen_4ranks_br", 4, 2, 68, 16, 52, 332, 2600, 22736, NULL},
    {"rotate_4ranks_plain", 4, 3, 148, 48, 275, 1543, 88396, 88396, NULL},
    {"rotate_4ranks_br", 4, 3, 148, 48, 275, 1543, 7060, 88396, NULL},
    {"sparse_phases_3ranks_plain", 3, 2, 15, 6, 4, 104, 3711, 3711, NULL},
    {"phase_user_defined_4ranks_br", 4, 2, 100, 32, 191, 923, 5571, 60740,
     "phases[0].user_defined at offset 8576: expected no user_defined of a phase"},
    {"lbaf_ccm_2ranks_plain", 2, 1, 3, 3, 4, 4, 1590, 1590,
     "metadata.rank at offset 33: expected the keys in byte order"},
    {"lbaf_toy_16ranks_plain", 16, 1, 274, 274, 0, 0, 90827, 90827,
     "phases at offset 21: expected the keys in byte order"},
};

static void every_set_is_sound(void **state) {
    (void)state;
    static const size_t budgets[] = {1, 0};
    if (golden("") == NULL) {
        skip();
    }
    for (size_t i = 0; i < 2 * COUNT(sets); i++) {
        hpcw_error err = {0};
        const char *path = golden(sets[i / 2].name);
        if (read_vom_verify_directory(path, 0, budgets[i % 2], &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_status status = read_vom_verify_directory(path, STRICT, budgets[i % 2], &err);
        const char *objection = sets[i / 2].strict;
        if (objection == NULL ? status != HPCW_OK
                              : status != HPCW_EFORMAT || strstr(err.message, objection) == NULL) {
            fail_msg("%s: %s", hpcw_status_name(status), err.message);
        }
    }
}

static void every_count_is_right(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(sets); i++) {
        struct read_vom_summary s;
        hpcw_error err = {0};
        if (read_vom_summarise(golden(sets[i].name), &s, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(s.ranks, sets[i].ranks);
        assert_int_equal(s.compressed, strstr(sets[i].name, "_br") != NULL ? s.ranks : 0);
        assert_int_equal(s.phases, sets[i].phases);
        struct read_vom_phase_summary all = {0};
        for (size_t p = 0; p < s.phases; p++) {
            all.tasks += s.phase[p].tasks;
            all.migratable += s.phase[p].migratable;
            all.communications += s.phase[p].communications;
            all.messages += s.phase[p].messages;
        }
        assert_int_equal(all.tasks, sets[i].tasks);
        assert_int_equal(all.migratable, sets[i].migratable);
        assert_int_equal(all.communications, sets[i].communications);
        assert_int_equal(all.messages, sets[i].messages);
        assert_int_equal(s.text_bytes, sets[i].text_bytes);
        if (sets[i].file_bytes > 0) {
            assert_int_equal(s.file_bytes, sets[i].file_bytes);
        }
        read_vom_summary_free(&s);
    }
}

/* ---- peculiarities -------------------------------------------------------------------------------------- */

/* What was seen in a set, over all its files and phases. */
struct seen {
    uint64_t metadata, hosts, zero_tasks, seq_ids, self_edges, both_known, far_ends, groups;
    uint64_t by_category[READ_VOM_READ_ONLY_SHARED + 1];
    uint64_t dimensions[4];
    uint64_t labels, levels, weights, shared_ids, phase_steps;
    uint64_t last_collection, moved, without_communications;
    double least_gap; /* smallest gap between a task's time and the sum of its subphases */
    uint32_t rank;
    struct read_vom_interval identical, skipped;
    uint64_t count;
};

static hpcw_status see_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    struct seen *s = context;
    s->metadata++;
    s->hosts += m->has_shared_node && m->shared_node.id == 0 && m->shared_node.rank == s->rank;
    if (m->identical_list.count == 1) {
        s->identical = m->identical_list.item[0];
    }
    if (m->skipped_range.count == 1) {
        s->skipped = m->skipped_range.item[0];
    }
    s->count = m->count;
    return HPCW_OK;
}

static hpcw_status see_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    struct seen *s = context;
    const struct read_vom_entity *e = &t->entity;
    s->seq_ids += !e->has_id;
    s->zero_tasks += e->has_id && e->id == 0;
    s->groups += e->has_objgroup_id;
    s->dimensions[e->dimensions]++;
    s->moved += e->migratable && e->home != t->node;
    s->last_collection = e->collection_id > s->last_collection ? e->collection_id : s->last_collection;
    double sum = 0;
    for (uint32_t k = 0; k < t->subphases; k++) {
        sum += t->subphase_time[k];
    }
    double gap = t->time - sum;
    s->least_gap = t->has_subphases && gap < s->least_gap ? gap : s->least_gap;
    for (size_t i = 0; i < t->user_defined.count; i++) {
        const struct read_vom_member *m = &t->user_defined.item[i];
        s->labels += strcmp(m->key, "label") == 0 && m->type == READ_VOM_STRING;
        s->shared_ids += strcmp(m->key, "shared_id") == 0 && m->type == READ_VOM_INTEGER;
    }
    for (size_t i = 0; i < t->attributes.count; i++) {
        const struct read_vom_member *m = &t->attributes.item[i];
        s->levels += strcmp(m->key, "level") == 0 && m->type == READ_VOM_INTEGER;
        s->weights += strcmp(m->key, "weight") == 0 && m->type == READ_VOM_FLOAT;
    }
    return HPCW_OK;
}

static hpcw_status see_communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    struct seen *s = context;
    s->by_category[c->category]++;
    s->self_edges += c->from.has_id && c->from.kind == c->to.kind && c->from.id == c->to.id;
    s->far_ends += read_vom_is_element(&c->from) && c->from.dimensions == 0;
    return HPCW_OK;
}

static hpcw_status see_phase(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    (void)err;
    struct seen *s = context;
    s->without_communications += !p->has_communications;
    for (size_t i = 0; i < p->user_defined.count; i++) {
        const struct read_vom_member *m = &p->user_defined.item[i];
        s->phase_steps += strcmp(m->key, "step") == 0 && m->number == 10 * (double)p->id;
    }
    return HPCW_OK;
}

static struct seen seen_in(const char *name, const char *file, uint32_t ranks) {
    struct seen s = {.least_gap = 1};
    const struct read_vom_events events = {.context = &s,
                                           .metadata = see_metadata,
                                           .task = see_task,
                                           .communication = see_communication,
                                           .phase_end = see_phase};
    for (s.rank = 0; s.rank < ranks; s.rank++) {
        char relative[256];
        char number[16];
        const char *mark = strchr(file, '%');
        (void)snprintf(number, sizeof number, "%" PRIu32, s.rank);
        (void)snprintf(relative, sizeof relative, "%s/%.*s%s%s", name, (int)(mark - file), file, number,
                       mark + 1);
        struct read_vom *reader;
        hpcw_error err = {0};
        if (read_vom_open(golden(relative), s.rank, 0, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, UINT64_MAX, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    return s;
}

static void every_peculiarity_is_seen(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    struct seen s = seen_in("seed1_br", "data.%.json.br", 1);
    assert_int_equal(s.self_edges, 1);
    assert_int_equal(s.groups, 3);
    assert_int_equal(s.zero_tasks, 1);

    s = seen_in("seed2_3ranks_plain", "data.%.json", 3);
    assert_int_equal(s.without_communications, 2);
    assert_int_equal(s.hosts, 3);

    s = seen_in("lbgen_4ranks_br", "data.%.json.br", 4);
    assert_int_equal(s.zero_tasks, 4);
    assert_true(s.far_ends > 0 && s.self_edges > 0);
    assert_int_equal(s.moved, 0);

    s = seen_in("rotate_4ranks_plain", "data.%.json", 4);
    assert_int_equal(s.by_category[READ_VOM_BROADCAST], 36);
    assert_int_equal(s.by_category[READ_VOM_WRITE_SHARED], 6);
    assert_int_equal(s.by_category[READ_VOM_READ_ONLY_SHARED], 6);
    assert_int_equal(s.by_category[READ_VOM_SEND_RECV], 275 - 48);
    assert_int_equal(s.dimensions[2], 36); /* the 3x4 collection in three phases */
    assert_int_equal(s.dimensions[1], 12);
    assert_int_equal(s.last_collection, 524295);
    assert_int_equal(s.moved, 32); /* objects move in all phases except the first */
    assert_int_equal(s.labels, 36);
    assert_int_equal(s.shared_ids, 36);
    assert_int_equal(s.levels, 36);
    assert_int_equal(s.weights, 36);
    assert_true(s.least_gap >= -1e-15);

    s = seen_in("sparse_phases_3ranks_plain", "data.%.json", 3);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.identical.first, 1);
    assert_int_equal(s.skipped.first, 2);
    assert_int_equal(s.skipped.last, 3);
    assert_int_equal(s.zero_tasks, 3);

    s = seen_in("phase_user_defined_4ranks_br", "data.%.json.br", 4);
    assert_int_equal(s.phase_steps, 8);

    s = seen_in("lbaf_ccm_2ranks_plain", "data.%.json", 2);
    assert_int_equal(s.seq_ids, 3);
    assert_int_equal(s.metadata, 2);
    assert_int_equal(s.shared_ids, 3);

    s = seen_in("lbaf_toy_16ranks_plain", "toy.%.json", 16);
    assert_int_equal(s.metadata, 0);
    assert_int_equal(s.dimensions[3], 274);
}

/* ---- the statistics file -------------------------------------------------------------------------------- */

/* Compares the figures of the statistics file with those that are computed from the load data of the same run. */
struct comparison {
    const struct read_vom_summary *summary;
    size_t phase;
    unsigned compared;
};

static void compare(const double *want, const double *got, double tolerance, const char *what, size_t phase) {
    for (int f = 0; f < READ_VOM_FIGURES; f++) {
        if (fabs(want[f] - got[f]) > tolerance * fabs(want[f])) {
            fail_msg("phase %zu, %s, %s: expected %.17g, got %.17g", phase, what,
                     read_vom_figure_name((enum read_vom_figure)f), want[f], got[f]);
        }
    }
}

static hpcw_status compare_quantity(void *context, bool after, const char *quantity,
                                    const double figure[READ_VOM_FIGURES], hpcw_error *err) {
    (void)err;
    struct comparison *c = context;
    double got[READ_VOM_FIGURES];
    const struct read_vom_moments *m = c->summary->phase[c->phase].quantity;
    /* The load data are from before the migrations. They cannot be compared with later figures ("modeled"). */
    if (after) {
        return HPCW_OK;
    }
    if (strcmp(quantity, "Object_load_raw") == 0) {
        read_vom_moments_figures(&m[READ_VOM_OBJECT_LOAD], got);
        compare(figure, got, 1e-7, quantity, c->phase);
        c->compared++;
    } else if (strcmp(quantity, "Rank_load_raw") == 0) {
        read_vom_moments_figures(&m[READ_VOM_RANK_LOAD], got);
        compare(figure, got, 1e-11, quantity, c->phase);
        c->compared++;
    } else if (strcmp(quantity, "Object_comm") == 0) {
        read_vom_moments_figures(&m[READ_VOM_OBJECT_COMM], got);
        compare(figure, got, 1e-7, quantity, c->phase);
        c->compared++;
    } else if (strcmp(quantity, "Rank_comm") == 0) {
        read_vom_moments_figures(&m[READ_VOM_RANK_COMM], got);
        if (c->phase == 0) {
            compare(figure, got, 1e-11, quantity, c->phase);
        } else {
            /* From the second phase on, vt counted one record of 144 bytes per rank as staying on the rank, since
             * both ends were on this rank at run time. By its ids, the record goes from the program's group to the
             * group's instance on the next rank. */
            const enum read_vom_figure shifted[] = {READ_VOM_AVG, READ_VOM_MAX, READ_VOM_MIN};
            for (size_t f = 0; f < COUNT(shifted); f++) {
                assert_true(got[shifted[f]] == figure[shifted[f]] + 144);
            }
            assert_true(fabs(got[READ_VOM_VAR] - figure[READ_VOM_VAR]) < 1e-6);
        }
        c->compared++;
    }
    return HPCW_OK;
}

static hpcw_status compare_phase(void *context, uint64_t id, uint64_t migrations, unsigned groups,
                                 hpcw_error *err) {
    (void)err;
    struct comparison *c = context;
    assert_int_equal(id, c->phase);
    assert_int_equal(migrations, 16);
    assert_int_equal(groups, 2);
    c->phase++;
    return HPCW_OK;
}

static enum read_vom_file_type type_of(const char *path) {
    enum read_vom_file_type type;
    assert_int_equal(read_vom_file_type(path, &type, NULL), HPCW_OK);
    return type;
}

static void statistics_are_those_of_the_data(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    struct read_vom_summary summary;
    hpcw_error err = {0};
    assert_int_equal(read_vom_summarise(golden("rotate_4ranks_br"), &summary, &err), HPCW_OK);
    struct comparison c = {.summary = &summary};
    const struct read_vom_statistics_events events = {
        .context = &c, .quantity = compare_quantity, .phase_end = compare_phase};
    const char *path = golden("lbstats/vt_lb_statistics.json");
    assert_int_equal(type_of(path), READ_VOM_STATISTICS_FILE);
    if (read_vom_verify(path, STRICT, &err) != HPCW_OK ||
        read_vom_statistics_read(path, &events, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(c.phase, 3);
    assert_int_equal(c.compared, 12);
    read_vom_summary_free(&summary);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_is_sound),
        cmocka_unit_test(every_count_is_right),
        cmocka_unit_test(every_peculiarity_is_seen),
        cmocka_unit_test(statistics_are_those_of_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
