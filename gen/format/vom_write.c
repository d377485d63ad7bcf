/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the files of the ranks. */
#include "gen/format/vom.h"
#include "gen/format/vom_balance.h"

#include <stdio.h>
#include <string.h>

#include "gen/spec/pool.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

/* vt gives the numbers 0, 1, ... to collections that rank 0 creates before all others. */
static uint64_t collection_id(const struct model_load *m, uint32_t object) {
    return hpcw_vom_collection_id(model_load_collection(m, object));
}

/* ---- one rank ---- */

struct vom_job {
    const struct gen_write *w;
    hpcw_vom_options options; /* options of all ranks; `rank` is set for each file */
};

/* Objects of a rank in a phase. A rank has numbered slots for objects; a slot can be empty. */
struct vom_slots {
    struct model_load_cursor at;
    bool *exists;      /* [most] */
    double *lasting;   /* [most] */
    uint64_t *time_ns; /* [most] */
};

/* Data of the object in a slot. All but the volumes are the same in all phases. */
struct vom_slot {
    uint32_t object; /* object that has the senders `edge` */
    uint32_t senders;
    struct model_load_edge edge[MODEL_LOAD_MOST_KINDS];
    struct model_load_flow flow[MODEL_LOAD_MOST_KINDS];
    uint32_t phase; /* `volume` holds in this phase */
    struct model_load_volume volume[MODEL_LOAD_MOST_KINDS];
};

struct vom_thread {
    uint32_t *object; /* [most] objects in the slots */
    struct vom_slots slots;
    struct vom_slot *slot; /* [most] */
    uint64_t *index;       /* [most][3] */
    uint64_t *part;        /* [subphases] */
};

/* State of a rank's file while it is written. */
struct rank_file {
    const struct model_load *load;
    /* traffic of a workload's run; NULL: edges are those of the model */
    const struct gen_traffic *traffic;
    struct vom_thread *t;
    hpcw_vom *vom;
    uint32_t rank;
    uint32_t phase;
    double slowness; /* factor of the times of tasks in this phase */
};

static void end_thread(void *context, void *state) {
    (void)context;
    struct vom_thread *t = state;
    hpcw_i_free(t->object);
    hpcw_i_free(t->slots.exists);
    hpcw_i_free(t->slots.lasting);
    hpcw_i_free(t->slots.time_ns);
    hpcw_i_free(t->slot);
    hpcw_i_free(t->index);
    hpcw_i_free(t->part);
}

static hpcw_status begin_thread(void *context, void *state, hpcw_error *err) {
    const struct vom_job *job = context;
    const struct model_load *m = &job->w->dataset->load;
    struct vom_thread *t = state;
    *t = (struct vom_thread){.object = hpcw_i_malloc(m->most * sizeof *t->object),
                             .slots = {.exists = hpcw_i_malloc(m->most * sizeof *t->slots.exists),
                                       .lasting = hpcw_i_malloc(m->most * sizeof *t->slots.lasting),
                                       .time_ns = hpcw_i_malloc(m->most * sizeof *t->slots.time_ns)},
                             .slot = hpcw_i_malloc(m->most * sizeof *t->slot),
                             .index = hpcw_i_malloc((size_t)m->most * 3 * sizeof *t->index),
                             .part = hpcw_i_malloc((m->params.subphases + (size_t)1) * sizeof *t->part)};
    for (uint32_t i = 0; t->slot != NULL && i < m->most; i++) {
        t->slot[i].object = UINT32_MAX;
    }
    return t->object != NULL && t->slots.exists != NULL && t->slots.lasting != NULL &&
                   t->slots.time_ns != NULL && t->slot != NULL && t->index != NULL && t->part != NULL
               ? HPCW_OK
               : hpcw_i_fail_memory(err, "vom", m->most, "objects of a rank");
}

/* Describes an object: completely if the rank holds it, otherwise only what its id implies. */
static hpcw_vom_entity entity_of(const struct rank_file *f, uint32_t object) {
    const struct model_load *m = f->load;
    const uint32_t at = model_load_find(m, &f->t->slots.at, object);
    const size_t own = at != UINT32_MAX ? at : 0;
    hpcw_vom_entity e = hpcw_vom_element(model_load_home(m, object), model_load_slot(m, object),
                                         collection_id(m, object), &f->t->index[3 * own], m->params.dims);
    return at != UINT32_MAX ? e : hpcw_vom_far(e.id);
}

