/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records as text (doc/formats/vom.md, "Task" and "Edge"). A record of limited length is composed in the
 * emitter's buffer, without a call for each key. */
#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Upper limits of the characters of records and their parts. A formatted number may overwrite characters behind its
 * end, which are included. */
#define NUMBER_ROOM 24
#define ENTITY_ROOM (256 + NUMBER_ROOM * HPCW_VOM_MAX_DIMENSIONS)
#define EDGE_ROOM (256 + 2 * ENTITY_ROOM + HPCW_I_FMT_ROOM)
#define SUBPHASE_ROOM 64
#define SUBPHASES_AT_ONCE 64u
#define TASK_ROOM (256 + ENTITY_ROOM + SUBPHASE_ROOM * SUBPHASES_AT_ONCE + HPCW_I_FMT_ROOM)

_Static_assert(EDGE_ROOM <= HPCW_I_JSON_RESERVE && TASK_ROOM <= HPCW_I_JSON_RESERVE,
               "a record that fits at once");

static inline char *copy(char *p, const char *text, size_t size) {
    memcpy(p, text, size);
    return p + size;
}
#define COPY(p, literal) copy(p, literal, sizeof literal - 1)

/* Writes a number that usually has one digit, as most ranks, collections and counts do. */
static inline char *put_small(char *p, uint64_t v) {
    *p = (char)('0' + v);
    return LIKELY(v < 10) ? p + 1 : hpcw_i_fmt_u64(p, v);
}

/* Writes an amount. Readers expect amounts that are not negative, so adding 0.0 turns -0.0 into 0.0. */
static inline char *put_amount(char *p, double v) {
    return hpcw_i_fmt_f64(p, v + 0.0, HPCW_I_FLOAT_JSON);
}

/* ---- Entities -------------------------------------------------------------------------------------------- */

static inline char *put_entity(char *p, const hpcw_vom_entity *e) {
    if (e->collection_id != 0) {
        p = COPY(p, "{\"collection_id\":");
        p = put_small(p, e->collection_id);
        p = COPY(p, ",\"home\":");
    } else {
        p = COPY(p, "{\"home\":");
    }
    p = put_small(p, e->home);
    if (LIKELY(!e->by_seq_id)) {
        p = COPY(p, ",\"id\":");
        p = hpcw_i_fmt_u64(p, e->id);
    }
    if (e->index != NULL) {
        p = COPY(p, ",\"index\":");
        for (uint32_t i = 0; i < e->dimensions; i++) {
            *p++ = i == 0 ? '[' : ',';
            p = hpcw_i_fmt_u64(p, e->index[i]);
        }
        *p++ = ']';
    }
    p = e->migratable ? COPY(p, ",\"migratable\":true") : COPY(p, ",\"migratable\":false");
    if (e->objgroup_id != 0) {
        p = COPY(p, ",\"objgroup_id\":");
        p = hpcw_i_fmt_u64(p, e->objgroup_id);
    }
    if (e->by_seq_id) {
        p = COPY(p, ",\"seq_id\":");
        p = hpcw_i_fmt_u64(p, e->seq_id);
    }
    return COPY(p, ",\"type\":\"object\"}");
}

/* ---- Edges ----------------------------------------------------------------------------------------------- */

static inline char *put_end(char *p, const hpcw_vom_edge *edge, const hpcw_vom_entity *entity,
                            enum hpcw_i_vom_end end) {
    if (LIKELY(end == HPCW_I_VOM_OBJECT)) {
        return put_entity(p, entity);
    }
    p = COPY(p, "{\"id\":");
    if (end == HPCW_I_VOM_NODE) {
        p = put_small(p, edge->node);
        return COPY(p, ",\"type\":\"node\"}");
    }
    p = hpcw_i_fmt_u64(p, (uint64_t)edge->shared_id);
    return COPY(p, ",\"type\":\"shared_id\"}");
}

void hpcw_i_vom_put_edge(struct hpcw_i_json *j, const hpcw_vom_edge *edge) {
    const struct hpcw_i_vom_category *c = &hpcw_i_vom_categories[edge->category];
    char *p = hpcw_i_json_reserve(j, EDGE_ROOM);
    if (p == NULL) {
        return;
    }
    p = COPY(p, "{\"bytes\":");
    p = put_amount(p, edge->bytes);
    p = COPY(p, ",\"from\":");
    p = put_end(p, edge, &edge->from, c->from);
    p = COPY(p, ",\"messages\":");
    p = put_small(p, edge->messages);
    p = COPY(p, ",\"to\":");
    p = put_end(p, edge, &edge->to, c->to);
    p = COPY(p, ",\"type\":\"");
    p = copy(p, c->name, strlen(c->name));
    p = COPY(p, "\"}");
    hpcw_i_json_commit(j, p);
}

/* ---- Tasks ----------------------------------------------------------------------------------------------- */

