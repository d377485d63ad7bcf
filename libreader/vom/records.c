/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds records from the values of a data file and passes them to the events. */
#include <inttypes.h>
#include <string.h>

#include "libreader/vom/private.h"
#include "libreader/vom/schema.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

void read_vom_records_free(struct read_vom_records *records) {
    for (int i = 0; i < READ_VOM_PHASE_LISTS; i++) {
        hpcw_i_free(records->lists[i].item);
    }
    hpcw_i_free(records->subphase);
    hpcw_i_buf_free(&records->resource);
    read_vom_members_free(&records->rank_attributes);
    read_vom_members_free(&records->attributes);
    read_vom_members_free(&records->user_defined);
    read_vom_members_free(&records->phase_user_defined[0]);
    read_vom_members_free(&records->phase_user_defined[1]);
}

/* ---- Begin ----------------------------------------------------------------------------------------------- */

static void begin_entity(struct read_vom_records *c, struct read_vom_entity *e) {
    /* The index needs no zeros: `dimensions` says how much of it counts. */
    memset(e, 0, offsetof(struct read_vom_entity, index));
    c->entity = e;
}

static hpcw_status begin_phase(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    const struct read_vom_events *events = r->events;
    if (r->phases == r->until) {
        read_vom_json_stop(r->json);
        return HPCW_OK;
    }
    if (r->phases == READ_VOM_MOST_PHASES) {
        return read_vom_json_wrong(r->json, HPCW_ERANGE, err, "expected at most %" PRIu64 " phases, got more",
                                   READ_VOM_MOST_PHASES);
    }
    c->level = 0;
    c->phase[0] = (struct read_vom_phase){.number = r->phases};
    read_vom_members_clear(&c->phase_user_defined[0]);
    return events->phase_begin == NULL ? HPCW_OK : events->phase_begin(events->context, r->phases, err);
}

static hpcw_status begin_iteration(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    const struct read_vom_events *events = r->events;
    uint64_t number = c->phase[0].iterations++;
    c->level = 1;
    c->phase[1] = (struct read_vom_phase){.number = number};
    read_vom_members_clear(&c->phase_user_defined[1]);
    return events->iteration_begin == NULL ? HPCW_OK : events->iteration_begin(events->context, number, err);
}

