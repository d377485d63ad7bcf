/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes sets with every kind of record and reads them with the reader, which shares no code with the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libreader/vom/figures.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/statistics.h"
#include "libreader/vom/vom.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { RANKS = 3, ELEMENTS = 24, PHASES = 3, EDGES = 14, MOST_SUBPHASES = 3 };

static const uint64_t phase_ids[PHASES] = {0, 1, 4};
static const hpcw_vom_range skipped = {2, 2};
static const hpcw_vom_range identical = {3, 3};

/* ---- What is in the set: functions of rank, phase and number ---------------------------------------------- */

static uint64_t index_of[ELEMENTS][3];

static void make_indices(void) {
    for (uint64_t e = 0; e < ELEMENTS; e++) {
        index_of[e][0] = e;
        index_of[e][1] = e % 3;
        index_of[e][2] = UINT64_MAX - e; /* more than a double can represent */
    }
}

/* Returns the rank that holds an element in a phase. Elements move from rank to rank. Elements 2k and 2k + 1 are of
 * different collections and are on the same rank. */
static uint32_t holder(uint32_t element, uint32_t phase) {
    return (element / 2 + phase) % RANKS;
}

static hpcw_vom_entity element(uint32_t e) {
    return hpcw_vom_element(e % RANKS, (UINT64_C(1) << 34) + e, hpcw_vom_collection_id(e % 2), index_of[e],
                            1 + e % 2 * 2);
}

/* Returns an element as the end of an edge that `rank` records. An element on another rank has only its id. */
static hpcw_vom_entity element_at(uint32_t e, uint32_t phase, uint32_t rank) {
    return holder(e, phase) == rank ? element(e) : hpcw_vom_far(element(e).id);
}

/* Returns the n-th element of a rank. */
static uint32_t element_of(uint32_t rank, uint32_t phase, uint32_t n) {
    for (uint32_t e = 0;; e = (e + 1) % ELEMENTS) {
        if (holder(e, phase) == rank && n-- == 0) {
            return e;
        }
    }
}

static uint64_t bits_of(uint32_t rank, uint32_t phase, uint32_t n) {
    uint64_t state = (uint64_t)rank << 40 | (uint64_t)phase << 20 | n;
    return random_word(&state);
}

/* Returns entity n of a rank: its elements, its handler, its group member and, in phase 0, the entity with id 0. */
static hpcw_vom_entity member(uint32_t rank, uint32_t phase, uint32_t n) {
    const uint32_t elements = ELEMENTS / RANKS;
    return n < elements        ? element(element_of(rank, phase, n))
           : n == elements     ? hpcw_vom_handler(rank)
           : n == elements + 1 ? hpcw_vom_group(5, rank, true)
                               : hpcw_vom_nobody();
}

static uint32_t members(uint32_t phase) {
    return ELEMENTS / RANKS + 2 + (phase == 0);
}

/* A task, and storage for what it points to. */
struct told_task {
    hpcw_vom_task task;
    double part_s[MOST_SUBPHASES];
    uint64_t part_ns[MOST_SUBPHASES];
    hpcw_vom_value attribute[2], value[3];
};

static void tell_task(struct told_task *t, uint32_t rank, uint32_t phase, uint32_t n) {
    uint64_t bits = bits_of(rank, phase, n);
    *t = (struct told_task){.task = {.entity = member(rank, phase, n), .whole_ns = bits % 2 == 0}};
    t->task.subphase_s = t->part_s;
    t->task.subphase_ns = t->part_ns;
    if (!t->task.entity.migratable) {
        t->task.resource = n % 2 == 0 ? "gpu \xc3\xa4\"" : NULL;
        return;
    }
    t->task.subphases = phase;
    t->task.time_s = (double)(bits >> 11) * 0x1p-53;
    for (uint32_t k = 0; k < phase; k++) {
        t->part_s[k] = t->task.time_s / (double)(phase + 1);
        t->part_ns[k] = (bits >> 7) % 1000000007 * (k + 1);
        t->task.time_ns += t->part_ns[k];
    }
    t->attribute[0] = (hpcw_vom_value){.key = "level", .integer = (int32_t)(bits >> 32)};
    t->attribute[1] = (hpcw_vom_value){.key = "name", .type = HPCW_VOM_TEXT, .text = "\xe2\x82\xac \n"};
    t->task.attributes = t->attribute;
    t->task.attribute_count = n % 3;
    t->value[0] = (hpcw_vom_value){.key = "shared_bytes", .type = HPCW_VOM_FLOAT, .number = -t->task.time_s};
    t->value[1] = (hpcw_vom_value){.key = "shared_id", .integer = INT64_MIN};
    t->value[2] = (hpcw_vom_value){.key = "task_working_bytes", .integer = INT64_MAX};
    t->task.values = t->value;
    t->task.value_count = n % 4;
}

