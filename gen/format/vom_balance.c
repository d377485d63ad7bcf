/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/vom_balance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/format/vom.h"
#include "gen/model/load/whole.h"
#include "gen/spec/stream.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/text.h"

static const char *const statistics_name[] = {"vt_lb_statistics.json", "vt_lb_statistics.json.br"};

static const char list_name[] = "longest_first.csv";
static const char list_head[] = "phase,id,rank\n";

static bool has_statistics(const struct gen_dataset *d) {
    return d->load_params.balancer.kind != MODEL_BALANCER_NONE;
}

uint32_t gen_vom_balance_files(const struct gen_dataset *d) {
    return (uint32_t)has_statistics(d) + d->vom_params.longest_first;
}

static bool is_statistics(const struct gen_dataset *d, uint32_t file) {
    return has_statistics(d) && file == 0;
}

void gen_vom_balance_unit(const struct gen_dataset *d, uint32_t file, struct gen_unit *unit) {
    const bool compressed = d->vom_params.container == GEN_VOM_BROTLI_FILES;
    const char *name = is_statistics(d, file) ? statistics_name[compressed] : list_name;
    (void)snprintf(unit->path, sizeof unit->path, GEN_VOM_BALANCE_FOLDER "/%s", name);
    if (is_statistics(d, file)) {
        /* with a balancer that runs in each phase */
        unit->apparent = 300 + d->load_params.phases * UINT64_C(3000) / (compressed ? 6 : 1);
    } else {
        unit->apparent = (uint64_t)(d->load_params.phases * model_load_mean_objects(&d->load) * d->ranks * 18);
    }
    unit->allocated = hpcw_i_align_up(unit->apparent, 4096);
}

bool gen_vom_balance_owns(const char *path) {
    static const char folder[] = GEN_VOM_BALANCE_FOLDER "/";
    const char *name = path + sizeof folder - 1;
    return strncmp(path, folder, sizeof folder - 1) == 0 &&
           (strcmp(name, statistics_name[0]) == 0 || strcmp(name, statistics_name[1]) == 0 ||
            strcmp(name, list_name) == 0);
}

/* ---- statistics that vt writes ---- */

/* Edges of one kind between objects or handlers. Their bytes are in vt's statistics. */
struct edge_list {
    uint32_t count;
    uint32_t *owner;
    double *ln_bytes;
};

struct statistics {
    const struct model_load *load;
    /* communication of a workload's run; NULL: edges are those of the load model */
    const struct gen_traffic *traffic;
    struct model_load_whole whole;
    struct edge_list kind[MODEL_LOAD_TO_GROUP + 1];
    double *object; /* [tasks] load of each task, migratable or not, seconds */
    double *rank;   /* [ranks] */
    double *edge;   /* [edges] bytes */
    size_t edges;   /* largest number of edges, without those of a constant size */
};

static hpcw_status statistics_new(struct statistics *s, const struct gen_dataset *d, hpcw_error *err) {
    const struct model_load *m = &d->load;
    const size_t tasks = m->objects + (size_t)m->ranks * (1 + m->params.groups);
    *s = (struct statistics){.load = m,
                             .traffic = d->workload != NULL ? d->workload->traffic : NULL,
                             .object = hpcw_i_malloc(tasks * sizeof *s->object),
                             .rank = hpcw_i_malloc(m->ranks * sizeof *s->rank)};
    hpcw_status status = model_load_whole_new(&s->whole, m, err);
    const bool sample = m->params.comm == MODEL_COMM_SAMPLE;
    for (uint32_t k = 0; status == HPCW_OK && k <= MODEL_LOAD_TO_GROUP; k++) {
        const bool is_there =
            k < m->kinds || k == MODEL_LOAD_UP || k == MODEL_LOAD_DOWN || (k == MODEL_LOAD_TO_GROUP && sample);
        const size_t most = !is_there ? 0 : k == MODEL_LOAD_UP || k == MODEL_LOAD_DOWN ? m->ranks : m->objects;
        s->edges += most;
        s->kind[k].owner = hpcw_i_malloc(most * sizeof *s->kind[k].owner);
        s->kind[k].ln_bytes = hpcw_i_malloc(most * sizeof *s->kind[k].ln_bytes);
        status = s->kind[k].owner != NULL && s->kind[k].ln_bytes != NULL
                     ? HPCW_OK
                     : hpcw_i_fail_memory(err, "vom", most, "edges");
    }
    s->edges = s->traffic != NULL ? s->traffic->edges : s->edges;
    s->edge = hpcw_i_malloc((s->edges + m->objects + 3 * (size_t)m->ranks) * sizeof *s->edge);
    return status != HPCW_OK || (s->object != NULL && s->rank != NULL && s->edge != NULL)
               ? status
               : hpcw_i_fail_memory(err, "vom", s->edges, "edges");
}

