/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/vom.h"

#include <fcntl.h>

#include "gen/export/npz.h"
#include "gen/export/phases.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/source.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct vom_row {
    uint64_t phase, id, collection_id, objgroup_id, from, to, messages;
    double time, bytes;
    uint32_t rank, home, from_home, to_home;
    int32_t category;
    bool migratable;
};

struct vom_export {
    const struct gen_export *what;
    struct gen_npz npz; /* for CSV, only `npz.out` is used */
    struct gen_stream *out;
    struct gen_exported done;
    struct gen_phases all;
    /* Members from here on are those of the file that is read. */
    uint32_t rank;
    uint64_t *phase_id; /* [phases] */
    size_t phases, capacity;
    uint64_t phase; /* id of the current phase */
    /* Members from here on are those of the line or row that is written. */
    bool edges;
    const struct gen_npz_field *field; /* [fields] columns of `row`; NULL: lines of CSV are written */
    size_t fields;
    struct vom_row row;
    /* true in the pass that counts rows, since headings of arrays need the numbers of rows */
    bool counts;
    uint64_t tasks, all_edges; /* numbers of rows of the selected ranks */
    uint64_t file_tasks, file_edges;
};

/* ---- text ---- */

static bool add(struct vom_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out->buf, text);
}

/* Appends a number and a comma; only the comma if there is no number. */
static bool add_field(struct vom_export *x, bool present, uint64_t value) {
    return (!present || gen_export_u64(&x->out->buf, value)) && add(x, ",");
}

static uint64_t number_of(const struct read_vom_entity *e) {
    return !e->has_id && e->has_seq_id ? e->seq_id : e->id;
}

/* Appends kind and number of an entity: "node," and its rank, for instance. */
static bool add_entity(struct vom_export *x, const struct read_vom_entity *e) {
    const char *kind = e->kind == READ_VOM_NODE        ? "node,"
                       : e->kind == READ_VOM_SHARED_ID ? "shared_id,"
                       : e->has_id                     ? "object,"
                                                       : "seq_id,";
    const bool seq_id = e->kind == READ_VOM_OBJECT && !e->has_id;
    return add(x, kind) && gen_export_u64(&x->out->buf, seq_id ? e->seq_id : e->id);
}

/* ---- lines ---- */

static hpcw_status end_line(struct vom_export *x, bool good, hpcw_error *err) {
    x->done.count++;
    return good && add(x, "\n") ? gen_stream_flush(x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
}

static hpcw_status begin_phase(void *context, uint64_t number, hpcw_error *err) {
    struct vom_export *x = context;
    if (number >= x->phases) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "export: expected %zu phases as before, got more", x->phases);
    }
    x->phase = x->phase_id[number];
    return HPCW_OK;
}

static hpcw_status put_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct vom_export *x = context;
    const struct read_vom_entity *e = &t->entity;
    bool good = add_field(x, true, x->rank) && add_field(x, true, x->phase) && add_entity(x, e) &&
                add(x, ",") && add_field(x, true, e->home) && add(x, e->migratable ? "1," : "0,") &&
                add_field(x, e->has_collection_id, e->collection_id) &&
                add_field(x, e->has_objgroup_id, e->objgroup_id);
    for (uint32_t i = 0; good && i < e->dimensions; i++) {
        good = add(x, i > 0 ? " " : "") && gen_export_u64(&x->out->buf, e->index[i]);
    }
    good = good && add(x, ",") && gen_export_quoted(&x->out->buf, t->resource) && add(x, ",") &&
           gen_export_f64(&x->out->buf, t->time) && add(x, ",");
    for (uint32_t i = 0; good && i < t->subphases; i++) {
        good = add(x, i > 0 ? " " : "") && gen_export_f64(&x->out->buf, t->subphase_time[i]);
    }
    return end_line(x, good, err);
}

static hpcw_status put_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct vom_export *x = context;
    bool good = add_field(x, true, x->rank) && add_field(x, true, x->phase) &&
                add(x, read_vom_category_name(c->category)) && add(x, ",") && add_entity(x, &c->from) &&
                add(x, ",") && add_entity(x, &c->to) && add(x, ",") && gen_export_f64(&x->out->buf, c->bytes) &&
                add(x, ",") && gen_export_u64(&x->out->buf, c->messages);
    return end_line(x, good, err);
}

/* ---- rows ---- */

static hpcw_status put_row(struct vom_export *x, hpcw_error *err) {
    x->row.rank = x->rank;
    x->row.phase = x->phase;
    return gen_npz_rows(&x->npz, x->field, x->fields, 1, err);
}

