/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/vom_read.h>: the public reader of load data. */
#include "libreader/vom/public.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/vom/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- open and free ---- */

static void take_facts(hpcw_vom_reader *reader) {
    struct read_vom_facts facts;
    read_vom_facts(reader->r, &facts);
    reader->info = (hpcw_vom_info){
        .ended = facts.ended,
        .compressed = facts.compressed,
        .has_rank = facts.rank != READ_VOM_ANY_RANK,
        .rank = facts.rank != READ_VOM_ANY_RANK ? facts.rank : 0,
        .phases = facts.phases,
        .text_size = facts.text_size,
        .file_size = facts.file_size,
    };
}

hpcw_status read_vom_publish(struct read_source *source, uint32_t rank, unsigned flags, hpcw_vom_reader **out,
                             hpcw_error *err) {
    *out = NULL;
    struct read_vom *r;
    hpcw_status status = read_vom_open_source(source, rank, flags, &r, err);
    if (status != HPCW_OK) {
        return status;
    }
    *out = hpcw_i_calloc(1, sizeof **out);
    if (*out == NULL) {
        status = hpcw_i_fail_memory(err, r->name, 0, NULL);
        read_vom_free(r);
        return status;
    }
    (*out)->r = r;
    take_facts(*out);
    return HPCW_OK;
}

hpcw_status hpcw_vom_reader_open(const char *path, hpcw_vom_reader **out, hpcw_error *err) {
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || path == NULL) {
        return read_vom_missing(out == NULL ? "handle" : "path", err);
    }
    struct read_source *source;
    hpcw_status status = read_source_open(path, &source, err);
    return status == HPCW_OK ? read_vom_publish(source, READ_VOM_ANY_RANK, 0, out, err) : status;
}

void hpcw_vom_reader_free(hpcw_vom_reader *reader) {
    if (reader != NULL) {
        read_vom_free(reader->r);
        hpcw_i_free(reader->attributes.item);
        hpcw_i_free(reader->values.item);
        hpcw_i_free(reader->task);
        hpcw_i_free(reader->edge);
        hpcw_i_free(reader);
    }
}

const hpcw_vom_info *hpcw_vom_reader_info(const hpcw_vom_reader *reader) {
    return reader == NULL ? NULL : &reader->info;
}

/* ---- values ---- */

static hpcw_status no_memory(const hpcw_vom_reader *reader, hpcw_error *err) {
    return hpcw_i_fail_memory(err, reader->r->name, 0, "a record");
}

/* Checks that a text has no NUL inside, as a public text ends at its NUL. */
static hpcw_status whole_text(const hpcw_vom_reader *reader, const char *text, size_t size, hpcw_error *err) {
    return strlen(text) == size
               ? HPCW_OK
               : read_vom_json_wrong(reader->r->json, HPCW_ENOTSUP, err,
                                     "expected texts without NUL, got \"%.60s\" before one", text);
}

static hpcw_vom_value value_of(const struct read_vom_member *m) {
    hpcw_vom_value v = {.key = m->key};
    switch (m->type) {
    case READ_VOM_INTEGER:
        errno = 0;
        v.integer = strtoll(m->text, NULL, 10);
        if (errno == 0) {
            break;
        }
        v.integer = 0; /* the integer does not fit into 64 bits: pass it on as a double */
        /* fall through */
    case READ_VOM_FLOAT:
        v.type = HPCW_VOM_FLOAT;
        v.number = m->number;
        break;
    case READ_VOM_STRING:
        v.type = HPCW_VOM_TEXT;
        v.text = m->text;
        break;
    case READ_VOM_BOOL:
        v.type = HPCW_VOM_BOOLEAN;
        v.integer = m->text[0] == 't';
        break;
    default:
        v.type = HPCW_VOM_JSON;
        v.text = m->text;
        break;
    }
    return v;
}

static hpcw_status take_values(const hpcw_vom_reader *reader, const struct read_vom_members *from,
                               struct read_vom_values *to, hpcw_error *err) {
    to->count = 0;
    if (from->count == 0) {
        return HPCW_OK;
    }
    hpcw_vom_value *grown = hpcw_i_grow(to->item, &to->capacity, from->count, sizeof *grown);
    if (grown == NULL) {
        return no_memory(reader, err);
    }
    to->item = grown;
    hpcw_status status = HPCW_OK;
    for (size_t i = 0; status == HPCW_OK && i < from->count; i++) {
        const struct read_vom_member *m = &from->item[i];
        status = whole_text(reader, m->key, m->key_size, err);
        if (status == HPCW_OK) {
            status = whole_text(reader, m->text, m->text_size, err);
        }
        to->item[to->count++] = value_of(m);
    }
    return status;
}

