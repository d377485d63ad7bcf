/* SPDX-License-Identifier: BSD-3-Clause */
/* vom/data.<rank>.json.br: what vt would write about the objects of the simulated application. */
#include "gen/export/vom.h"
#include "gen/export/rewrite/vom.h"
#include "gen/fit/loads/loads.h"
#include "gen/format/vom.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/format/vom_balance.h"
#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "gen/spec/visibility.h"
#include "libreader/source.h"
#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/info.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/set/verify.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

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
    return (uint64_t)d->ranks + gen_vom_balance_files(d);
}

/* Bytes of text of each kind of record, measured on generated datasets. */
#define TASK_TEXT 209.0
#define SUBPHASE_TEXT 29.0
#define OTHER_TEXT 178.0
#define EDGE_TEXT 219.0
#define MEMORY_TEXT 190.0
/* Compression ratio of brotli with default options, for new text and for text that repeats earlier text. */
#define COMPRESSED 0.048
#define COMPRESSED_AGAIN 0.009
/* Bytes that a compressed file has besides. */
#define COMPRESSED_FILE 700.0

/* Estimates the bytes of text of a rank, for a plan. *again: bytes of text that repeats earlier text: edges
 * with unchanged volumes, and objects in iterations of a balancer. */
static double text_size(const struct gen_dataset *d, double *again) {
    const struct model_load_params *p = &d->load_params;
    const double objects = model_load_mean_objects(&d->load);
    const double fill = objects / d->load.per_rank; /* probability that a neighbouring index has an object */
    double neighbours = 0;
    for (uint32_t k = 0; k < p->dims; k++) {
        double side = d->load.side[k];
        neighbours += p->periodic ? (side > 2 ? 2 : side - 1) : 2 - 2 / side;
    }
    const bool stencil = p->comm == MODEL_COMM_STENCIL, of_index = stencil || p->comm == MODEL_COMM_MESH;
    double senders = fill * (neighbours + (stencil ? (p->collections > 1) + p->edge.far : 0)) +
                     (p->handler.broadcast_every > 0 ? 1.0 / p->handler.broadcast_every : 0);
    if (!of_index) {
        senders = p->comm == MODEL_COMM_SAMPLE ? 4 : 0;
    }
    const struct gen_traffic *run = d->workload != NULL ? d->workload->traffic : NULL;
    if (run != NULL) {
        senders = (double)run->edges / ((double)d->ranks * p->phases) / objects;
    }
    double phase = objects * (TASK_TEXT + SUBPHASE_TEXT * p->subphases +
                              (p->memory.block_objects > 0 ? MEMORY_TEXT : 0) + senders * EDGE_TEXT) +
                   (1 + p->groups) * OTHER_TEXT + 2 * EDGE_TEXT + 50;
    double iterations = 0;
    if (d->load.params.balancer.keep_iterations) {
        iterations = (d->load.placements - 1.0) * model_load_iterations(&d->load) *
                     (objects * (TASK_TEXT + SUBPHASE_TEXT * p->subphases) + (1 + p->groups) * OTHER_TEXT);
    }
    const bool changes = run != NULL ? false : stencil ? p->edge.phases > 0 : of_index && p->layers_sd > 0;
    const double periods = !changes ? 1 : stencil ? ceil((double)p->phases / p->edge.phases) : p->phases;
    const double edges = senders > 0 || run != NULL ? objects * senders + 2 : 2;
    *again = (p->phases - periods) * edges * EDGE_TEXT + iterations;
    return 200 + p->phases * phase + iterations;
}