static hpcw_status put_task_row(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct vom_export *x = context;
    const struct read_vom_entity *e = &t->entity;
    x->row.id = number_of(e);
    x->row.home = e->has_home ? e->home : 0;
    x->row.migratable = e->migratable;
    x->row.collection_id = e->has_collection_id ? e->collection_id : 0;
    x->row.objgroup_id = e->has_objgroup_id ? e->objgroup_id : 0;
    x->row.time = t->time;
    return put_row(x, err);
}

static hpcw_status put_edge_row(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct vom_export *x = context;
    x->row.category = (int32_t)c->category;
    x->row.from = number_of(&c->from);
    x->row.to = number_of(&c->to);
    x->row.from_home = c->from.has_home ? c->from.home : 0;
    x->row.to_home = c->to.has_home ? c->to.home : 0;
    x->row.bytes = c->bytes;
    x->row.messages = c->messages;
    return put_row(x, err);
}

static hpcw_status count_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)t;
    (void)err;
    ((struct vom_export *)context)->file_tasks++;
    return HPCW_OK;
}

static hpcw_status count_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)c;
    (void)err;
    ((struct vom_export *)context)->file_edges++;
    return HPCW_OK;
}

/* ---- files ---- */

static hpcw_status keep_phase(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    struct vom_export *x = context;
    uint64_t *grown = hpcw_i_grow(x->phase_id, &x->capacity, x->phases + 1, sizeof *grown);
    if (grown == NULL) {
        return gen_export_no_memory(err);
    }
    x->phase_id = grown;
    x->phase_id[x->phases++] = p->id;
    return HPCW_OK;
}

static hpcw_status pass(struct vom_export *x, const char *path, uint32_t rank,
                        const struct read_vom_events *events, hpcw_error *err) {
    struct read_vom *reader;
    hpcw_status s = read_vom_open(path, rank, READ_VOM_LENIENT, &reader, err);
    if (s == HPCW_OK) {
        struct read_vom_facts facts;
        s = read_vom_run(reader, UINT64_MAX, events, err);
        read_vom_facts(reader, &facts);
        x->rank = facts.rank;
        read_vom_warn(reader, &x->done.warning);
        read_vom_free(reader);
    }
    return s;
}

static hpcw_status put_passes(struct vom_export *x, const char *path, uint32_t rank, hpcw_error *err) {
    const bool csv = x->field == NULL;
    const struct read_vom_events ids = {.context = x,
                                        .phase_end = keep_phase,
                                        .task = x->counts ? count_task : NULL,
                                        .communication = x->counts ? count_edge : NULL};
    const struct read_vom_events rows = {.context = x,
                                         .phase_begin = begin_phase,
                                         .task = x->edges ? NULL
                                                 : csv    ? put_task
                                                          : put_task_row,
                                         .communication = !x->edges ? NULL
                                                          : csv     ? put_edge
                                                                    : put_edge_row};
    x->phases = 0;
    x->file_tasks = x->file_edges = 0;
    hpcw_status s = pass(x, path, rank, &ids, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (x->rank == READ_VOM_ANY_RANK) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected the rank of the file in it, got neither it nor a task", path);
    }
    if (x->rank < x->what->first_rank || x->rank > x->what->last_rank) {
        return HPCW_OK;
    }
    s = gen_phases_add(&x->all, path, x->rank, x->phase_id, x->phases, &x->done.warning, err);
    x->tasks += x->file_tasks;
    x->all_edges += x->file_edges;
    return s == HPCW_OK && !x->counts ? pass(x, path, x->rank, &rows, err) : s;
}

/* Reads a file in two passes. The file is held open meanwhile; fails if another file has taken its name. */
static hpcw_status put_file(struct vom_export *x, const char *path, uint32_t rank, hpcw_error *err) {
    struct read_source *held;
    hpcw_status s = read_source_open(path, &held, err);
    if (s == HPCW_OK) {
        s = put_passes(x, path, rank, err);
        s = s == HPCW_OK ? read_source_check(held, AT_FDCWD, path, err) : s;
        read_source_free(held);
    }
    return s;
}

