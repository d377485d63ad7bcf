/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads results.json as strictly as its schema: every member exists once, has the right type and is in range, and there
 * is no other member. Figures that follow from the trials are computed again.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/report/results.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { MOST_BYTES = 256 << 20, MOST_POINTS = 10000, MOST_TRIALS = 4096, MEMBERS = 32 };

#define EXACT 9007199254740991.0 /* integers up to here pass through a double */
#define MOST_SECONDS 9e6         /* of which every ns does */

/* An object or array of the text, for messages: "points[3].open". */
struct json_node {
    const struct json_node *up;
    const char *key; /* NULL: an element */
    size_t index;
    const cJSON *value;
    const cJSON *taken[MEMBERS]; /* members that were read */
    size_t count;
};

struct results_reader {
    const char *path;
    hpcw_status status; /* the first failure; later calls do nothing */
    hpcw_error *err;
};

static void spell(const struct json_node *at, char *text, size_t size) {
    if (at->up == NULL) {
        text[0] = '\0';
        return;
    }
    spell(at->up, text, size);
    size_t n = strlen(text);
    if (at->key == NULL) {
        (void)snprintf(text + n, size - n, "[%zu]", at->index);
    } else {
        (void)snprintf(text + n, size - n, "%s%s", n == 0 ? "" : ".", at->key);
    }
}

static void refuse(struct results_reader *in, const struct json_node *at, const char *key,
                   const char *expected) {
    if (in->status == HPCW_OK) {
        char where[256];
        spell(&(struct json_node){.up = at, .key = key}, where, sizeof where);
        in->status = hpcw_i_fail(in->err, HPCW_EFORMAT, "%s: %s: expected %s", in->path, where, expected);
    }
}

static void no_memory(struct results_reader *in) {
    if (in->status == HPCW_OK) {
        in->status = hpcw_i_fail_memory(in->err, in->path, 0, NULL);
    }
}

/* ---- Members ---- */

/* The value of every member that is missing. */
static const cJSON nothing = {.type = cJSON_Invalid};

static const cJSON *member(struct results_reader *in, struct json_node *at, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(at->value, key);
    if (v == NULL) {
        refuse(in, at, key, "this member, got none");
        return &nothing;
    }
    if (at->count < MEMBERS) {
        at->taken[at->count++] = v;
    }
    return v;
}

static struct json_node object(struct results_reader *in, struct json_node *up, const char *key) {
    struct json_node at = {.up = up, .key = key, .value = member(in, up, key)};
    if (!cJSON_IsObject(at.value)) {
        refuse(in, up, key, "an object");
        at.value = &nothing;
    }
    return at;
}

/* The same where it may be null: then *there is false. */
static struct json_node object_or_null(struct results_reader *in, struct json_node *up, const char *key,
                                       bool *there) {
    const cJSON *v = member(in, up, key);
    *there = cJSON_IsObject(v);
    if (!*there && !cJSON_IsNull(v)) {
        refuse(in, up, key, "an object or null");
    }
    return (struct json_node){.up = up, .key = key, .value = v};
}

static struct json_node array(struct results_reader *in, struct json_node *up, const char *key, size_t most,
                              size_t *count) {
    struct json_node at = {.up = up, .key = key, .value = member(in, up, key)};
    *count = 0;
    if (!cJSON_IsArray(at.value)) {
        refuse(in, up, key, "an array");
        at.value = &nothing;
        return at;
    }
    size_t n = 0;
    for (const cJSON *v = at.value->child; v != NULL; v = v->next) {
        n++;
    }
    if (n > most) {
        refuse(in, up, key, "fewer elements");
    } else {
        *count = n;
    }
    return at;
}

/* After all members were read: refuses any other. */
static void end(struct results_reader *in, const struct json_node *at) {
    if (in->status != HPCW_OK) {
        return;
    }
    for (const cJSON *v = at->value->child; v != NULL; v = v->next) {
        bool taken = false;
        for (size_t i = 0; i < at->count; i++) {
            taken = taken || at->taken[i] == v;
        }
        if (!taken) {
            refuse(in, at, v->string, "no member of this name, or only one");
            return;
        }
    }
}