static hpcw_vom_edge edge_of(uint32_t rank, uint32_t phase, uint32_t n) {
    static const hpcw_vom_category to_node[] = {HPCW_VOM_COLLECTION_TO_NODE, HPCW_VOM_COLLECTION_TO_NODE_BCAST};
    static const hpcw_vom_category from_node[] = {HPCW_VOM_NODE_TO_COLLECTION,
                                                  HPCW_VOM_NODE_TO_COLLECTION_BCAST};
    static const hpcw_vom_category shared[] = {HPCW_VOM_WRITE_SHARED, HPCW_VOM_READ_ONLY_SHARED};
    uint64_t bits = bits_of(rank, phase, 1000 + n);
    uint32_t next = (rank + 1) % RANKS;
    hpcw_vom_entity mine = element(element_of(rank, phase, n % 8));
    hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                          .from = element_at((uint32_t)(bits % ELEMENTS), phase, rank),
                          .to = mine,
                          .node = next,
                          .shared_id = (int32_t)(bits >> 40),
                          .bytes = n % 2 == 0 ? (double)(bits >> 30) : (double)(bits >> 11) * 0x1p-70,
                          .messages = n == 0 ? UINT64_MAX : bits >> (n * 4)};
    switch (n) {
    case 2: /* an edge to a handler or group, which the sender records */
        edge.from = hpcw_vom_handler(rank);
        edge.to = hpcw_vom_handler(next);
        break;
    case 3:
        edge.from = mine;
        edge.to = hpcw_vom_far(hpcw_vom_group_id(5, next, true));
        break;
    case 4:
        edge.category = HPCW_VOM_BROADCAST;
        break;
    case 5:
    case 6:
        edge.category = to_node[n - 5];
        edge.from = mine;
        break;
    case 7:
    case 8:
        edge.category = from_node[n - 7];
        break;
    case 9:
    case 10:
        edge.category = shared[n - 9];
        break;
    case 11:
        edge.from = phase == 0 ? hpcw_vom_nobody() : mine;
        break;
    case 12:
        edge.from = hpcw_vom_group(5, rank, true);
        break;
    default:
        break;
    }
    return edge;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static void ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

static void write_phase(hpcw_vom *v, uint32_t rank, uint32_t phase) {
    hpcw_error err;
    struct told_task t;
    ok(hpcw_vom_begin_phase(v, phase_ids[phase], &err), &err);
    for (uint32_t n = 0; n < EDGES; n++) {
        hpcw_vom_edge edge = edge_of(rank, phase, n);
        ok(hpcw_vom_edge_add(v, &edge, &err), &err);
    }
    for (uint32_t n = 0; n < members(phase); n++) {
        tell_task(&t, rank, phase, n);
        ok(hpcw_vom_task_add(v, &t.task, &err), &err);
    }
    ok(hpcw_vom_end_phase(v, NULL, 0, &err), &err);
}

static void name_file(char *name, size_t size, const char *dir, uint32_t rank, bool compressed) {
    char pattern[512];
    hpcw_error err;
    (void)snprintf(pattern, sizeof pattern, "%s/data.%%p.json", dir);
    ok(hpcw_vom_file_name(name, size, pattern, rank, compressed, &err), &err);
}

