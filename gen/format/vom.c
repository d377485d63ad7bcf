/* SPDX-License-Identifier: BSD-3-Clause */
/* vom/data.<rank>.json.br: what vt would have written about the objects of the simulated application. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <hpcw/vom.h>

#include "gen/format/format.h"
#include "gen/format/load_tally.h"
#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"

#define FOLDER "vom"

/* vt's rank 0 makes collections first; the k-th ordinary one of a job has number k. */
static uint64_t collection_id(const struct model_load *m, uint32_t object) {
    return hpcw_vom_collection_id(model_load_collection(m, object));
}

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    if (d->ranks < 1 || d->ranks > HPCW_VOM_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "vom: expected 1 to %u ranks (ids have 15 bits for one), got %u",
                           HPCW_VOM_MAX_RANKS, d->ranks);
    }
    if (d->vom_params.window == 16 || d->vom_params.window == 21) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "vom.window: expected 10 to 24, but not 16 or 21, which readers can take for plain text, "
            "got %u",
            d->vom_params.window);
    }
    return HPCW_OK;
}

static uint64_t units(const struct gen_dataset *d) {
    return d->ranks;
}

static bool is_compressed(const struct gen_dataset *d) {
    return d->vom_params.container != GEN_VOM_PLAIN_FILES;
}

/* Bytes of a record, as measured on generated sets. */
#define TASK_TEXT 209.0
#define SUBPHASE_TEXT 29.0
#define OTHER_TEXT 178.0
#define EDGE_TEXT 219.0
#define MEMORY_TEXT 190.0
/* What brotli leaves of the text, a twentieth with the default options; the rest is reserve. */
#define COMPRESSED 0.05

/* How much text a rank writes, near enough for a plan: the objects at the border have fewer neighbours. */
static double text_size(const struct gen_dataset *d) {
    const struct model_load_params *p = &d->load_params;
    double objects = (double)p->objects * p->collections;
    double neighbours = 0;
    for (uint32_t k = 0; k < p->dims; k++) {
        double side = d->load.side[k];
        neighbours += p->periodic ? (side > 2 ? 2 : side - 1) : 2 - 2 / side;
    }
    double senders = neighbours + (p->collections > 1) + p->far_edges +
                     (p->broadcast_every > 0 ? 1.0 / p->broadcast_every : 0);
    double phase = objects * (TASK_TEXT + SUBPHASE_TEXT * p->subphases +
                              (p->block_objects > 0 ? MEMORY_TEXT : 0) + senders * EDGE_TEXT) +
                   (1 + p->groups) * OTHER_TEXT + 2 * EDGE_TEXT + 50;
    return 200 + p->phases * phase;
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    double size = text_size(d) * (is_compressed(d) ? COMPRESSED : 1);
    u->apparent = (uint64_t)size;
    u->allocated = hpcw_i_align_up(u->apparent + 2048, 4096);
    return hpcw_vom_file_name(u->path, sizeof u->path, FOLDER "/data.%p.json", (uint32_t)index,
                              d->vom_params.container == GEN_VOM_BROTLI_FILES, err);
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    uint64_t tally = d->load_params.phases * sizeof(struct gen_load_tally);
    return (jobs + (uint64_t)1) * tally + jobs * ((uint64_t)d->load.per_rank * 64 + (8 << 20)) +
           96 * (uint64_t)d->ranks + (4 << 20);
}

static double seconds(const struct gen_dataset *d) {
    return d->ranks * text_size(d) * (is_compressed(d) ? 5e-9 : 1.2e-9);
}

static bool owns(const char *path) {
    static const char start[] = FOLDER "/data.";
    if (strncmp(path, start, sizeof start - 1) != 0) {
        return false;
    }
    const char *rest = path + sizeof start - 1;
    size_t digits = strspn(rest, "0123456789");
    return digits > 0 && (strcmp(rest + digits, ".json") == 0 || strcmp(rest + digits, ".json.br") == 0);
}

/* ---- one rank ---- */

struct vom_job {
    const struct gen_write *w;
    hpcw_vom_options options;     /* but for the rank */
    struct gen_load_tally *tally; /* [phases] of this process */
};

