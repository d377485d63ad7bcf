/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/vom/check.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/io/brotli.h"
#include "libwriter/io/json.h"

hpcw_status hpcw_i_vom_refuse(const struct hpcw_i_vom_place *place, hpcw_error *err, hpcw_status code,
                              const char *fmt, ...) {
    if (err == NULL) {
        return code;
    }
    char why[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    if (place->what == NULL) {
        return hpcw_i_fail(err, code, "%s: %s", place->path, why);
    }
    return hpcw_i_fail(err, code, "%s: phase %" PRIu64 ", %s %" PRIu64 ": %s", place->path, place->phase,
                       place->what, place->number, why);
}

static bool allowed(const struct hpcw_i_vom_place *place, unsigned flag) {
    return (place->options->allow & flag) != 0;
}

/* Returns whether v is finite and not negative. NaN is not. */
static bool is_amount(double v) {
    return v >= 0 && v <= DBL_MAX;
}

static bool is_utf8(const char *text) {
    return hpcw_i_json_is_utf8(text, strlen(text));
}

/* Largest number of nested levels in a value. Readers, including that of this project, accept 32 levels, and a
 * value in an iteration is 8 levels deep. */
enum { MOST_LEVELS = 24 };

/* ---- Values ---------------------------------------------------------------------------------------------- */

static hpcw_status check_value(const struct hpcw_i_vom_place *place, enum hpcw_i_vom_values kind,
                               const hpcw_vom_value *v, hpcw_error *err) {
    const char *of = kind == HPCW_I_VOM_ATTRIBUTES ? "attribute" : "value";
    if (v->key == NULL || !is_utf8(v->key)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s: expected a key in UTF-8, got %s", of,
                                 v->key == NULL ? "NULL" : "other bytes");
    }
    switch (v->type) {
    case HPCW_VOM_INTEGER:
        if (kind == HPCW_I_VOM_ATTRIBUTES && (v->integer < INT32_MIN || v->integer > INT32_MAX) &&
            !allowed(place, HPCW_VOM_ALLOW_TEXT_VALUES)) {
            return hpcw_i_vom_refuse(place, err, HPCW_ERANGE,
                                     "attribute %s: expected 32 bits, got %" PRId64
                                     " without HPCW_VOM_ALLOW_TEXT_VALUES",
                                     v->key, v->integer);
        }
        return HPCW_OK;
    case HPCW_VOM_FLOAT:
        if (!is_amount(v->number < 0 ? -v->number : v->number)) {
            return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s %s: expected a finite number, got %g", of,
                                     v->key, v->number);
        }
        return HPCW_OK;
    case HPCW_VOM_TEXT:
        if (v->text == NULL || !is_utf8(v->text)) {
            return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s %s: expected a text in UTF-8, got %s", of,
                                     v->key, v->text == NULL ? "NULL" : "other bytes");
        }
        if (kind == HPCW_I_VOM_TASK_VALUES && !allowed(place, HPCW_VOM_ALLOW_TEXT_VALUES)) {
            return hpcw_i_vom_refuse(
                place, err, HPCW_EINVAL,
                "value %s: expected a number (vt's TemperedLB aborts on texts), got \"%.64s\" "
                "without HPCW_VOM_ALLOW_TEXT_VALUES",
                v->key, v->text);
        }
        return HPCW_OK;
    case HPCW_VOM_BOOLEAN:
    case HPCW_VOM_JSON:
        if (v->type == HPCW_VOM_JSON && (v->text == NULL || !hpcw_i_json_is_text(v->text, MOST_LEVELS))) {
            return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                     "%s %s: expected JSON in UTF-8 of at most %d levels, got %.64s", of,
                                     v->key, MOST_LEVELS, v->text == NULL ? "NULL" : v->text);
        }
        if (kind != HPCW_I_VOM_PHASE_VALUES && !allowed(place, HPCW_VOM_ALLOW_TEXT_VALUES)) {
            return hpcw_i_vom_refuse(
                place, err, HPCW_EINVAL, "%s %s: expected %s, got %s without HPCW_VOM_ALLOW_TEXT_VALUES", of,
                v->key, kind == HPCW_I_VOM_ATTRIBUTES ? "an integer, a float or a text" : "a number",
                v->type == HPCW_VOM_JSON ? "JSON" : "a boolean");
        }
        return HPCW_OK;
    default:
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s %s: expected a type of 0 to 4, got %u", of,
                                 v->key, (unsigned)v->type);
    }
}