/* Estimates the bytes of a compressed file of a rank. The numbers were measured on generated datasets. */
static double compressed_size(const struct gen_dataset *d, double text, double again) {
    static const double by_quality[] = {2.1, 1.65, 1.25, 1.1, 1, 0.8, 0.8, 0.8, 0.8, 0.8}; /* 1: the default */
    const uint32_t quality = d->vom_params.quality;
    const uint32_t window = d->vom_params.window;
    /* The lowest qualities remember too little of the window. */
    if (ldexp(quality < 2 ? 0.25 : 1, (int)window) >= text / d->load_params.phases) {
        return COMPRESSED_FILE + by_quality[quality] * (COMPRESSED * (text - again) + COMPRESSED_AGAIN * again);
    }
    /* A window without the phase before does not find what repeats it. */
    return COMPRESSED_FILE + text * (quality < 2 ? 0.28 / (1 + 0.42 * (window - 10)) : 0.09);
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    if (index >= d->ranks) {
        gen_vom_balance_unit(d, (uint32_t)(index - d->ranks), u);
        return HPCW_OK;
    }
    double again;
    double size = text_size(d, &again);
    if (gen_vom_is_compressed(d)) {
        size = compressed_size(d, size, again);
    }
    u->apparent = (uint64_t)size;
    u->allocated = hpcw_i_align_up(u->apparent + 2048, 4096);
    return hpcw_vom_file_name(u->path, sizeof u->path, GEN_VOM_FOLDER "/data.%p.json", (uint32_t)index,
                              d->vom_params.container == GEN_VOM_BROTLI_FILES, err);
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    /* for truth.json, at the end of the run */
    const uint64_t tallies =
        d->load_params.phases * sizeof(struct gen_load_tally) +
        jobs * (model_load_whole_size(&d->load) + 4 * (uint64_t)d->load.objects + 16 * (uint64_t)d->ranks);
    const uint64_t kept =
        4 + (d->load.params.balancer.keep_iterations ? 8 + 4 * (uint64_t)model_load_iterations(&d->load) : 0);
    return tallies + jobs * ((uint64_t)d->load.most * 480 + (8 << 20)) + gen_vom_balance_memory(d) +
           kept * d->load.placements * d->load.objects + 112 * (uint64_t)d->ranks + (4 << 20);
}

/* 2.5 ms: each file gets a new compressor, with memory that is touched for the first time. */
static double seconds(const struct gen_dataset *d) {
    double ignored;
    const double size = text_size(d, &ignored);
    return d->ranks * (gen_vom_is_compressed(d) ? 2.5e-3 + size * 6e-9 : size * 1.2e-9);
}

static bool owns(const char *path) {
    static const char start[] = GEN_VOM_FOLDER "/data.";
    if (strncmp(path, start, sizeof start - 1) != 0) {
        return gen_vom_balance_owns(path);
    }
    const char *rest = path + sizeof start - 1;
    size_t digits = strspn(rest, "0123456789");
    return digits > 0 && (strcmp(rest + digits, ".json") == 0 || strcmp(rest + digits, ".json.br") == 0);
}

/* ---- truth ---- */