struct vom_thread {
    struct gen_load_tally *tally; /* [phases] */
    uint32_t *object;             /* [per_rank] */
    uint64_t *index;              /* [per_rank][3] */
    uint64_t *time_ns;            /* [per_rank] */
    uint64_t *part;               /* [subphases] */
};

/* A rank's file while it is written. */
struct rank_file {
    const struct model_load *load;
    struct vom_thread *t;
    hpcw_vom *vom;
    uint32_t rank;
    uint32_t phase;
    double slowness;
};

static void end_thread(void *context, void *state) {
    const struct vom_job *job = context;
    struct vom_thread *t = state;
    for (uint32_t k = 0; t->tally != NULL && k < job->w->dataset->load_params.phases; k++) {
        gen_tally_merge(&job->tally[k], &t->tally[k]);
    }
    hpcw_i_free(t->tally);
    hpcw_i_free(t->object);
    hpcw_i_free(t->index);
    hpcw_i_free(t->time_ns);
    hpcw_i_free(t->part);
    hpcw_i_free(t);
}

static hpcw_status begin_thread(void *context, void **state, hpcw_error *err) {
    const struct vom_job *job = context;
    const struct model_load *m = &job->w->dataset->load;
    struct vom_thread *t = hpcw_i_calloc(1, sizeof *t);
    if (t != NULL) {
        t->tally = hpcw_i_calloc(m->params.phases, sizeof *t->tally);
        t->object = hpcw_i_malloc(m->per_rank * sizeof *t->object);
        t->index = hpcw_i_malloc((size_t)m->per_rank * 3 * sizeof *t->index);
        t->time_ns = hpcw_i_malloc(m->per_rank * sizeof *t->time_ns);
        t->part = hpcw_i_malloc((m->params.subphases + (size_t)1) * sizeof *t->part);
        if (t->tally != NULL && t->object != NULL && t->index != NULL && t->time_ns != NULL &&
            t->part != NULL) {
            *state = t;
            return HPCW_OK;
        }
        end_thread(context, t);
    }
    return hpcw_i_fail(err, HPCW_ENOMEM, "vom: out of memory for %u objects of a rank", m->per_rank);
}