hpcw_status hpcw_i_vom_check_values(const struct hpcw_i_vom_place *place, enum hpcw_i_vom_values kind,
                                    const hpcw_vom_value *values, size_t count, hpcw_error *err) {
    if (count == 0) {
        return HPCW_OK;
    }
    if (values == NULL) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "expected %zu values, got NULL", count);
    }
    bool ascending = true;
    for (size_t i = 0; i < count; i++) {
        hpcw_status s = check_value(place, kind, &values[i], err);
        if (s != HPCW_OK) {
            return s;
        }
        ascending = ascending && (i == 0 || strcmp(values[i - 1].key, values[i].key) < 0);
    }
    for (size_t i = 1; i < count && !ascending; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(values[k].key, values[i].key) == 0) {
                return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "expected each key once, got %s twice",
                                         values[i].key);
            }
        }
    }
    return HPCW_OK;
}

/* ---- Entities -------------------------------------------------------------------------------------------- */

static hpcw_status check_seq_id(const struct hpcw_i_vom_place *place, const char *end, const hpcw_vom_entity *e,
                                hpcw_error *err) {
    if (!allowed(place, HPCW_VOM_ALLOW_SEQ_IDS)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: expected an id, got seq_id %" PRIu64 " without HPCW_VOM_ALLOW_SEQ_IDS",
                                 end, e->seq_id);
    }
    if (e->id != 0 || e->seq_id > HPCW_VOM_MAX_ELEMENTS) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: expected a seq_id below 2^46 and no id, got %" PRIu64 " and id %" PRIu64,
                                 end, e->seq_id, e->id);
    }
    if (e->migratable && e->collection_id == 0) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: expected the collection of migratable seq_id %" PRIu64 ", got none", end,
                                 e->seq_id);
    }
    return HPCW_OK;
}

/* Checks the fields that repeat what the id contains. `parts` must be those of a valid id. */
static hpcw_status check_fields(const struct hpcw_i_vom_place *place, const char *end, const hpcw_vom_entity *e,
                                const hpcw_vom_id *parts, bool task, hpcw_error *err) {
    bool element = parts->kind == HPCW_VOM_ELEMENT || parts->kind == HPCW_VOM_FIXED;
    if (e->home != parts->home) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: home: expected %u as id %" PRIu64 " says, got %u", end, parts->home,
                                 e->id, e->home);
    }
    if (e->migratable != (parts->kind == HPCW_VOM_ELEMENT)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: migratable: expected %s as id %" PRIu64 " says, got %s", end,
                                 e->migratable ? "false" : "true", e->id, e->migratable ? "true" : "false");
    }
    if (!element && (e->collection_id != 0 || e->index != NULL)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: expected no collection and no index, as id %" PRIu64
                                 " is no element, got %s",
                                 end, e->id, e->collection_id != 0 ? "a collection" : "an index");
    }
    if (element && task && (e->collection_id == 0 || e->index == NULL)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: expected collection and index of element %" PRIu64 ", got no %s", end,
                                 e->id, e->collection_id == 0 ? "collection" : "index");
    }
    uint64_t group = parts->kind == HPCW_VOM_GROUP ? hpcw_vom_objgroup_id(e->id) : 0;
    if (e->objgroup_id != group && (task || e->objgroup_id != 0)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "%s: objgroup_id: expected %" PRIu64 " as id %" PRIu64 " says, got %" PRIu64,
                                 end, group, e->id, e->objgroup_id);
    }
    return HPCW_OK;
}

