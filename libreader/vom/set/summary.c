/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/set/summary.h"

#include <inttypes.h>

#include "libreader/vom/private.h"
#include "libreader/vom/set/set.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

const char *read_vom_quantity_name(enum read_vom_quantity quantity) {
    static const char *const names[READ_VOM_QUANTITIES] = {"Object_load", "Rank_load", "Object_comm",
                                                           "Rank_comm"};
    return names[quantity];
}

struct summary_state {
    struct read_vom_summary *summary;
    size_t capacity;
    const struct read_vom *reader;
    struct read_vom_phase_summary *phase; /* the current phase */
    double rank_load, rank_comm;
};

static hpcw_status phase_begin(void *context, uint64_t number, hpcw_error *err) {
    struct summary_state *p = context;
    struct read_vom_summary *s = p->summary;
    if (number >= s->phases) {
        struct read_vom_phase_summary *grown =
            hpcw_i_grow(s->phase, &p->capacity, s->phases + 1, sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, NULL, s->phases + 1, "figures of phases");
        }
        s->phase = grown;
        s->phase[s->phases++] = (struct read_vom_phase_summary){.id = UINT64_MAX};
    }
    p->phase = &s->phase[number];
    p->rank_load = p->rank_comm = 0;
    return HPCW_OK;
}

static hpcw_status task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    (void)err;
    struct summary_state *p = context;
    p->phase->tasks++;
    p->phase->migratable += t->entity.migratable;
    /* vt leaves out id 0, which means no entity. */
    if (!t->entity.has_id || t->entity.id != 0) {
        read_vom_moments_add(&p->phase->quantity[READ_VOM_OBJECT_LOAD], t->time);
        p->rank_load += t->time;
    }
    return HPCW_OK;
}

static bool self_edge(const struct read_vom_communication *c) {
    const struct read_vom_entity *a = &c->from;
    const struct read_vom_entity *b = &c->to;
    return a->has_id == b->has_id && (a->has_id ? a->id == b->id : a->seq_id == b->seq_id);
}

/* Returns whether vt counts the bytes of a record as bytes that left the rank. */
static bool leaves(const struct read_vom_communication *c, uint32_t rank) {
    switch (c->category) {
    case READ_VOM_SEND_RECV: {
        bool own = c->to.has_id && c->to.id == 0;
        return !read_vom_is_element(&c->to) && !own && c->to.home != rank;
    }
    case READ_VOM_COLLECTION_TO_NODE:
    case READ_VOM_COLLECTION_TO_NODE_BCAST:
        return c->to.id != rank;
    case READ_VOM_WRITE_SHARED:
    case READ_VOM_READ_ONLY_SHARED:
        return true;
    default:
        return false;
    }
}

static hpcw_status communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    struct summary_state *p = context;
    p->phase->communications++;
    p->phase->messages += c->messages;
    p->phase->bytes += c->bytes;
    if (c->category == READ_VOM_SEND_RECV && !self_edge(c)) {
        read_vom_moments_add(&p->phase->quantity[READ_VOM_OBJECT_COMM], c->bytes);
    }
    if (leaves(c, p->reader->here.rank)) {
        p->rank_comm += c->bytes;
    }
    return HPCW_OK;
}

static hpcw_status phase_end(void *context, const struct read_vom_phase *phase, hpcw_error *err) {
    struct summary_state *p = context;
    if (p->phase->id == UINT64_MAX) {
        p->phase->id = phase->id;
    } else if (p->phase->id != phase->id) {
        return read_vom_wrong(p->reader, err, "id: expected %" PRIu64 " as in the ranks before, got %" PRIu64,
                              p->phase->id, phase->id);
    }
    read_vom_moments_add(&p->phase->quantity[READ_VOM_RANK_LOAD], p->rank_load);
    read_vom_moments_add(&p->phase->quantity[READ_VOM_RANK_COMM], p->rank_comm);
    return HPCW_OK;
}

static hpcw_status sum_up_file(struct summary_state *p, const char *path, uint32_t rank, hpcw_error *err) {
    const struct read_vom_events events = {.context = p,
                                           .phase_begin = phase_begin,
                                           .task = task,
                                           .communication = communication,
                                           .phase_end = phase_end};
    struct read_vom *reader;
    hpcw_status status = read_vom_open(path, rank, READ_VOM_LENIENT, &reader, err);
    if (status != HPCW_OK) {
        return status;
    }
    p->reader = reader;
    const size_t before = p->summary->phases;
    status = read_vom_run(reader, UINT64_MAX, &events, err);
    struct read_vom_facts facts;
    read_vom_facts(reader, &facts);
    if (p->summary->ranks > 0) {
        read_vom_warn_phases(path, before, facts.phases, &p->summary->warning);
    }
    read_vom_warn(reader, &p->summary->warning);
    if (status == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    p->summary->ranks++;
    p->summary->compressed += facts.compressed;
    p->summary->file_bytes += facts.file_size;
    p->summary->text_bytes += facts.text_size;
    read_vom_free(reader);
    return status;
}

hpcw_status read_vom_summarise(const char *path, struct read_vom_summary *summary, hpcw_error *err) {
    *summary = (struct read_vom_summary){0};
    struct summary_state p = {.summary = summary};
    bool directory;
    hpcw_status status = read_vom_is_directory(path, &directory, err);
    if (status != HPCW_OK || !directory) {
        return status != HPCW_OK ? status : sum_up_file(&p, path, READ_VOM_ANY_RANK, err);
    }
    struct read_vom_set set;
    status = read_vom_set_open(path, false, &set, err);
    if (status != HPCW_OK) {
        return status;
    }
    for (uint32_t r = 0; r < set.ranks && status == HPCW_OK; r++) {
        status = sum_up_file(&p, read_vom_set_path(&set, r), r, err);
    }
    status = read_vom_set_check(&set, status, err);
    read_vom_set_close(&set);
    return status;
}

void read_vom_summary_free(struct read_vom_summary *summary) {
    hpcw_i_free(summary->phase);
    *summary = (struct read_vom_summary){0};
}