static void write_set(const char *dir, bool compressed, const hpcw_brotli_options *brotli) {
    static const hpcw_vom_value attribute = {.key = "cores", .integer = -7};
    hpcw_vom *v[RANKS];
    hpcw_error err;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        char name[512];
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = RANKS;
        o.node = hpcw_vom_node_of(RANKS, 2, rank);
        o.skipped = &skipped;
        o.skipped_count = 1;
        o.identical = &identical;
        o.identical_count = 1;
        o.phase_count = 5;
        o.attributes = &attribute;
        o.attribute_count = 1;
        o.has_rank_alpha = true;
        o.rank_alpha = 0.1 * (rank + 1);
        o.check = true;
        o.durability = HPCW_SYNC_NONE;
        o.brotli = *brotli;
        name_file(name, sizeof name, dir, rank, compressed);
        ok(hpcw_vom_open(name, &o, &v[rank], &err), &err);
        for (uint32_t phase = 0; phase < PHASES; phase++) {
            write_phase(v[rank], rank, phase);
        }
    }
    ok(hpcw_vom_close_set(v, RANKS, NULL, &err), &err);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        hpcw_vom_free(v[rank]);
    }
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

struct seen {
    uint32_t rank, phase;
    uint32_t tasks, edges; /* numbers in the current phase */
};

static void same_entity(const hpcw_vom_entity *want, const struct read_vom_entity *got) {
    assert_int_equal(got->kind, READ_VOM_OBJECT);
    assert_true(got->has_id && got->id == want->id && !got->has_seq_id);
    assert_true(got->has_home && got->home == want->home);
    assert_true(got->has_migratable && got->migratable == want->migratable);
    assert_true(got->has_collection_id == (want->collection_id != 0));
    assert_true(got->collection_id == want->collection_id);
    assert_true(got->has_objgroup_id == (want->objgroup_id != 0) && got->objgroup_id == want->objgroup_id);
    assert_int_equal(got->dimensions, want->dimensions);
    for (uint32_t i = 0; i < want->dimensions; i++) {
        assert_true(got->index[i] == want->index[i]);
    }
}

static void same_values(const hpcw_vom_value *want, size_t count, const struct read_vom_members *got) {
    assert_true(got->present == (count > 0) && got->count == count);
    for (size_t i = 0; i < count; i++) {
        const struct read_vom_member *m = &got->item[i];
        assert_string_equal(m->key, want[i].key);
        switch (want[i].type) {
        case HPCW_VOM_INTEGER:
            assert_true(m->type == READ_VOM_INTEGER && strtoll(m->text, NULL, 10) == want[i].integer);
            break;
        case HPCW_VOM_FLOAT:
            assert_true(m->type == READ_VOM_FLOAT && m->number == want[i].number);
            break;
        default:
            assert_int_equal(m->type, READ_VOM_STRING);
            assert_string_equal(m->text, want[i].text);
        }
    }
}

static hpcw_status see_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    const struct seen *seen = context;
    hpcw_vom_node node = hpcw_vom_node_of(RANKS, 2, seen->rank);
    assert_true(m->has_type && m->has_rank && m->rank == seen->rank);
    assert_true(m->has_rank_alpha && m->rank_alpha == 0.1 * (seen->rank + 1));
    assert_true(m->has_count && m->count == 5);
    assert_true(m->identical_list.count == 1 && m->identical_list.item[0].first == 3);
    assert_true(m->skipped_list.count == 1 && m->skipped_list.item[0].first == 2);
    assert_true(m->identical_range.count == 0 && m->skipped_range.count == 0);
    assert_true(m->has_shared_node && m->shared_node.id == node.id && m->shared_node.rank == node.rank &&
                m->shared_node.num_nodes == node.num_nodes && m->shared_node.size == node.size);
    same_values(&(hpcw_vom_value){.key = "cores", .integer = -7}, 1, &m->attributes);
    return HPCW_OK;
}

/* Returns the double nearest to `time_ns` nanoseconds: a division of whole numbers is rounded once. */
static double seconds(uint64_t time_ns) {
    return (double)time_ns / 1e9;
}

static hpcw_status see_task(void *context, const struct read_vom_task *got, hpcw_error *err) {
    (void)err;
    struct seen *seen = context;
    struct told_task t;
    tell_task(&t, seen->rank, seen->phase, seen->tasks++);
    const hpcw_vom_task *want = &t.task;
    same_entity(&want->entity, &got->entity);
    assert_int_equal(got->node, seen->rank);
    assert_string_equal(got->resource, want->resource == NULL ? "cpu" : want->resource);
    assert_true(got->time == (want->whole_ns ? seconds(want->time_ns) : want->time_s));
    assert_true(got->has_subphases == (want->subphases > 0) && got->subphases == want->subphases);
    for (uint32_t k = 0; k < want->subphases; k++) {
        assert_true(got->subphase_time[k] == (want->whole_ns ? seconds(t.part_ns[k]) : t.part_s[k]));
    }
    same_values(want->attributes, want->attribute_count, &got->attributes);
    same_values(want->values, want->value_count, &got->user_defined);
    return HPCW_OK;
}