/* Returns whether this is an element without a fault. Elements are by far the most frequent kind of entity. So this
 * one test must be fast, and the tests with error messages need not be. */
static inline bool is_good_element(const struct hpcw_i_vom_place *place, const hpcw_vom_entity *e, bool task) {
    return (e->id & 3) == HPCW_VOM_ELEMENT && e->id >> 18 != 0 && (e->id >> 2 & 0xffff) == e->home &&
           e->migratable && e->home < place->options->ranks && !e->by_seq_id && e->objgroup_id == 0 &&
           (e->index != NULL ? e->dimensions - 1 < HPCW_VOM_MAX_DIMENSIONS : e->dimensions == 0) &&
           (!task || (e->index != NULL && e->collection_id != 0));
}

static hpcw_status check_any_entity(const struct hpcw_i_vom_place *place, const char *end,
                                    const hpcw_vom_entity *e, bool task, hpcw_vom_kind *kind, hpcw_error *err) {
    if (e->index == NULL ? e->dimensions != 0 : e->dimensions == 0 || e->dimensions > HPCW_VOM_MAX_DIMENSIONS) {
        return hpcw_i_vom_refuse(place, err, HPCW_ERANGE, "%s: index: expected %s numbers, got %u", end,
                                 e->index == NULL ? "an array for its" : "1 to 16", e->dimensions);
    }
    if (e->home >= place->options->ranks) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s: home: expected less than %u ranks, got %u", end,
                                 place->options->ranks, e->home);
    }
    if (e->by_seq_id) {
        *kind = e->migratable ? HPCW_VOM_ELEMENT : HPCW_VOM_FIXED;
        return check_seq_id(place, end, e, err);
    }
    hpcw_vom_id parts;
    hpcw_error reason;
    if (hpcw_vom_id_parts(e->id, &parts, err == NULL ? NULL : &reason) != HPCW_OK) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "%s: %s", end, err == NULL ? "" : reason.message);
    }
    *kind = parts.kind;
    return check_fields(place, end, e, &parts, task, err);
}

static inline hpcw_status check_entity(const struct hpcw_i_vom_place *place, const char *end,
                                       const hpcw_vom_entity *e, bool task, hpcw_vom_kind *kind,
                                       hpcw_error *err) {
    if (is_good_element(place, e, task)) {
        *kind = HPCW_VOM_ELEMENT;
        return HPCW_OK;
    }
    return check_any_entity(place, end, e, task, kind, err);
}

uint64_t hpcw_i_vom_id_of(const hpcw_vom_entity *e) {
    return e->by_seq_id ? e->seq_id << 18 | (uint64_t)e->home << 2 |
                              (uint64_t)(e->migratable ? HPCW_VOM_ELEMENT : HPCW_VOM_FIXED)
                        : e->id;
}

/* The id of a handler or a group member contains its home rank. Returns whether this rank differs from the rank of
 * the file. */
static bool lives_elsewhere(const struct hpcw_i_vom_place *place, const hpcw_vom_entity *e,
                            hpcw_vom_kind kind) {
    return (kind == HPCW_VOM_HANDLER || kind == HPCW_VOM_GROUP) && e->home != place->options->rank;
}

/* ---- Tasks ----------------------------------------------------------------------------------------------- */