static double number(struct results_reader *in, struct json_node *at, const char *key, double least,
                     double most) {
    const cJSON *v = member(in, at, key);
    if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || v->valuedouble < least || v->valuedouble > most) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "a number from %.16g to %.16g", least, most);
        refuse(in, at, key, expected);
        return least;
    }
    return v->valuedouble;
}

static uint64_t whole(struct results_reader *in, struct json_node *at, const char *key, double least,
                      double most) {
    double v = number(in, at, key, least, most);
    if (v != floor(v)) {
        refuse(in, at, key, "an integer");
        return 0;
    }
    return (uint64_t)v;
}

static bool truth(struct results_reader *in, struct json_node *at, const char *key) {
    const cJSON *v = member(in, at, key);
    if (!cJSON_IsBool(v)) {
        refuse(in, at, key, "true or false");
    }
    return cJSON_IsTrue(v);
}

static void copy_text(struct results_reader *in, const struct json_node *at, const char *key, const cJSON *v,
                      char *text, size_t size) {
    if (!cJSON_IsString(v)) {
        refuse(in, at, key, "a text");
    } else if (strlen(v->valuestring) >= size) {
        refuse(in, at, key, "a shorter text");
    } else {
        (void)snprintf(text, size, "%s", v->valuestring);
    }
}

static void text_member(struct results_reader *in, struct json_node *at, const char *key, char *text,
                        size_t size) {
    copy_text(in, at, key, member(in, at, key), text, size);
}

/* null is "". */
static void text_or_null(struct results_reader *in, struct json_node *at, const char *key, char *text,
                         size_t size) {
    const cJSON *v = member(in, at, key);
    text[0] = '\0';
    if (!cJSON_IsNull(v)) {
        copy_text(in, at, key, v, text, size);
    }
}

static void constant(struct results_reader *in, struct json_node *at, const char *key, const char *expected) {
    const cJSON *v = member(in, at, key);
    if (!cJSON_IsString(v) || strcmp(v->valuestring, expected) != 0) {
        refuse(in, at, key, expected);
    }
}

static unsigned word(struct results_reader *in, struct json_node *at, const char *key, const char *const *words,
                     unsigned count) {
    const cJSON *v = member(in, at, key);
    for (unsigned i = 0; i < count && cJSON_IsString(v); i++) {
        if (strcmp(v->valuestring, words[i]) == 0) {
            return i;
        }
    }
    refuse(in, at, key, "one of the words of the schema");
    return 0;
}

static uint64_t duration(struct results_reader *in, struct json_node *at, const char *key) {
    return (uint64_t)llround(number(in, at, key, 0, MOST_SECONDS) * 1e9);
}

/* ---- What it was measured on ---- */

static void read_machine(struct results_reader *in, struct json_node *root, struct bench_machine *m) {
    struct json_node at = object(in, root, "machine");
    text_member(in, &at, "system", m->system, sizeof m->system);
    text_member(in, &at, "processor", m->processor, sizeof m->processor);
    m->processors = (unsigned)whole(in, &at, "processors", 0, INT32_MAX);
    m->memory = whole(in, &at, "memory_bytes", 0, EXACT);
    text_member(in, &at, "compiler", m->compiler, sizeof m->compiler);
    text_member(in, &at, "build", m->build, sizeof m->build);
    end(in, &at);
}

static void read_file_system(struct results_reader *in, struct json_node *root, struct bench_fs *fs) {
    struct json_node at = object(in, root, "file_system");
    char magic[32] = "";
    text_member(in, &at, "type", fs->type, sizeof fs->type);
    text_member(in, &at, "magic", magic, sizeof magic);
    char *rest;
    fs->magic = strtoull(magic, &rest, 16);
    if (magic[0] != '0' || magic[1] != 'x' || *rest != '\0') {
        refuse(in, &at, "magic", "a hexadecimal number, 0x...");
    }
    fs->block_size = whole(in, &at, "block_bytes", 0, EXACT);
    text_member(in, &at, "block_source", fs->block_source, sizeof fs->block_source);
    fs->free_bytes = whole(in, &at, "free_bytes", 0, EXACT);
    struct json_node direct = object_or_null(in, &at, "direct_io", &fs->direct_known);
    if (fs->direct_known) {
        fs->direct_memory = (uint32_t)whole(in, &direct, "memory_bytes", 0, UINT32_MAX);
        fs->direct_offset = (uint32_t)whole(in, &direct, "offset_bytes", 0, UINT32_MAX);
        text_member(in, &direct, "source", fs->direct_source, sizeof fs->direct_source);
        end(in, &direct);
    }
    struct json_node stripes = object_or_null(in, &at, "stripes", &fs->stripe_known);
    if (fs->stripe_known) {
        fs->stripe_count = (uint32_t)whole(in, &stripes, "count", 0, UINT32_MAX);
        fs->stripe_size = whole(in, &stripes, "bytes", 0, EXACT);
        text_member(in, &stripes, "source", fs->stripe_source, sizeof fs->stripe_source);
        end(in, &stripes);
    }
    bool there;
    struct json_node asked = object_or_null(in, &at, "stripes_asked", &there);
    if (there) {
        fs->stripe_count_asked = (uint32_t)whole(in, &asked, "count", 0, UINT32_MAX);
        fs->stripe_size_asked = whole(in, &asked, "bytes", 0, EXACT);
        end(in, &asked);
    }
    end(in, &at);
}