static hpcw_status put_edge(const struct rank_file *f, hpcw_vom_category category, hpcw_vom_entity from,
                            hpcw_vom_entity to, struct model_load_volume volume, hpcw_error *err) {
    const hpcw_vom_edge edge = {.category = category,
                                .from = from,
                                .to = to,
                                .bytes = (double)volume.bytes,
                                .messages = volume.messages};
    return hpcw_vom_edge_add(f->vom, &edge, err);
}

static struct model_load_volume handler_volume(const struct rank_file *f, uint32_t child, uint32_t kind) {
    const uint32_t owner = model_load_handler(child);
    return model_load_volume(f->load, owner, kind, model_load_flow(f->load, owner, kind, 0), f->phase);
}

/* Puts the edges for messages that are sent before any task runs. */
static hpcw_status put_first_edges(const struct rank_file *f, hpcw_error *err) {
    uint32_t to[3];
    const uint32_t count = model_load_first_to(f->load, f->rank, f->phase, to);
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        s = put_edge(f, HPCW_VOM_SEND_RECV, hpcw_vom_nobody(), hpcw_vom_far(hpcw_vom_handler_id(to[i])),
                     (struct model_load_volume){GEN_VOM_FIRST_BYTES, GEN_VOM_FIRST_MESSAGES}, err);
    }
    return s;
}

/* Puts the edges between handlers: reductions up a tree of ranks, and answers down. */
static hpcw_status put_handler_edges(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    const uint32_t groups = m->params.groups;
    hpcw_status s = put_first_edges(f, err);
    if (s != HPCW_OK || !m->params.handler.send) {
        return s;
    }
    if (f->rank > 0) {
        uint32_t parent = model_load_parent(f->rank);
        hpcw_vom_entity from = groups > 0 && m->params.comm == MODEL_COMM_STENCIL
                                   ? hpcw_vom_group(groups - 1, f->rank, true)
                                   : hpcw_vom_handler(f->rank);
        s = put_edge(f, HPCW_VOM_SEND_RECV, from, hpcw_vom_far(hpcw_vom_handler_id(parent)),
                     handler_volume(f, f->rank, MODEL_LOAD_UP), err);
    }
    for (uint32_t child = 2 * f->rank + 1; s == HPCW_OK && child <= 2 * f->rank + 2 && child < m->ranks;
         child++) {
        s = put_edge(f, HPCW_VOM_SEND_RECV, hpcw_vom_handler(f->rank), hpcw_vom_far(hpcw_vom_handler_id(child)),
                     handler_volume(f, child, MODEL_LOAD_DOWN), err);
    }
    return s;
}

/* Lists the senders of objects that have moved to this rank, and finds the volumes of their edges. */
static void know_senders(const struct rank_file *f) {
    const struct model_load *m = f->load;
    for (uint32_t slot = 0; slot < f->t->slots.at.count; slot++) {
        struct vom_slot *k = &f->t->slot[slot];
        const uint32_t to = f->t->object[slot];
        const bool is_new = f->phase == 0 || k->object != to;
        if (is_new) {
            k->object = to;
            k->senders = f->t->slots.exists[slot] ? model_load_senders(m, to, k->edge) : 0;
            if (m->params.comm == MODEL_COMM_SAMPLE) {
                k->flow[0] = model_load_flow(m, to, MODEL_LOAD_TO_GROUP, f->t->slots.lasting[slot]);
            }
            for (uint32_t i = 0; i < k->senders; i++) {
                double follows = f->t->slots.lasting[slot] + model_load_lasting(m, k->edge[i].from);
                const uint32_t kind = k->edge[i].kind;
                k->flow[i] = model_load_flow(m, model_load_owner(kind, k->edge[i].from, to),
                                             model_load_shared(kind), follows);
            }
        }
        const bool same = !is_new && model_load_same_volumes(m, f->phase, k->phase);
        k->phase = f->phase;
        for (uint32_t i = 0; !same && i < k->senders; i++) {
            const uint32_t kind = k->edge[i].kind;
            k->volume[i] = model_load_volume(m, model_load_owner(kind, k->edge[i].from, to),
                                             model_load_shared(kind), k->flow[i], f->phase);
        }
    }
}