static void same_end(const hpcw_vom_edge *edge, const hpcw_vom_entity *entity,
                     const struct read_vom_entity *got) {
    switch (got->kind) {
    case READ_VOM_OBJECT:
        same_entity(entity, got);
        break;
    case READ_VOM_NODE:
        assert_true(got->id == edge->node);
        break;
    default:
        assert_true(got->id == (uint64_t)edge->shared_id);
    }
}

static hpcw_status see_edge(void *context, const struct read_vom_communication *got, hpcw_error *err) {
    (void)err;
    struct seen *seen = context;
    hpcw_vom_edge want = edge_of(seen->rank, seen->phase, seen->edges++);
    assert_int_equal(
        got->category,
        want.category); /* the category decides the kinds of the edge's ends, which the reader checks */
    assert_true(got->bytes == want.bytes && got->messages == want.messages);
    same_end(&want, &want.from, &got->from);
    same_end(&want, &want.to, &got->to);
    return HPCW_OK;
}

static hpcw_status see_phase(void *context, const struct read_vom_phase *got, hpcw_error *err) {
    (void)err;
    struct seen *seen = context;
    assert_true(got->id == phase_ids[seen->phase]);
    assert_true(seen->tasks == members(seen->phase) && seen->edges == EDGES);
    seen->phase++;
    seen->tasks = seen->edges = 0;
    return HPCW_OK;
}

static void read_set(const char *dir, bool compressed) {
    hpcw_error err;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        char name[512];
        struct seen seen = {.rank = rank};
        const struct read_vom_events events = {.context = &seen,
                                               .metadata = see_metadata,
                                               .task = see_task,
                                               .communication = see_edge,
                                               .phase_end = see_phase};
        struct read_vom *reader = NULL;
        struct read_vom_facts facts;
        name_file(name, sizeof name, dir, rank, compressed);
        ok(read_vom_open(name, rank, READ_VOM_STRICT, &reader, &err), &err);
        ok(read_vom_run(reader, UINT64_MAX, &events, &err), &err);
        read_vom_facts(reader, &facts);
        assert_true(facts.ended && facts.compressed == compressed && seen.phase == PHASES);
        read_vom_free(reader);
    }
    ok(read_vom_verify_directory(dir, READ_VOM_STRICT, 0, &err), &err);
}

static void every_record(void **state) {
    (void)state;
    static const struct {
        bool compressed;
        hpcw_brotli_options brotli;
    } rows[] = {
        {false, {.quality = 4, .window = 18}},  {true, {.quality = 4, .window = 18}},
        {true, {.quality = 0, .window = 10}},   {true, {.quality = 9, .window = 24}},
        {true, {.window = 20, .stored = true}},
    };
    make_indices();
    for (size_t i = 0; i < COUNT(rows); i++) {
        char dir[256];
        scratch_make(dir, sizeof dir);
        write_set(dir, rows[i].compressed, &rows[i].brotli);
        read_set(dir, rows[i].compressed);
        scratch_remove(dir);
    }
}

/* ---- Damage ---------------------------------------------------------------------------------------------- */

/* A truncated file is refused, wherever it ends. */
static void cut_short(void **state) {
    (void)state;
    char dir[256];
    hpcw_error err;
    scratch_make(dir, sizeof dir);
    make_indices();
    for (int compressed = 0; compressed < 2; compressed++) {
        char name[512];
        size_t size = 0;
        hpcw_brotli_options brotli;
        hpcw_brotli_options_init(&brotli);
        write_set(dir, compressed, &brotli);
        name_file(name, sizeof name, dir, 1, compressed);
        unsigned char *file = read_file(name, &size);
        assert_non_null(file);
        ok(read_vom_verify_memory(name, file, size, READ_VOM_STRICT, &err), &err);
        for (size_t n = 0; n < size; n += 1 + n / 64) {
            hpcw_status s = read_vom_verify_memory(name, file, n, READ_VOM_STRICT, &err);
            assert_true(s == HPCW_ETRUNCATED || s == HPCW_EFORMAT);
        }
        free(file);
    }
    scratch_remove(dir);
}