static void read_run(struct results_reader *in, struct json_node *root, struct bench_results *r) {
    struct json_node at = object(in, root, "run");
    r->processes = (int)whole(in, &at, "processes", 1, INT32_MAX);
    text_or_null(in, &at, "mpi", r->mpi, sizeof r->mpi);
    text_or_null(in, &at, "left_out", r->left_out_mpi, sizeof r->left_out_mpi);
    r->seed = whole(in, &at, "seed", 0, EXACT);
    r->repeat = (uint32_t)whole(in, &at, "repeat", 0, UINT32_MAX);
    r->budget_ns = duration(in, &at, "budget_s");
    r->elapsed_ns = duration(in, &at, "elapsed_s");
    r->max_bytes = whole(in, &at, "max_bytes", 0, EXACT);
    r->complete = truth(in, &at, "complete");
    text_or_null(in, &at, "stopped", r->stopped, sizeof r->stopped);
    r->verify = truth(in, &at, "verify");
    char said[BENCH_REASON]; /* always the same; not kept */
    text_member(in, &at, "data", said, sizeof said);
    text_member(in, &at, "order", said, sizeof said);
    text_member(in, &at, "durability", said, sizeof said);
    text_member(in, &at, "command", r->command, sizeof r->command);
    end(in, &at);
}

/* ---- Points ---- */

static void read_trial(struct results_reader *in, struct json_node *at, struct bench_trial *t) {
    if (!cJSON_IsObject(at->value)) {
        refuse(in, at->up, NULL, "objects as elements");
        return;
    }
    t->repetition = (uint32_t)whole(in, at, "repetition", 1, UINT32_MAX);
    t->order = (uint32_t)whole(in, at, "order", 1, UINT32_MAX);
    for (int k = 0; k < BENCH_STEPS; k++) {
        struct json_node step = object(in, at, bench_step_name[k]);
        t->first_ns[k] = duration(in, &step, "first_s");
        t->last_ns[k] = duration(in, &step, "last_s");
        if (t->first_ns[k] > t->last_ns[k]) {
            refuse(in, &step, "first_s", "no more than last_s");
        }
        end(in, &step);
    }
    t->total_ns = duration(in, at, "total_s");
    t->written_ns = duration(in, at, "written_s");
    t->others = NAN;
    if (!cJSON_IsNull(member(in, at, "others_processors"))) {
        t->others = number(in, at, "others_processors", 0, INT32_MAX);
    }
    end(in, at);
}

static struct bench_trial *read_trials(struct results_reader *in, struct json_node *point, const char *key,
                                       size_t *count) {
    struct json_node at = array(in, point, key, MOST_TRIALS, count);
    if (*count == 0 || in->status != HPCW_OK) {
        *count = 0;
        return NULL;
    }
    struct bench_trial *trial = hpcw_i_calloc(*count, sizeof *trial);
    if (trial == NULL) {
        no_memory(in);
        *count = 0;
        return NULL;
    }
    size_t i = 0;
    for (const cJSON *v = at.value->child; v != NULL && in->status == HPCW_OK; v = v->next) {
        struct json_node one = {.up = &at, .index = i, .value = v};
        read_trial(in, &one, &trial[i++]);
    }
    return trial;
}

