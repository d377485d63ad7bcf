/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads load data in one pass. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gen/fit/loads/sum.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/status.h"

struct fit_reading {
    struct gen_fit_summing sums;
    const struct read_vom *reader;
    struct hpcw_i_table collections; /* collections on the first rank */
    struct hpcw_i_table blocks;      /* memory blocks of a rank in a phase */
    double fixed;                    /* seconds of unmigratable work of a rank in a phase */
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
    struct gen_fit_loads *l = ((struct fit_reading *)context)->sums.l;
    l->ppn = l->ppn == 0 && m->has_shared_node ? m->shared_node.size : l->ppn;
    return HPCW_OK;
}

static hpcw_status begin_phase(void *context, uint64_t number, hpcw_error *err) {
    struct fit_reading *g = context;
    hpcw_i_table_clear(&g->blocks);
    g->fixed = 0;
    hpcw_status s = gen_fit_sum_phase(&g->sums, number, err);
    return s;
}

static void take_shape(struct gen_fit_loads *l, const struct read_vom_task *t) {
    const struct read_vom_entity *e = &t->entity;
    l->subphases_tasks += t->has_subphases;
    l->subphases += t->has_subphases ? t->subphases : 0;
    l->indexed += e->dimensions > 0;
    l->dimensions += e->dimensions;
}

/* Memory values of a task that balancers with a memory model read. */
struct fit_memory {
    double shared_id, block, footprint, rank; /* negative: the task does not report the value */
};

static struct fit_memory memory_of(struct gen_fit_loads *l, const struct read_vom_members *values) {
    struct fit_memory m = {-1, -1, -1, -1};
    for (size_t i = 0; i < values->count; i++) {
        const struct read_vom_member *v = &values->item[i];
        double *const known = strcmp(v->key, "shared_id") == 0              ? &m.shared_id
                              : strcmp(v->key, "shared_bytes") == 0         ? &m.block
                              : strcmp(v->key, "task_footprint_bytes") == 0 ? &m.footprint
                              : strcmp(v->key, "rank_working_bytes") == 0   ? &m.rank
                                                                            : NULL;
        /* The model computes home_rank itself, so it is not counted as unread. */
        l->unread_user_defined += known == NULL && strcmp(v->key, "home_rank") != 0;
        if (known != NULL && (v->type == READ_VOM_FLOAT || v->type == READ_VOM_INTEGER)) {
            *known = v->number;
        }
    }
    return m;
}

static hpcw_status take_memory(struct fit_reading *g, const struct read_vom_task *t, hpcw_error *err) {
    struct gen_fit_loads *l = g->sums.l;
    const struct fit_memory m = memory_of(l, &t->user_defined);
    if (m.footprint >= 0) {
        l->memory.footprints++;
        l->memory.ln_footprint += gen_fit_ln(fmax(1, m.footprint));
    }
    if (m.rank >= 0) {
        l->memory.rank_memories++;
        l->memory.rank_bytes += m.rank;
    }
    if (m.shared_id < 0 || m.shared_id >= 0x1p53) {
        return HPCW_OK;
    }
    const uint64_t id = (uint64_t)m.shared_id;
    bool fresh;
    if (hpcw_i_table_add(&g->blocks, &id, &fresh) == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->blocks.count, "memory blocks");
    }
    l->memory.sharing++;
    if (fresh) {
        const double ln = gen_fit_ln(fmax(1, m.block));
        l->memory.blocks++;
        l->memory.ln_block += ln;
        l->memory.ln_block_squares += ln * ln;
    }
    return HPCW_OK;
}

static hpcw_status take_task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct fit_reading *g = context;
    const uint64_t id = id_of(&t->entity);
    if (t->entity.has_id && id == 0) {
        return HPCW_OK; /* id 0 means "no object"; only sequence numbers (seq_id) begin with 0 */
    }
    if (!is_migratable(&t->entity)) {
        g->fixed += t->time;
        g->sums.l->groups += t->entity.has_id && (id & 3) == READ_VOM_GROUP;
        return HPCW_OK;
    }
    take_shape(g->sums.l, t);
    if (g->sums.rank == 0 && t->entity.has_collection_id &&
        hpcw_i_table_add(&g->collections, &t->entity.collection_id, NULL) == NULL) {
        return hpcw_i_fail_memory(err, NULL, g->collections.count, "collections");
    }
    hpcw_status s = take_memory(g, t, err);
    return s == HPCW_OK ? gen_fit_sum_task(&g->sums, id, t->time, err) : s;
}