/* Puts the edges of an object with the volumes of the measured run (load.comm=sample). */
static hpcw_status put_sample(const struct rank_file *f, const struct vom_slot *k, bool is_first,
                              hpcw_error *err) {
    const uint32_t groups = f->load->params.groups;
    const hpcw_vom_entity object = entity_of(f, k->object);
    const hpcw_vom_entity group = hpcw_vom_group(groups - 1, f->rank, true);
    const struct {
        hpcw_vom_entity from, to;
        uint32_t kind;
        bool is_there;
    } row[] = {
        {object, group, MODEL_LOAD_TO_GROUP, true},
        {group, object, MODEL_LOAD_FROM_GROUP, true},
        {object, hpcw_vom_group(0, f->rank, true), MODEL_LOAD_TO_OTHER_GROUP, is_first && groups > 1},
        {object, object, MODEL_LOAD_TO_ITSELF, true},
        {hpcw_vom_far(hpcw_vom_handler_id(0)), object, MODEL_LOAD_BROADCAST, true},
    };
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < sizeof row / sizeof row[0]; i++) {
        if (row[i].is_there) {
            s = put_edge(f, row[i].kind == MODEL_LOAD_BROADCAST ? HPCW_VOM_BROADCAST : HPCW_VOM_SEND_RECV,
                         row[i].from, row[i].to,
                         model_load_volume(f->load, k->object, row[i].kind, k->flow[0], f->phase), err);
        }
    }
    return s;
}

/* Puts the edges of a rank in a workload's run: messages from its handler to other handlers. */
static hpcw_status put_run_edges(const struct rank_file *f, hpcw_error *err) {
    size_t count;
    const struct gen_traffic_edge *edge = gen_traffic_edges(f->traffic, f->phase, f->rank, &count);
    hpcw_status s = put_first_edges(f, err);
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        s = put_edge(f, HPCW_VOM_SEND_RECV, hpcw_vom_handler(f->rank),
                     hpcw_vom_far(hpcw_vom_handler_id(edge[i].to)),
                     (struct model_load_volume){edge[i].bytes, edge[i].messages}, err);
    }
    return s;
}

static hpcw_status put_edges(const struct rank_file *f, hpcw_error *err) {
    if (f->traffic != NULL) {
        return put_run_edges(f, err);
    }
    const struct model_load *m = f->load;
    const bool sample = m->params.comm == MODEL_COMM_SAMPLE;
    bool is_first = true;
    const uint32_t every = m->params.handler.broadcast_every;
    hpcw_status s = put_handler_edges(f, err);
    for (uint32_t slot = 0; s == HPCW_OK && slot < f->t->slots.at.count; slot++) {
        const struct vom_slot *k = &f->t->slot[slot];
        for (uint32_t i = 0; s == HPCW_OK && i < k->senders; i++) {
            s = put_edge(f, HPCW_VOM_SEND_RECV, entity_of(f, k->edge[i].from), entity_of(f, k->object),
                         k->volume[i], err);
        }
        if (s == HPCW_OK && sample && f->t->slots.exists[slot]) {
            s = put_sample(f, k, is_first, err);
            is_first = false;
        }
        if (s == HPCW_OK && !sample && every > 0 && f->phase % every == 0 && f->t->slots.exists[slot]) {
            s = put_edge(f, HPCW_VOM_BROADCAST, entity_of(f, 0), entity_of(f, k->object),
                         (struct model_load_volume){152, 1}, err);
        }
    }
    return s;
}

/* Number of memory values of a task, which balancers with a memory model read. */
enum { MEMORY_VALUES = 7 };
static void memory_values(const struct rank_file *f, uint32_t slot, hpcw_vom_value value[MEMORY_VALUES]) {
    const struct model_load *m = f->load;
    const uint32_t object = f->t->object[slot];
    const struct model_load_memory memory = model_load_memory(m, object, f->t->slots.lasting[slot]);
    const struct model_load_params *p = &m->params;
    const uint64_t of_rank = p->memory.rank_bytes > 0 ? p->memory.rank_bytes : p->memory.footprint_bytes;
    const struct {
        const char *key;
        uint64_t number;
    } row[MEMORY_VALUES] = {
        {"home_rank", model_load_home(m, object)},  {"rank_working_bytes", of_rank},
        {"shared_bytes", memory.block_bytes},       {"shared_id", memory.block},
        {"task_footprint_bytes", memory.footprint}, {"task_serialized_bytes", memory.serialized},
        {"task_working_bytes", memory.working},
    };
    for (size_t i = 0; i < MEMORY_VALUES; i++) {
        value[i] = (hpcw_vom_value){.key = row[i].key, .type = HPCW_VOM_FLOAT, .number = (double)row[i].number};
    }
}

static hpcw_status put_objects(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    struct vom_thread *t = f->t;
    hpcw_status s = HPCW_OK;
    for (uint32_t slot = 0; s == HPCW_OK && slot < f->t->slots.at.count; slot++) {
        uint32_t object = t->object[slot];
        uint64_t time_ns = t->slots.time_ns[slot];
        if (!t->slots.exists[slot]) {
            continue;
        }
        hpcw_vom_value value[MEMORY_VALUES];
        model_load_split(m, object, f->phase, time_ns, t->part);
        hpcw_vom_task task = {.entity = entity_of(f, object),
                              .whole_ns = true,
                              .time_ns = time_ns,
                              .subphase_ns = t->part,
                              .subphases = m->params.subphases};
        if (m->params.memory.block_objects > 0) {
            memory_values(f, slot, value);
            task.values = value;
            task.value_count = MEMORY_VALUES;
        }
        s = hpcw_vom_task_add(f->vom, &task, err);
    }
    return s;
}