/* An object as an entity: whole if it is here, else only what its id says. */
static hpcw_vom_entity entity_of(const struct rank_file *f, uint32_t object) {
    const struct model_load *m = f->load;
    uint32_t slot = model_load_slot(m, object);
    hpcw_vom_entity e = hpcw_vom_element(model_load_home(m, object), slot, collection_id(m, object),
                                         &f->t->index[3 * (size_t)slot], m->params.dims);
    return f->t->object[slot] == object ? e : hpcw_vom_far(e.id);
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

/* A handler as the end of an edge: above all objects. */
static uint32_t handler_end(uint32_t rank) {
    return UINT32_MAX - rank;
}

/* Plain messages between ranks: a tree of reductions up, answers down, and what was sent before anything ran. */
static hpcw_status put_handler_edges(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    const uint32_t groups = m->params.groups;
    const uint32_t self = handler_end(f->rank);
    hpcw_status s = HPCW_OK;
    if (f->phase == 0) {
        s = put_edge(f, HPCW_VOM_SEND_RECV, hpcw_vom_nobody(), hpcw_vom_far(hpcw_vom_handler_id(0)),
                     (struct model_load_volume){112, 2}, err);
    }
    if (s == HPCW_OK && f->rank > 0) {
        uint32_t parent = (f->rank - 1) / 2;
        hpcw_vom_entity from =
            groups > 0 ? hpcw_vom_group(groups - 1, f->rank, true) : hpcw_vom_handler(f->rank);
        s = put_edge(f, HPCW_VOM_SEND_RECV, from, hpcw_vom_far(hpcw_vom_handler_id(parent)),
                     model_load_volume(m, self, handler_end(parent), f->phase), err);
    }
    for (uint32_t child = 2 * f->rank + 1; s == HPCW_OK && child <= 2 * f->rank + 2 && child < m->ranks;
         child++) {
        s = put_edge(f, HPCW_VOM_SEND_RECV, hpcw_vom_handler(f->rank), hpcw_vom_far(hpcw_vom_handler_id(child)),
                     model_load_volume(m, self, handler_end(child), f->phase), err);
    }
    return s;
}

static hpcw_status put_edges(const struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    const uint32_t every = m->params.broadcast_every;
    hpcw_status s = put_handler_edges(f, err);
    for (uint32_t slot = 0; s == HPCW_OK && slot < m->per_rank; slot++) {
        uint32_t to = f->t->object[slot];
        uint32_t sender[MODEL_LOAD_MOST_SENDERS];
        uint32_t count = model_load_senders(m, to, sender);
        for (uint32_t k = 0; s == HPCW_OK && k < count; k++) {
            s = put_edge(f, HPCW_VOM_SEND_RECV, entity_of(f, sender[k]), entity_of(f, to),
                         model_load_volume(m, sender[k], to, f->phase), err);
        }
        if (s == HPCW_OK && every > 0 && f->phase % every == 0) {
            s = put_edge(f, HPCW_VOM_BROADCAST, entity_of(f, 0), entity_of(f, to),
                         (struct model_load_volume){152, 1}, err);
        }
    }
    return s;
}

/* The figures that balancers with a memory model look for. */
enum { MEMORY_VALUES = 7 };
static void memory_values(const struct rank_file *f, uint32_t object, hpcw_vom_value value[MEMORY_VALUES]) {
    const struct model_load *m = f->load;
    const struct model_load_memory memory = model_load_memory(m, object);
    const struct {
        const char *key;
        uint64_t number;
    } row[MEMORY_VALUES] = {
        {"home_rank", model_load_home(m, object)},  {"rank_working_bytes", m->params.footprint_bytes},
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
    for (uint32_t slot = 0; s == HPCW_OK && slot < m->per_rank; slot++) {
        uint32_t object = t->object[slot];
        uint64_t time_ns = t->time_ns[slot];
        hpcw_vom_value value[MEMORY_VALUES];
        model_load_split(m, object, time_ns, t->part);
        hpcw_vom_task task = {.entity = entity_of(f, object),
                              .whole_ns = true,
                              .time_ns = time_ns,
                              .subphase_ns = t->part,
                              .subphases = m->params.subphases};
        if (m->params.block_objects > 0) {
            memory_values(f, object, value);
            task.values = value;
            task.value_count = MEMORY_VALUES;
        }
        s = hpcw_vom_task_add(f->vom, &task, err);
    }
    return s;
}

/* What cannot move: the handler and the members of groups, and in phase 0, as the last one, id 0. Without subphases of
 * objects they have none either: a replay indexes those of a moved object by the largest number on its rank. */
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

static void place_objects(const struct rank_file *f) {
    for (uint32_t slot = 0; slot < f->load->per_rank; slot++) {
        uint32_t at[3];
        model_load_index(f->load, f->t->object[slot], at);
        for (size_t d = 0; d < 3; d++) {
            f->t->index[3 * (size_t)slot + d] = at[d];
        }
    }
}

/* The times of a rank's objects in a phase, time_ns[per_rank] or NULL, and what they add to the counts. */
static void tally_rank(const struct model_load *m, const struct model_load_cursor *at, double slowness,
                       uint64_t *time_ns, struct gen_load_tally *tally) {
    uint64_t load_ns = 0;
    for (uint32_t slot = 0; slot < m->per_rank; slot++) {
        uint64_t ns = model_load_time(m, at->object[slot], at->phase, slowness);
        gen_tally_object(tally, at->object[slot], at->rank, ns);
        load_ns += ns;
        if (time_ns != NULL) {
            time_ns[slot] = ns;
        }
    }
    for (uint32_t which = 0; which <= m->params.groups; which++) {
        load_ns += model_load_other(m, at->rank, which, at->phase, slowness);
    }
    gen_tally_rank(tally, at->rank, load_ns, at->arrived);
}

static hpcw_status write_phases(struct rank_file *f, hpcw_error *err) {
    const struct model_load *m = f->load;
    struct model_load_cursor at;
    hpcw_status s = HPCW_OK;
    model_load_begin(m, f->rank, f->t->object, &at);
    for (f->phase = 0; s == HPCW_OK && f->phase < m->params.phases; f->phase++) {
        if (f->phase > 0) {
            model_load_next(m, &at);
        }
        place_objects(f);
        tally_rank(m, &at, f->slowness, f->t->time_ns, &f->t->tally[f->phase]);
        s = hpcw_vom_begin_phase(f->vom, f->phase, err);
        s = s == HPCW_OK ? put_edges(f, err) : s;
        s = s == HPCW_OK ? put_objects(f, err) : s;
        s = s == HPCW_OK ? put_others(f, err) : s;
        s = s == HPCW_OK ? hpcw_vom_end_phase(f->vom, NULL, 0, err) : s;
    }
    return s;
}

static hpcw_status write_rank(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct vom_job *job = context;
    const struct gen_dataset *d = job->w->dataset;
    const struct model_machine *m = &d->machine;
    struct gen_unit u;
    struct rank_file f = {.load = &d->load, .t = state, .rank = (uint32_t)index};
    f.slowness = model_machine_slowness(m, model_machine_node(m, f.rank));
    hpcw_vom_options o = job->options;
    o.rank = f.rank;
    o.node = hpcw_vom_node_of(d->ranks, m->params.ppn, f.rank);
    hpcw_status s = unit(d, index, &u, err);
    if (s != HPCW_OK) {
        return s;
    }
    char path[4096 + GEN_UNIT_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", job->w->directory, u.path);
    s = hpcw_vom_open(path, &o, &f.vom, err);
    s = s == HPCW_OK ? write_phases(&f, err) : s;
    s = s == HPCW_OK ? hpcw_vom_close(f.vom, err) : s;
    hpcw_vom_free(f.vom);
    job->w->progress(job->w->progress_context, u.allocated);
    return s;
}

/* ---- all of them ---- */

static hpcw_status take_tallies(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    const struct vom_job *job = context;
    const struct gen_load_tally *other = (const void *)word;
    (void)err;
    for (size_t k = 0; k < words / (sizeof *other / sizeof *word); k++) {
        gen_tally_merge(&job->tally[k], &other[k]);
    }
    return HPCW_OK;
}

/* Brings the tallies of all processes together; they end in the partial. */
static hpcw_status collect(const struct vom_job *job, struct hpcw_i_json *partial, hpcw_status s,
                           hpcw_error *err) {
    const uint32_t phases = job->w->dataset->load_params.phases;
    const size_t words = phases * sizeof *job->tally / sizeof(uint64_t);
    struct vom_job all = {.w = job->w};
    hpcw_error ignored;
    if (partial != NULL) {
        all.tally = hpcw_i_calloc(phases, sizeof *all.tally);
        if (all.tally == NULL && s == HPCW_OK) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "vom: out of memory for the loads of %u phases", phases);
        }
    }
    bool takes = partial == NULL || all.tally != NULL;
    hpcw_status r = hpcw_i_comm_collect(job->w->comm, 0, (const uint64_t *)(const void *)job->tally,
                                        s == HPCW_OK && takes ? words : 0, take_tallies, &all,
                                        s == HPCW_OK ? err : &ignored);
    s = s == HPCW_OK ? r : s;
    s = hpcw_i_agree(job->w->comm, s, NULL, err);
    if (partial != NULL && s == HPCW_OK) {
        hpcw_i_json_key(partial, "tallies");
        hpcw_i_json_begin_array(partial);
        for (uint32_t k = 0; k < phases; k++) {
            gen_tally_put(partial, &all.tally[k]);
        }
        hpcw_i_json_end_array(partial);
    }
    hpcw_i_free(all.tally);
    return s;
}

static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    const struct gen_dataset *d = w->dataset;
    char path[4096 + GEN_UNIT_PATH];
    struct vom_job job = {.w = w};
    hpcw_vom_options_init(&job.options);
    job.options.ranks = d->ranks;
    job.options.content = is_compressed(d) ? HPCW_VOM_BROTLI : HPCW_VOM_PLAIN;
    job.options.brotli.quality = (int)d->vom_params.quality;
    job.options.brotli.window = (int)d->vom_params.window;
    job.options.durability = w->durability;
    (void)snprintf(path, sizeof path, "%s/" FOLDER, w->directory);
    hpcw_status s = hpcw_vom_make_directory(path, w->comm, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t begin;
    uint32_t end;
    gen_share((uint32_t)w->begin, (uint32_t)w->end, hpcw_comm_size(w->comm), hpcw_comm_process(w->comm), &begin,
              &end);
    job.tally = hpcw_i_calloc(d->load_params.phases, sizeof *job.tally);
    if (job.tally == NULL) {
        s = hpcw_i_fail(err, HPCW_ENOMEM, "vom: out of memory for the loads of %u phases",
                        d->load_params.phases);
    } else {
        const struct gen_pool_work work = {
            .context = &job, .begin = begin_thread, .step = write_rank, .end = end_thread};
        s = gen_pool_run(w->jobs, begin, end - begin, 4, &work, err);
    }
    s = collect(&job, partial, s, err);
    hpcw_i_free(job.tally);
    return s;
}

static hpcw_status complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err) {
    (void)w;
    (void)partial;
    (void)count;
    (void)err;
    *changed = 0;
    return HPCW_OK;
}

