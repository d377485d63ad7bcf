/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics file, LBStatsfile (doc/formats/vom.md, "Statistics file"). */
#include "libreader/vom/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libreader/source.h"
#include "libreader/vom/json/json.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- Schema ---------------------------------------------------------------------------------------------- */

enum { PHASE = 1, BEFORE, AFTER, QUANTITY = 16 };

struct statistics_state {
    const struct read_vom_statistics_events *events;
    struct read_vom_json *json;
    uint64_t phases, id, last_id, migrations;
    unsigned groups;
    bool after;
    /* the type of the file was read, from the metadata, or from the outermost object as in vt's first files */
    bool typed;
    double figure[READ_VOM_FIGURES];
};

#define PUT(member) READ_VOM_PUT(struct statistics_state, member)
#define FIGURE_OF(name, f)                                                                                     \
    {                                                                                                          \
        READ_VOM_KEY(name), true, {                                                                            \
            .type = READ_VOM_T_REAL, PUT(figure[f])                                                            \
        }                                                                                                      \
    }

static const struct read_vom_key figure_keys[READ_VOM_FIGURES] = {
    FIGURE_OF("avg", READ_VOM_AVG), FIGURE_OF("car", READ_VOM_CAR), FIGURE_OF("imb", READ_VOM_IMB),
    FIGURE_OF("kur", READ_VOM_KUR), FIGURE_OF("max", READ_VOM_MAX), FIGURE_OF("min", READ_VOM_MIN),
    FIGURE_OF("npr", READ_VOM_NPR), FIGURE_OF("skw", READ_VOM_SKW), FIGURE_OF("std", READ_VOM_STD),
    FIGURE_OF("sum", READ_VOM_SUM), FIGURE_OF("var", READ_VOM_VAR),
};

#define QUANTITY_OF(name, n, required)                                                                         \
    {                                                                                                          \
        READ_VOM_KEY(name), required, {                                                                        \
            .type = READ_VOM_T_OBJECT, .slot = QUANTITY + (n), READ_VOM_KEYS(figure_keys)                      \
        }                                                                                                      \
    }

static const struct read_vom_key quantity_keys[] = {
    QUANTITY_OF("Object_comm", 0, true),     QUANTITY_OF("Object_load_modeled", 1, true),
    QUANTITY_OF("Object_load_raw", 2, true), QUANTITY_OF("Object_strategy_specific_load_modeled", 3, false),
    QUANTITY_OF("Rank_comm", 4, true),       QUANTITY_OF("Rank_load_modeled", 5, true),
    QUANTITY_OF("Rank_load_raw", 6, true),   QUANTITY_OF("Rank_strategy_specific_load_modeled", 7, false),
};

static const struct read_vom_key phase_keys[] = {
    {READ_VOM_KEY("id"), true, {.type = READ_VOM_T_COUNT, .most = UINT64_MAX, PUT(id)}},
    {READ_VOM_KEY("migration count"),
     false,
     {.type = READ_VOM_T_COUNT, .most = UINT64_MAX - 1, PUT(migrations)}},
    {READ_VOM_KEY("post-LB"), false, {.type = READ_VOM_T_OBJECT, .slot = AFTER, READ_VOM_KEYS(quantity_keys)}},
    {READ_VOM_KEY("pre-LB"), true, {.type = READ_VOM_T_OBJECT, .slot = BEFORE, READ_VOM_KEYS(quantity_keys)}},
};
static const struct read_vom_spec phase = {.type = READ_VOM_T_OBJECT, .slot = PHASE, READ_VOM_KEYS(phase_keys)};

static const char *const type_words[] = {"LBStatsfile"};
static const struct read_vom_words type = {.expected = "\"LBStatsfile\"", .count = 1, .word = type_words};
#define TYPE                                                                                                   \
    { .type = READ_VOM_T_WORD, .words = &type, .present = offsetof(struct statistics_state, typed) }
static const struct read_vom_key metadata_keys[] = {
    {READ_VOM_KEY("type"), true, TYPE},
};

static const struct read_vom_key top_keys[] = {
    {READ_VOM_KEY("metadata"), false, {.type = READ_VOM_T_OBJECT, READ_VOM_KEYS(metadata_keys)}},
    {READ_VOM_KEY("phases"), true, {.type = READ_VOM_T_ARRAY, .element = &phase}},
    {READ_VOM_KEY("type"), false, TYPE},
};
static const struct read_vom_spec top = {.type = READ_VOM_T_OBJECT, READ_VOM_KEYS(top_keys)};

/* ---- Reading --------------------------------------------------------------------------------------------- */

static hpcw_status begin(void *context, const struct read_vom_spec *spec, hpcw_error *err) {
    (void)err;
    struct statistics_state *p = context;
    if (spec->slot == PHASE) {
        p->groups = 0;
        p->migrations = UINT64_MAX;
    } else if (spec->slot == BEFORE || spec->slot == AFTER) {
        p->after = spec->slot == AFTER;
        p->groups++;
    }
    return HPCW_OK;
}

