/* SPDX-License-Identifier: BSD-3-Clause */
/* results.json, as results.schema.json describes it: one put_ function for each of its objects. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/measure/json.h"
#include "bench/report/results.h"
#include "libwriter/base/status.h"
#include "libwriter/io/json.h"

#define DATA "random bytes; a stamp of rank and offset in each 4 KiB"
#define ORDER                                                                                                  \
    "one run of each point to warm up; then, in each repetition, all points in an order drawn from the seed, " \
    "each "                                                                                                    \
    "with its ceiling before or after it"
#define DURABILITY                                                                                             \
    "a run ends when every process has called fsync and closed its files; in mode buffered without fsync"

static void put_stripes(struct hpcw_i_json *j, const char *key, bool there, uint64_t count, uint64_t size,
                        const char *source) {
    hpcw_i_json_key(j, key);
    if (!there) {
        hpcw_i_json_null(j);
        return;
    }
    hpcw_i_json_flat(j);
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_u64(j, "count", count);
    hpcw_i_json_put_u64(j, "bytes", size);
    if (source != NULL) {
        hpcw_i_json_put_str(j, "source", source);
    }
    hpcw_i_json_end_object(j);
}

static void put_fs(struct hpcw_i_json *j, const struct bench_fs *fs) {
    char magic[32];
    (void)snprintf(magic, sizeof magic, "0x%" PRIx64, fs->magic);
    hpcw_i_json_key(j, "file_system");
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "type", fs->type);
    hpcw_i_json_put_str(j, "magic", magic);
    hpcw_i_json_put_u64(j, "block_bytes", fs->block_size);
    hpcw_i_json_put_str(j, "block_source", fs->block_source);
    hpcw_i_json_put_u64(j, "free_bytes", fs->free_bytes);
    hpcw_i_json_key(j, "direct_io");
    if (fs->direct_known) {
        hpcw_i_json_flat(j);
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "memory_bytes", fs->direct_memory);
        hpcw_i_json_put_u64(j, "offset_bytes", fs->direct_offset);
        hpcw_i_json_put_str(j, "source", fs->direct_source);
        hpcw_i_json_end_object(j);
    } else {
        hpcw_i_json_null(j);
    }
    put_stripes(j, "stripes", fs->stripe_known, fs->stripe_count, fs->stripe_size, fs->stripe_source);
    put_stripes(j, "stripes_asked", fs->stripe_count_asked != 0 || fs->stripe_size_asked != 0,
                fs->stripe_count_asked, fs->stripe_size_asked, NULL);
    hpcw_i_json_end_object(j);
}

static void put_run(struct hpcw_i_json *j, const struct bench_results *r) {
    hpcw_i_json_key(j, "run");
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_u64(j, "processes", (uint64_t)r->processes);
    bench_json_text(j, "mpi", r->mpi);
    bench_json_text(j, "left_out", r->left_out_mpi);
    hpcw_i_json_put_u64(j, "seed", r->seed);
    hpcw_i_json_put_u64(j, "repeat", r->repeat);
    hpcw_i_json_put_seconds(j, "budget_s", r->budget_ns);
    hpcw_i_json_put_seconds(j, "elapsed_s", r->elapsed_ns);
    hpcw_i_json_put_u64(j, "max_bytes", r->max_bytes);
    hpcw_i_json_put_bool(j, "complete", r->complete);
    bench_json_text(j, "stopped", r->stopped);
    hpcw_i_json_put_bool(j, "verify", r->verify);
    hpcw_i_json_put_str(j, "data", DATA);
    hpcw_i_json_put_str(j, "order", ORDER);
    hpcw_i_json_put_str(j, "durability", DURABILITY);
    hpcw_i_json_put_str(j, "command", r->command);
    hpcw_i_json_end_object(j);
}

static void put_trials(struct hpcw_i_json *j, const char *key, const struct bench_trial *t, size_t n) {
    hpcw_i_json_key(j, key);
    hpcw_i_json_begin_array(j);
    for (size_t i = 0; i < n; i++, t++) {
        hpcw_i_json_flat(j);
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "repetition", t->repetition);
        hpcw_i_json_put_u64(j, "order", t->order);
        for (size_t k = 0; k < BENCH_STEPS; k++) {
            hpcw_i_json_key(j, bench_step_name[k]);
            hpcw_i_json_begin_object(j);
            hpcw_i_json_put_seconds(j, "first_s", t->first_ns[k]);
            hpcw_i_json_put_seconds(j, "last_s", t->last_ns[k]);
            hpcw_i_json_end_object(j);
        }
        hpcw_i_json_put_seconds(j, "total_s", t->total_ns);
        hpcw_i_json_put_seconds(j, "written_s", t->written_ns);
        bench_json_number(j, "others_processors", t->others);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

static void put_rate(struct hpcw_i_json *j, const char *key, const struct bench_rate *r) {
    hpcw_i_json_key(j, key);
    if (!r->there) {
        hpcw_i_json_null(j);
        return;
    }
    hpcw_i_json_flat(j);
    hpcw_i_json_begin_object(j);
    bench_json_stats(j, &r->stats);
    hpcw_i_json_end_object(j);
}

static void put_point(struct hpcw_i_json *j, const struct bench_results *r, const struct bench_point *p) {
    hpcw_i_json_begin_object(j);
    hpcw_i_json_put_str(j, "id", p->id);
    hpcw_i_json_put_str(j, "layout", bench_layout_name[p->layout]);
    hpcw_i_json_put_str(j, "mode", bench_mode_name[p->mode]);
    hpcw_i_json_key(j, "block_bytes");
    if (p->block_size != 0) {
        hpcw_i_json_u64(j, p->block_size);
    } else {
        hpcw_i_json_null(j);
    }
    hpcw_i_json_put_u64(j, "record_bytes", p->record_size);
    hpcw_i_json_put_u64(j, "rank_bytes", p->rank_size);
    hpcw_i_json_put_u64(j, "ranks", p->ranks);
    hpcw_i_json_put_u64(j, "files", p->files);
    hpcw_i_json_put_u64(j, "bytes", p->bytes);
    hpcw_i_json_key(j, "file_system_blocks");
    if (p->counted) {
        hpcw_i_json_flat(j);
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "touched", p->blocks);
        hpcw_i_json_put_u64(j, "shared", p->shared_blocks);
        hpcw_i_json_end_object(j);
    } else {
        hpcw_i_json_null(j);
    }
    bench_json_text(j, "twin", p->twin == SIZE_MAX ? "" : r->point[p->twin].id);
    hpcw_i_json_put_str(j, "fate", bench_fate_name[p->fate]);
    hpcw_i_json_put_str(j, "reason", p->reason);
    hpcw_i_json_key(j, "failure");
    if (p->fate == BENCH_FAILED) {
        hpcw_i_json_flat(j);
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_u64(j, "errno", (uint64_t)p->failed_errno);
        hpcw_i_json_put_i64(j, "process", p->failed_process);
        hpcw_i_json_end_object(j);
    } else {
        hpcw_i_json_null(j);
    }
    hpcw_i_json_put_bool(j, "verified", p->verified);
    hpcw_i_json_put_bool(j, "noisy", p->noisy);
    put_rate(j, "durable", &p->durable);
    put_rate(j, "cached", &p->cached);
    put_rate(j, "ceiling_durable", &p->ceiling_durable);
    put_rate(j, "ceiling_cached", &p->ceiling_cached);
    put_rate(j, "ratio", &p->ratio);
    put_trials(j, "trials", p->trial, p->trials);
    put_trials(j, "ceiling", p->ceiling, p->ceiling_trials);
    hpcw_i_json_end_object(j);
}

static void put_advice(struct hpcw_i_json *j, const struct bench_results *r) {
    hpcw_i_json_key(j, "recommendation");
    hpcw_i_json_begin_array(j);
    for (size_t i = 0; i < r->advices; i++) {
        const struct bench_advice *a = &r->advice[i];
        hpcw_i_json_begin_object(j);
        hpcw_i_json_put_str(j, "text", a->text);
        hpcw_i_json_key(j, "evidence");
        hpcw_i_json_begin_array(j);
        for (size_t k = 0; k < a->evidences; k++) {
            hpcw_i_json_str(j, r->point[a->evidence[k]].id);
        }
        hpcw_i_json_end_array(j);
        hpcw_i_json_end_object(j);
    }
    hpcw_i_json_end_array(j);
}

hpcw_status bench_results_write_json(const struct bench_results *r, const char *path, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_json j;
    hpcw_i_json_open_sink(&j, sink, &(struct hpcw_i_json_options){.indent = true, .replace_bad_utf8 = true});
    hpcw_i_json_begin_object(&j);
    hpcw_i_json_put_str(&j, "format", "hpcw-bench sweep");
    hpcw_i_json_put_u64(&j, "version", 1);
    hpcw_i_json_put_str(&j, "hpcw", r->version);
    hpcw_i_json_put_str(&j, "time", r->time);
    bench_json_machine(&j, &r->machine);
    put_fs(&j, &r->fs);
    put_run(&j, r);
    hpcw_i_json_key(&j, "points");
    hpcw_i_json_begin_array(&j);
    for (size_t i = 0; i < r->points; i++) {
        put_point(&j, r, &r->point[i]);
    }
    hpcw_i_json_end_array(&j);
    put_advice(&j, r);
    hpcw_i_json_end_object(&j);
    s = hpcw_i_json_finish(&j, err);
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    hpcw_sink_free(sink);
    return s;
}