static void read_rate(struct results_reader *in, struct json_node *point, const char *key,
                      struct bench_rate *rate) {
    struct json_node at = object_or_null(in, point, key, &rate->there);
    if (!rate->there) {
        return;
    }
    struct bench_stats *s = &rate->stats;
    s->median = number(in, &at, "median", 0, HUGE_VAL);
    s->mean = number(in, &at, "mean", 0, HUGE_VAL);
    s->sd = number(in, &at, "sd", 0, HUGE_VAL);
    s->min = number(in, &at, "min", 0, HUGE_VAL);
    s->q25 = number(in, &at, "q25", 0, HUGE_VAL);
    s->q75 = number(in, &at, "q75", 0, HUGE_VAL);
    s->max = number(in, &at, "max", 0, HUGE_VAL);
    s->ci_low = number(in, &at, "ci_low", 0, HUGE_VAL);
    s->ci_high = number(in, &at, "ci_high", 0, HUGE_VAL);
    s->ci_coverage = number(in, &at, "ci_coverage", 0, 1);
    end(in, &at);
}

/* Other machines may round the last digits differently. */
static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void compare_rate(struct results_reader *in, const struct json_node *point, const char *key,
                         const struct bench_rate *said, const struct bench_rate *is) {
    if (said->there != is->there) {
        refuse(in, point, key, is->there ? "the figures of its trials" : "null, since its trials give none");
        return;
    }
    const struct bench_stats *a = &said->stats;
    const struct bench_stats *b = &is->stats;
    const double pair[][2] = {{a->median, b->median},   {a->mean, b->mean},
                              {a->sd, b->sd},           {a->min, b->min},
                              {a->q25, b->q25},         {a->q75, b->q75},
                              {a->max, b->max},         {a->ci_low, b->ci_low},
                              {a->ci_high, b->ci_high}, {a->ci_coverage, b->ci_coverage}};
    for (size_t i = 0; said->there && i < sizeof pair / sizeof pair[0]; i++) {
        /* A deviation is a small difference of large numbers. */
        if (!close_to(pair[i][0], pair[i][1]) && !(i == 2 && fabs(a->sd - b->sd) <= 1e-9 * b->mean)) {
            char expected[96];
            (void)snprintf(expected, sizeof expected, "%.17g from its trials, got %.17g", pair[i][1],
                           pair[i][0]);
            refuse(in, point, key, expected);
            return;
        }
    }
}

/* Keep the figures of the file, to the last digit. */
static void keep_said(const struct bench_stats *said, struct bench_stats *is) {
    const size_t count = is->count;
    const double mad = is->mad;
    *is = *said;
    is->count = count;
    is->mad = mad;
}

static void read_fate(struct results_reader *in, struct json_node *at, struct bench_point *p) {
    p->fate = (enum bench_fate)word(in, at, "fate", bench_fate_name, BENCH_FATES);
    text_member(in, at, "reason", p->reason, sizeof p->reason);
    if ((p->fate == BENCH_MEASURED) != (p->reason[0] == '\0')) {
        refuse(in, at, "reason", "a reason if the point was not measured, otherwise none");
    }
    bool failed;
    struct json_node failure = object_or_null(in, at, "failure", &failed);
    p->failed_process = -1;
    if (failed) {
        p->failed_errno = (int)whole(in, &failure, "errno", 0, INT32_MAX);
        p->failed_process = (int)number(in, &failure, "process", -1, INT32_MAX);
        end(in, &failure);
    }
    if (failed != (p->fate == BENCH_FAILED)) {
        refuse(in, at, "failure", "an object if the point failed, otherwise null");
    }
}