/* ---- Statistics ------------------------------------------------------------------------------------------ */

struct statistics {
    const hpcw_vom_balance *want;
    uint64_t groups, quantities;
};

static hpcw_status see_quantity(void *context, bool after, const char *quantity,
                                const double figure[READ_VOM_FIGURES], hpcw_error *err) {
    (void)err;
    struct statistics *seen = context;
    const hpcw_vom_figures *f =
        &seen->want[after]
             .figures[strncmp(quantity, "Rank", 4) == 0 ? HPCW_VOM_RANK_LOAD_RAW : HPCW_VOM_OBJECT_LOAD_RAW];
    const double want[READ_VOM_FIGURES] = {f->avg, f->car, f->imb, f->kur, f->max, f->min,
                                           f->npr, f->skw, f->std, f->sum, f->var};
    assert_memory_equal(figure, want, sizeof want);
    seen->quantities++;
    return HPCW_OK;
}

static hpcw_status see_balance(void *context, uint64_t id, uint64_t migrations, unsigned groups,
                               hpcw_error *err) {
    (void)err;
    struct statistics *seen = context;
    assert_true(id == 7 && migrations == 3 && groups == 2);
    seen->groups += groups;
    return HPCW_OK;
}

/* Computes the figures in another way than the library. */
static void same_figures(const double *value, size_t count, const hpcw_vom_figures *got) {
    struct read_vom_moments moments = {0};
    double want[READ_VOM_FIGURES];
    const double have[READ_VOM_FIGURES] = {got->avg, got->car, got->imb, got->kur, got->max, got->min,
                                           got->npr, got->skw, got->std, got->sum, got->var};
    for (size_t i = 0; i < count; i++) {
        read_vom_moments_add(&moments, value[i]);
    }
    read_vom_moments_figures(&moments, want);
    for (unsigned i = 0; i < READ_VOM_FIGURES; i++) {
        double off = have[i] - want[i];
        double most = 1e-10 * (want[i] < 0 ? -want[i] : want[i]) + 1e-12;
        if (off > most || off < -most) {
            fail_msg("%s of %zu values: expected %.17g, got %.17g", read_vom_figure_name(i), count, want[i],
                     have[i]);
        }
    }
}

static void statistics(void **state) {
    (void)state;
    enum { VALUES = 500 };
    char dir[256];
    char name[512];
    double value[VALUES];
    uint64_t random = 5;
    const uint64_t migrations = 3;
    hpcw_vom_balance balance[2] = {{.has_strategy_loads = true}, {.has_strategy_loads = true}};
    hpcw_vom_stats *stats = NULL;
    hpcw_error err;
    for (size_t i = 0; i < VALUES; i++) {
        value[i] = i % 10 == 0 ? 0 : (double)(random_word(&random) >> 11) * 0x1p-53;
        hpcw_vom_figures f = hpcw_vom_figures_of(value, i + 1);
        same_figures(value, i + 1, &f);
    }
    for (int after = 0; after < 2; after++) {
        for (int q = 0; q < HPCW_VOM_QUANTITIES; q++) {
            bool of_ranks = q >= HPCW_VOM_RANK_COMM;
            balance[after].figures[q] = hpcw_vom_figures_of(value + after * 100, of_ranks ? 8 : 300);
        }
    }
    scratch_make(dir, sizeof dir);
    (void)snprintf(name, sizeof name, "%s/vt_lb_statistics.json.br", dir);
    ok(hpcw_vom_stats_open(name, NULL, &stats, &err), &err);
    ok(hpcw_vom_stats_phase(stats, 7, &migrations, &balance[0], &balance[1], &err), &err);
    ok(hpcw_vom_stats_close(stats, &err), &err);
    hpcw_vom_stats_free(stats);
    struct statistics seen = {.want = balance};
    const struct read_vom_statistics_events events = {
        .context = &seen, .quantity = see_quantity, .phase_end = see_balance};
    ok(read_vom_statistics_read(name, &events, &err), &err);
    assert_true(seen.groups == 2 && seen.quantities == 2 * (uint64_t)HPCW_VOM_QUANTITIES);
    ok(read_vom_verify(name, READ_VOM_STRICT, &err), &err);
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(statistics),
    };
    return cmocka_run_group_tests_name("roundtrip_vom_records", tests, NULL, NULL);
}