static void statistics_free(struct statistics *s) {
    model_load_whole_free(&s->whole);
    for (uint32_t k = 0; k <= MODEL_LOAD_TO_GROUP; k++) {
        hpcw_i_free(s->kind[k].owner);
        hpcw_i_free(s->kind[k].ln_bytes);
    }
    hpcw_i_free(s->object);
    hpcw_i_free(s->rank);
    hpcw_i_free(s->edge);
}

static void add_edge(struct statistics *s, uint32_t kind, uint32_t owner, double follows) {
    struct edge_list *list = &s->kind[kind];
    list->owner[list->count] = owner;
    list->ln_bytes[list->count++] = model_load_flow(s->load, owner, model_load_shared(kind), follows).ln_bytes;
}

static void list_edges(struct statistics *s) {
    const struct model_load *m = s->load;
    for (uint32_t o = 0; o < m->objects; o++) {
        struct model_load_edge from[MODEL_LOAD_MOST_KINDS];
        const bool exists = model_load_exists(m, o);
        const uint32_t senders = exists ? model_load_senders(m, o, from) : 0;
        for (uint32_t i = 0; i < senders; i++) {
            add_edge(s, from[i].kind, model_load_owner(from[i].kind, from[i].from, o),
                     s->whole.lasting[o] + s->whole.lasting[from[i].from]);
        }
        if (exists && m->params.comm == MODEL_COMM_SAMPLE) {
            add_edge(s, MODEL_LOAD_TO_GROUP, o, s->whole.lasting[o]);
        }
    }
    for (uint32_t r = 1; m->params.handler.send && r < m->ranks; r++) {
        add_edge(s, MODEL_LOAD_UP, model_load_handler(r), 0);
        add_edge(s, MODEL_LOAD_DOWN, model_load_handler(r), 0);
    }
}

static void sum_loads(struct statistics *s, uint32_t phase, hpcw_vom_balance *b) {
    const struct model_load *m = s->load;
    struct model_load_whole *w = &s->whole;
    size_t tasks = 0;
    model_load_whole_interrupt(w);
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t which = 0; which <= m->params.groups; which++) {
            s->object[tasks++] = (double)model_load_other(m, r, which, phase, w->slowness[r]) * 1e-9;
        }
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        if (w->time_ns[o] > 0) {
            s->object[tasks++] = (double)w->time_ns[o] * 1e-9;
        }
    }
    b->figures[HPCW_VOM_OBJECT_LOAD_RAW] = hpcw_vom_figures_of(s->object, tasks);
    b->figures[HPCW_VOM_OBJECT_LOAD_MODELED] = b->figures[HPCW_VOM_OBJECT_LOAD_RAW];
}

