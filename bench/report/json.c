/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.json, as results.schema.json describes it. For each object there is one function, which writes and reads
 * the object. Figures that follow from the trials are computed again after reading.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/json.h"
#include "bench/measure/workdir.h"
#include "bench/report/metadata.h"
#include "bench/report/results.h"
#include "libwriter/base/mem.h"

enum { MOST_BYTES = 256 << 20, MOST_POINTS = 10000, MOST_TRIALS = 4096 };

#define DATA "random bytes; a stamp of rank and offset in each 4 KiB"
#define ORDER                                                                                                  \
    "one run of each point to warm up; then, in each repetition, all points in an order drawn from the seed, " \
    "each "                                                                                                    \
    "with its ceiling before or after it"
#define DURABILITY                                                                                             \
    "a run ends when every process has called fsync and closed its files; in mode buffered without fsync"

typedef char id_text[2 * BENCH_NAME];

/* ---- Where it was measured ---- */

static void magic_of(struct bench_json *io, uint64_t *magic) {
    char text[32];
    char *rest;
    (void)snprintf(text, sizeof text, "0x%" PRIx64, *magic);
    bench_json_text(io, "magic", text, sizeof text, false);
    *magic = strtoull(text, &rest, 16);
    if (text[0] != '0' || text[1] != 'x' || *rest != '\0') {
        bench_json_refuse(io, "magic", "a hexadecimal number, 0x...");
    }
}

static void file_system_of(struct bench_json *io, struct bench_fs *fs) {
    (void)bench_json_begin(io, "file_system", false, NULL);
    bench_json_text(io, "type", fs->type, sizeof fs->type, false);
    magic_of(io, &fs->magic);
    bench_json_u64(io, "block_bytes", &fs->block_size, false);
    bench_json_text(io, "block_source", fs->block_source, sizeof fs->block_source, false);
    bench_json_u64(io, "free_bytes", &fs->free_bytes, false);
    if (bench_json_begin(io, "direct_io", true, &fs->direct_known)) {
        bench_json_u32(io, "memory_bytes", &fs->direct_memory, 0, UINT32_MAX);
        bench_json_u32(io, "offset_bytes", &fs->direct_offset, 0, UINT32_MAX);
        bench_json_text(io, "source", fs->direct_source, sizeof fs->direct_source, false);
        bench_json_end(io);
    }
    if (bench_json_begin(io, "stripes", true, &fs->stripe_known)) {
        bench_json_u32(io, "count", &fs->stripe_count, 0, UINT32_MAX);
        bench_json_u64(io, "bytes", &fs->stripe_size, false);
        bench_json_text(io, "source", fs->stripe_source, sizeof fs->stripe_source, false);
        bench_json_end(io);
    }
    if (bench_json_begin(io, "stripes_asked", true, &fs->stripes_asked)) {
        bench_json_u32(io, "count", &fs->stripe_count_asked, 0, UINT32_MAX);
        bench_json_u64(io, "bytes", &fs->stripe_size_asked, false);
        bench_json_end(io);
    }
    bench_json_end(io);
}

/* Writes a fixed sentence. When reading, accepts any text, because other versions use other words. */
static void said(struct bench_json *io, const char *key, const char *sentence) {
    char text[BENCH_REASON];
    (void)snprintf(text, sizeof text, "%s", sentence);
    bench_json_text(io, key, text, sizeof text, false);
}

