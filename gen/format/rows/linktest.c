/* SPDX-License-Identifier: BSD-3-Clause */
/* linktest/pingpong_results_bin.sion: simulated LinkTest measurements between all ranks. */
#include "gen/export/linktest.h"
#include "gen/fit/links/links.h"
#include "gen/format/linktest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gen/format/pages.h"
#include "gen/format/pending.h"
#include "gen/report/report.h"
#include "libreader/linktest/linktest.h"
#include "libreader/source.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"
#include "libwriter/fields/linktest.h"

/* With more ranks, the matrix alone, with 16 bytes for each pair, exceeds 2^56 bytes. */
#define MOST_RANKS (1u << 26)

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    if (d->ranks < 2 || d->ranks % 2 != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest: expected an even number of ranks of at least 2, got %u: take %u",
                           d->ranks, d->ranks < 2 ? 2 : d->ranks + 1);
    }
    if (d->ranks > MOST_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "linktest: expected at most %u ranks, got %u", MOST_RANKS,
                           d->ranks);
    }
    if (d->linktest_files > d->ranks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest: expected at most one file per rank, got %u files for %u ranks",
                           d->linktest_files, d->ranks);
    }
    return HPCW_OK;
}

static uint64_t units(const struct gen_dataset *d) {
    return d->linktest_files;
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    hpcw_linktest_params p = gen_linktest_params(d);
    hpcw_status s = hpcw_linktest_params_check(&p, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t tasks = gen_linktest_first_task(d, index + 1) - gen_linktest_first_task(d, index);
    uint64_t other = hpcw_linktest_stream_size(&p, 1, p.max_host_size);
    uint64_t first = index == 0 ? hpcw_linktest_stream_size(&p, 0, p.max_host_size) : other;
    uint64_t stride;
    if (!hpcw_i_mul_u64(hpcw_i_align_up(other, p.fs_block_size), tasks - 1, &stride) ||
        !hpcw_i_add_u64(stride, hpcw_i_align_up(first, p.fs_block_size), &stride)) {
        return hpcw_i_fail(err, HPCW_ERANGE, "linktest: %u streams of %" PRIu64 " bytes do not fit into a file",
                           tasks, other);
    }
    hpcw_sion_shape shape;
    uint64_t mapping = d->linktest_files > 1 && index == 0 ? d->ranks : UINT64_MAX;
    s = hpcw_sion_shape_of(tasks, p.fs_block_size, stride, 1, mapping, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (index == 0) {
        (void)snprintf(u->path, sizeof u->path, GEN_LINKTEST_FILE);
    } else {
        (void)snprintf(u->path, sizeof u->path, GEN_LINKTEST_FILE ".%06u", (unsigned)index);
    }
    u->apparent = shape.file_size;
    struct gen_pages pages = {0, 0};
    gen_pages_add(&pages, 0, shape.meta1_size);
    uint64_t at = shape.data_start;
    for (uint32_t t = 0; t < tasks; t++) {
        uint64_t size = t == 0 ? first : other;
        gen_pages_add(&pages, at, size);
        at += hpcw_i_align_up(size, p.fs_block_size);
    }
    gen_pages_add(&pages, shape.meta2_start, shape.file_size - shape.meta2_start);
    u->allocated = pages.bytes;
    return HPCW_OK;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    hpcw_linktest_params p = gen_linktest_params(d);
    uint64_t per_thread = (uint64_t)d->ranks * (8 + 8 + 4 + 16 + 4 + 24) + 20 * (uint64_t)d->machine.nodes;
    /* memory of rank 0 for tasks, outliers and the slowest timings */
    uint64_t task0 = (uint64_t)d->ranks * 220;
    return jobs * per_thread + task0 + 32 * (p.retests < d->ranks ? p.retests : d->ranks) + (8 << 20);
}

/* The partial results list the ranks with a delayed message. In cJSON's tree, each list element is an object of
 * up to nine members. That makes ten nodes of 80 bytes, plus names and values of 32 bytes. */
static uint64_t partial_memory(const struct gen_dataset *d) {
    double timings = (double)d->ranks * (double)(d->linktest_params.run.permutations + 1);
    double listed = 1 - exp(-timings * (double)d->linktest.tail_threshold * 0x1p-32);
    uint64_t outliers = (uint64_t)((double)d->ranks * listed * 1280);
    /* Each range's partial has a text with the slowest timing of every step. */
    uint64_t ranges = d->linktest_files > 1 ? d->linktest_files : 0;
    return outliers + ranges * d->linktest.steps * 13 * (d->linktest_params.run.permutations + 1);
}

static double seconds(const struct gen_dataset *d) {
    return (double)d->ranks * (double)d->ranks * (double)(d->linktest_params.run.permutations + 1) * 10e-9;
}

static bool owns(const char *path) {
    return gen_is_of_set(path, GEN_LINKTEST_FILE);
}

/* ---- reading ---- */

/* Only checks the tag in the file. So `verify` reports a damaged result as damaged, and not as a container of
 * other data. */
static hpcw_status probe(const char *path, bool *is, hpcw_error *err) {
    struct read_sion *reader = NULL;
    struct read_sion_task task;
    char tag[8];
    hpcw_error why;
    hpcw_status s = gen_format_sion.probe(path, is, err);
    if (s != HPCW_OK || !*is) {
        return s;
    }
    s = read_sion_open(path, &reader, &why);
    s = s == HPCW_OK ? read_sion_task(reader, 0, 0, &task, &why) : s;
    *is = s == HPCW_OK && task.rank == 0;
    s = *is ? read_sion_read(reader, &task, 0, tag, sizeof tag, &why) : s;
    *is = *is && s == HPCW_OK && memcmp(tag, "LinkTest", sizeof tag) == 0;
    read_sion_free(reader);
    return read_source_is_of_system(s, &why) ? hpcw_i_fail_as(err, &why) : HPCW_OK;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = read_linktest_open(path, &reader, err);
    if (s == HPCW_OK) {
        unsigned flags;
        s = gen_format_sion_flags(read_linktest_sion(reader), path, ours, &flags, err);
        s = s == HPCW_OK ? read_linktest_verify(reader, flags, err) : s;
        *files = read_sion_files(read_linktest_sion(reader));
        read_linktest_free(reader);
    }
    return s;
}

static void put_summary(struct hpcw_i_json *json, const hpcw_linktest_info *i,
                        const struct read_linktest_summary *m) {
    hpcw_i_json_put_str(json, "start", m->start);
    hpcw_i_json_put_str(json, "end", m->end);
    hpcw_i_json_put_f64(json, "min_s", m->min);
    hpcw_i_json_put_f64(json, "avg_s", m->avg);
    hpcw_i_json_put_f64(json, "max_s", m->max);
    if (i->all_to_all) {
        hpcw_i_json_put_f64(json, "all_to_all_min_s", m->all_to_all_min);
        hpcw_i_json_put_f64(json, "all_to_all_avg_s", m->all_to_all_avg);
        hpcw_i_json_put_f64(json, "all_to_all_max_s", m->all_to_all_max);
    }
}

static hpcw_status put_permutations(struct read_linktest *reader, const hpcw_linktest_info *i,
                                    struct hpcw_i_json *json, hpcw_error *err) {
    enum { MOST_SHOWN = 16 };
    hpcw_status s = HPCW_OK;
    hpcw_i_json_key_array(json, "summaries");
    for (uint64_t m = 0; s == HPCW_OK && m < i->permutations; m++) {
        struct read_linktest_summary summary;
        struct read_linktest_slow slow[MOST_SHOWN];
        size_t shown = i->retests < MOST_SHOWN ? (size_t)i->retests : MOST_SHOWN;
        s = read_linktest_summary(reader, m, &summary, err);
        if (s == HPCW_OK) {
            s = read_linktest_slow(reader, m, 0, shown, slow, err);
        }
        if (s != HPCW_OK) {
            break;
        }
        hpcw_i_json_begin_object(json);
        put_summary(json, i, &summary);
        hpcw_i_json_key_array(json, "slowest");
        for (size_t k = 0; k < shown; k++) {
            hpcw_i_json_flat_object(json);
            hpcw_i_json_put_u64(json, "from", slow[k].from);
            hpcw_i_json_put_u64(json, "to", slow[k].to);
            hpcw_i_json_put_f64(json, "time_s", slow[k].original);
            hpcw_i_json_put_f64(json, "retest_s", slow[k].retest);
            hpcw_i_json_end_object(json);
        }
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_linktest *reader;
    hpcw_status s = read_linktest_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const hpcw_linktest_info *i = read_linktest_info(reader);
    char version[48];
    (void)snprintf(version, sizeof version, "%u.%u.%u", i->version[0], i->version[1], i->version[2]);
    hpcw_i_json_put_str(json, "version", version);
    hpcw_i_json_put_str(json, "git_hash", i->git_hash);
    hpcw_i_json_put_str(json, "mode", i->mode);
    hpcw_i_json_put_str(json, "kernel", hpcw_i_linktest_kernel_of(i));
    hpcw_i_json_put_u64(json, "tasks", i->tasks);
    hpcw_i_json_put_u64(json, "steps", i->steps);
    for (size_t k = 0; k < hpcw_i_linktest_field_count; k++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[k];
        if (f->use == HPCW_I_LINKTEST_HIDDEN) {
            continue;
        }
        if (f->type == HPCW_I_LINKTEST_BOOL) {
            hpcw_i_json_put_bool(json, f->name, hpcw_i_linktest_read(f, i) != 0);
        } else {
            hpcw_i_json_put_u64(json, f->name, hpcw_i_linktest_read(f, i));
        }
    }
    uint32_t hosts = 0;
    uint64_t payload = 0;
    s = read_linktest_totals(reader, &hosts, &payload, err);
    if (s == HPCW_OK) {
        hpcw_i_json_put_u64(json, "hosts", hosts);
        hpcw_i_json_put_u64(json, "payload_bytes", payload);
        s = put_permutations(reader, i, json, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_json_key_object(json, "container");
        s = gen_format_sion_info(read_linktest_sion(reader), json, err);
        hpcw_i_json_end_object(json);
    }
    read_linktest_free(reader);
    return s;
}

static const struct gen_injected injected[] = {{"outliers", "linktest.outliers"}, {NULL, NULL}};

const struct gen_format gen_format_linktest = {
    .name = "linktest",
    .version = "2.1.17",
    .help = "N x N communication timings as LinkTest writes them, in a SION container",
    .within = &gen_format_sion,
    .limits = limits,
    .container = true,
    .units = units,
    .unit = unit,
    .memory = memory,
    .partial_memory = partial_memory,
    .seconds = seconds,
    .owns = owns,
    .pending = true,
    .write = gen_linktest_write,
    .complete = gen_linktest_complete,
    .truth = gen_linktest_truth,
    .injected = injected,
    .probe = probe,
    .verify = verify,
    .info = info,
    .report = gen_report_linktest,
    .export = &gen_export_linktest,
    .fit = gen_fit_links,
};
