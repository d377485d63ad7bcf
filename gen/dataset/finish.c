/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/generate.h"

#include <stdio.h>
#include <string.h>

#include "gen/dataset/again.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/directory/lease.h"
#include "gen/dataset/lists.h"
#include "gen/format/linktest.h"
#include "gen/format/vom.h"
#include "gen/spec/costs.h"
#include "gen/spec/stream.h"
#include "gen/spec/visibility.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

void gen_ranges_free(struct gen_ranges ranges[GEN_MOST_FORMATS]) {
    for (size_t f = 0; f < gen_format_count; f++) {
        for (size_t i = 0; i < ranges[f].count; i++) {
            gen_range_free(&ranges[f].range[i]);
        }
        hpcw_i_free(ranges[f].range);
        hpcw_i_free((void *)(uintptr_t)ranges[f].partial);
    }
}

hpcw_status gen_ranges_of_all(const struct gen_run *run, const struct gen_format *format,
                              const hpcw_sink_source *outputs, struct gen_ranges *r, hpcw_error *err) {
    const uint64_t units = format->units(run->dataset);
    r->range = hpcw_i_calloc(1, sizeof *r->range);
    r->partial = hpcw_i_calloc(1, sizeof *r->partial);
    struct gen_stored *file = hpcw_i_calloc((size_t)units, sizeof *file);
    if (r->range == NULL || r->partial == NULL || file == NULL) {
        hpcw_i_free(file);
        return hpcw_i_fail_memory(err, run->directory, units, "files");
    }
    r->count = 1;
    *r->range = (struct gen_range){.end = units, .digested = true, .file = file};
    hpcw_status s = HPCW_OK;
    if (outputs != NULL) {
        s = gen_again(run, format, (struct gen_slice){0, units}, *outputs, &r->range->partial, err);
        r->partial[0] = r->range->partial;
    }
    return s;
}

static hpcw_status ranges_read(const struct gen_run *run, const struct gen_format *format, struct gen_ranges *r,
                               hpcw_error *err) {
    hpcw_status s = gen_directory_ranges(run, format, &r->range, &r->count, err);
    if (s != HPCW_OK) {
        return s;
    }
    r->partial = hpcw_i_malloc(r->count * sizeof(cJSON *));
    if (r->partial == NULL) {
        return hpcw_i_fail_memory(err, run->directory, 0, NULL);
    }
    for (size_t i = 0; i < r->count; i++) {
        r->partial[i] = r->range[i].partial;
    }
    return HPCW_OK;
}

/* ---- files ---- */

/* A JSON file about the whole dataset. */
struct list_file {
    hpcw_sink *sink;
    struct hpcw_i_json json;
};

static hpcw_status open_list(const struct gen_run *run, const char *name, hpcw_sink **out, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(run->directory, name, path);
    return run->outputs.open != NULL ? run->outputs.open(run->outputs.context, path, 0, true, out, err)
                                     : gen_directory_open(run, name, run->durability, out, err);
}

static hpcw_status list_open(const struct gen_run *run, const char *name, struct list_file *l,
                             hpcw_error *err) {
    hpcw_status s = open_list(run, name, &l->sink, err);
    if (s == HPCW_OK) {
        hpcw_i_json_open_sink(&l->json, l->sink, &(struct hpcw_i_json_options){.indent = true});
    }
    return s;
}

static hpcw_status list_close(struct list_file *l, hpcw_status s, hpcw_error *err) {
    hpcw_status j = hpcw_i_json_finish(&l->json, s == HPCW_OK ? err : NULL);
    s = s == HPCW_OK ? j : s;
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(l->sink, err);
    }
    hpcw_sink_free(l->sink);
    return s;
}

/* ---- truth ---- */

typedef bool next_node(const struct model_machine *m, uint32_t *node, struct model_truth_node *found);