/* ---- truth ---- */

static void put_scenario(const struct model_load *m, struct hpcw_i_json *json) {
    static const char *const kind[] = {"none", "spike", "ramp", "hotspot"};
    const struct model_load_params *p = &m->params;
    hpcw_i_json_key(json, "scenario");
    hpcw_i_json_begin_object(json);
    hpcw_i_json_put_str(json, "kind", kind[p->scenario]);
    if (p->scenario != MODEL_SCENARIO_NONE) {
        hpcw_i_json_put_u64(json, "first_phase", p->scenario_first);
        hpcw_i_json_put_u64(json, "phases", p->scenario_phases);
        hpcw_i_json_put_f64(json, "factor", p->scenario_factor);
    }
    if (p->scenario == MODEL_SCENARIO_HOTSPOT) {
        hpcw_i_json_put_f64(json, "radius", p->scenario_share * m->side[0]);
        hpcw_i_json_put_f64(json, "centre_first", model_load_centre(m, p->scenario_first));
        hpcw_i_json_put_f64(json, "centre_step", (double)m->side[0] / p->scenario_phases);
    } else if (p->scenario != MODEL_SCENARIO_NONE) {
        hpcw_i_json_key(json, "home_ranks");
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_array(json);
        for (uint32_t r = 0; r < m->ranks; r++) {
            if (model_load_is_hit(m, r)) {
                hpcw_i_json_u64(json, r);
            }
        }
        hpcw_i_json_end_array(json);
    }
    hpcw_i_json_end_object(json);
}

