/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over load data. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/fit/loads_sum.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/status.h"

struct fit_reading {
    struct gen_fit_summing sums;
    struct gen_fit_load_data *d;
    const struct read_vom *reader;
    struct hpcw_i_table collections; /* of the first rank */
};

static uint64_t id_of(const struct read_vom_entity *e) {
    return e->has_id ? e->id : e->seq_id;
}

static bool is_migratable(const struct read_vom_entity *e) {
    return e->has_migratable ? e->migratable : (id_of(e) & 3) == READ_VOM_MIGRATABLE_ELEMENT;
}

/* ---- events ---- */

static hpcw_status take_metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    (void)err;
    struct gen_fit_loads *l = &((struct fit_reading *)context)->d->whole;
    l->ppn = l->ppn == 0 && m->has_shared_node ? m->shared_node.size : l->ppn;
    return HPCW_OK;
}

static hpcw_status begin_phase(void *context, uint64_t number, hpcw_error *err) {
    struct fit_reading *g = context;
    hpcw_status s = gen_fit_sum_phase(&g->sums, number, err);
    return s != HPCW_OK || number < g->d->whole.phases
               ? s
               : read_vom_wrong(g->reader, err,
                                "expected %" PRIu64 " phases as in the file of rank 0, got more",
                                g->d->whole.phases);
}

static void take_shape(struct gen_fit_loads *l, const struct read_vom_task *t) {
    const struct read_vom_entity *e = &t->entity;
    l->subphases_tasks += t->has_subphases;
    l->subphases += t->has_subphases ? t->subphases : 0;
    l->indexed += e->dimensions > 0;
    l->dimensions += e->dimensions;
    l->unread_user_defined += (double)t->user_defined.count;
}

static hpcw_status take_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct fit_reading *g = context;
    const uint64_t id = id_of(&t->entity);
    if (id == 0) {
        return HPCW_OK; /* stands for "none" */
    }
    if (!is_migratable(&t->entity)) {
        g->sums.l->groups += t->entity.has_id && (id & 3) == READ_VOM_GROUP;
        return HPCW_OK;
    }
    take_shape(g->sums.l, t);
    if (g->sums.rank == 0 && t->entity.has_collection_id &&
        hpcw_i_table_add(&g->collections, &t->entity.collection_id, NULL) == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->collections.count, "collections");
    }
    return gen_fit_sum_task(&g->sums, id, t->time, err);
}

static hpcw_status take_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct fit_reading *g = context;
    if (c->category != READ_VOM_SEND_RECV || !is_migratable(&c->from) || id_of(&c->from) == id_of(&c->to)) {
        return HPCW_OK;
    }
    if (!is_migratable(&c->to)) {
        g->sums.l->group_bytes += c->to.has_id && (id_of(&c->to) & 3) == READ_VOM_GROUP ? c->bytes : 0;
        return HPCW_OK;
    }
    return gen_fit_sum_edge(&g->sums, id_of(&c->to), c->bytes, (double)c->messages,
                            c->from.has_home && c->to.has_home && c->from.home != c->to.home, err);
}

/* Communications come before the tasks of their phase. */
static hpcw_status end_phase(void *context, const struct read_vom_phase *phase, hpcw_error *err) {
    (void)phase;
    return gen_fit_sum_end(&((struct fit_reading *)context)->sums, err);
}

/* ---- files ---- */

static hpcw_status read_rank(struct fit_reading *g, const char *path, uint32_t rank, uint32_t ranks,
                             hpcw_error *err) {
    const struct read_vom_events events = {.context = g,
                                           .metadata = take_metadata,
                                           .phase_begin = begin_phase,
                                           .task = take_task,
                                           .communication = take_edge,
                                           .phase_end = end_phase};
    struct read_vom *reader;
    hpcw_status s = read_vom_open(path, rank, 0, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    g->reader = reader;
    gen_fit_sum_rank(&g->sums, rank == READ_VOM_ANY_RANK ? 0 : rank, ranks);
    s = read_vom_run(reader, UINT64_MAX, &events, err);
    struct read_vom_facts facts;
    read_vom_facts(reader, &facts);
    if (s == HPCW_OK && facts.phases != g->d->whole.phases) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: expected %" PRIu64 " phases as in the file of rank 0, got %" PRIu64, path,
                        g->d->whole.phases, facts.phases);
    } else if (s == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    read_vom_free(reader);
    return s;
}

static hpcw_status read_set(struct fit_reading *g, const char *path, hpcw_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot look at it", path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return read_rank(g, path, READ_VOM_ANY_RANK, 1, err);
    }
    struct read_vom_set set;
    hpcw_status s = read_vom_set_open(path, false, &set, err);
    for (uint32_t r = 0; s == HPCW_OK && r < set.ranks; r++) {
        s = read_rank(g, read_vom_set_path(&set, r), r, set.ranks, err);
    }
    read_vom_set_close(&set);
    return s;
}

hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_load_data *d, hpcw_error *err) {
    struct fit_reading g = {.d = d, .collections = {.key_words = 1, .seed = hpcw_i_table_random()}};
    hpcw_status s = gen_fit_sum_init(&g.sums, d, err);
    s = s == HPCW_OK ? read_set(&g, path, err) : s;
    if (s == HPCW_OK && d->whole.phases == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at least one phase, got none", path);
    }
    d->whole.collections = (double)g.collections.count;
    s = s == HPCW_OK ? gen_fit_sum_finish(&g.sums, err) : s;
    hpcw_i_table_free(&g.collections);
    gen_fit_sum_free(&g.sums);
    return s;
}