/* Adds how visible a slow node is in the load data, or a slow port in LinkTest. */
static void put_visibility_of(const struct gen_dataset *d, bool port, const struct model_truth_node *found,
                              const double *sd, struct hpcw_i_json *json) {
    char file[GEN_UNIT_PATH];
    hpcw_i_json_key_array(json, "visibility");
    if (sd != NULL && port) {
        gen_visibility_put(json, "linktest", GEN_LINKTEST_FILE, sd[found->node]);
    } else if (sd != NULL &&
               hpcw_vom_file_name(file, sizeof file, GEN_VOM_FOLDER "/data.%p.json", found->first_rank,
                                  d->vom_params.container == GEN_VOM_BROTLI_FILES, NULL) == HPCW_OK) {
        gen_visibility_put(json, "vom", file, sd[found->node]);
    }
    hpcw_i_json_end_array(json);
}

/* Adds which ranks are at each switch. */
static void put_topology(const struct model_machine *m, struct hpcw_i_json *json) {
    hpcw_i_json_key_array(json, "topology");
    for (uint32_t i = 0; i < m->switches; i++) {
        const uint64_t first = (uint64_t)m->switch_first[i] * m->params.ppn;
        const uint64_t end = (uint64_t)m->switch_first[i + 1] * m->params.ppn;
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_u64(json, "switch", i);
        hpcw_i_json_put_u64(json, "group", m->switch_group[i]);
        hpcw_i_json_put_u64(json, "first_rank", first);
        hpcw_i_json_put_u64(json, "ranks", (end < m->ranks ? end : m->ranks) - first);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static void put_hosts(const struct model_machine *m, struct hpcw_i_json *json) {
    hpcw_i_json_key_array(json, "hosts");
    for (uint32_t n = 0; n < m->nodes; n++) {
        char host[MODEL_HOST_SIZE];
        model_machine_host(m, n, host);
        hpcw_i_json_str(json, host);
    }
    hpcw_i_json_end_array(json);
}

/* Adds the list of slow nodes or slow ports. `costs`: costs of faults in the event log; NULL: the dataset has
 * no log. `sd`: [nodes] visibility of the fault; NULL: no format of the dataset shows such faults. */
static void put_nodes(const struct gen_dataset *d, const char *key, const char *kind, next_node *next,
                      const struct gen_costs *costs, const double *sd, struct hpcw_i_json *json) {
    const struct model_machine *m = &d->machine;
    struct model_truth_node found;
    uint32_t node = 0;
    hpcw_i_json_key_array(json, key);
    while (next(m, &node, &found)) {
        char host[MODEL_HOST_SIZE];
        model_machine_host(m, found.node, host);
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "kind", kind);
        hpcw_i_json_put_str(json, "host", host);
        hpcw_i_json_put_u64(json, "node", found.node);
        hpcw_i_json_put_u64(json, "first_rank", found.first_rank);
        hpcw_i_json_put_u64(json, "ranks", found.ranks);
        const bool port = next == model_truth_next_port;
        if (port) {
            /* Times of round trips do not tell which direction of the port is slow. */
            const bool averaged = sd != NULL && d->linktest_params.kernel != HPCW_LINKTEST_UNIDIRECTIONAL;
            hpcw_i_json_put_str(json, "direction", averaged ? "averaged" : found.outgoing ? "out" : "in");
        }
        hpcw_i_json_put_f64(json, "factor", found.factor);
        if (costs != NULL) {
            gen_costs_truth(costs, port ? GEN_COST_SLOW_PORT : GEN_COST_SLOW_NODE, found.node, 0, json);
        }
        put_visibility_of(d, port, &found, sd, json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

typedef hpcw_status visibility_of_nodes(const struct gen_dataset *d, const bool *slow, double *sd,
                                        hpcw_error *err);

/* Adds the list of slow nodes or slow ports. `shows`: computes how visible they are in the format with the id
 * `in`. */
static hpcw_status put_slow(const struct gen_dataset *d, const char *key, const char *kind, next_node *next,
                            enum gen_format_id in, visibility_of_nodes *shows, const struct gen_costs *costs,
                            struct hpcw_i_json *json, hpcw_error *err) {
    const struct model_machine *m = &d->machine;
    const bool shown = (d->formats >> in & 1) != 0;
    double *sd = hpcw_i_calloc(m->nodes, sizeof *sd);
    bool *slow = hpcw_i_calloc(m->nodes, sizeof *slow);
    hpcw_status s = sd == NULL || slow == NULL ? hpcw_i_fail_memory(err, "truth", m->nodes, "nodes") : HPCW_OK;
    struct model_truth_node found;
    uint32_t node = 0;
    bool any = false;
    while (s == HPCW_OK && next(m, &node, &found)) {
        slow[found.node] = any = true;
    }
    if (s == HPCW_OK && any && shown) {
        s = shows(d, slow, sd, err);
    }
    if (s == HPCW_OK) {
        put_nodes(d, key, kind, next, costs, shown ? sd : NULL, json);
    }
    hpcw_i_free(sd);
    hpcw_i_free(slow);
    return s;
}

static hpcw_status put_cables(const struct gen_dataset *d, const struct gen_costs *costs,
                              struct hpcw_i_json *json, hpcw_error *err) {
    const struct model_machine *m = &d->machine;
    const bool shown = (d->formats >> GEN_FORMAT_LINKTEST & 1) != 0;
    struct hpcw_i_buf list = {0};
    struct model_truth_cable one;
    uint32_t a = 0;
    uint32_t b = 0;
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && model_truth_next_cable(m, &a, &b, &one)) {
        s = hpcw_i_buf_append(&list, &one, sizeof one) ? HPCW_OK
                                                       : hpcw_i_fail_memory(err, "truth", 0, "cables");
    }
    const size_t cables = list.size / sizeof one;
    const struct model_truth_cable *cable = (const struct model_truth_cable *)(const void *)list.data;
    double *sd = hpcw_i_calloc(cables + 1, sizeof *sd);
    if (s == HPCW_OK && sd == NULL) {
        s = hpcw_i_fail_memory(err, "truth", cables, "cables");
    }
    if (s == HPCW_OK && shown && cables > 0) {
        s = gen_linktest_slow_cables(d, cable, cables, sd, err);
    }
    hpcw_i_json_key_array(json, "slow_cables");
    for (size_t i = 0; s == HPCW_OK && i < cables; i++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "kind", "slow_cable");
        hpcw_i_json_put_u64(json, "switch_a", cable[i].switch_a);
        hpcw_i_json_put_u64(json, "switch_b", cable[i].switch_b);
        hpcw_i_json_put_u64(json, "first_rank_a", cable[i].first_rank_a);
        hpcw_i_json_put_u64(json, "ranks_a", cable[i].ranks_a);
        hpcw_i_json_put_u64(json, "first_rank_b", cable[i].first_rank_b);
        hpcw_i_json_put_u64(json, "ranks_b", cable[i].ranks_b);
        hpcw_i_json_put_f64(json, "factor", cable[i].factor);
        if (costs != NULL) {
            gen_costs_truth(costs, GEN_COST_SLOW_CABLE, cable[i].switch_a, cable[i].switch_b, json);
        }
        hpcw_i_json_key_array(json, "visibility");
        if (shown) {
            gen_visibility_put(json, "linktest", GEN_LINKTEST_FILE, sd[i]);
        }
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    hpcw_i_free(sd);
    hpcw_i_buf_free(&list);
    return s;
}

hpcw_status gen_write_truth(const struct gen_run *run, const struct gen_ranges *ranges, hpcw_error *err) {
    const struct gen_dataset *d = run->dataset;
    const struct gen_ranges *log = &ranges[GEN_FORMAT_CLOG2];
    struct gen_costs of_log;
    struct list_file l;
    hpcw_status s = gen_costs_read(log->partial, log->count, &of_log, err);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, run->directory);
        return s;
    }
    const struct gen_costs *costs = (d->formats >> GEN_FORMAT_CLOG2 & 1) != 0 ? &of_log : NULL;
    s = list_open(run, GEN_TRUTH, &l, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_json *json = &l.json;
    hpcw_i_json_begin_object(json);
    hpcw_i_json_put_u64(json, "ranks", d->ranks);
    hpcw_i_json_put_u64(json, "seed", d->seed);
    hpcw_i_json_key_object(json, "machine");
    hpcw_i_json_put_str(json, "preset", d->preset);
    hpcw_i_json_put_u64(json, "ranks_per_node", d->machine.params.ppn);
    hpcw_i_json_put_u64(json, "nodes", d->machine.nodes);
    hpcw_i_json_put_u64(json, "switches", d->machine.switches);
    hpcw_i_json_put_u64(json, "groups", d->machine.groups);
    put_topology(&d->machine, json);
    put_hosts(&d->machine, json);
    s = put_slow(d, "slow_ports", "slow_port", model_truth_next_port, GEN_FORMAT_LINKTEST,
                 gen_linktest_slow_ports, costs, json, err);
    s = s == HPCW_OK ? put_cables(d, costs, json, err) : s;
    s = s == HPCW_OK ? put_slow(d, "slow_nodes", "slow_node", model_truth_next_node, GEN_FORMAT_VOM,
                                gen_vom_slow_nodes, costs, json, err)
                     : s;
    hpcw_i_json_end_object(json);
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        if (d->formats >> f & 1) {
            hpcw_i_json_key_object(json, gen_format[f]->name);
            s = gen_format[f]->truth(d, ranges[f].partial, ranges[f].count, run->jobs, json, err);
            if (s != HPCW_OK) {
                hpcw_i_fail_about(err, run->directory);
            }
            hpcw_i_json_end_object(json);
        }
    }
    hpcw_i_json_end_object(json);
    return list_close(&l, s, err);
}

/* ---- manifest and checksums ---- */

static hpcw_status sums_put(const struct gen_run *run, struct gen_stream *sums, const char *name,
                            const char *digest, hpcw_error *err) {
    bool ok = hpcw_i_buf_append_str(&sums->buf, digest) && hpcw_i_buf_append_str(&sums->buf, "  ") &&
              hpcw_i_buf_append_str(&sums->buf, name) && hpcw_i_buf_append_str(&sums->buf, "\n");
    if (!ok) {
        return hpcw_i_fail_memory(err, run->directory, 0, "the checksums");
    }
    return gen_stream_flush(sums, GEN_STREAM_PIECE, err);
}

/* Appends a line to the checksum list and, if `json` is not NULL, an entry to the manifest. */
static hpcw_status put_file(const struct gen_run *run, const char *name, const struct gen_stored *file,
                            struct hpcw_i_json *json, struct gen_stream *sums, hpcw_error *err) {
    char text[GEN_DIGEST_TEXT];
    hpcw_status s = HPCW_OK;
    if (json != NULL) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "path", name);
        hpcw_i_json_put_u64(json, "size", file->size);
    }
    if (run->checksums) {
        gen_digest_text(&file->digest, text);
        s = sums->sink != NULL ? sums_put(run, sums, name, text, err) : HPCW_OK;
        if (json != NULL) {
            hpcw_i_json_put_str(json, "xxh128", text);
        }
    }
    if (json != NULL) {
        hpcw_i_json_end_object(json);
    }
    return s;
}