static void run_of(struct bench_json *io, struct bench_results *r) {
    (void)bench_json_begin(io, "run", false, NULL);
    bench_json_text(io, "directory", r->directory, sizeof r->directory, true);
    bench_json_text(io, "host", r->host, sizeof r->host, true);
    bench_json_int(io, "processes", &r->processes, 1);
    bench_json_int(io, "hosts", &r->hosts, 1);
    bench_json_u32(io, "writers", &r->writers, 1, UINT32_MAX);
    bench_json_u32(io, "readers", &r->readers, 1, UINT32_MAX);
    bench_json_text(io, "mpi", r->mpi, sizeof r->mpi, true);
    bench_json_text(io, "left_out", r->left_out_mpi, sizeof r->left_out_mpi, true);
    bench_json_u64(io, "seed", &r->seed, false);
    bench_json_u32(io, "repeat", &r->repeat, 0, UINT32_MAX);
    bench_json_seconds(io, "budget_s", &r->limits.budget_ns);
    bench_json_seconds(io, "elapsed_s", &r->elapsed_ns);
    bench_json_u64(io, "max_bytes", &r->limits.max_bytes, false);
    bench_json_seconds(io, "stonewall_s", &r->stonewall_ns);
    bench_json_u64(io, "least_bytes", &r->limits.least_bytes, false);
    bench_json_seconds(io, "least_s", &r->limits.least_ns);
    bench_json_bool(io, "complete", &r->complete);
    bench_json_text(io, "stopped", r->stopped, sizeof r->stopped, true);
    bench_json_bool(io, "verify", &r->verify);
    said(io, "data", DATA);
    said(io, "order", ORDER);
    said(io, "durability", DURABILITY);
    r->variables = bench_json_begin_array(io, "environment", r->variables, BENCH_VARIABLES);
    for (size_t i = 0; i < r->variables; i++) {
        bench_json_text(io, NULL, r->variable[i], sizeof r->variable[i], false);
    }
    bench_json_end_array(io);
    bench_json_text(io, "command", r->command, sizeof r->command, false);
    bench_json_end(io);
}

/* ---- Points ---- */

/* Writes or reads the quartiles of a step, or null if they are unknown. */
static void quartiles_of(struct bench_json *io, struct bench_trial *t, int step) {
    static const char *const name[BENCH_QUARTILES] = {"q25_s", "median_s", "q75_s"};
    bool known = t->slowest_process >= 0;
    if (bench_json_begin(io, "quartiles", true, &known)) {
        for (int q = 0; q < BENCH_QUARTILES; q++) {
            bench_json_seconds(io, name[q], &t->quartile_ns[step][q]);
        }
        bench_json_end(io);
    }
}

static void trial_of(struct bench_json *io, struct bench_trial *t) {
    (void)bench_json_begin(io, NULL, true, NULL);
    /* The limit is there because `compare` allocates memory for each repetition up to this number. */
    bench_json_u32(io, "repetition", &t->repetition, 1, 1000000);
    bench_json_u32(io, "order", &t->order, 1, UINT32_MAX);
    bench_json_u64(io, "bytes", &t->bytes, true);
    for (int k = 0; k < BENCH_STEPS; k++) {
        (void)bench_json_begin(io, bench_step_name[k], false, NULL);
        bench_json_seconds(io, "first_s", &t->first_ns[k]);
        quartiles_of(io, t, k);
        bench_json_seconds(io, "last_s", &t->last_ns[k]);
        if (t->first_ns[k] > t->last_ns[k]) {
            bench_json_refuse(io, "first_s", "no more than last_s");
        }
        bench_json_end(io);
    }
    bench_json_seconds(io, "total_s", &t->total_ns);
    bench_json_seconds(io, "written_s", &t->written_ns);
    bench_json_int(io, "slowest_process", &t->slowest_process, -1);
    bench_json_text(io, "slowest_host", t->slowest_host, sizeof t->slowest_host, true);
    bool read = t->read_ns > 0;
    if (bench_json_begin(io, "read", false, &read)) {
        bench_json_seconds(io, "total_s", &t->read_ns);
        bench_json_u64(io, "disk_bytes", &t->read_bytes, false);
        if (t->read_ns == 0) {
            bench_json_refuse(io, "total_s", "more than 0");
        }
        bench_json_end(io);
    }
    bench_json_number(io, "others_processors", &t->others, INT32_MAX, true);
    bench_json_end(io);
}

/* Begins an array. When writing, it has *count elements, and the function returns `array`. When reading, the
 * function sets *count to the number of elements in the text, and returns memory for them. */
static void *begin_array_of(struct bench_json *io, const char *key, void *array, size_t size, size_t *count,
                            size_t most) {
    *count = bench_json_begin_array(io, key, *count, most);
    if (io->reads && *count > 0) {
        array = hpcw_i_calloc(*count, size);
        if (array == NULL) {
            *count = 0;
            bench_json_no_memory(io);
        }
    }
    return array;
}

