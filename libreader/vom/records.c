/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds records from the values of a data file, and passes them to the callbacks. */
#include <inttypes.h>
#include <string.h>

#include "libreader/vom/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- Lists that grow while their values arrive ----------------------------------------------------------- */

static void members_clear(struct read_vom_members_list *l) {
    l->present = false;
    l->text.size = 0;
    l->count = 0;
}

static hpcw_status no_memory(const struct read_vom_json *json, hpcw_error *err) {
    return read_vom_json_wrong(json, HPCW_ENOMEM, err, "out of memory for it");
}

static void members_free(struct read_vom_members_list *l) {
    hpcw_i_buf_free(&l->text);
    hpcw_i_free(l->item);
    *l = (struct read_vom_members_list){0};
}

static hpcw_status members_add(struct read_vom_members_list *l, const struct read_vom_json *json,
                               const struct read_vom_value *v, hpcw_error *err) {
    /* Count 64 bytes for each member in addition to its texts. This limits the number of short members, too. */
    if (l->text.size + 64 * l->count + v->key_size + v->size > READ_VOM_MOST_MEMBER_BYTES) {
        return read_vom_json_wrong(json, HPCW_ERANGE, err,
                                   "expected values of at most %zu bytes in all, got more",
                                   READ_VOM_MOST_MEMBER_BYTES);
    }
    struct read_vom_member *grown = hpcw_i_grow(l->item, &l->capacity, l->count + 1, sizeof *grown);
    l->item = grown != NULL ? grown : l->item;
    bool good = grown != NULL && hpcw_i_buf_append(&l->text, v->key, v->key_size) &&
                hpcw_i_buf_append(&l->text, "", 1) && hpcw_i_buf_append(&l->text, v->text, v->size) &&
                hpcw_i_buf_append(&l->text, "", 1);
    if (!good) {
        return no_memory(json, err);
    }
    l->item[l->count++] = (struct read_vom_member){
        .key_size = v->key_size, .type = v->type, .text_size = v->size, .number = v->number};
    return HPCW_OK;
}

static struct read_vom_members members_view(struct read_vom_members_list *l) {
    const char *text = (const char *)l->text.data;
    for (size_t i = 0; i < l->count; i++) {
        l->item[i].key = text;
        text += l->item[i].key_size + 1;
        l->item[i].text = text;
        text += l->item[i].text_size + 1;
    }
    return (struct read_vom_members){.present = l->present, .item = l->item, .count = l->count};
}

static hpcw_status intervals_add(struct read_vom *r, struct read_vom_intervals *l,
                                 struct read_vom_interval interval, hpcw_error *err) {
    const struct read_vom_json *json = r->json;
    const struct read_vom_metadata *m = &r->records.metadata;
    if (m->identical_list.count + m->identical_range.count + m->skipped_list.count + m->skipped_range.count ==
        READ_VOM_MOST_INTERVALS) {
        return read_vom_json_wrong(json, HPCW_ERANGE, err, "expected at most %zu entries, got more",
                                   READ_VOM_MOST_INTERVALS);
    }
    struct read_vom_interval *grown = hpcw_i_grow(l->item, &l->capacity, l->count + 1, sizeof *grown);
    if (grown == NULL) {
        return no_memory(json, err);
    }
    l->item = grown;
    l->item[l->count++] = interval;
    return HPCW_OK;
}

void read_vom_records_free(struct read_vom_records *records) {
    hpcw_i_free(records->metadata.identical_list.item);
    hpcw_i_free(records->metadata.identical_range.item);
    hpcw_i_free(records->metadata.skipped_list.item);
    hpcw_i_free(records->metadata.skipped_range.item);
    hpcw_i_free(records->subphase);
    hpcw_i_buf_free(&records->resource);
    members_free(&records->rank_attributes);
    members_free(&records->attributes);
    members_free(&records->user_defined);
    members_free(&records->phase_user_defined[0]);
    members_free(&records->phase_user_defined[1]);
}

/* Returns the address where the schema stores a value. */
static void *place_of(struct read_vom *r, const struct read_vom_spec *spec) {
    return (unsigned char *)r + spec->at;
}

/* ---- Begin ----------------------------------------------------------------------------------------------- */