/* The heaviest that are above `least` times the mean. */
static void put_overloaded(const struct model_load *m, struct hpcw_i_json *json, const char *key,
                           const struct gen_tally_heavy *list, double mean, double least) {
    bool objects = strcmp(key, "objects") == 0;
    hpcw_i_json_key(json, key);
    hpcw_i_json_begin_array(json);
    for (size_t i = 0;
         i < GEN_TALLY_HEAVIEST && (double)list[i].load_ns / 1e9 >= least * mean && list[i].load_ns > 0; i++) {
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_object(json);
        if (objects) {
            uint32_t o = (uint32_t)list[i].number;
            hpcw_i_json_put_u64(json, "id",
                                hpcw_vom_element_id(model_load_home(m, o), model_load_slot(m, o), true));
        }
        hpcw_i_json_put_u64(json, "rank", list[i].rank);
        hpcw_i_json_put_f64(json, "load_s", (double)list[i].load_ns / 1e9);
        hpcw_i_json_put_f64(json, "ratio", (double)list[i].load_ns / 1e9 / mean);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static void put_phase(const struct model_load *m, uint32_t phase, const struct gen_load_tally *t,
                      struct hpcw_i_json *json) {
    double mean = gen_tally_mean(t, m->ranks);
    hpcw_i_json_begin_object(json);
    hpcw_i_json_put_u64(json, "phase", phase);
    hpcw_i_json_put_f64(json, "rank_load_mean_s", mean);
    hpcw_i_json_put_f64(json, "rank_load_sd_s", gen_tally_sd(t, m->ranks));
    hpcw_i_json_put_f64(json, "rank_load_max_s", (double)t->ranks[0].load_ns / 1e9);
    hpcw_i_json_put_u64(json, "rank_of_max", t->ranks[0].number);
    hpcw_i_json_put_f64(json, "imbalance", (double)t->ranks[0].load_ns / 1e9 / mean - 1);
    hpcw_i_json_put_u64(json, "migrations", t->arrived);
    put_overloaded(m, json, "ranks", t->ranks, mean, 1.5);
    put_overloaded(m, json, "objects", t->objects, mean / m->per_rank, 3);
    hpcw_i_json_end_object(json);
}

/* Adds what one range counted; *known: false if this is no record of a range but the truth of a finished dataset that
 * lost files of other formats. */
static hpcw_status add_partial(const cJSON *partial, uint32_t phases, struct gen_load_tally *tally, bool *known,
                               hpcw_error *err) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(partial, "tallies");
    *known = list != NULL;
    if (*known && cJSON_GetArraySize(list) != (int)phases) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "partial result: tallies: expected %u of them, got %d", phases,
                           cJSON_GetArraySize(list));
    }
    hpcw_status s = HPCW_OK;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        struct gen_load_tally one;
        s = s == HPCW_OK ? gen_tally_get(item, &one, err) : s;
        if (s == HPCW_OK) {
            gen_tally_merge(tally++, &one);
        }
    }
    return s;
}