static void sum_ranks(struct statistics *s, uint32_t phase, const uint32_t *rank, hpcw_vom_balance *b) {
    const struct model_load *m = s->load;
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint64_t ns = 0;
        for (uint32_t which = 0; which <= m->params.groups; which++) {
            ns += model_load_other(m, r, which, phase, s->whole.slowness[r]);
        }
        s->rank[r] = (double)ns * 1e-9;
    }
    for (uint32_t o = 0; o < m->objects; o++) {
        s->rank[rank[o]] += (double)s->whole.time_ns[o] * 1e-9;
    }
    b->figures[HPCW_VOM_RANK_LOAD_RAW] = hpcw_vom_figures_of(s->rank, m->ranks);
    b->figures[HPCW_VOM_RANK_LOAD_MODELED] = b->figures[HPCW_VOM_RANK_LOAD_RAW];
}

static void add_bytes(struct statistics *s, uint32_t kind, uint32_t phase, size_t *edges) {
    const struct model_load *m = s->load;
    const struct edge_list *list = &s->kind[kind];
    for (uint32_t i = 0; i < list->count; i++) {
        const struct model_load_flow flow = {.ln_bytes = list->ln_bytes[i]};
        const uint32_t owner = list->owner[i];
        const double bytes = (double)model_load_volume(m, owner, model_load_shared(kind), flow, phase).bytes;
        s->edge[(*edges)++] = bytes;
        /* For a rank, vt only counts the bytes that its handler and its object groups send to other ranks. In
         * the model, these are the edges between handlers, up the tree and down the tree. */
        const bool handlers = kind == MODEL_LOAD_UP || kind == MODEL_LOAD_DOWN;
        const uint32_t child = UINT32_MAX - owner;
        if (handlers) {
            s->rank[kind == MODEL_LOAD_UP ? child : model_load_parent(child)] += bytes;
        }
    }
}

/* Adds what a rank sends before any task runs. */
static void add_first(struct statistics *s, uint32_t rank, uint32_t phase, size_t *edges) {
    uint32_t to[3];
    const uint32_t count = model_load_first_to(s->load, rank, phase, to);
    for (uint32_t i = 0; i < count; i++) {
        s->edge[(*edges)++] = GEN_VOM_FIRST_BYTES;
        s->rank[rank] += GEN_VOM_FIRST_BYTES;
    }
}

static void sum_bytes(struct statistics *s, uint32_t phase, hpcw_vom_balance *b) {
    const struct model_load *m = s->load;
    const struct model_load_flow none = {0};
    size_t edges = 0;
    memset(s->rank, 0, m->ranks * sizeof *s->rank);
    for (uint32_t k = 0; k <= MODEL_LOAD_TO_GROUP; k++) {
        add_bytes(s, k, phase, &edges);
    }
    for (uint32_t i = 0; i < s->kind[MODEL_LOAD_TO_GROUP].count; i++) {
        s->edge[edges++] = (double)model_load_volume(m, 0, MODEL_LOAD_FROM_GROUP, none, phase).bytes;
    }
    for (uint32_t r = 0; r < m->ranks; r++) {
        if (m->params.comm == MODEL_COMM_SAMPLE && m->params.groups > 1) {
            s->edge[edges++] = (double)model_load_volume(m, 0, MODEL_LOAD_TO_OTHER_GROUP, none, phase).bytes;
        }
        add_first(s, r, phase, &edges);
    }
    b->figures[HPCW_VOM_OBJECT_COMM] = hpcw_vom_figures_of(s->edge, edges);
    b->figures[HPCW_VOM_RANK_COMM] = hpcw_vom_figures_of(s->rank, m->ranks);
}

/* Sums up the bytes of edges and of ranks for a workload's run, in which only handlers send to other ranks. */
static void sum_run_bytes(struct statistics *s, uint32_t phase, hpcw_vom_balance *b) {
    size_t count;
    const struct gen_traffic_edge *edge = gen_traffic_edges(s->traffic, phase, SIM_ANY, &count);
    size_t edges = 0;
    for (uint32_t r = 0; r < s->load->ranks; r++) {
        s->rank[r] = 0;
        add_first(s, r, phase, &edges);
    }
    for (size_t i = 0; i < count; i++) {
        s->edge[edges++] = (double)edge[i].bytes;
        s->rank[edge[i].from] += (double)edge[i].bytes;
    }
    b->figures[HPCW_VOM_OBJECT_COMM] = hpcw_vom_figures_of(s->edge, edges);
    b->figures[HPCW_VOM_RANK_COMM] = hpcw_vom_figures_of(s->rank, s->load->ranks);
}

