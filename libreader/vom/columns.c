/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "Columns" of <hpcw/vom_read.h>. */
#include "libreader/vom/public.h"
#include "libwriter/base/array.h"
#include "libwriter/base/column.h"

/* ---- load ---- */

struct vom_loading {
    hpcw_vom_reader *reader;
    uint64_t first_phase, last_phase;
    size_t tasks, edges; /* numbers of rows of the earlier phases */
};

static hpcw_status keep_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    const struct vom_loading *l = context;
    hpcw_vom_reader *r = l->reader;
    const struct read_vom_entity *e = &t->entity;
    struct read_vom_task_row *grown = hpcw_i_grow(r->task, &r->task_capacity, r->tasks + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, r->r->name, r->tasks, "tasks");
    }
    r->task = grown;
    grown[r->tasks++] = (struct read_vom_task_row){.id = e->has_id       ? e->id
                                                         : e->has_seq_id ? e->seq_id
                                                                         : 0,
                                                   .collection_id = e->has_collection_id ? e->collection_id : 0,
                                                   .objgroup_id = e->has_objgroup_id ? e->objgroup_id : 0,
                                                   .time = t->time,
                                                   .home = e->has_home ? e->home : 0,
                                                   .migratable = e->migratable};
    return HPCW_OK;
}

static uint64_t end_of(const struct read_vom_entity *e) {
    return !e->has_id && e->has_seq_id ? e->seq_id : e->id;
}

static hpcw_status keep_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    const struct vom_loading *l = context;
    hpcw_vom_reader *r = l->reader;
    struct read_vom_edge_row *grown = hpcw_i_grow(r->edge, &r->edge_capacity, r->edges + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, r->r->name, r->edges, "edges");
    }
    r->edge = grown;
    grown[r->edges++] = (struct read_vom_edge_row){.from = end_of(&c->from),
                                                   .to = end_of(&c->to),
                                                   .messages = c->messages,
                                                   .bytes = c->bytes,
                                                   .from_home = c->from.has_home ? c->from.home : 0,
                                                   .to_home = c->to.has_home ? c->to.home : 0,
                                                   .category = (hpcw_vom_category)c->category};
    return HPCW_OK;
}

/* Sets the id of a phase in the rows of the phase. In the file, the id comes after the records. */
static hpcw_status end_phase(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    (void)err;
    struct vom_loading *l = context;
    hpcw_vom_reader *r = l->reader;
    if (p->id < l->first_phase || p->id > l->last_phase) {
        r->tasks = l->tasks;
        r->edges = l->edges;
    }
    for (; l->tasks < r->tasks; l->tasks++) {
        r->task[l->tasks].phase = p->id;
    }
    for (; l->edges < r->edges; l->edges++) {
        r->edge[l->edges].phase = p->id;
    }
    return HPCW_OK;
}

hpcw_status hpcw_vom_reader_load(hpcw_vom_reader *reader, uint64_t first_phase, uint64_t last_phase,
                                 hpcw_vom_rows *rows, hpcw_error *err) {
    if (rows != NULL) {
        *rows = (hpcw_vom_rows){0};
    }
    if (reader == NULL || rows == NULL) {
        return read_vom_missing(reader == NULL ? "handle" : "rows", err);
    }
    if (reader->runs) {
        return read_vom_in_callback(reader, err);
    }
    reader->tasks = reader->edges = 0;
    struct vom_loading loading = {.reader = reader, .first_phase = first_phase, .last_phase = last_phase};
    const struct read_vom_events events = {
        .context = &loading, .task = keep_task, .communication = keep_edge, .phase_end = end_phase};
    const hpcw_status status = read_vom_run_public(reader, UINT64_MAX, &events, err);
    if (status != HPCW_OK) {
        reader->tasks = reader->edges = 0;
    }
    *rows = (hpcw_vom_rows){.tasks = reader->tasks, .edges = reader->edges};
    return status;
}

/* ---- columns ---- */

static hpcw_status check_rows(const hpcw_vom_reader *reader, const void *columns, size_t first, size_t count,
                              size_t loaded, hpcw_error *err) {
    if (columns == NULL) {
        return read_vom_missing("columns", err);
    }
    if (reader->runs) {
        return read_vom_in_callback(reader, err);
    }
    return first <= loaded && count <= loaded - first
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL,
                             "%s: expected rows below %zu, which were loaded, got %zu and %zu more",
                             reader->r->name, loaded, first, count);
}

hpcw_status hpcw_vom_reader_tasks(const hpcw_vom_reader *reader, size_t first, size_t count,
                                  const hpcw_vom_tasks *columns, hpcw_error *err) {
    const hpcw_status status = reader == NULL ? read_vom_missing("handle", err)
                                              : check_rows(reader, columns, first, count, reader->tasks, err);
    for (size_t i = 0; status == HPCW_OK && i < count; i++) {
        const struct read_vom_task_row *row = &reader->task[first + i];
        HPCW_I_COLUMN_PUT(columns->phase, i, row->phase);
        HPCW_I_COLUMN_PUT(columns->id, i, row->id);
        HPCW_I_COLUMN_PUT(columns->home, i, row->home);
        HPCW_I_COLUMN_PUT(columns->migratable, i, row->migratable);
        HPCW_I_COLUMN_PUT(columns->collection_id, i, row->collection_id);
        HPCW_I_COLUMN_PUT(columns->objgroup_id, i, row->objgroup_id);
        HPCW_I_COLUMN_PUT(columns->time_s, i, row->time);
    }
    return status;
}

hpcw_status hpcw_vom_reader_edges(const hpcw_vom_reader *reader, size_t first, size_t count,
                                  const hpcw_vom_edges *columns, hpcw_error *err) {
    const hpcw_status status = reader == NULL ? read_vom_missing("handle", err)
                                              : check_rows(reader, columns, first, count, reader->edges, err);
    for (size_t i = 0; status == HPCW_OK && i < count; i++) {
        const struct read_vom_edge_row *row = &reader->edge[first + i];
        HPCW_I_COLUMN_PUT(columns->phase, i, row->phase);
        HPCW_I_COLUMN_PUT(columns->category, i, row->category);
        HPCW_I_COLUMN_PUT(columns->from, i, row->from);
        HPCW_I_COLUMN_PUT(columns->to, i, row->to);
        HPCW_I_COLUMN_PUT(columns->from_home, i, row->from_home);
        HPCW_I_COLUMN_PUT(columns->to_home, i, row->to_home);
        HPCW_I_COLUMN_PUT(columns->bytes, i, row->bytes);
        HPCW_I_COLUMN_PUT(columns->messages, i, row->messages);
    }
    return status;
}