static void read_point(struct results_reader *in, struct json_node *at, struct bench_point *p) {
    if (!cJSON_IsObject(at->value)) {
        refuse(in, at->up, NULL, "objects as elements");
        return;
    }
    p->twin = SIZE_MAX;
    text_member(in, at, "id", p->id, sizeof p->id);
    p->layout = (enum bench_layout)word(in, at, "layout", bench_layout_name, BENCH_LAYOUTS);
    p->mode = (enum bench_mode)word(in, at, "mode", bench_mode_name, BENCH_MODES);
    if (!cJSON_IsNull(member(in, at, "block_bytes"))) {
        p->block_size = whole(in, at, "block_bytes", 1, EXACT);
    }
    p->record_size = whole(in, at, "record_bytes", 0, EXACT);
    p->rank_size = whole(in, at, "rank_bytes", 0, EXACT);
    p->ranks = (uint32_t)whole(in, at, "ranks", 0, UINT32_MAX);
    p->files = (uint32_t)whole(in, at, "files", 0, UINT32_MAX);
    p->bytes = whole(in, at, "bytes", 0, EXACT);
    struct json_node blocks = object_or_null(in, at, "file_system_blocks", &p->counted);
    if (p->counted) {
        p->blocks = whole(in, &blocks, "touched", 0, EXACT);
        p->shared_blocks = whole(in, &blocks, "shared", 0, EXACT);
        if (p->shared_blocks > p->blocks) {
            refuse(in, &blocks, "shared", "at most as many as there are blocks");
        }
        end(in, &blocks);
    }
    (void)member(in, at, "twin"); /* read later, when all points are known */
    read_fate(in, at, p);
    p->verified = truth(in, at, "verified");
    bool noisy = truth(in, at, "noisy");
    struct bench_rate said[5] = {0};
    struct bench_rate *const is[5] = {&p->durable, &p->cached, &p->ceiling_durable, &p->ceiling_cached,
                                      &p->ratio};
    static const char *const key[5] = {"durable", "cached", "ceiling_durable", "ceiling_cached", "ratio"};
    for (int i = 0; i < 5; i++) {
        read_rate(in, at, key[i], &said[i]);
    }
    p->trial = read_trials(in, at, "trials", &p->trials);
    p->ceiling = read_trials(in, at, "ceiling", &p->ceiling_trials);
    end(in, at);
    if (in->status != HPCW_OK) {
        return;
    }
    in->status = bench_results_rate(p, in->err);
    for (int i = 0; i < 5; i++) {
        compare_rate(in, at, key[i], &said[i], is[i]);
        keep_said(&said[i].stats, &is[i]->stats);
    }
    if (noisy != p->noisy) {
        refuse(in, at, "noisy", p->noisy ? "true, from its trials" : "false, from its trials");
    }
}

/* ---- References between points ---- */

struct point_id {
    const char *id;
    size_t index;
};

static int by_id(const void *a, const void *b) {
    const struct point_id *x = a;
    const struct point_id *y = b;
    return strcmp(x->id, y->id);
}

static size_t find_point(const struct point_id *entry, size_t count, const cJSON *v) {
    if (!cJSON_IsString(v)) {
        return SIZE_MAX;
    }
    const struct point_id key = {.id = v->valuestring};
    const struct point_id *found = count == 0 ? NULL : bsearch(&key, entry, count, sizeof *entry, by_id);
    return found == NULL ? SIZE_MAX : found->index;
}

static void read_advice(struct results_reader *in, struct json_node *root, struct bench_results *r,
                        const struct point_id *entry) {
    struct json_node at =
        array(in, root, "recommendation", sizeof r->advice / sizeof r->advice[0], &r->advices);
    size_t i = 0;
    for (const cJSON *v = at.value->child; i < r->advices && in->status == HPCW_OK; v = v->next, i++) {
        struct bench_advice *a = &r->advice[i];
        struct json_node one = {.up = &at, .index = i, .value = v};
        if (!cJSON_IsObject(v)) {
            refuse(in, root, "recommendation", "objects as elements");
            return;
        }
        text_member(in, &one, "text", a->text, sizeof a->text);
        size_t most = sizeof a->evidence / sizeof a->evidence[0];
        struct json_node evidence = array(in, &one, "evidence", most, &a->evidences);
        size_t k = 0;
        for (const cJSON *e = evidence.value->child; k < a->evidences; e = e->next, k++) {
            a->evidence[k] = find_point(entry, r->points, e);
            if (a->evidence[k] == SIZE_MAX) {
                refuse(in, &one, "evidence", "ids of points");
            }
        }
        end(in, &one);
    }
}