static void trials_of(struct bench_json *io, const char *key, struct bench_trial **trial, size_t *trials) {
    *trial = begin_array_of(io, key, *trial, sizeof **trial, trials, MOST_TRIALS);
    for (size_t i = 0; i < *trials; i++) {
        trial_of(io, &(*trial)[i]);
    }
    bench_json_end_array(io);
}

static void failure_of(struct bench_json *io, struct bench_point *p) {
    bool failed = p->fate == BENCH_FAILED;
    if (bench_json_begin(io, "failure", true, &failed)) {
        bench_json_int(io, "errno", &p->failed_errno, 0);
        bench_json_int(io, "process", &p->failed_process, -1);
        bench_json_end(io);
    }
    if (failed != (p->fate == BENCH_FAILED)) {
        bench_json_refuse(io, "failure", "an object if the point failed, otherwise null");
    }
}

/* The rates of a point. */
enum { RATES = 6 };
static const char *const rate_name[RATES] = {"durable",        "cached", "ceiling_durable",
                                             "ceiling_cached", "ratio",  "read"};

static struct bench_rate *rate_of(struct bench_point *p, int k) {
    struct bench_rate *const rate[RATES] = {&p->durable,        &p->cached, &p->ceiling_durable,
                                            &p->ceiling_cached, &p->ratio,  &p->read};
    return rate[k];
}

/* Writes or reads a point. Returns its member too_small. */
static bool point_of(struct bench_json *io, const struct bench_results *r, struct bench_point *p,
                     id_text twin) {
    bool too_small = p->fate == BENCH_MEASURED && !bench_results_counts(r, p);
    (void)bench_json_begin(io, NULL, false, NULL);
    bench_json_text(io, "id", p->id, sizeof p->id, false);
    p->layout = (enum bench_layout)bench_json_word(io, "layout", p->layout, bench_layout_name, BENCH_LAYOUTS);
    p->mode = (enum bench_mode)bench_json_word(io, "mode", p->mode, bench_mode_name, BENCH_MODES);
    bench_json_u64(io, "block_bytes", &p->block_size, true);
    bench_json_u64(io, "record_bytes", &p->record_size, false);
    bench_json_u64(io, "rank_bytes", &p->rank_size, false);
    bench_json_u32(io, "ranks", &p->ranks, 0, UINT32_MAX);
    bench_json_u32(io, "files", &p->files, 0, UINT32_MAX);
    bench_json_u64(io, "bytes", &p->bytes, false);
    if (bench_json_begin(io, "file_system_blocks", true, &p->blocks.counted)) {
        bench_json_u64(io, "touched", &p->blocks.all, false);
        bench_json_u64(io, "shared", &p->blocks.shared, false);
        bench_json_u64(io, "shared_by_processes", &p->blocks.by_processes, false);
        bench_json_u64(io, "shared_by_hosts", &p->blocks.by_hosts, false);
        if (p->blocks.by_hosts > p->blocks.by_processes || p->blocks.by_processes > p->blocks.shared ||
            p->blocks.shared > p->blocks.all) {
            bench_json_refuse(io, "shared",
                              "at most as many as there are blocks, and hosts to share no more than ranks");
        }
        bench_json_end(io);
    }
    bench_json_text(io, "twin", twin, sizeof(id_text), true);
    p->fate = (enum bench_fate)bench_json_word(io, "fate", p->fate, bench_fate_name, BENCH_FATES);
    bench_json_text(io, "reason", p->reason, sizeof p->reason, false);
    if ((p->fate == BENCH_MEASURED) != (p->reason[0] == '\0')) {
        bench_json_refuse(io, "reason", "a reason if the point was not measured, otherwise none");
    }
    failure_of(io, p);
    bench_json_bool(io, "verified", &p->verified);
    bench_json_bool(io, "noisy", &p->noisy);
    bench_json_bool(io, "too_small", &too_small);
    bench_json_number(io, "median_s", &p->seconds, HUGE_VAL, false);
    for (int k = 0; k < RATES; k++) {
        struct bench_rate *rate = rate_of(p, k);
        if (bench_json_begin(io, rate_name[k], true, &rate->there)) {
            bench_json_stats(io, &rate->stats);
            bench_json_end(io);
        }
    }
    bench_json_bool(io, "read_cached", &p->read_cached);
    trials_of(io, "trials", &p->trial, &p->trials);
    trials_of(io, "ceiling", &p->ceiling, &p->ceiling_trials);
    return too_small;
}