static hpcw_status put_phase(struct statistics *s, uint32_t phase, hpcw_vom_stats *stats, hpcw_error *err) {
    const struct model_load *m = s->load;
    hpcw_vom_balance before = {0};
    model_load_whole_measure(&s->whole, phase);
    sum_loads(s, phase, &before);
    sum_ranks(s, phase, s->whole.rank, &before);
    if (s->traffic != NULL) {
        sum_run_bytes(s, phase, &before);
    } else {
        sum_bytes(s, phase, &before);
    }
    if (phase + 1 == m->params.phases || !model_load_balances(m, phase + 1)) {
        return hpcw_vom_stats_phase(stats, phase, NULL, &before, NULL, err);
    }
    const struct model_load_placement *p = model_load_placement(m, phase + 1);
    hpcw_vom_balance after = before;
    uint64_t moved = 0;
    for (uint32_t r = 0; r < m->ranks; r++) {
        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i++) {
            moved += s->whole.rank[p->object[i]] != r;
            s->whole.rank[p->object[i]] = r;
        }
    }
    sum_ranks(s, phase, s->whole.rank, &after);
    return hpcw_vom_stats_phase(stats, phase, &moved, &before, &after, err);
}

static hpcw_status write_statistics(const struct gen_dataset *d, const char *path,
                                    const hpcw_vom_options *options, hpcw_error *err) {
    struct statistics s = {0};
    hpcw_vom_stats *stats = NULL;
    hpcw_vom_options o = *options;
    o.content = HPCW_VOM_BY_NAME;
    hpcw_status status = statistics_new(&s, d, err);
    status = status == HPCW_OK ? hpcw_vom_stats_open(path, &o, &stats, err) : status;
    if (status == HPCW_OK && s.traffic == NULL) {
        list_edges(&s);
    }
    for (uint32_t phase = 0; status == HPCW_OK && phase < d->load.params.phases; phase++) {
        status = put_phase(&s, phase, stats, err);
    }
    status = status == HPCW_OK ? hpcw_vom_stats_close(stats, err) : status;
    hpcw_vom_stats_free(stats);
    statistics_free(&s);
    return status;
}

/* ---- lists of placements, longest object first ---- */

static hpcw_status put_list(const struct model_load_whole *w, const uint32_t *rank, struct gen_stream *out,
                            hpcw_error *err) {
    const struct model_load *m = w->load;
    hpcw_status s = HPCW_OK;
    for (uint32_t o = 0; s == HPCW_OK && o < m->objects; o++) {
        char line[64];
        if (w->time_ns[o] == 0) {
            continue;
        }
        char *end = hpcw_i_fmt_u64(line, w->phase);
        *end++ = ',';
        end = hpcw_i_fmt_u64(end, hpcw_vom_element_id(model_load_home(m, o), model_load_slot(m, o), true));
        *end++ = ',';
        end = hpcw_i_fmt_u64(end, rank[o]);
        *end++ = '\n';
        s = hpcw_i_buf_append(&out->buf, line, (size_t)(end - line))
                ? gen_stream_flush(out, GEN_STREAM_PIECE, err)
                : hpcw_i_fail_memory(err, "vom", 0, NULL);
    }
    return s;
}