/* Puts unmigratable tasks: the handler, the members of object groups and, in phase 0, id 0 at the end. They
 * have a subphase only if objects have subphases: a replay assumes that a moved object has as many subphases as
 * any task on its rank. */
static hpcw_status put_others(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    hpcw_status s = HPCW_OK;
    for (uint32_t which = 0; s == HPCW_OK && which <= m->params.groups; which++) {
        uint64_t time_ns = model_load_other(m, f->rank, which, f->phase, f->slowness);
        const hpcw_vom_task task = {.entity = which == 0 ? hpcw_vom_handler(f->rank)
                                                         : hpcw_vom_group(which - 1, f->rank, true),
                                    .whole_ns = true,
                                    .time_ns = time_ns,
                                    .subphase_ns = &time_ns,
                                    .subphases = time_ns > 0 && m->params.subphases > 0};
        s = hpcw_vom_task_add(f->vom, &task, err);
    }
    if (s == HPCW_OK && f->phase == 0) {
        const hpcw_vom_task nobody = {.entity = hpcw_vom_nobody(), .whole_ns = true};
        s = hpcw_vom_task_add(f->vom, &nobody, err);
    }
    return s;
}

/* Puts an object as a task of a rank on which an iteration of the balancer placed it. */
static hpcw_status put_tried(const struct rank_file *f, uint32_t object, uint64_t time_ns, hpcw_error *err) {
    const struct model_load *m = f->load;
    uint32_t at[3];
    model_load_index(m, object, at);
    const uint64_t index[] = {at[0], at[1], at[2]};
    model_load_split(m, object, f->phase, time_ns, f->t->part);
    const hpcw_vom_task task = {
        .entity = hpcw_vom_element(model_load_home(m, object), model_load_slot(m, object),
                                   collection_id(m, object), index, m->params.dims),
        .whole_ns = true,
        .time_ns = time_ns,
        .subphase_ns = f->t->part,
        .subphases = m->params.subphases,
    };
    return hpcw_vom_task_add(f->vom, &task, err);
}

/* If the balancer runs after this phase, puts the placements of its iterations. */
static hpcw_status put_iterations(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    const uint32_t next = f->phase + 1;
    hpcw_status s = HPCW_OK;
    if (!m->params.balancer.keep_iterations || next == m->params.phases || !model_load_balances(m, next)) {
        return HPCW_OK;
    }
    const uint64_t *time_ns = model_load_placement(m, next)->time_ns;
    for (uint32_t k = 0; s == HPCW_OK && k < model_load_iterations(m); k++) {
        const struct model_load_placement *p = model_load_trial(m, next, k);
        s = hpcw_vom_begin_iteration(f->vom, k, err);
        for (uint32_t i = p->first[f->rank]; s == HPCW_OK && i < p->first[f->rank + 1]; i++) {
            s = put_tried(f, p->object[i], time_ns[p->object[i]], err);
        }
        s = s == HPCW_OK ? put_others(f, err) : s;
        s = s == HPCW_OK ? hpcw_vom_end_iteration(f->vom, NULL, 0, err) : s;
    }
    return s;
}

static void place_objects(const struct rank_file *f) {
    for (uint32_t slot = 0; slot < f->t->slots.at.count; slot++) {
        uint32_t at[3];
        model_load_index(f->load, f->t->object[slot], at);
        for (size_t d = 0; d < 3; d++) {
            f->t->index[3 * (size_t)slot + d] = at[d];
        }
    }
}

static void know_objects(struct vom_slots *s, const struct model_load *m) {
    for (uint32_t slot = 0; slot < s->at.count; slot++) {
        s->exists[slot] = model_load_exists(m, s->at.object[slot]);
        s->lasting[slot] = model_load_lasting(m, s->at.object[slot]);
    }
}

/* Computes the times of the objects. An interruption of the rank makes one object take longer. */
static void time_objects(struct vom_slots *s, const struct model_load *m, double slowness) {
    uint32_t slot;
    for (uint32_t i = 0; i < s->at.count; i++) {
        s->time_ns[i] = model_load_time(m, s->at.object[i], s->lasting[i], s->at.phase, slowness);
    }
    const uint64_t ns = model_load_interruption(m, s->at.rank, s->at.phase, &slot);
    s->time_ns[slot < s->at.count && s->exists[slot] ? slot : 0] += ns;
}