/* Other machines may round the last digits differently. */
static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

#define PAIR(name)                                                                                             \
    { said->stats.name, &is->stats.name }

/* Compares the rate in the file (`said`) with the rate computed from its trials (`is`). Then copies `said` to `is`,
 * so that the last digits are those of the file. */
static void compare_rate(struct bench_json *io, const char *key, const struct bench_rate *said,
                         struct bench_rate *is) {
    if (said->there != is->there) {
        bench_json_refuse(io, key,
                          is->there ? "the figures of its trials" : "null, since its trials give none");
        return;
    }
    const struct {
        double said, *is;
    } pair[] = {PAIR(median), PAIR(mean), PAIR(sd),     PAIR(min),     PAIR(q25),
                PAIR(q75),    PAIR(max),  PAIR(ci_low), PAIR(ci_high), PAIR(ci_coverage)};
    const double mean = is->stats.mean;
    for (size_t i = 0; said->there && i < sizeof pair / sizeof pair[0]; i++) {
        double a = pair[i].said, b = *pair[i].is;
        /* The standard deviation is a small difference of large numbers, so its error is relative to the mean. */
        bool deviation = pair[i].is == &is->stats.sd;
        if (!close_to(a, b) && !(deviation && fabs(a - b) <= 1e-9 * mean)) {
            char expected[96];
            (void)snprintf(expected, sizeof expected, "%.17g from its trials, got %.17g", b, a);
            bench_json_refuse(io, key, expected);
            return;
        }
        *pair[i].is = a;
    }
}

/* Checks that the figures of a point that was read follow from its trials. */
static void check_rates(struct bench_json *io, struct bench_point *p) {
    if (!io->reads || io->status != HPCW_OK) {
        return;
    }
    struct bench_point said = *p;
    io->status = bench_results_rate(p, io->err);
    for (int k = 0; k < RATES; k++) {
        compare_rate(io, rate_name[k], rate_of(&said, k), rate_of(p, k));
    }
    if (!close_to(said.seconds, p->seconds)) {
        bench_json_refuse(io, "median_s", "the median of its trials");
    }
    if (said.read_cached != p->read_cached) {
        bench_json_refuse(io, "read_cached",
                          p->read_cached ? "true, from its trials" : "false, from its trials");
    }
}

/* ---- References between points ---- */

static size_t find_point(const struct bench_results *r, const char *id) {
    const struct bench_point *p = bench_results_find(r, id);
    return p == NULL ? SIZE_MAX : (size_t)(p - r->point);
}

static void refuse_point(struct bench_json *io, size_t index, const char *key, const char *expected) {
    char where[64];
    (void)snprintf(where, sizeof where, "points[%zu].%s", index, key);
    bench_json_refuse(io, where, expected);
}

/* Sets bench_point.twin after reading. twin: [points] ids in the file. */
static void find_twins(struct bench_json *io, struct bench_results *r, id_text *twin) {
    for (size_t i = 0; io->reads && i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (find_point(r, p->id) != i) {
            refuse_point(io, i, "id", "one that no other point has");
        }
        p->twin = twin[i][0] == '\0' ? SIZE_MAX : find_point(r, twin[i]);
        if (twin[i][0] != '\0' && (p->twin == SIZE_MAX || p->twin == i)) {
            refuse_point(io, i, "twin", "the id of another point, or null");
        }
    }
}

/* Checks the member noisy of all points, which follows from their trials. In older files, it may be true for points
 * with too few runs, too. */
