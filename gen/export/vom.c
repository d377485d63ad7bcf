/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/vom.h"

#include <fcntl.h>

#include "gen/export/phases.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libreader/source.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct vom_export {
    const struct gen_export *what;
    struct gen_stream out;
    struct gen_exported done;
    struct gen_phases all;
    /* The file that is being read. */
    uint32_t rank;
    uint64_t *phase_id; /* [phases] */
    size_t phases, capacity;
    uint64_t phase; /* id of the current one */
};

/* ---- text ---- */

static bool add(struct vom_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* A number and the comma after it; the comma alone if there is no number. */
static bool add_field(struct vom_export *x, bool present, uint64_t value) {
    return (!present || gen_export_u64(&x->out.buf, value)) && add(x, ",");
}

/* Kind and number. */
static bool add_entity(struct vom_export *x, const struct read_vom_entity *e) {
    const char *kind = e->kind == READ_VOM_NODE        ? "node,"
                       : e->kind == READ_VOM_SHARED_ID ? "shared_id,"
                       : e->has_id                     ? "object,"
                                                       : "seq_id,";
    const bool seq_id = e->kind == READ_VOM_OBJECT && !e->has_id;
    return add(x, kind) && gen_export_u64(&x->out.buf, seq_id ? e->seq_id : e->id);
}

/* ---- lines ---- */

static hpcw_status end_line(struct vom_export *x, bool good, hpcw_error *err) {
    x->done.count++;
    return good && add(x, "\n") ? gen_stream_flush(&x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
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
        good = add(x, i > 0 ? " " : "") && gen_export_u64(&x->out.buf, e->index[i]);
    }
    good = good && add(x, ",") && gen_export_quoted(&x->out.buf, t->resource) && add(x, ",") &&
           gen_export_f64(&x->out.buf, t->time) && add(x, ",");
    for (uint32_t i = 0; good && i < t->subphases; i++) {
        good = add(x, i > 0 ? " " : "") && gen_export_f64(&x->out.buf, t->subphase_time[i]);
    }
    return end_line(x, good, err);
}

static hpcw_status put_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct vom_export *x = context;
    bool good = add_field(x, true, x->rank) && add_field(x, true, x->phase) &&
                add(x, read_vom_category_name(c->category)) && add(x, ",") && add_entity(x, &c->from) &&
                add(x, ",") && add_entity(x, &c->to) && add(x, ",") && gen_export_f64(&x->out.buf, c->bytes) &&
                add(x, ",") && gen_export_u64(&x->out.buf, c->messages);
    return end_line(x, good, err);
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
    const bool edges = x->what->form == GEN_EXPORT_EDGES;
    const struct read_vom_events ids = {.context = x, .phase_end = keep_phase};
    const struct read_vom_events lines = {.context = x,
                                          .phase_begin = begin_phase,
                                          .task = edges ? NULL : put_task,
                                          .communication = edges ? put_edge : NULL};
    x->phases = 0;
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
    return s == HPCW_OK ? pass(x, path, x->rank, &lines, err) : s;
}

/* Both passes read the same file, which is open meanwhile. */
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

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    struct vom_export x = {.what = what, .out = {.sink = sink}};
    x.done.items = what->form == GEN_EXPORT_EDGES ? "edges" : "tasks";
    *done = x.done;
    if (what->first_rank > what->last_rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "export: expected a range of ranks, got %u to %u",
                           what->first_rank, what->last_rank);
    }
    bool good =
        add(&x, what->form == GEN_EXPORT_EDGES
                    ? "rank,phase,category,from_kind,from,to_kind,to,bytes,messages\n"
                    : "rank,phase,kind,id,home,migratable,collection_id,objgroup_id,index,resource,time_s,"
                      "subphases_s\n");
    bool set = false;
    hpcw_status s = good ? read_vom_is_set(path, &set, err) : gen_export_no_memory(err);
    if (s == HPCW_OK) {
        s = set ? put_set(&x, path, err) : put_file(&x, path, READ_VOM_ANY_RANK, err);
    }
    s = s == HPCW_OK ? gen_stream_flush(&x.out, 0, err) : s;
    *done = x.done;
    done->bytes = x.out.at;
    hpcw_i_free(x.phase_id);
    gen_phases_free(&x.all);
    hpcw_i_buf_free(&x.out.buf);
    return s;
}

const struct gen_exporter gen_export_vom = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_EDGES}, {"first-rank", "last-rank"}}, .run = run};