static void take_traffic(struct gen_fit_load_traffic *t, const struct read_vom_communication *c) {
    const bool nobody = c->from.has_id && c->from.id == 0;
    t->all++;
    t->bytes += c->bytes;
    t->first += nobody;
    if (!nobody && !is_migratable(&c->from) && !is_migratable(&c->to)) {
        const double ln = gen_fit_ln(fmax(1, c->bytes));
        t->fixed++;
        t->fixed_bytes += c->bytes;
        t->ln_fixed += ln;
        t->ln_fixed_squares += ln * ln;
    }
}

static hpcw_status take_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct fit_reading *g = context;
    g->sums.l->edge.traffic.broadcasts += c->category == READ_VOM_BROADCAST;
    if (c->category != READ_VOM_SEND_RECV || id_of(&c->from) == id_of(&c->to)) {
        return HPCW_OK;
    }
    take_traffic(&g->sums.l->edge.traffic, c);
    if (!is_migratable(&c->from)) {
        return HPCW_OK;
    }
    if (!is_migratable(&c->to)) {
        g->sums.l->edge.group_bytes += c->to.has_id && (id_of(&c->to) & 3) == READ_VOM_GROUP ? c->bytes : 0;
        return HPCW_OK;
    }
    return gen_fit_sum_edge(&g->sums, id_of(&c->to), c->bytes, (double)c->messages,
                            c->from.has_home && c->to.has_home && c->from.home != c->to.home, err);
}

/* The reader reports the communications of a phase before its tasks, so the edges are joined here. */
static hpcw_status end_phase(void *context, const struct read_vom_phase *phase, hpcw_error *err) {
    struct fit_reading *g = context;
    g->sums.l->fixed[phase->number > 0]++;
    g->sums.l->ln_fixed[phase->number > 0] += gen_fit_ln(fmax(g->fixed, GEN_FIT_LEAST_SECONDS));
    return gen_fit_sum_end(&g->sums, err);
}

/* ---- files ---- */

static hpcw_status read_rank(struct fit_reading *g, const char *path, uint32_t rank, hpcw_error *err) {
    const struct read_vom_events events = {.context = g,
                                           .metadata = take_metadata,
                                           .phase_begin = begin_phase,
                                           .task = take_task,
                                           .communication = take_edge,
                                           .phase_end = end_phase};
    struct read_vom *reader;
    hpcw_status s = read_vom_open(path, rank, READ_VOM_LENIENT, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    g->reader = reader;
    gen_fit_sum_rank(&g->sums, rank == READ_VOM_ANY_RANK ? 0 : rank);
    s = read_vom_run(reader, UINT64_MAX, &events, err);
    struct read_vom_facts facts;
    read_vom_facts(reader, &facts);
    g->sums.l->mended += facts.mended;
    gen_fit_sum_rank_end(&g->sums);
    if (s == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    read_vom_free(reader);
    return s;
}

static hpcw_status read_set(struct fit_reading *g, const char *path, hpcw_error *err) {
    bool directory;
    hpcw_status s = read_vom_is_directory(path, &directory, err);
    if (s != HPCW_OK || !directory) {
        return s == HPCW_OK ? read_rank(g, path, READ_VOM_ANY_RANK, err) : s;
    }
    struct read_vom_set set;
    s = read_vom_set_open(path, false, &set, err);
    if (s != HPCW_OK) {
        return s;
    }
    for (uint32_t r = 0; s == HPCW_OK && r < set.ranks; r++) {
        s = read_rank(g, read_vom_set_path(&set, r), r, err);
    }
    s = read_vom_set_check(&set, s, err);
    read_vom_set_close(&set);
    return s;
}

hpcw_status gen_fit_loads_read(const char *path, struct gen_fit_loads *l, hpcw_error *err) {
    struct fit_reading g = {.collections = {.key_words = 1, .seed = hpcw_i_table_random()},
                            .blocks = {.key_words = 1, .seed = hpcw_i_table_random()}};
    hpcw_status s = gen_fit_sum_init(&g.sums, l, err);
    s = s == HPCW_OK ? read_set(&g, path, err) : s;
    if (s == HPCW_OK && l->phases == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at least one phase, got none", path);
    }
    l->collections = (double)g.collections.count;
    hpcw_i_table_free(&g.collections);
    hpcw_i_table_free(&g.blocks);
    gen_fit_sum_free(&g.sums);
    return s;
}