static void check_noise(struct bench_json *io, struct bench_results *r) {
    bool *said = hpcw_i_calloc(r->points + 1, sizeof *said);
    if (said == NULL) {
        bench_json_no_memory(io);
        return;
    }
    for (size_t i = 0; i < r->points; i++) {
        said[i] = r->point[i].noisy;
    }
    io->status = bench_results_spread(r, io->err);
    for (size_t i = 0; io->status == HPCW_OK && i < r->points; i++) {
        if (said[i] != r->point[i].noisy && said[i] != bench_log_is_noisy(&r->point[i].log)) {
            refuse_point(io, i, "noisy", said[i] ? "false, from all trials" : "true, from all trials");
        }
    }
    hpcw_i_free(said);
}

/* Writes or reads a sentence: the verdict, or if key is NULL, the next sentence of the recommendation. */
static void sentence_of(struct bench_json *io, const char *key, struct bench_results *r,
                        struct bench_advice *a) {
    (void)bench_json_begin(io, key, false, NULL);
    bench_json_text(io, "text", a->text, sizeof a->text, false);
    a->evidences =
        bench_json_begin_array(io, "evidence", a->evidences, sizeof a->evidence / sizeof a->evidence[0]);
    for (size_t k = 0; k < a->evidences; k++) {
        id_text id = "";
        if (!io->reads) {
            memcpy(id, r->point[a->evidence[k]].id, sizeof id);
        }
        bench_json_text(io, NULL, id, sizeof id, false);
        a->evidence[k] = io->reads ? find_point(r, id) : a->evidence[k];
        if (a->evidence[k] == SIZE_MAX) {
            bench_json_refuse(io, NULL, "ids of points");
        }
    }
    bench_json_end_array(io);
    bench_json_end(io);
}

static void advice_of(struct bench_json *io, struct bench_results *r) {
    sentence_of(io, "verdict", r, &r->verdict);
    if (bench_json_begin(io, "rival", true, &r->verdict.rival.there)) {
        id_text id = "";
        if (!io->reads) {
            memcpy(id, r->point[r->verdict.rival.point].id, sizeof id);
        }
        bench_json_text(io, "id", id, sizeof id, false);
        r->verdict.rival.point = find_point(r, id);
        if (r->verdict.rival.point == SIZE_MAX) {
            bench_json_refuse(io, "id", "the id of a point");
        }
        bench_json_number(io, "low", &r->verdict.rival.low, HUGE_VAL, false);
        bench_json_number(io, "high", &r->verdict.rival.high, HUGE_VAL, false);
        bench_json_end(io);
    }
    r->advices =
        bench_json_begin_array(io, "recommendation", r->advices, sizeof r->advice / sizeof r->advice[0]);
    for (size_t i = 0; i < r->advices; i++) {
        sentence_of(io, NULL, r, &r->advice[i]);
    }
    bench_json_end_array(io);
}

/* ---- Metadata ---- */

static void metadata_trial_of(struct bench_json *io, struct bench_metadata_trial *t) {
    (void)bench_json_begin(io, NULL, true, NULL);
    bench_json_u32(io, "repetition", &t->repetition, 1, UINT32_MAX);
    for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
        char key[BENCH_NAME];
        (void)snprintf(key, sizeof key, "%s_s", bench_operation_name[k]);
        bench_json_seconds(io, key, &t->ns[k]);
    }
    bench_json_number(io, "others_processors", &t->others, INT32_MAX, true);
    bench_json_end(io);
}

static void metadata_row_of(struct bench_json *io, struct bench_metadata *m) {
    (void)bench_json_begin(io, NULL, false, NULL);
    m->layout = (enum bench_layout)bench_json_word(io, "layout", m->layout, bench_layout_name, BENCH_LAYOUTS);
    bench_json_u32(io, "tasks", &m->tasks, 1, UINT32_MAX);
    bench_json_text(io, "reason", m->reason, sizeof m->reason, true);
    for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
        if (bench_json_begin(io, bench_operation_name[k], true, &m->rate[k].there)) {
            bench_json_stats(io, &m->rate[k].stats);
            bench_json_end(io);
        }
    }
    m->trial = begin_array_of(io, "trials", m->trial, sizeof *m->trial, &m->trials, MOST_TRIALS);
    for (size_t i = 0; i < m->trials; i++) {
        metadata_trial_of(io, &m->trial[i]);
    }
    bench_json_end_array(io);
    if (io->reads && io->status == HPCW_OK) {
        const struct bench_metadata said = *m;
        io->status = bench_metadata_rate(m, io->err);
        for (enum bench_operation k = 0; k < BENCH_OPERATIONS; k++) {
            compare_rate(io, bench_operation_name[k], &said.rate[k], &m->rate[k]);
        }
    }
    bench_json_end(io);
}