static hpcw_status put_set(struct vom_export *x, const char *path, hpcw_error *err) {
    struct read_vom_set set;
    hpcw_status s = read_vom_set_open(path, false, &set, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (uint32_t r = x->what->first_rank; s == HPCW_OK && r < set.ranks && r <= x->what->last_rank; r++) {
        s = put_file(x, read_vom_set_path(&set, r), r, err);
    }
    s = read_vom_set_check(&set, s, err);
    read_vom_set_close(&set);
    return s;
}

static hpcw_status put_all(struct vom_export *x, const char *path, bool set, hpcw_error *err) {
    gen_phases_free(&x->all);
    x->all = (struct gen_phases){0};
    return set ? put_set(x, path, err) : put_file(x, path, READ_VOM_ANY_RANK, err);
}

/* ---- forms ---- */

static hpcw_status put_csv(struct vom_export *x, const char *path, bool set, hpcw_error *err) {
    x->edges = x->what->form == GEN_EXPORT_EDGES;
    hpcw_status s =
        add(x, x->edges ? "rank,phase,category,from_kind,from,to_kind,to,bytes,messages\n"
                        : "rank,phase,kind,id,home,migratable,collection_id,objgroup_id,index,resource,time_s,"
                          "subphases_s\n")
            ? put_all(x, path, set, err)
            : gen_export_no_memory(err);
    return s == HPCW_OK ? gen_stream_flush(x->out, 0, err) : s;
}

static hpcw_status put_array(struct vom_export *x, const char *path, bool set, hpcw_error *err) {
    const struct gen_npz_shape shape = {.dimensions = 1, .size = {x->edges ? x->all_edges : x->tasks}};
    hpcw_status s = gen_npz_begin(&x->npz, x->edges ? "edges" : "tasks", x->field, x->fields, &shape, err);
    s = s == HPCW_OK ? put_all(x, path, set, err) : s;
    return s == HPCW_OK ? gen_npz_end(&x->npz, err) : s;
}

static hpcw_status put_npz(struct vom_export *x, const char *path, bool set, hpcw_error *err) {
    const struct vom_row *r = &x->row;
    const struct gen_npz_field tasks[] = {
        {.name = "rank", .type = GEN_NPZ_U32, .values = &r->rank},
        {.name = "phase", .type = GEN_NPZ_U64, .values = &r->phase},
        {.name = "id", .type = GEN_NPZ_U64, .values = &r->id},
        {.name = "home", .type = GEN_NPZ_U32, .values = &r->home},
        {.name = "migratable", .type = GEN_NPZ_BOOL, .values = &r->migratable},
        {.name = "collection_id", .type = GEN_NPZ_U64, .values = &r->collection_id},
        {.name = "objgroup_id", .type = GEN_NPZ_U64, .values = &r->objgroup_id},
        {.name = "time", .type = GEN_NPZ_F64, .values = &r->time},
    };
    const struct gen_npz_field edges[] = {
        {.name = "rank", .type = GEN_NPZ_U32, .values = &r->rank},
        {.name = "phase", .type = GEN_NPZ_U64, .values = &r->phase},
        {.name = "category", .type = GEN_NPZ_I32, .values = &r->category},
        {.name = "source", .type = GEN_NPZ_U64, .values = &r->from},
        {.name = "dest", .type = GEN_NPZ_U64, .values = &r->to},
        {.name = "source_home", .type = GEN_NPZ_U32, .values = &r->from_home},
        {.name = "dest_home", .type = GEN_NPZ_U32, .values = &r->to_home},
        {.name = "bytes", .type = GEN_NPZ_F64, .values = &r->bytes},
        {.name = "messages", .type = GEN_NPZ_U64, .values = &r->messages},
    };
    x->counts = true;
    hpcw_status s = put_all(x, path, set, err);
    x->counts = false;
    x->field = tasks;
    x->fields = sizeof tasks / sizeof tasks[0];
    s = s == HPCW_OK ? put_array(x, path, set, err) : s;
    x->edges = true;
    x->field = edges;
    x->fields = sizeof edges / sizeof edges[0];
    s = s == HPCW_OK ? put_array(x, path, set, err) : s;
    s = s == HPCW_OK ? gen_npz_close(&x->npz, err) : s;
    x->done.count = x->npz.arrays;
    x->done.empty = x->tasks + x->all_edges == 0;
    return s;
}

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    struct vom_export x = {.what = what, .npz = {.out = {.sink = sink}}};
    const bool npz = what->form == GEN_EXPORT_NPZ;
    x.out = &x.npz.out;
    x.done.items = npz ? "arrays" : what->form == GEN_EXPORT_EDGES ? "edges" : "tasks";
    *done = x.done;
    if (what->first_rank > what->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: window of ranks: expected last >= first, got %u to %u", path,
                           what->first_rank, what->last_rank);
    }
    bool set = false;
    hpcw_status s = read_vom_is_set(path, &set, err);
    s = s != HPCW_OK ? s : npz ? put_npz(&x, path, set, err) : put_csv(&x, path, set, err);
    *done = x.done;
    done->bytes = x.out->at;
    hpcw_i_free(x.phase_id);
    gen_phases_free(&x.all);
    gen_npz_free(&x.npz);
    return s;
}

const struct gen_exporter gen_export_vom = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_EDGES, GEN_EXPORT_NPZ}, {"first-rank", "last-rank"}}, .run = run};