/* The same counts from the model alone. */
static hpcw_status count_again(const struct model_load *m, struct gen_load_tally *tally, hpcw_error *err) {
    uint32_t *object = hpcw_i_malloc(m->per_rank * sizeof *object);
    if (object == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "vom: out of memory for %u objects of a rank", m->per_rank);
    }
    memset(tally, 0, m->params.phases * sizeof *tally);
    for (uint32_t rank = 0; rank < m->ranks; rank++) {
        double slowness = model_machine_slowness(m->machine, model_machine_node(m->machine, rank));
        struct model_load_cursor at;
        model_load_begin(m, rank, object, &at);
        for (uint32_t phase = 0; phase < m->params.phases; phase++) {
            if (phase > 0) {
                model_load_next(m, &at);
            }
            tally_rank(m, &at, slowness, NULL, &tally[phase]);
        }
    }
    hpcw_i_free(object);
    return HPCW_OK;
}

static hpcw_status merged(const struct model_load *m, const cJSON *const *partial, size_t count,
                          struct gen_load_tally *tally, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    bool known = true;
    for (size_t i = 0; s == HPCW_OK && known && i < count; i++) {
        s = add_partial(partial[i], m->params.phases, tally, &known, err);
    }
    return s == HPCW_OK && !known ? count_again(m, tally, err) : s;
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                         struct hpcw_i_json *json, hpcw_error *err) {
    const struct model_load *m = &d->load;
    const uint32_t phases = m->params.phases;
    struct gen_load_tally *tally = hpcw_i_calloc(phases, sizeof *tally);
    hpcw_status s = tally == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "vom: out of memory for %u phases", phases)
                                  : merged(m, partial, count, tally, err);
    if (s == HPCW_OK) {
        hpcw_i_json_put_u64(json, "objects", m->objects);
        hpcw_i_json_put_u64(json, "objects_per_rank", m->per_rank);
        put_scenario(m, json);
        hpcw_i_json_key(json, "phases");
        hpcw_i_json_begin_array(json);
        for (uint32_t k = 0; k < phases; k++) {
            put_phase(m, k, &tally[k], json);
        }
        hpcw_i_json_end_array(json);
    }
    hpcw_i_free(tally);
    return s;
}

/* ---- reading ---- */

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool probe(const char *path) {
    char first[4096 + 32];
    if (!is_directory(path)) {
        return read_vom_file_type(path) != READ_VOM_UNKNOWN_FILE;
    }
    static const char *const name[] = {"data.0.json.br", "data.0.json"};
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(first, sizeof first, "%s/%s", path, name[i]);
        if (n > 0 && (size_t)n < sizeof first && read_vom_file_type(first) == READ_VOM_DATA_FILE) {
            return true;
        }
    }
    return false;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    unsigned flags = ours ? READ_VOM_STRICT : 0;
    if (is_directory(path)) {
        return read_vom_verify_directory(path, flags, 0, err);
    }
    *files = 1;
    return read_vom_verify(path, flags, err);
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    return read_vom_info(path, json, err);
}

const struct gen_format gen_format_vom = {
    .name = "vom",
    .version = "LBDatafile of vt 1.6.0",
    .help = "load-balancing data of vt, one JSON file per rank, compressed",
    .limits = limits,
    .folder = FOLDER,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .write = write_units,
    .complete = complete,
    .truth = truth,
    .probe = probe,
    .verify = verify,
    .info = info,
    .report = gen_report_vom,
};