/* Writes the ranks or objects of a list whose load is at least `least` times the mean. */
static void put_overloaded(const struct model_load *m, struct hpcw_i_json *json, const char *key,
                           const struct gen_tally_heavy *list, double mean, double least) {
    bool objects = strcmp(key, "objects") == 0;
    hpcw_i_json_key_array(json, key);
    for (size_t i = 0;
         i < GEN_TALLY_HEAVIEST && (double)list[i].load_ns / 1e9 >= least * mean && list[i].load_ns > 0; i++) {
        hpcw_i_json_flat_object(json);
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
    hpcw_i_json_put_f64(json, "imbalance", gen_tally_imbalance(t, m->ranks));
    if (m->params.scenario.kind != MODEL_SCENARIO_NONE) {
        hpcw_i_json_put_f64(json, "imbalance_without_scenario", gen_tally_calm_imbalance(t, m->ranks));
    }
    hpcw_i_json_put_f64(json, "rank_load_bound_s", (double)t->optimum.bound_ns / 1e9);
    hpcw_i_json_put_f64(json, "longest_first_max_s", (double)t->optimum.longest_first_ns / 1e9);
    hpcw_i_json_put_f64(json, "longest_first_imbalance", gen_tally_longest_first(t, m->ranks));
    hpcw_i_json_put_u64(json, "migrations", t->arrived);
    put_overloaded(m, json, "ranks", t->ranks, mean, 1.5);
    put_overloaded(m, json, "objects", t->objects, mean / model_load_mean_objects(m), 3);
    hpcw_i_json_end_object(json);
}

static uint64_t count_objects(const struct model_load *m) {
    uint64_t count = 0;
    for (uint32_t o = 0; o < m->objects; o++) {
        count += model_load_exists(m, o);
    }
    return count;
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count, uint32_t jobs,
                         struct hpcw_i_json *json, hpcw_error *err) {
    (void)partial;
    (void)count;
    const struct model_load *m = &d->load;
    const uint32_t phases = m->params.phases;
    struct gen_load_tally *tally = hpcw_i_malloc(phases * sizeof *tally);
    hpcw_status s = tally == NULL ? hpcw_i_fail_memory(err, "vom", phases, "phases")
                                  : gen_tally_phases(m, jobs, tally, err);
    if (s == HPCW_OK) {
        hpcw_i_json_put_u64(json, "objects", count_objects(m));
        s = gen_vom_put_scenario(d, tally, json, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_json_key_array(json, "phases");
        for (uint32_t k = 0; k < phases; k++) {
            put_phase(m, k, &tally[k], json);
        }
        hpcw_i_json_end_array(json);
    }
    hpcw_i_free(tally);
    return s;
}

/* Returns the mean of log2(time) of a rank's unmigratable tasks. Phase 0 is left out, since it is the
 * set-up. */
static double fixed_load(const struct model_load *m, uint32_t rank) {
    double sum = 0;
    uint64_t count = 0;
    for (uint32_t phase = 1; phase < m->params.phases; phase++) {
        const double slowness = model_load_slowness(m, rank, phase);
        for (uint32_t which = 0; which <= m->params.groups; which++) {
            const uint64_t time_ns = model_load_other(m, rank, which, phase, slowness);
            sum += time_ns > 0 ? hpcw_i_log2((double)time_ns) : 0;
            count += time_ns > 0;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

hpcw_status gen_vom_slow_nodes(const struct gen_dataset *d, const bool *slow, double *sd, hpcw_error *err) {
    const uint32_t ppn = d->machine.params.ppn;
    const uint32_t nodes = d->ranks / ppn; /* without the last node if that has fewer ranks */
    double *value = hpcw_i_malloc(((size_t)nodes + 1) * 2 * sizeof *value);
    if (value == NULL) {
        return hpcw_i_fail_memory(err, "vom", nodes, "nodes");
    }
    double *sorted = value + nodes + 1;
    for (uint32_t node = 0; node < nodes; node++) {
        value[node] = 0;
        for (uint32_t i = 0; i < ppn; i++) {
            value[node] += fixed_load(&d->load, node * ppn + i) / ppn;
        }
    }
    memcpy(sorted, value, nodes * sizeof *value);
    const size_t known = gen_visibility_sort(sorted, nodes);
    for (uint32_t node = 0; node < d->machine.nodes; node++) {
        sd[node] = slow[node] && node < nodes ? gen_visibility_sd_of(sorted, known, value[node]) : NAN;
    }
    hpcw_i_free(value);
    return HPCW_OK;
}

/* ---- reading ---- */

static hpcw_status probe(const char *path, bool *is, hpcw_error *err) {
    enum read_vom_file_type type;
    bool directory;
    hpcw_status s = read_source_is_directory(path, &directory, err);
    s = s == HPCW_OK ? read_vom_is_set(path, is, err) : s;
    if (s == HPCW_OK && !directory && !*is) {
        s = read_vom_file_type(path, &type, err);
        *is = s == HPCW_OK && type != READ_VOM_UNKNOWN_FILE;
    }
    return s;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    unsigned flags = ours ? READ_VOM_STRICT : 0;
    bool directory;
    hpcw_status s = read_vom_is_directory(path, &directory, err);
    if (s != HPCW_OK || directory) {
        return s == HPCW_OK ? read_vom_verify_directory(path, flags, 0, err) : s;
    }
    *files = 1;
    if (ours && gen_vom_balance_is_list(path)) {
        return gen_vom_balance_verify_list(path, err);
    }
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
    .folder = GEN_VOM_FOLDER,
    .alone = true,
    .beside = GEN_VOM_BALANCE_FOLDER,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .write = gen_vom_write,
    .truth = truth,
    .probe = probe,
    .verify = verify,
    .info = info,
    .report = gen_report_vom,
    .export = &gen_export_vom,
    .rewrite = &gen_rewrite_vom,
    .fit = gen_fit_vom,
};