/* Returns whether two figures are equal except for rounding. */
static bool near(double expected, double got, double scale) {
    return fabs(expected - got) <= 1e-6 * (fabs(scale) > fabs(expected) ? fabs(scale) : fabs(expected));
}

/* Checks the figures that can be computed from other figures. */
static hpcw_status consistent(const struct statistics_state *p, hpcw_error *err) {
    const double *f = p->figure;
    const double most = fabs(f[READ_VOM_MAX]) > fabs(f[READ_VOM_MIN]) ? f[READ_VOM_MAX] : f[READ_VOM_MIN];
    const struct {
        bool good;
        enum read_vom_figure figure;
        const char *expected;
    } rules[] = {
        {f[READ_VOM_CAR] >= 0 && f[READ_VOM_CAR] == floor(f[READ_VOM_CAR]), READ_VOM_CAR,
         "a whole number >= 0"},
        {f[READ_VOM_NPR] >= 0 && f[READ_VOM_NPR] == floor(f[READ_VOM_NPR]) &&
             f[READ_VOM_NPR] <= f[READ_VOM_CAR],
         READ_VOM_NPR, "a whole number from 0 to car"},
        {f[READ_VOM_MIN] <= f[READ_VOM_MAX], READ_VOM_MIN, "at most max"},
        {(f[READ_VOM_AVG] >= f[READ_VOM_MIN] || near(f[READ_VOM_MIN], f[READ_VOM_AVG], most)) &&
             (f[READ_VOM_AVG] <= f[READ_VOM_MAX] || near(f[READ_VOM_MAX], f[READ_VOM_AVG], most)),
         READ_VOM_AVG, "between min and max"},
        {near(f[READ_VOM_AVG] * f[READ_VOM_CAR], f[READ_VOM_SUM], most), READ_VOM_SUM, "avg * car"},
        {near(f[READ_VOM_STD] * f[READ_VOM_STD], f[READ_VOM_VAR], 0), READ_VOM_VAR, "the square of std"},
        {f[READ_VOM_AVG] == 0 || near(f[READ_VOM_MAX] / f[READ_VOM_AVG] - 1, f[READ_VOM_IMB], 1), READ_VOM_IMB,
         "max / avg - 1"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].good) {
            return read_vom_json_wrong(p->json, HPCW_EFORMAT, err, "%s: expected %s, got %.9g",
                                       read_vom_figure_name(rules[i].figure), rules[i].expected,
                                       f[rules[i].figure]);
        }
    }
    return HPCW_OK;
}

static hpcw_status end(void *context, const struct read_vom_spec *spec, uint64_t count, hpcw_error *err) {
    (void)count;
    struct statistics_state *p = context;
    const struct read_vom_statistics_events *events = p->events;
    if (spec->slot >= QUANTITY) {
        hpcw_status status = consistent(p, err);
        return status != HPCW_OK || events->quantity == NULL
                   ? status
                   : events->quantity(events->context, p->after, quantity_keys[spec->slot - QUANTITY].name,
                                      p->figure, err);
    }
    if (spec->slot != PHASE) {
        return HPCW_OK;
    }
    if (p->phases > 0 && p->id <= p->last_id) {
        return read_vom_json_wrong(p->json, HPCW_EFORMAT, err,
                                   "id: expected ids in ascending order, above %" PRIu64 ", got %" PRIu64,
                                   p->last_id, p->id);
    }
    p->phases++;
    p->last_id = p->id;
    return events->phase_end == NULL ? HPCW_OK
                                     : events->phase_end(events->context, p->id, p->migrations, p->groups, err);
}

hpcw_status read_vom_statistics_source(const struct read_source *source,
                                       const struct read_vom_statistics_events *events, hpcw_error *err) {
    struct read_vom_text *text = NULL;
    struct statistics_state p = {.events = events};
    const struct read_vom_consumer consumer = {.context = &p, .begin = begin, .end = end};
    hpcw_status status = read_vom_text_new(source, &text, err);
    if (status == HPCW_OK) {
        status = read_vom_json_new(read_source_name(source), text, &top, 0, &consumer, &p.json, err);
    }
    if (status == HPCW_OK) {
        status = read_vom_json_run(p.json, err);
    }
    if (status == HPCW_OK && !p.typed) {
        status = hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected the type \"LBStatsfile\" in metadata or at the top, got a file without it",
            read_source_name(source));
    }
    read_vom_json_free(p.json);
    read_vom_text_free(text);
    return status;
}

hpcw_status read_vom_statistics_read(const char *path, const struct read_vom_statistics_events *events,
                                     hpcw_error *err) {
    struct read_source *source;
    hpcw_status status = read_source_open(path, &source, err);
    if (status == HPCW_OK) {
        status = read_vom_statistics_source(source, events, err);
        read_source_free(source);
    }
    return status;
}