static inline char *put_time(char *p, const hpcw_vom_task *t) {
    return t->whole_ns ? hpcw_i_fmt_seconds(p, t->time_ns) : put_amount(p, t->time_s);
}

static inline char *put_subphase(char *p, const hpcw_vom_task *t, uint32_t k) {
    p = COPY(p, "{\"id\":");
    p = put_small(p, k);
    p = COPY(p, ",\"time\":");
    p = t->whole_ns ? hpcw_i_fmt_seconds(p, t->subphase_ns[k]) : put_amount(p, t->subphase_s[k]);
    *p++ = '}';
    return p;
}

/* Writes a task that has no part of unknown length. */
static void put_plain_task(struct hpcw_i_json *j, uint32_t node, const hpcw_vom_task *t) {
    char *p = hpcw_i_json_reserve(j, TASK_ROOM);
    if (p == NULL) {
        return;
    }
    p = COPY(p, "{\"entity\":");
    p = put_entity(p, &t->entity);
    p = COPY(p, ",\"node\":");
    p = put_small(p, node);
    p = COPY(p, ",\"resource\":\"cpu\"");
    if (t->subphases > 0) {
        p = COPY(p, ",\"subphases\":");
        for (uint32_t k = 0; k < t->subphases; k++) {
            *p++ = k == 0 ? '[' : ',';
            p = put_subphase(p, t, k);
        }
        *p++ = ']';
    }
    p = COPY(p, ",\"time\":");
    p = put_time(p, t);
    *p++ = '}';
    hpcw_i_json_commit(j, p);
}

static void put_any_task(struct hpcw_i_json *j, uint32_t node, const hpcw_vom_task *t) {
    char *p;
    hpcw_i_json_begin_object(j);
    if (t->attribute_count > 0) {
        hpcw_i_vom_put_values(j, "attributes", t->attributes, t->attribute_count);
    }
    hpcw_i_json_key(j, "entity");
    if ((p = hpcw_i_json_reserve(j, ENTITY_ROOM + HPCW_I_FMT_ROOM)) != NULL) {
        hpcw_i_json_commit(j, put_entity(p, &t->entity));
    }
    hpcw_i_json_put_u64(j, "node", node);
    hpcw_i_json_put_str(j, "resource", t->resource != NULL ? t->resource : "cpu");
    if (t->subphases > 0) {
        hpcw_i_json_key_array(j, "subphases");
        for (uint32_t k = 0; k < t->subphases; k++) {
            if ((p = hpcw_i_json_reserve(j, SUBPHASE_ROOM + HPCW_I_FMT_ROOM)) != NULL) {
                hpcw_i_json_commit(j, put_subphase(p, t, k));
            }
        }
        hpcw_i_json_end_array(j);
    }
    hpcw_i_json_key(j, "time");
    if ((p = hpcw_i_json_reserve(j, HPCW_I_FMT_ROOM)) != NULL) {
        hpcw_i_json_commit(j, put_time(p, t));
    }
    if (t->value_count > 0) {
        hpcw_i_vom_put_values(j, "user_defined", t->values, t->value_count);
    }
    hpcw_i_json_end_object(j);
}

void hpcw_i_vom_put_task(struct hpcw_i_json *j, uint32_t node, const hpcw_vom_task *t) {
    if (t->attribute_count == 0 && t->value_count == 0 && t->resource == NULL &&
        t->subphases <= SUBPHASES_AT_ONCE) {
        put_plain_task(j, node, t);
    } else {
        put_any_task(j, node, t);
    }
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static void put_value(struct hpcw_i_json *j, const hpcw_vom_value *v) {
    hpcw_i_json_key(j, v->key);
    switch (v->type) {
    case HPCW_VOM_INTEGER:
        hpcw_i_json_i64(j, v->integer);
        break;
    case HPCW_VOM_FLOAT:
        hpcw_i_json_f64(j, v->number);
        break;
    case HPCW_VOM_TEXT:
        hpcw_i_json_str(j, v->text);
        break;
    case HPCW_VOM_BOOLEAN:
        hpcw_i_json_bool(j, v->integer != 0);
        break;
    case HPCW_VOM_JSON:
        hpcw_i_json_text(j, v->text);
        break;
    }
}

void hpcw_i_vom_put_values(struct hpcw_i_json *j, const char *key, const hpcw_vom_value *values, size_t count) {
    hpcw_i_json_key_object(j, key);
    const hpcw_vom_value *last = NULL;
    for (size_t n = 0; n < count; n++) {
        /* Finds the next value in byte order. There are few values, and a search through all of them needs no
         * memory. */
        const hpcw_vom_value *next = NULL;
        for (size_t i = 0; i < count; i++) {
            if ((last == NULL || strcmp(values[i].key, last->key) > 0) &&
                (next == NULL || strcmp(values[i].key, next->key) < 0)) {
                next = &values[i];
            }
        }
        put_value(j, next);
        last = next;
    }
    hpcw_i_json_end_object(j);
}