static const hpcw_vom_value *first_of(const struct read_vom_values *values) {
    return values->count > 0 ? values->item : NULL;
}

/* ---- callbacks ---- */

static hpcw_status after_call(const hpcw_vom_reader *reader, hpcw_status status, hpcw_error *err) {
    return status == HPCW_OK ? HPCW_OK
                             : hpcw_i_fail(err, status, "%s: callback: expected HPCW_OK, got %s",
                                           reader->r->name, hpcw_status_name(status));
}

static int by_first(const void *a, const void *b) {
    const hpcw_vom_range *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->last > y->last) - (x->last < y->last);
}

/* Joins single phases and ranges to one list. NULL if memory runs out. */
static hpcw_vom_range *ranges_of(const struct read_vom_intervals *a, const struct read_vom_intervals *b,
                                 size_t *count) {
    const struct read_vom_intervals *from[] = {a, b};
    hpcw_vom_range *range = hpcw_i_malloc((a->count + b->count + 1) * sizeof *range);
    *count = 0;
    for (int f = 0; f < 2 && range != NULL; f++) {
        for (size_t i = 0; i < from[f]->count; i++) {
            range[(*count)++] = (hpcw_vom_range){from[f]->item[i].first, from[f]->item[i].last};
        }
    }
    if (range != NULL) {
        qsort(range, *count, sizeof *range, by_first);
    }
    return range;
}

static hpcw_status on_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    hpcw_vom_reader *reader = context;
    hpcw_vom_metadata metadata = {
        .has_rank = m->has_rank,
        .rank = m->has_rank ? m->rank : 0,
        .phase_count = m->has_count ? m->count : 0,
        .has_rank_alpha = m->has_rank_alpha,
        .rank_alpha = m->has_rank_alpha ? m->rank_alpha : 0,
    };
    if (m->has_shared_node) {
        metadata.node = (hpcw_vom_node){.id = m->shared_node.id,
                                        .num_nodes = m->shared_node.num_nodes,
                                        .rank = m->shared_node.rank,
                                        .size = m->shared_node.size};
    }
    hpcw_vom_range *skipped = ranges_of(&m->skipped_list, &m->skipped_range, &metadata.skipped_count);
    hpcw_vom_range *identical = ranges_of(&m->identical_list, &m->identical_range, &metadata.identical_count);
    hpcw_status status = skipped != NULL && identical != NULL
                             ? take_values(reader, &m->attributes, &reader->attributes, err)
                             : no_memory(reader, err);
    if (status == HPCW_OK) {
        metadata.skipped = skipped;
        metadata.identical = identical;
        metadata.attributes = first_of(&reader->attributes);
        metadata.attribute_count = reader->attributes.count;
        status = after_call(reader, reader->watch->metadata(reader->watch->context, &metadata), err);
    }
    hpcw_i_free(skipped);
    hpcw_i_free(identical);
    return status;
}

static hpcw_status on_begin_phase(void *context, uint64_t number, hpcw_error *err) {
    const hpcw_vom_reader *reader = context;
    return after_call(reader, reader->watch->begin_phase(reader->watch->context, number), err);
}

static hpcw_status on_begin_iteration(void *context, uint64_t number, hpcw_error *err) {
    const hpcw_vom_reader *reader = context;
    return after_call(reader, reader->watch->begin_iteration(reader->watch->context, number), err);
}

static hpcw_vom_entity entity_of(const struct read_vom_entity *e) {
    return (hpcw_vom_entity){
        .id = e->has_id ? e->id : 0,
        .collection_id = e->has_collection_id ? e->collection_id : 0,
        .objgroup_id = e->has_objgroup_id ? e->objgroup_id : 0,
        .index = e->dimensions > 0 ? e->index : NULL,
        .dimensions = e->dimensions,
        .home = e->home,
        .migratable = e->migratable,
        .by_seq_id = !e->has_id,
        .seq_id = e->has_seq_id ? e->seq_id : 0,
    };
}