static hpcw_status check_times(const struct hpcw_i_vom_place *place, const hpcw_vom_task *t, hpcw_error *err) {
    if (t->subphases > HPCW_VOM_MAX_SUBPHASES) {
        return hpcw_i_vom_refuse(place, err, HPCW_ERANGE, "subphases: expected at most %u, got %" PRIu32,
                                 HPCW_VOM_MAX_SUBPHASES, t->subphases);
    }
    if (t->subphases > 0 &&
        (t->whole_ns ? (const void *)t->subphase_ns : (const void *)t->subphase_s) == NULL) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "expected the times of %" PRIu32 " subphases in %s, got NULL", t->subphases,
                                 t->whole_ns ? "nanoseconds" : "seconds");
    }
    if (t->whole_ns) {
        return HPCW_OK;
    }
    if (!is_amount(t->time_s)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "time: expected finite seconds of at least 0, got %g",
                                 t->time_s);
    }
    for (uint32_t k = 0; k < t->subphases; k++) {
        if (!is_amount(t->subphase_s[k])) {
            return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                     "time of subphase %" PRIu32
                                     ": expected finite seconds of at least 0, got %g",
                                     k, t->subphase_s[k]);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_vom_check_task(const struct hpcw_i_vom_place *place, const hpcw_vom_task *t,
                                  hpcw_error *err) {
    hpcw_vom_kind kind = HPCW_VOM_NOBODY;
    hpcw_status s = check_entity(place, "entity", &t->entity, true, &kind, err);
    if (s == HPCW_OK && lives_elsewhere(place, &t->entity, kind)) {
        s = hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                              "expected an entity of rank %u, got %s %" PRIu64 " of rank %u",
                              place->options->rank, kind == HPCW_VOM_HANDLER ? "handler" : "group member",
                              t->entity.id, t->entity.home);
    }
    if (s == HPCW_OK) {
        s = check_times(place, t, err);
    }
    if (s == HPCW_OK && t->resource != NULL && !is_utf8(t->resource)) {
        s = hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "resource: expected a text in UTF-8, got other bytes");
    }
    if (s == HPCW_OK) {
        s = hpcw_i_vom_check_values(place, HPCW_I_VOM_ATTRIBUTES, t->attributes, t->attribute_count, err);
    }
    return s == HPCW_OK ? hpcw_i_vom_check_values(place, HPCW_I_VOM_TASK_VALUES, t->values, t->value_count, err)
                        : s;
}

/* ---- Edges ----------------------------------------------------------------------------------------------- */

const struct hpcw_i_vom_category hpcw_i_vom_categories[HPCW_I_VOM_CATEGORIES] = {
    [HPCW_VOM_SEND_RECV] = {"SendRecv", HPCW_I_VOM_OBJECT, HPCW_I_VOM_OBJECT},
    [HPCW_VOM_COLLECTION_TO_NODE] = {"CollectionToNode", HPCW_I_VOM_OBJECT, HPCW_I_VOM_NODE},
    [HPCW_VOM_NODE_TO_COLLECTION] = {"NodeToCollection", HPCW_I_VOM_NODE, HPCW_I_VOM_OBJECT},
    [HPCW_VOM_BROADCAST] = {"Broadcast", HPCW_I_VOM_OBJECT, HPCW_I_VOM_OBJECT},
    [HPCW_VOM_COLLECTION_TO_NODE_BCAST] = {"CollectionToNodeBcast", HPCW_I_VOM_OBJECT, HPCW_I_VOM_NODE},
    [HPCW_VOM_NODE_TO_COLLECTION_BCAST] = {"NodeToCollectionBcast", HPCW_I_VOM_NODE, HPCW_I_VOM_OBJECT},
    [HPCW_VOM_WRITE_SHARED] = {"WriteShared", HPCW_I_VOM_SHARED, HPCW_I_VOM_NODE},
    [HPCW_VOM_READ_ONLY_SHARED] = {"ReadOnlyShared", HPCW_I_VOM_SHARED, HPCW_I_VOM_NODE},
};

static bool is_element(const hpcw_vom_entity *e) {
    return e->by_seq_id || (e->id & 3) == HPCW_VOM_ELEMENT || (e->id & 3) == HPCW_VOM_FIXED;
}