static void metadata_of(struct bench_json *io, struct bench_results *r) {
    r->metadata = begin_array_of(io, "metadata", r->metadata, sizeof *r->metadata, &r->metadatas, MOST_POINTS);
    for (size_t i = 0; i < r->metadatas; i++) {
        metadata_row_of(io, &r->metadata[i]);
    }
    bench_json_end_array(io);
}

/* ---- The whole ---- */

static void points_of(struct bench_json *io, struct bench_results *r, id_text *twin) {
    for (size_t i = 0; i < r->points; i++) {
        struct bench_point *p = &r->point[i];
        if (!io->reads && p->twin != SIZE_MAX) {
            memcpy(twin[i], r->point[p->twin].id, sizeof twin[i]);
        }
        bool too_small = point_of(io, r, p, twin[i]);
        check_rates(io, p);
        if (too_small != (p->fate == BENCH_MEASURED && !bench_results_counts(r, p))) {
            bench_json_refuse(io, "too_small", too_small ? "false, from its trials" : "true, from its trials");
        }
        bench_json_end(io);
    }
    bench_json_end_array(io);
}

static void results_of(struct bench_json *io, struct bench_results *r) {
    static const char *const format = "hpcw-bench sweep";
    uint32_t version = 6;
    (void)bench_json_word(io, "format", 0, &format, 1);
    bench_json_u32(io, "version", &version, 6, 6);
    bench_json_text(io, "hpcw", r->version, sizeof r->version, false);
    bench_json_text(io, "time", r->time, sizeof r->time, false);
    bench_json_machine(io, &r->machine);
    file_system_of(io, &r->fs);
    run_of(io, r);
    r->point = begin_array_of(io, "points", r->point, sizeof *r->point, &r->points, MOST_POINTS);
    id_text *twin = hpcw_i_calloc(r->points + 1, sizeof *twin);
    if (twin == NULL) {
        bench_json_no_memory(io);
    } else {
        points_of(io, r, twin);
        find_twins(io, r, twin);
        if (io->reads && io->status == HPCW_OK) {
            check_noise(io, r);
        }
        metadata_of(io, r);
        advice_of(io, r);
    }
    hpcw_i_free(twin);
}

hpcw_status bench_results_write_json(const struct bench_results *r, const hpcw_sink_source *source,
                                     const char *path, hpcw_error *err) {
    struct bench_json io;
    hpcw_status s = bench_json_create(&io, source, path, err);
    if (s == HPCW_OK) {
        results_of(&io, (struct bench_results *)(uintptr_t)r); /* when writing, results_of changes nothing */
        s = io.status;
    }
    return bench_json_close(&io, s, err);
}

hpcw_status bench_results_parse(struct bench_results *r, const char *path, const char *text, size_t size,
                                hpcw_error *err) {
    *r = (struct bench_results){0};
    struct bench_json io;
    hpcw_status s = bench_json_parse(&io, path, text, size, err);
    if (s == HPCW_OK) {
        results_of(&io, r);
        s = io.status;
    }
    s = bench_json_close(&io, s, err);
    if (s != HPCW_OK) {
        bench_results_free(r);
    }
    return s;
}

hpcw_status bench_results_read(struct bench_results *r, const char *path, hpcw_error *err) {
    unsigned char *text;
    size_t size;
    *r = (struct bench_results){0};
    hpcw_status s = bench_read_file(path, MOST_BYTES, &text, &size, err);
    if (s == HPCW_OK) {
        s = bench_results_parse(r, path, (const char *)text, size, err);
    }
    hpcw_i_free(text);
    return s;
}