static void read_references(struct results_reader *in, struct json_node *root, const struct json_node *points,
                            struct bench_results *r) {
    struct point_id *entry = hpcw_i_calloc(r->points + 1, sizeof *entry);
    if (entry == NULL) {
        no_memory(in);
        return;
    }
    for (size_t i = 0; i < r->points; i++) {
        entry[i] = (struct point_id){r->point[i].id, i};
    }
    qsort(entry, r->points, sizeof *entry, by_id);
    for (size_t i = 1; i < r->points; i++) {
        if (strcmp(entry[i - 1].id, entry[i].id) == 0) {
            struct json_node one = {.up = points, .index = entry[i].index};
            refuse(in, &one, "id", "one that no other point has");
        }
    }
    size_t i = 0;
    for (const cJSON *v = points->value->child; v != NULL; v = v->next, i++) {
        const cJSON *twin = cJSON_GetObjectItemCaseSensitive(v, "twin");
        if (cJSON_IsNull(twin)) {
            continue;
        }
        r->point[i].twin = find_point(entry, r->points, twin);
        if (r->point[i].twin == SIZE_MAX || r->point[i].twin == i) {
            struct json_node one = {.up = points, .index = i};
            refuse(in, &one, "twin", "the id of another point, or null");
        }
    }
    read_advice(in, root, r, entry);
    hpcw_i_free(entry);
}

/* ---- The whole ---- */

static void read_points(struct results_reader *in, struct json_node *root, struct bench_results *r) {
    size_t count;
    struct json_node at = array(in, root, "points", MOST_POINTS, &count);
    if (in->status != HPCW_OK) {
        return;
    }
    r->point = hpcw_i_calloc(count + 1, sizeof *r->point);
    if (r->point == NULL) {
        no_memory(in);
        return;
    }
    r->points = count;
    size_t i = 0;
    for (const cJSON *v = at.value->child; v != NULL && in->status == HPCW_OK; v = v->next, i++) {
        struct json_node one = {.up = &at, .index = i, .value = v};
        read_point(in, &one, &r->point[i]);
    }
    if (in->status == HPCW_OK) {
        read_references(in, root, &at, r);
    }
}

hpcw_status bench_results_parse(struct bench_results *r, const char *path, const char *text, size_t size,
                                hpcw_error *err) {
    *r = (struct bench_results){0};
    struct results_reader in = {.path = path, .status = HPCW_OK, .err = err};
    const char *stop = NULL;
    cJSON *tree = cJSON_ParseWithLengthOpts(text, size, &stop, false);
    while (tree != NULL && stop < text + size && strchr(" \t\r\n", *stop) != NULL && *stop != '\0') {
        stop++;
    }
    if (tree == NULL || stop != text + size || !cJSON_IsObject(tree)) {
        in.status =
            hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected one JSON object, got something else at byte %zu", path,
                        stop == NULL ? (size_t)0 : (size_t)(stop - text));
        cJSON_Delete(tree);
        return in.status;
    }
    struct json_node root = {.value = tree};
    constant(&in, &root, "format", "hpcw-bench sweep");
    (void)whole(&in, &root, "version", 1, 1);
    text_member(&in, &root, "hpcw", r->version, sizeof r->version);
    text_member(&in, &root, "time", r->time, sizeof r->time);
    read_machine(&in, &root, &r->machine);
    read_file_system(&in, &root, &r->fs);
    read_run(&in, &root, r);
    read_points(&in, &root, r);
    end(&in, &root);
    cJSON_Delete(tree);
    if (in.status != HPCW_OK) {
        bench_results_free(r);
        *r = (struct bench_results){0};
    }
    return in.status;
}

hpcw_status bench_results_read(struct bench_results *r, const char *path, hpcw_error *err) {
    *r = (struct bench_results){0};
    int fd;
    uint64_t size = 0;
    int e = hpcw_i_sys_open(path, O_RDONLY | O_CLOEXEC, 0, &fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path);
    }
    char *text = NULL;
    size_t got = 0;
    hpcw_status s = HPCW_OK;
    e = hpcw_i_sys_size(fd, &size);
    if (e == 0 && size <= MOST_BYTES && (text = hpcw_i_malloc((size_t)size + 1)) != NULL) {
        e = hpcw_i_sys_pread(fd, text, (size_t)size, 0, &got);
    }
    (void)hpcw_i_sys_close(fd);
    if (e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot read", path);
    } else if (size > MOST_BYTES) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at most %d bytes, got %" PRIu64, path, MOST_BYTES,
                        size);
    } else if (text == NULL) {
        s = hpcw_i_fail_memory(err, path, size, "bytes");
    } else {
        s = bench_results_parse(r, path, text, got, err);
    }
    hpcw_i_free(text);
    return s;
}