const hpcw_vom_entity *hpcw_i_vom_recorder(const hpcw_vom_edge *edge) {
    const struct hpcw_i_vom_category *c = &hpcw_i_vom_categories[edge->category];
    if (c->from == HPCW_I_VOM_SHARED) {
        return NULL;
    }
    if (c->from == HPCW_I_VOM_NODE || edge->category == HPCW_VOM_BROADCAST) {
        return &edge->to;
    }
    return edge->category == HPCW_VOM_SEND_RECV && is_element(&edge->to) ? &edge->to : &edge->from;
}

hpcw_status hpcw_i_vom_check_edge(const struct hpcw_i_vom_place *place, const hpcw_vom_edge *edge,
                                  hpcw_error *err) {
    const struct hpcw_i_vom_category *c =
        (unsigned)edge->category < HPCW_I_VOM_CATEGORIES ? &hpcw_i_vom_categories[edge->category] : NULL;
    if (c == NULL || c->name == NULL) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "category: expected 1 to 6, 9 or 10, got %u",
                                 (unsigned)edge->category);
    }
    hpcw_vom_kind from = HPCW_VOM_NOBODY;
    hpcw_vom_kind to = HPCW_VOM_NOBODY;
    hpcw_status s = HPCW_OK;
    if (c->from == HPCW_I_VOM_OBJECT) {
        s = check_entity(place, "from", &edge->from, false, &from, err);
    }
    if (s == HPCW_OK && c->to == HPCW_I_VOM_OBJECT) {
        s = check_entity(place, "to", &edge->to, false, &to, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if ((c->from == HPCW_I_VOM_NODE || c->to == HPCW_I_VOM_NODE) && edge->node >= place->options->ranks) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "node: expected less than %u ranks, got %u",
                                 place->options->ranks, edge->node);
    }
    if (c->from == HPCW_I_VOM_SHARED && edge->shared_id < 0) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL, "shared_id: expected at least 0, got %" PRId32,
                                 edge->shared_id);
    }
    if (!is_amount(edge->bytes)) {
        return hpcw_i_vom_refuse(place, err, HPCW_EINVAL,
                                 "bytes: expected a finite number of at least 0, got %g", edge->bytes);
    }
    const hpcw_vom_entity *recorder = hpcw_i_vom_recorder(edge);
    if (recorder != NULL && lives_elsewhere(place, recorder, recorder == &edge->to ? to : from) &&
        !allowed(place, HPCW_VOM_ALLOW_FOREIGN_EDGES)) {
        return hpcw_i_vom_refuse(
            place, err, HPCW_EINVAL,
            "expected a %s that rank %u records, got one for rank %u, where its %s (id %" PRIu64 ") lives",
            c->name, place->options->rank, recorder->home, recorder == &edge->to ? "receiver" : "sender",
            recorder->id);
    }
    return HPCW_OK;
}

/* ---- Options --------------------------------------------------------------------------------------------- */

bool hpcw_i_vom_is_br(const char *name) {
    size_t size = strlen(name);
    return size >= 3 && strcmp(name + size - 3, ".br") == 0;
}

hpcw_status hpcw_i_vom_check_output(const char *path, const hpcw_vom_options *o, hpcw_error *err) {
    if (path == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected the path of a file, got NULL");
    }
    bool named_br = hpcw_i_vom_is_br(path);
    if ((unsigned)o->content > HPCW_VOM_BROTLI || (o->content == HPCW_VOM_PLAIN && named_br)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: content: expected %s, got %u", path,
                           named_br ? "brotli under this name" : "0 to 2", (unsigned)o->content);
    }
    if ((unsigned)o->durability > HPCW_SYNC_DIRECTORY) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: durability: expected 0 to 2, got %u", path,
                           (unsigned)o->durability);
    }
    hpcw_status s = hpcw_i_brotli_check(path, &o->brotli, err);
    if (s == HPCW_OK && (o->brotli.window == 16 || o->brotli.window == 21)) {
        s = hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: brotli window: expected other than 16 and 21 bits, whose streams readers can take for "
            "plain text, got %d",
            path, o->brotli.window);
    }
    return s;
}