static hpcw_status write_list(const struct gen_write *w, const char *path, hpcw_error *err) {
    const struct model_load *m = &w->dataset->load;
    struct gen_stream out = {0};
    struct model_load_whole whole = {0};
    uint32_t *rank = hpcw_i_malloc(m->objects * sizeof *rank);
    hpcw_status s = rank == NULL ? hpcw_i_fail_memory(err, path, m->objects, "objects")
                                 : model_load_whole_new(&whole, m, err);
    s = s == HPCW_OK ? hpcw_i_sink_open(&w->outputs, NULL, path, 0, true, w->durability, &out.sink, err) : s;
    if (s == HPCW_OK && !hpcw_i_buf_append_str(&out.buf, list_head)) {
        s = hpcw_i_fail_memory(err, path, 0, NULL);
    }
    for (uint32_t phase = 0; s == HPCW_OK && phase < m->params.phases; phase++) {
        model_load_whole_measure(&whole, phase);
        (void)model_load_whole_optimum(&whole, rank);
        s = put_list(&whole, rank, &out, err);
    }
    s = s == HPCW_OK ? gen_stream_flush(&out, 0, err) : s;
    s = s == HPCW_OK ? hpcw_sink_publish(out.sink, err) : s;
    hpcw_sink_free(out.sink);
    hpcw_i_buf_free(&out.buf);
    model_load_whole_free(&whole);
    hpcw_i_free(rank);
    return s;
}

bool gen_vom_balance_is_list(const char *path) {
    const size_t size = strlen(path);
    const size_t end = sizeof list_name - 1;
    return size > end && path[size - end - 1] == '/' && strcmp(path + size - end, list_name) == 0;
}

/* Returns whether a line is valid: a phase not below the previous one, an id, and a rank. */
static bool is_line(const char *line, uint64_t *phase) {
    uint64_t now;
    uint64_t id;
    uint32_t rank;
    char again[96];
    if (sscanf(line, "%" SCNu64 ",%" SCNu64 ",%" SCNu32, &now, &id, &rank) != 3) {
        return false;
    }
    (void)snprintf(again, sizeof again, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 "\n", now, id, rank);
    const bool follows = now == *phase || now == *phase + 1;
    *phase = now;
    return follows && strcmp(line, again) == 0 && (id & 3) == 3 && rank < HPCW_VOM_MAX_RANKS;
}

hpcw_status gen_vom_balance_verify_list(const char *path, hpcw_error *err) {
    char line[96];
    uint64_t number = 1;
    uint64_t phase = 0;
    struct hpcw_i_text text;
    int e = hpcw_i_text_open(path, &text);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open the file", path);
    }
    e = hpcw_i_text_line(&text, line, sizeof line);
    bool ok = strcmp(line, list_head) == 0;
    while (e == 0 && ok && (e = hpcw_i_text_line(&text, line, sizeof line)) == 0 && *line != '\0') {
        ok = is_line(line, &phase);
        number++;
    }
    hpcw_i_text_close(&text);
    return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot read the file", path)
           : ok && number > 1
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT, "%s: line %" PRIu64 ": expected %s, got something else", path,
                             number, number == 1 ? "phase,id,rank" : "phase, id and rank of an object");
}

/* ---- all files ---- */

hpcw_status gen_vom_balance_write(const struct gen_write *w, const hpcw_vom_options *options, uint32_t file,
                                  hpcw_error *err) {
    char path[4096 + GEN_UNIT_PATH];
    struct gen_unit unit;
    gen_vom_balance_unit(w->dataset, file, &unit);
    (void)snprintf(path, sizeof path, "%s/%s", w->directory, unit.path);
    return is_statistics(w->dataset, file) ? write_statistics(w->dataset, path, options, err)
                                           : write_list(w, path, err);
}

uint64_t gen_vom_balance_memory(const struct gen_dataset *d) {
    return gen_vom_balance_files(d) == 0
               ? 0
               : model_load_whole_size(&d->load) + (8 + 20 * (uint64_t)(d->load.kinds + 1)) * d->load.objects +
                     8 * (10 + (uint64_t)d->load_params.groups) * d->ranks;
}