/* Reads size and digest of a file as it is now. */
static hpcw_status measure(const struct gen_run *run, const char *name, struct gen_stored *file,
                           hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    gen_directory_path(run->directory, name, path);
    return gen_digest_file(path, &file->digest, &file->size, err);
}

static hpcw_status put_now(const struct gen_run *run, const char *name, struct hpcw_i_json *json,
                           struct gen_stream *sums, hpcw_error *err) {
    struct gen_stored file;
    hpcw_status s = measure(run, name, &file, err);
    return s == HPCW_OK ? put_file(run, name, &file, json, sums, err) : s;
}

static hpcw_status put_units(const struct gen_run *run, const struct gen_format *format,
                             const struct gen_ranges *r, struct hpcw_i_json *json, struct gen_stream *sums,
                             hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < r->count; i++) {
        const struct gen_range *range = &r->range[i];
        for (uint64_t k = range->begin; s == HPCW_OK && k < range->end; k++) {
            struct gen_unit unit;
            struct gen_stored file = range->file[k - range->begin];
            s = format->unit(run->dataset, k, &unit, err);
            /* The digest is missing if the run computed none, and old if the join changed the file. */
            if (s == HPCW_OK && run->checksums && (k < r->changed || !range->digested)) {
                s = measure(run, unit.path, &file, err);
            }
            if (s == HPCW_OK) {
                s = put_file(run, unit.path, &file, json, sums, err);
            }
        }
    }
    return s;
}