static hpcw_status check_ranges(const char *path, const char *name, const hpcw_vom_range *r, size_t count,
                                const hpcw_vom_options *o, hpcw_error *err) {
    if (count > 0 && r == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: %s phases: expected %zu ranges, got NULL", path, name, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (r[i].first > r[i].last || (i > 0 && r[i].first <= r[i - 1].last)) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: %s phases: expected ascending disjoint ranges, got %" PRIu64 " to %" PRIu64
                               " as number %zu",
                               path, name, r[i].first, r[i].last, i);
        }
        if (o->phase_count != 0 && r[i].last >= o->phase_count) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: %s phases: expected less than the count %" PRIu64 ", got %" PRIu64, path,
                               name, o->phase_count, r[i].last);
        }
    }
    return HPCW_OK;
}

static hpcw_status check_phases(const char *path, const hpcw_vom_options *o, hpcw_error *err) {
    hpcw_status s = check_ranges(path, "skipped", o->skipped, o->skipped_count, o, err);
    if (s == HPCW_OK) {
        s = check_ranges(path, "identical", o->identical, o->identical_count, o, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (o->identical_count > 0 && o->identical[0].first == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: identical phases: expected none below 1 (phase 0 has none before it), got 0",
                           path);
    }
    for (size_t i = 0, k = 0; i < o->skipped_count && k < o->identical_count;) {
        if (o->skipped[i].last < o->identical[k].first) {
            i++;
        } else if (o->identical[k].last < o->skipped[i].first) {
            k++;
        } else {
            return hpcw_i_fail(
                err, HPCW_EINVAL, "%s: expected each phase skipped or identical, got %" PRIu64 " as both", path,
                o->skipped[i].first > o->identical[k].first ? o->skipped[i].first : o->identical[k].first);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_vom_check_options(const char *path, const hpcw_vom_options *o, hpcw_error *err) {
    hpcw_status s = hpcw_i_vom_check_output(path, o, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (o->ranks == 0 || o->ranks > HPCW_VOM_MAX_RANKS) {
        return hpcw_i_fail(err, o->ranks == 0 ? HPCW_EINVAL : HPCW_ERANGE,
                           "%s: ranks: expected 1 to %u, got %" PRIu32, path, HPCW_VOM_MAX_RANKS, o->ranks);
    }
    if (o->rank >= o->ranks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: rank: expected less than %" PRIu32 " ranks, got %" PRIu32,
                           path, o->ranks, o->rank);
    }
    const hpcw_vom_node *n = &o->node;
    if (n->size != 0 &&
        (n->id >= n->num_nodes || n->rank >= n->size || n->num_nodes > o->ranks || n->size > o->ranks)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: node: expected an id below num_nodes and a rank below size, both at most %" PRIu32
            ", got %" PRIu32 " of %" PRIu32 " and %" PRIu32 " of %" PRIu32,
            path, o->ranks, n->id, n->num_nodes, n->rank, n->size);
    }
    if (o->has_rank_alpha && !is_amount(o->rank_alpha)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: rank_alpha: expected a finite number of at least 0, got %g",
                           path, o->rank_alpha);
    }
    const unsigned known = 2 * HPCW_VOM_ALLOW_TASKS_FIRST - 1;
    if ((o->allow & ~known) != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: allow: expected flags of 0x%x, got 0x%x", path, known,
                           o->allow);
    }
    s = check_phases(path, o, err);
    if (s == HPCW_OK) {
        struct hpcw_i_vom_place place = {.path = path, .options = o};
        s = hpcw_i_vom_check_values(&place, HPCW_I_VOM_ATTRIBUTES, o->attributes, o->attribute_count, err);
    }
    return s;
}