static hpcw_status begin(void *context, unsigned slot, hpcw_error *err) {
    struct read_vom *r = context;
    struct read_vom_records *c = &r->records;
    switch (slot) {
    case READ_VOM_S_PHASE:
        return begin_phase(r, err);
    case READ_VOM_S_ITERATION:
        return begin_iteration(r, err);
    case READ_VOM_S_TASK:
        c->task.has_subphases = false;
        c->task.subphases = 0;
        read_vom_members_clear(&c->attributes);
        read_vom_members_clear(&c->user_defined);
        break;
    case READ_VOM_S_ENTITY:
        begin_entity(c, &c->task.entity);
        break;
    case READ_VOM_S_FROM:
        begin_entity(c, &c->communication.from);
        break;
    case READ_VOM_S_TO:
        begin_entity(c, &c->communication.to);
        break;
    case READ_VOM_S_SUBPHASES:
        c->task.has_subphases = true;
        break;
    case READ_VOM_S_COMMUNICATIONS:
        c->phase[c->level].has_communications = true;
        break;
    case READ_VOM_S_METADATA:
        c->metadata = (struct read_vom_metadata){0};
        break;
    case READ_VOM_S_PHASE_LISTS:
        c->metadata.has_phases = true;
        break;
    case READ_VOM_S_IDENTICAL:
        c->list = READ_VOM_IDENTICAL;
        break;
    case READ_VOM_S_SKIPPED:
        c->list = READ_VOM_SKIPPED;
        break;
    case READ_VOM_S_LIST:
        c->list &= ~(unsigned)READ_VOM_AS_RANGES;
        break;
    case READ_VOM_S_RANGES:
        c->list |= READ_VOM_AS_RANGES;
        break;
    case READ_VOM_S_RANGE:
        c->range_ends = 0;
        break;
    case READ_VOM_S_SHARED_NODE:
        c->metadata.has_shared_node = true;
        break;
    case READ_VOM_S_RANK_ATTRIBUTES:
        c->rank_attributes.present = true;
        break;
    case READ_VOM_S_ATTRIBUTES:
        c->attributes.present = true;
        break;
    case READ_VOM_S_USER:
        c->user_defined.present = true;
        break;
    case READ_VOM_S_PHASE_USER:
        if (r->strict && c->level == 0) {
            return read_vom_wrong(r, err, "expected no user_defined of a phase: vt's reader throws on it");
        }
        c->phase_user_defined[c->level].present = true;
        break;
    default:
        break;
    }
    return HPCW_OK;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static bool is_text(const struct read_vom_value *v, const char *text) {
    return v->size == strlen(text) && memcmp(v->text, text, v->size) == 0;
}

static hpcw_status word_wrong(const struct read_vom *r, const struct read_vom_value *v, const char *expected,
                              hpcw_error *err) {
    return read_vom_wrong(r, err, "expected %s, got \"%.*s\"", expected, v->size > 60 ? 60 : (int)v->size,
                          v->text);
}

static hpcw_status take_type(struct read_vom *r, const struct read_vom_value *v, hpcw_error *err) {
    if (!is_text(v, "LBDatafile")) {
        return word_wrong(r, v, "\"LBDatafile\"", err);
    }
    r->typed = true;
    r->records.metadata.has_type = true;
    return HPCW_OK;
}

static hpcw_status take_rank(struct read_vom *r, uint32_t rank, hpcw_error *err) {
    if (r->rank == READ_VOM_ANY_RANK) {
        r->rank = rank;
    }
    if (r->rank != rank) {
        return read_vom_wrong(r, err, "expected %" PRIu32 ", the rank of %s, got %" PRIu32, r->rank,
                              r->rank_from_task ? "the tasks" : "the file", rank);
    }
    r->rank_from_task = false;
    r->records.metadata.has_rank = true;
    r->records.metadata.rank = rank;
    return HPCW_OK;
}

static hpcw_status take_task_node(struct read_vom *r, uint32_t node, hpcw_error *err) {
    if (r->rank == READ_VOM_ANY_RANK) {
        r->rank = node;
        r->rank_from_task = true;
    }
    if (r->rank != node) {
        return read_vom_wrong(r, err, "expected %" PRIu32 ", the rank of %s, got %" PRIu32, r->rank,
                              r->rank_from_task ? "the tasks before" : "the file", node);
    }
    r->records.task.node = node;
    return HPCW_OK;
}

static hpcw_status take_phase_id(struct read_vom *r, uint64_t id, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    if (c->level == 0 && r->phases > 0 && id <= r->last_id) {
        return read_vom_wrong(r, err, "expected ids in ascending order, above %" PRIu64 ", got %" PRIu64,
                              r->last_id, id);
    }
    c->phase[c->level].id = id;
    return HPCW_OK;
}

static hpcw_status take_category(struct read_vom *r, const struct read_vom_value *v, hpcw_error *err) {
    for (int c = READ_VOM_SEND_RECV; c <= READ_VOM_READ_ONLY_SHARED; c++) {
        if (is_text(v, read_vom_category_name((enum read_vom_category)c))) {
            r->records.communication.category = (enum read_vom_category)c;
            return HPCW_OK;
        }
    }
    return word_wrong(r, v, "the name of a category", err);
}

static hpcw_status take_kind(struct read_vom *r, const struct read_vom_value *v, hpcw_error *err) {
    struct read_vom_entity *e = r->records.entity;
    if (is_text(v, "object")) {
        e->kind = READ_VOM_OBJECT;
    } else if (is_text(v, "node")) {
        e->kind = READ_VOM_NODE;
    } else if (is_text(v, "shared_id")) {
        e->kind = READ_VOM_SHARED_ID;
    } else {
        return word_wrong(r, v, "\"object\", \"node\" or \"shared_id\"", err);
    }
    return HPCW_OK;
}

static hpcw_status add_interval(struct read_vom *r, struct read_vom_interval interval, hpcw_error *err) {
    return read_vom_intervals_add(&r->records.lists[r->records.list], r->json, interval, err);
}

static hpcw_status take_range_end(struct read_vom *r, uint64_t number, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    if (c->range_ends == 2) {
        return read_vom_wrong(r, err, "expected two numbers, got more");
    }
    *(c->range_ends == 0 ? &c->range.first : &c->range.last) = number;
    c->range_ends++;
    return HPCW_OK;
}

static hpcw_status take_index(struct read_vom *r, uint64_t number, hpcw_error *err) {
    struct read_vom_entity *e = r->records.entity;
    if (e->dimensions == READ_VOM_MOST_INDEX) {
        return read_vom_json_wrong(r->json, HPCW_ERANGE, err, "expected at most %u numbers, got more",
                                   READ_VOM_MOST_INDEX);
    }
    e->index[e->dimensions++] = number;
    return HPCW_OK;
}

static hpcw_status take_resource(struct read_vom *r, const struct read_vom_value *v, hpcw_error *err) {
    struct hpcw_i_buf *b = &r->records.resource;
    b->size = 0;
    return hpcw_i_buf_append(b, v->text, v->size) && hpcw_i_buf_append(b, "", 1)
               ? HPCW_OK
               : read_vom_no_memory(r->json, err);
}

static hpcw_status value(void *context, unsigned slot, const struct read_vom_value *v, hpcw_error *err) {
    struct read_vom *r = context;
    struct read_vom_records *c = &r->records;
    struct read_vom_metadata *m = &c->metadata;
    switch (slot) {
    /* of an entity */
    case READ_VOM_S_COLLECTION_ID:
        c->entity->has_collection_id = true;
        c->entity->collection_id = v->count;
        break;
    case READ_VOM_S_HOME:
        c->entity->has_home = true;
        c->entity->home = (uint32_t)v->count;
        break;
    case READ_VOM_S_ID:
        c->entity->has_id = true;
        c->entity->id = v->count;
        break;
    case READ_VOM_S_INDEX_ENTRY:
        return take_index(r, v->count, err);
    case READ_VOM_S_MIGRATABLE:
        c->entity->has_migratable = true;
        c->entity->migratable = v->flag;
        break;
    case READ_VOM_S_OBJGROUP_ID:
        c->entity->has_objgroup_id = true;
        c->entity->objgroup_id = v->count;
        break;
    case READ_VOM_S_SEQ_ID:
        c->entity->has_seq_id = true;
        c->entity->seq_id = v->count;
        break;
    case READ_VOM_S_KIND:
        return take_kind(r, v, err);
    /* of a communication */
    case READ_VOM_S_BYTES:
        c->communication.bytes = v->number;
        break;
    case READ_VOM_S_MESSAGES:
        c->communication.messages = v->count;
        break;
    case READ_VOM_S_CATEGORY:
        return take_category(r, v, err);
    /* of a task */
    case READ_VOM_S_TASK_NODE:
        return take_task_node(r, (uint32_t)v->count, err);
    case READ_VOM_S_RESOURCE:
        return take_resource(r, v, err);
    case READ_VOM_S_TASK_TIME:
        c->task.time = v->number;
        break;
    case READ_VOM_S_SUBPHASE_ID:
        c->subphase_id = v->count;
        break;
    case READ_VOM_S_SUBPHASE_TIME:
        c->subphase_value = v->number;
        break;
    case READ_VOM_S_ATTRIBUTE:
        return read_vom_members_add(&c->attributes, r->json, v, err);
    case READ_VOM_S_USER_VALUE:
        return read_vom_members_add(&c->user_defined, r->json, v, err);
    /* of a phase */
    case READ_VOM_S_PHASE_ID:
        return take_phase_id(r, v->count, err);
    case READ_VOM_S_PHASE_USER_VALUE:
        return read_vom_members_add(&c->phase_user_defined[c->level], r->json, v, err);
    /* of the metadata */
    case READ_VOM_S_TYPE:
        return take_type(r, v, err);
    case READ_VOM_S_RANK:
        return take_rank(r, (uint32_t)v->count, err);
    case READ_VOM_S_RANK_ALPHA:
        m->has_rank_alpha = true;
        m->rank_alpha = v->number;
        break;
    case READ_VOM_S_RANK_ATTRIBUTE:
        return read_vom_members_add(&c->rank_attributes, r->json, v, err);
    case READ_VOM_S_PHASE_COUNT:
        m->has_count = true;
        m->count = v->count;
        break;
    case READ_VOM_S_LISTED:
        return add_interval(r, (struct read_vom_interval){v->count, v->count}, err);
    case READ_VOM_S_RANGE_END:
        return take_range_end(r, v->count, err);
    case READ_VOM_S_NODE_ID:
        m->shared_node.id = (uint32_t)v->count;
        break;
    case READ_VOM_S_NODE_COUNT:
        m->shared_node.num_nodes = (uint32_t)v->count;
        break;
    case READ_VOM_S_NODE_RANK:
        m->shared_node.rank = (uint32_t)v->count;
        break;
    case READ_VOM_S_NODE_SIZE:
        m->shared_node.size = (uint32_t)v->count;
        break;
    default:
        break;
    }
    return HPCW_OK;
}

/* ---- End ------------------------------------------------------------------------------------------------- */

static hpcw_status end_subphase(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    if (c->subphase_id != c->task.subphases) {
        return read_vom_wrong(r, err, "id: expected %" PRIu32 ", its place in the array, got %" PRIu64,
                              c->task.subphases, c->subphase_id);
    }
    size_t least = (size_t)c->task.subphases + 1;
    double *grown = hpcw_i_grow(c->subphase, &c->subphase_capacity, least, sizeof *grown);
    if (grown == NULL) {
        return read_vom_no_memory(r->json, err);
    }
    c->subphase = grown;
    c->subphase[c->task.subphases++] = c->subphase_value;
    return HPCW_OK;
}

/* Whether the events get the records of the current phase or iteration. */
static bool reported(const struct read_vom *r) {
    return r->records.level == 0 || r->events->iteration_begin != NULL;
}

static hpcw_status end_task(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    c->task.number = c->phase[c->level].tasks++;
    if (!reported(r) || r->events->task == NULL) {
        return HPCW_OK;
    }
    c->task.resource = (const char *)c->resource.data;
    c->task.subphase_time = c->subphase;
    c->task.attributes = read_vom_members_view(&c->attributes);
    c->task.user_defined = read_vom_members_view(&c->user_defined);
    return r->events->task(r->events->context, &c->task, err);
}

static hpcw_status end_communication(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    c->communication.number = c->phase[c->level].communications++;
    hpcw_status status = read_vom_ends_check(r, &c->communication, err);
    if (status != HPCW_OK || !reported(r) || r->events->communication == NULL) {
        return status;
    }
    return r->events->communication(r->events->context, &c->communication, err);
}

static hpcw_status end_phase(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    struct read_vom_phase *p = &c->phase[c->level];
    const struct read_vom_events *events = r->events;
    p->user_defined = read_vom_members_view(&c->phase_user_defined[c->level]);
    if (c->level == 1) {
        c->level = 0;
        return events->iteration_begin == NULL || events->iteration_end == NULL
                   ? HPCW_OK
                   : events->iteration_end(events->context, p, err);
    }
    r->phases++;
    r->last_id = p->id;
    return events->phase_end == NULL ? HPCW_OK : events->phase_end(events->context, p, err);
}

static struct read_vom_intervals view_of(const struct read_vom_records *c, unsigned list) {
    return (struct read_vom_intervals){c->lists[list].item, c->lists[list].count};
}

static hpcw_status end_metadata(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    struct read_vom_metadata *m = &c->metadata;
    m->identical_list = view_of(c, READ_VOM_IDENTICAL);
    m->identical_range = view_of(c, READ_VOM_IDENTICAL | READ_VOM_AS_RANGES);
    m->skipped_list = view_of(c, READ_VOM_SKIPPED);
    m->skipped_range = view_of(c, READ_VOM_SKIPPED | READ_VOM_AS_RANGES);
    m->attributes = read_vom_members_view(&c->rank_attributes);
    r->has_metadata = true;
    const struct {
        bool present;
        const char *key;
    } keys[] = {{m->has_phases, "phases"},
                {m->has_rank, "rank"},
                {m->has_shared_node, "shared_node"},
                {m->has_type, "type"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && r->strict; i++) {
        if (!keys[i].present) {
            return read_vom_wrong(r, err, "expected the key \"%s\", got an object without it", keys[i].key);
        }
    }
    return r->events->metadata == NULL ? HPCW_OK : r->events->metadata(r->events->context, m, err);
}

static hpcw_status end(void *context, unsigned slot, uint64_t count, hpcw_error *err) {
    struct read_vom *r = context;
    struct read_vom_records *c = &r->records;
    switch (slot) {
    case READ_VOM_S_ENTITY:
        return read_vom_entity_check(r, &c->task.entity, true, err);
    case READ_VOM_S_FROM:
        return read_vom_entity_check(r, &c->communication.from, false, err);
    case READ_VOM_S_TO:
        return read_vom_entity_check(r, &c->communication.to, false, err);
    case READ_VOM_S_INDEX:
        return count > 0 ? HPCW_OK : read_vom_wrong(r, err, "expected at least one number, got none");
    case READ_VOM_S_SUBPHASE:
        return end_subphase(r, err);
    case READ_VOM_S_TASK:
        return end_task(r, err);
    case READ_VOM_S_COMMUNICATION:
        return end_communication(r, err);
    case READ_VOM_S_PHASE:
    case READ_VOM_S_ITERATION:
        return end_phase(r, err);
    case READ_VOM_S_RANGE:
        if (count != 2) {
            return read_vom_wrong(r, err, "expected two numbers, got %" PRIu64, count);
        }
        return add_interval(r, c->range, err);
    case READ_VOM_S_METADATA:
        return end_metadata(r, err);
    default:
        return HPCW_OK;
    }
}

const struct read_vom_consumer read_vom_data_consumer = {.begin = begin, .value = value, .end = end};