static hpcw_status begin_phase(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    const struct read_vom_events *events = r->events;
    uint64_t number = r->here.phases;
    if (number == r->until) {
        read_vom_json_stop(r->json);
        return HPCW_OK;
    }
    if (number == READ_VOM_MOST_PHASES) {
        return read_vom_json_wrong(r->json, HPCW_ERANGE, err, "expected at most %" PRIu64 " phases, got more",
                                   READ_VOM_MOST_PHASES);
    }
    c->level = 0;
    c->phase[0] = (struct read_vom_phase){.number = number};
    members_clear(&c->phase_user_defined[0]);
    return events->phase_begin == NULL ? HPCW_OK : events->phase_begin(events->context, number, err);
}

static hpcw_status begin_iteration(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    const struct read_vom_events *events = r->events;
    uint64_t number = c->phase[0].iterations++;
    c->level = 1;
    c->phase[1] = (struct read_vom_phase){.number = number};
    members_clear(&c->phase_user_defined[1]);
    return events->iteration_begin == NULL ? HPCW_OK : events->iteration_begin(events->context, number, err);
}

static hpcw_status begin(void *context, const struct read_vom_spec *spec, hpcw_error *err) {
    struct read_vom *r = context;
    struct read_vom_records *c = &r->records;
    switch (spec->slot) {
    case READ_VOM_S_PHASE:
        return begin_phase(r, err);
    case READ_VOM_S_ITERATION:
        return begin_iteration(r, err);
    case READ_VOM_S_PHASE_USER:
        return !r->strict
                   ? HPCW_OK
                   : read_vom_wrong(r, err, "expected no user_defined of a phase: vt's reader throws on it");
    case READ_VOM_S_TASK:
        c->task.has_subphases = false;
        c->task.subphases = 0;
        members_clear(&c->attributes);
        members_clear(&c->user_defined);
        break;
    case READ_VOM_S_TASK_ENTITY:
    case READ_VOM_S_END_POINT:
        /* The index needs no zeros: only the first `dimensions` numbers of it are valid. */
        memset(&c->entity, 0, offsetof(struct read_vom_entity, index));
        break;
    case READ_VOM_S_RANGE:
        c->range_ends = 0;
        break;
    default:
        break;
    }
    return HPCW_OK;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Takes a rank, which comes from the metadata or is the node of a task (`task`). Fails if it differs from the rank
 * of the file. */
static hpcw_status take_rank(struct read_vom *r, uint32_t rank, bool task, hpcw_error *err) {
    if (r->here.rank == READ_VOM_ANY_RANK) {
        r->here.rank = rank;
        r->rank_from_task = task;
    }
    if (r->here.rank != rank) {
        return read_vom_wrong(r, err, "expected %" PRIu32 ", the rank of %s, got %" PRIu32, r->here.rank,
                              !r->rank_from_task ? "the file"
                              : task             ? "the tasks before"
                                                 : "the tasks",
                              rank);
    }
    r->rank_from_task = r->rank_from_task && task;
    return HPCW_OK;
}

static hpcw_status take_phase_id(struct read_vom *r, uint64_t id, hpcw_error *err) {
    return r->here.phases == 0 || id > r->here.last_id
               ? HPCW_OK
               : read_vom_wrong(r, err, "expected ids in ascending order, above %" PRIu64 ", got %" PRIu64,
                                r->here.last_id, id);
}

static hpcw_status take_range_end(struct read_vom *r, uint64_t number, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    if (c->range_ends == 2) {
        return read_vom_wrong(r, err, "expected two numbers, got more");
    }
    c->range[c->range_ends++] = number;
    return HPCW_OK;
}

static hpcw_status take_index(struct read_vom *r, uint64_t number, hpcw_error *err) {
    struct read_vom_entity *e = &r->records.entity;
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
    return hpcw_i_buf_append(b, v->text, v->size) && hpcw_i_buf_append(b, "", 1) ? HPCW_OK
                                                                                 : no_memory(r->json, err);
}

static hpcw_status value(void *context, const struct read_vom_spec *spec, const struct read_vom_value *v,
                         hpcw_error *err) {
    struct read_vom *r = context;
    switch (spec->slot) {
    case READ_VOM_S_INDEX_ENTRY:
        return take_index(r, v->count, err);
    case READ_VOM_S_TASK_NODE:
    case READ_VOM_S_RANK:
        return take_rank(r, (uint32_t)v->count, spec->slot == READ_VOM_S_TASK_NODE, err);
    case READ_VOM_S_RESOURCE:
        return take_resource(r, v, err);
    case READ_VOM_S_MEMBER:
        return members_add(place_of(r, spec), r->json, v, err);
    case READ_VOM_S_PHASE_ID:
        return take_phase_id(r, v->count, err);
    case READ_VOM_S_LISTED:
        return intervals_add(r, place_of(r, spec), (struct read_vom_interval){v->count, v->count}, err);
    case READ_VOM_S_RANGE_END:
        return take_range_end(r, v->count, err);
    default:
        return HPCW_OK;
    }
}

/* ---- End ------------------------------------------------------------------------------------------------- */

static hpcw_status end_entity(struct read_vom *r, const struct read_vom_spec *spec, hpcw_error *err) {
    struct read_vom_entity *e = &r->records.entity;
    const bool task = spec->slot == READ_VOM_S_TASK_ENTITY;
    hpcw_error why;
    hpcw_status status = read_vom_entity_check(r, e, task, r->lenient ? &why : err);
    if (status != HPCW_OK && r->lenient) {
        status = read_vom_entity_mend(r, e, &why, err);
    }
    memcpy(place_of(r, spec), e, offsetof(struct read_vom_entity, index) + e->dimensions * sizeof e->index[0]);
    return status;
}

static hpcw_status end_range(struct read_vom *r, const struct read_vom_spec *spec, uint64_t count,
                             hpcw_error *err) {
    const uint64_t *range = r->records.range;
    return count == 2 ? intervals_add(r, place_of(r, spec), (struct read_vom_interval){range[0], range[1]}, err)
                      : read_vom_wrong(r, err, "expected two numbers, got %" PRIu64, count);
}

static hpcw_status end_subphase(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    if (c->subphase_id != c->task.subphases) {
        return read_vom_wrong(r, err, "id: expected %" PRIu32 ", its place in the array, got %" PRIu64,
                              c->task.subphases, c->subphase_id);
    }
    size_t least = (size_t)c->task.subphases + 1;
    double *grown = hpcw_i_grow(c->subphase, &c->subphase_capacity, least, sizeof *grown);
    if (grown == NULL) {
        return no_memory(r->json, err);
    }
    c->subphase = grown;
    c->subphase[c->task.subphases++] = c->subphase_time;
    return HPCW_OK;
}

/* Returns whether the caller gets the records of the current phase or iteration. */
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
    c->task.attributes = members_view(&c->attributes);
    c->task.user_defined = members_view(&c->user_defined);
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
    p->user_defined = members_view(&c->phase_user_defined[c->level]);
    if (c->level == 1) {
        c->level = 0;
        return events->iteration_begin == NULL || events->iteration_end == NULL
                   ? HPCW_OK
                   : events->iteration_end(events->context, p, err);
    }
    r->here.phases++;
    r->here.last_id = p->id;
    return events->phase_end == NULL ? HPCW_OK : events->phase_end(events->context, p, err);
}

static hpcw_status end_metadata(struct read_vom *r, hpcw_error *err) {
    struct read_vom_records *c = &r->records;
    struct read_vom_metadata *m = &c->metadata;
    m->attributes = members_view(&c->rank_attributes);
    r->here.has_metadata = true;
    r->here.typed = r->here.typed || m->has_type;
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

static hpcw_status end(void *context, const struct read_vom_spec *spec, uint64_t count, hpcw_error *err) {
    struct read_vom *r = context;
    switch (spec->slot) {
    case READ_VOM_S_TASK_ENTITY:
    case READ_VOM_S_END_POINT:
        return end_entity(r, spec, err);
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
        return end_range(r, spec, count, err);
    case READ_VOM_S_METADATA:
        return end_metadata(r, err);
    default:
        return HPCW_OK;
    }
}

const struct read_vom_consumer read_vom_data_consumer = {
    .begin = begin, .value = value, .end = end, .whole = read_vom_take_whole};