static hpcw_status put_manifest(const struct gen_run *run, const struct gen_ranges *ranges,
                                struct gen_stream *sums, hpcw_error *err) {
    struct list_file l;
    hpcw_status s = list_open(run, GEN_MANIFEST, &l, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_begin_object(&l.json);
    gen_dataset_describe(run->dataset, run->fingerprint, &l.json);
    hpcw_i_json_key_array(&l.json, "files");
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        s = put_units(run, gen_format[f], &ranges[f], &l.json, sums, err);
    }
    if (s == HPCW_OK) {
        s = put_now(run, GEN_TRUTH, &l.json, sums, err);
    }
    hpcw_i_json_end_array(&l.json);
    hpcw_i_json_end_object(&l.json);
    return list_close(&l, s, err);
}

static hpcw_status end_checksums(const struct gen_run *run, struct gen_stream *sums, hpcw_error *err) {
    hpcw_status s = put_now(run, GEN_MANIFEST, NULL, sums, err);
    if (s == HPCW_OK) {
        s = gen_stream_flush(sums, 0, err);
    }
    return s == HPCW_OK ? hpcw_sink_publish(sums->sink, err) : s;
}

/* Reads all ranges before it completes any, so nothing changes while a part is missing. */
static hpcw_status complete_units(const struct gen_run *run, struct gen_ranges *ranges, hpcw_error *err) {
    for (size_t f = 0; f < gen_format_count; f++) {
        hpcw_status s =
            (run->dataset->formats >> f & 1) != 0 ? ranges_read(run, gen_format[f], &ranges[f], err) : HPCW_OK;
        if (s != HPCW_OK) {
            return s;
        }
    }
    for (size_t f = 0; f < gen_format_count; f++) {
        if ((run->dataset->formats >> f & 1) == 0 || gen_format[f]->complete == NULL) {
            continue;
        }
        const struct gen_write w = gen_write_of(run, gen_format[f], (struct gen_slice){0, 0});
        hpcw_status s =
            gen_format[f]->complete(&w, ranges[f].partial, ranges[f].count, &ranges[f].changed, err);
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, run->directory); /* errors in partial results do not name a file */
            return s;
        }
    }
    return HPCW_OK;
}