static hpcw_status write_phase(const struct rank_file *f, hpcw_error *err) {
    hpcw_status s = hpcw_vom_begin_phase(f->vom, f->phase, err);
    if (s == HPCW_OK) {
        s = put_edges(f, err);
    }
    if (s == HPCW_OK) {
        s = put_iterations(f, err);
    }
    if (s == HPCW_OK) {
        s = put_objects(f, err);
    }
    if (s == HPCW_OK) {
        s = put_others(f, err);
    }
    return s == HPCW_OK ? hpcw_vom_end_phase(f->vom, NULL, 0, err) : s;
}

static hpcw_status write_phases(struct rank_file *f, hpcw_error *err) {
    struct vom_slots *slots = &f->t->slots;
    hpcw_status s = HPCW_OK;
    model_load_begin(f->load, f->rank, f->t->object, &slots->at);
    for (f->phase = 0; s == HPCW_OK && f->phase < f->load->params.phases; f->phase++) {
        if (f->phase > 0) {
            model_load_next(f->load, &slots->at);
        }
        if (f->phase == 0 || slots->at.changed) {
            know_objects(slots, f->load);
        }
        f->slowness = model_load_slowness(f->load, f->rank, f->phase);
        time_objects(slots, f->load, f->slowness);
        place_objects(f);
        know_senders(f);
        s = write_phase(f, err);
    }
    return s;
}

static hpcw_status make_folder(const struct gen_write *w, const char *name, hpcw_error *err) {
    return gen_format_make_folder(w->root, w->directory, name, false, err);
}

static hpcw_status write_rank(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct vom_job *job = context;
    const struct gen_dataset *d = job->w->dataset;
    const struct model_machine *m = &d->machine;
    struct gen_unit u;
    struct rank_file f = {.load = &d->load,
                          .traffic = d->workload != NULL ? d->workload->traffic : NULL,
                          .t = state,
                          .rank = (uint32_t)index};
    hpcw_vom_options o = job->options;
    if (index < d->ranks) {
        o.rank = f.rank;
        o.node = hpcw_vom_node_of(d->ranks, m->params.ppn, f.rank);
    }
    hpcw_status s = job->w->format->unit(d, index, &u, err);
    if (s != HPCW_OK) {
        return s;
    }
    char path[4096 + GEN_UNIT_PATH];
    if (index >= d->ranks) {
        s = job->w->again ? HPCW_OK : make_folder(job->w, GEN_VOM_BALANCE_FOLDER, err);
        s = s == HPCW_OK ? gen_vom_balance_write(job->w, &o, (uint32_t)(index - d->ranks), err) : s;
        job->w->progress(job->w->progress_context, u.allocated);
        return s;
    }
    (void)snprintf(path, sizeof path, "%s/%s", job->w->directory, u.path);
    s = hpcw_vom_open(path, &o, &f.vom, err);
    s = s == HPCW_OK ? write_phases(&f, err) : s;
    s = s == HPCW_OK ? hpcw_vom_close(f.vom, err) : s;
    hpcw_vom_free(f.vom);
    job->w->progress(job->w->progress_context, u.allocated);
    return s;
}

/* ---- all ranks ---- */

hpcw_status gen_vom_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    (void)partial; /* truth.json follows from the parameters */
    const struct gen_dataset *d = w->dataset;
    struct vom_job job = {.w = w};
    hpcw_vom_options_init(&job.options);
    job.options.ranks = d->ranks;
    job.options.content = gen_vom_is_compressed(d) ? HPCW_VOM_BROTLI : HPCW_VOM_PLAIN;
    job.options.brotli.quality = (int)d->vom_params.quality;
    job.options.brotli.window = (int)d->vom_params.window;
    job.options.durability = w->durability;
    job.options.sink_source = w->outputs;
    const bool makes = hpcw_comm_process(w->comm) == 0 && !w->again;
    hpcw_status s = hpcw_i_agree(w->comm, makes ? make_folder(w, GEN_VOM_FOLDER, err) : HPCW_OK, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_slice own = gen_share(w->comm, w->begin, w->end);
    const struct gen_pool_work work = {.name = "vom",
                                       .context = &job,
                                       .state_size = sizeof(struct vom_thread),
                                       .begin = begin_thread,
                                       .step = write_rank,
                                       .end = end_thread};
    return gen_pool_run(w->jobs, own.begin, own.end - own.begin, 4, &work, err);
}