static hpcw_status on_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    hpcw_vom_reader *reader = context;
    hpcw_status status = whole_text(reader, t->resource, reader->r->records.resource.size - 1, err);
    if (status == HPCW_OK) {
        status = take_values(reader, &t->attributes, &reader->attributes, err);
    }
    if (status == HPCW_OK) {
        status = take_values(reader, &t->user_defined, &reader->values, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    const hpcw_vom_task task = {
        .entity = entity_of(&t->entity),
        .time_s = t->time,
        .subphase_s = t->subphases > 0 ? t->subphase_time : NULL,
        .subphases = t->subphases,
        .resource = t->resource,
        .attributes = first_of(&reader->attributes),
        .attribute_count = reader->attributes.count,
        .values = first_of(&reader->values),
        .value_count = reader->values.count,
    };
    return after_call(reader, reader->watch->task(reader->watch->context, &task), err);
}

static hpcw_status on_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    const hpcw_vom_reader *reader = context;
    hpcw_vom_edge edge = {
        .category = (hpcw_vom_category)c->category, .bytes = c->bytes, .messages = c->messages};
    const struct read_vom_entity *end[] = {&c->from, &c->to};
    hpcw_vom_entity *object[] = {&edge.from, &edge.to};
    for (int i = 0; i < 2; i++) {
        switch (end[i]->kind) {
        case READ_VOM_NODE:
            edge.node = (uint32_t)end[i]->id;
            break;
        case READ_VOM_SHARED_ID:
            edge.shared_id = (int32_t)end[i]->id;
            break;
        default:
            *object[i] = entity_of(end[i]);
            break;
        }
    }
    return after_call(reader, reader->watch->edge(reader->watch->context, &edge), err);
}

static hpcw_status on_end(hpcw_vom_reader *reader, const struct read_vom_phase *p,
                          hpcw_status (*call)(void *context, const hpcw_vom_section *section),
                          hpcw_error *err) {
    hpcw_status status = take_values(reader, &p->user_defined, &reader->values, err);
    if (status != HPCW_OK) {
        return status;
    }
    const hpcw_vom_section section = {
        .number = p->number,
        .id = p->id,
        .tasks = p->tasks,
        .edges = p->communications,
        .iterations = p->iterations,
        .values = first_of(&reader->values),
        .value_count = reader->values.count,
    };
    return after_call(reader, call(reader->watch->context, &section), err);
}

static hpcw_status on_end_phase(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    hpcw_vom_reader *reader = context;
    return on_end(reader, p, reader->watch->end_phase, err);
}

static hpcw_status on_end_iteration(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    hpcw_vom_reader *reader = context;
    return on_end(reader, p, reader->watch->end_iteration, err);
}

hpcw_status read_vom_run_public(hpcw_vom_reader *reader, uint64_t phases, const struct read_vom_events *events,
                                hpcw_error *err) {
    reader->runs = true;
    const hpcw_status status = read_vom_run(reader->r, phases, events, err);
    reader->runs = false;
    take_facts(reader);
    return status;
}

hpcw_status hpcw_vom_reader_watch(hpcw_vom_reader *reader, uint64_t phases, const hpcw_vom_watch *watch,
                                  hpcw_error *err) {
    if (reader == NULL || watch == NULL) {
        return read_vom_missing(reader == NULL ? "handle" : "watch", err);
    }
    if (reader->runs) {
        return read_vom_in_callback(reader, err);
    }
    const hpcw_vom_watch calls = *watch;
    const struct read_vom_events events = {
        .context = reader,
        .metadata = calls.metadata == NULL ? NULL : on_metadata,
        .phase_begin = calls.begin_phase == NULL ? NULL : on_begin_phase,
        .task = calls.task == NULL ? NULL : on_task,
        .communication = calls.edge == NULL ? NULL : on_edge,
        .phase_end = calls.end_phase == NULL ? NULL : on_end_phase,
        .iteration_begin = calls.begin_iteration == NULL ? NULL : on_begin_iteration,
        .iteration_end = calls.end_iteration == NULL ? NULL : on_end_iteration,
    };
    reader->watch = &calls;
    return read_vom_run_public(reader, phases, &events, err);
}