hpcw_status gen_write_manifest(const struct gen_run *run, const struct gen_ranges *ranges, bool with_list,
                               hpcw_error *err) {
    struct gen_stream sums = {0};
    hpcw_status s = run->checksums && with_list ? open_list(run, GEN_CHECKSUMS, &sums.sink, err) : HPCW_OK;
    if (s == HPCW_OK) {
        s = put_manifest(run, ranges, &sums, err);
    }
    if (s == HPCW_OK && sums.sink != NULL) {
        s = end_checksums(run, &sums, err);
    }
    hpcw_sink_free(sums.sink);
    hpcw_i_buf_free(&sums.buf);
    return s;
}

hpcw_status gen_finish(const struct gen_run *run, const struct gen_lease *lease, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    struct gen_ranges ranges[GEN_MOST_FORMATS] = {{0}};
    /* A checksum list that an interrupted run left does not fit a manifest without digests. */
    if (!run->checksums) {
        s = gen_directory_remove(run, GEN_CHECKSUMS, err);
    }
    if (s == HPCW_OK) {
        s = complete_units(run, ranges, err);
    }
    s = s == HPCW_OK ? gen_directory_sync(run, err) : s;
    /* Files that the join changed are read by name to get their digests. They are files of this run if no other
     * run took the lease over. So the lease is checked before and after the files about the dataset are
     * written. */
    s = s == HPCW_OK ? gen_lease_check(lease, err) : s;
    s = s == HPCW_OK ? gen_write_truth(run, ranges, err) : s;
    s = s == HPCW_OK ? gen_write_manifest(run, ranges, true, err) : s;
    s = s == HPCW_OK ? gen_lease_check(lease, err) : s;
    if (s == HPCW_OK) {
        s = gen_directory_end(run, err);
    }
    gen_ranges_free(ranges);
    return s;
}
