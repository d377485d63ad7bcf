/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

#define EXACT 9007199254740991.0 /* 2^53 - 1: a double represents all integers up to this one exactly */
#define MOST_SECONDS 9e6         /* up to this time, a double represents every ns */

/* ---- files ---- */

hpcw_status bench_json_create(struct bench_json *io, const hpcw_sink_source *source, const char *path,
                              hpcw_error *err) {
    *io = (struct bench_json){.path = path, .status = HPCW_OK, .err = err};
    hpcw_status s = path == NULL
                        ? hpcw_sink_open_memory(&io->sink, err)
                        : hpcw_i_sink_open(source, NULL, path, 0, true, HPCW_SYNC_NONE, &io->sink, err);
    if (s == HPCW_OK) {
        const struct hpcw_i_json_options options = {.indent = true, .replace_bad_utf8 = true};
        hpcw_i_json_open_sink(&io->out, io->sink, &options);
        hpcw_i_json_begin_object(&io->out);
    }
    return s;
}

hpcw_status bench_json_parse(struct bench_json *io, const char *path, const char *text, size_t size,
                             hpcw_error *err) {
    *io = (struct bench_json){.reads = true, .path = path, .status = HPCW_OK, .err = err};
    const char *stop = NULL;
    io->tree = cJSON_ParseWithLengthOpts(text, size, &stop, false);
    while (io->tree != NULL && stop < text + size && strchr(" \t\r\n", *stop) != NULL && *stop != '\0') {
        stop++;
    }
    if (io->tree == NULL || stop != text + size || !cJSON_IsObject(io->tree)) {
        io->status =
            hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected one JSON object, got something else at byte %zu", path,
                        stop == NULL ? (size_t)0 : (size_t)(stop - text));
    }
    io->node[io->depth++].value = io->tree;
    return io->status;
}

hpcw_status bench_json_close(struct bench_json *io, hpcw_status s, hpcw_error *err) {
    if (s == HPCW_OK && io->reads) {
        bench_json_end(io);
        s = io->status;
    } else if (s == HPCW_OK) {
        hpcw_i_json_end_object(&io->out);
        s = hpcw_i_json_finish(&io->out, err);
        s = s == HPCW_OK ? hpcw_sink_publish(io->sink, err) : s;
        if (s == HPCW_OK && io->path == NULL) {
            size_t size;
            const void *text = hpcw_sink_memory_data(io->sink, &size);
            if (fwrite(text, 1, size, stdout) != size) {
                s = hpcw_i_fail_sys(err, errno, "standard output: cannot write");
            }
        }
    }
    hpcw_i_json_free(&io->out);
    hpcw_sink_free(io->sink);
    cJSON_Delete(io->tree);
    return s;
}

/* ---- errors found by reading: the message names the member, as "points[3].open" ---- */

static size_t spell(char *text, size_t size, size_t n, const char *key, size_t index) {
    int more = key == NULL ? snprintf(text + n, size - n, "[%zu]", index)
                           : snprintf(text + n, size - n, "%s%s", n == 0 ? "" : ".", key);
    return n + (size_t)more < size ? n + (size_t)more : size - 1;
}

void bench_json_refuse(struct bench_json *io, const char *key, const char *expected) {
    if (io->status != HPCW_OK || !io->reads) {
        return;
    }
    char where[256] = "";
    size_t n = 0;
    for (size_t i = 1; i < io->depth; i++) {
        n = spell(where, sizeof where, n, io->node[i].key, io->node[i].index);
    }
    if (key != NULL) {
        (void)spell(where, sizeof where, n, key, 0);
    }
    hpcw_i_shown(where);
    io->status = hpcw_i_fail(io->err, HPCW_EFORMAT, "%s: %s: expected %s", io->path, where, expected);
}

void bench_json_no_memory(struct bench_json *io) {
    if (io->status == HPCW_OK) {
        io->status = hpcw_i_fail_memory(io->err, io->path, 0, NULL);
    }
}

/* ---- structure ---- */

/* Stands for the value of a missing member. */
static const cJSON nothing = {.type = cJSON_Invalid};

/* Returns the value of a member of the open object, or the next element of the open array. */
static const cJSON *value_of(struct bench_json *io, const char *key) {
    struct bench_json_node *at = &io->node[io->depth - 1];
    if (io->status != HPCW_OK) {
        return &nothing;
    }
    const cJSON *v = key == NULL ? at->next : cJSON_GetObjectItemCaseSensitive(at->value, key);
    if (v == NULL) {
        bench_json_refuse(io, key, "this member, got none");
        return &nothing;
    }
    if (key == NULL) {
        at->next = v->next;
    } else if (at->count < BENCH_JSON_MEMBERS) {
        at->taken[at->count] = v;
    }
    at->count++;
    return v;
}

static void push(struct bench_json *io, const char *key, size_t index, const cJSON *v) {
    io->node[io->depth++] = (struct bench_json_node){.key = key, .index = index, .value = v, .next = v->child};
}

static void put_key(struct bench_json *io, const char *key) {
    if (key != NULL) {
        hpcw_i_json_key(&io->out, key);
    }
}

bool bench_json_begin(struct bench_json *io, const char *key, bool flat, bool *there) {
    if (io->reads) {
        size_t index = io->node[io->depth - 1].count;
        const cJSON *v = value_of(io, key);
        bool object = cJSON_IsObject(v);
        if (object || there == NULL) {
            push(io, key, index, v);
        }
        if (!object && (there == NULL || !cJSON_IsNull(v))) {
            bench_json_refuse(io, there == NULL ? NULL : key,
                              there == NULL ? "an object" : "an object or null");
        }
        if (there != NULL) {
            *there = object;
        }
        return object;
    }
    put_key(io, key);
    if (there != NULL && !*there) {
        hpcw_i_json_null(&io->out);
        return false;
    }
    if (flat) {
        hpcw_i_json_flat(&io->out);
    }
    hpcw_i_json_begin_object(&io->out);
    return true;
}

/* Refuses members of the open object that were not read. Call it after the last member. */
static void refuse_others(struct bench_json *io) {
    const struct bench_json_node *at = &io->node[io->depth - 1];
    for (const cJSON *v = at->value->child; io->status == HPCW_OK && v != NULL; v = v->next) {
        bool taken = false;
        for (size_t i = 0; i < at->count && i < BENCH_JSON_MEMBERS; i++) {
            taken = taken || at->taken[i] == v;
        }
        if (!taken) {
            bench_json_refuse(io, v->string, "no member of this name, or only one");
        }
    }
}

void bench_json_end(struct bench_json *io) {
    if (io->reads) {
        refuse_others(io);
        io->depth--;
    } else {
        hpcw_i_json_end_object(&io->out);
    }
}

size_t bench_json_begin_array(struct bench_json *io, const char *key, size_t count, size_t most) {
    if (!io->reads) {
        hpcw_i_json_key_array(&io->out, key);
        return count;
    }
    const cJSON *v = value_of(io, key);
    if (!cJSON_IsArray(v)) {
        bench_json_refuse(io, key, "an array");
    }
    size_t n = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        n++;
    }
    if (n > most) {
        bench_json_refuse(io, key, "fewer elements");
    }
    push(io, key, 0, v);
    return io->status == HPCW_OK ? n : 0;
}

void bench_json_end_array(struct bench_json *io) {
    if (io->reads) {
        io->depth--;
    } else {
        hpcw_i_json_end_array(&io->out);
    }
}

/* ---- values ---- */

void bench_json_text(struct bench_json *io, const char *key, char *text, size_t size, bool or_null) {
    if (!io->reads) {
        put_key(io, key);
        if (or_null && text[0] == '\0') {
            hpcw_i_json_null(&io->out);
        } else {
            hpcw_i_json_str(&io->out, text);
        }
        return;
    }
    const cJSON *v = value_of(io, key);
    text[0] = '\0';
    if (or_null && cJSON_IsNull(v)) {
        return;
    }
    if (!cJSON_IsString(v)) {
        bench_json_refuse(io, key, "a text");
    } else if (strlen(v->valuestring) >= size) {
        bench_json_refuse(io, key, "a shorter text");
    } else {
        (void)snprintf(text, size, "%s", v->valuestring);
        hpcw_i_shown(text);
    }
}

unsigned bench_json_word(struct bench_json *io, const char *key, unsigned index, const char *const *words,
                         unsigned count) {
    if (!io->reads) {
        hpcw_i_json_put_str(&io->out, key, words[index]);
        return index;
    }
    const cJSON *v = value_of(io, key);
    for (unsigned i = 0; i < count && cJSON_IsString(v); i++) {
        if (strcmp(v->valuestring, words[i]) == 0) {
            return i;
        }
    }
    bench_json_refuse(io, key, count == 1 ? words[0] : "one of the words of the schema");
    return 0;
}

void bench_json_bool(struct bench_json *io, const char *key, bool *v) {
    if (!io->reads) {
        hpcw_i_json_put_bool(&io->out, key, *v);
        return;
    }
    const cJSON *value = value_of(io, key);
    if (!cJSON_IsBool(value)) {
        bench_json_refuse(io, key, "true or false");
    }
    *v = cJSON_IsTrue(value);
}

static double read_number(struct bench_json *io, const char *key, const cJSON *v, double least, double most) {
    if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || v->valuedouble < least || v->valuedouble > most) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "a number from %.16g to %.16g", least, most);
        bench_json_refuse(io, key, expected);
        return 0;
    }
    return v->valuedouble;
}

static double read_whole(struct bench_json *io, const char *key, const cJSON *v, double least, double most) {
    double x = read_number(io, key, v, least, most);
    if (x != floor(x)) {
        bench_json_refuse(io, key, "an integer");
        return 0;
    }
    return x;
}

void bench_json_u64(struct bench_json *io, const char *key, uint64_t *v, bool or_null) {
    if (io->reads) {
        const cJSON *value = value_of(io, key);
        *v = or_null && cJSON_IsNull(value) ? 0 : (uint64_t)read_whole(io, key, value, or_null, EXACT);
    } else if (or_null && *v == 0) {
        put_key(io, key);
        hpcw_i_json_null(&io->out);
    } else {
        hpcw_i_json_put_u64(&io->out, key, *v);
    }
}

void bench_json_u32(struct bench_json *io, const char *key, uint32_t *v, double least, double most) {
    if (io->reads) {
        *v = (uint32_t)read_whole(io, key, value_of(io, key), least, most);
    } else {
        hpcw_i_json_put_u64(&io->out, key, *v);
    }
}

void bench_json_int(struct bench_json *io, const char *key, int *v, double least) {
    if (io->reads) {
        *v = (int)read_whole(io, key, value_of(io, key), least, INT32_MAX);
    } else {
        hpcw_i_json_put_i64(&io->out, key, *v);
    }
}

void bench_json_seconds(struct bench_json *io, const char *key, uint64_t *time_ns) {
    if (io->reads) {
        *time_ns = (uint64_t)llround(read_number(io, key, value_of(io, key), 0, MOST_SECONDS) * 1e9);
    } else {
        hpcw_i_json_put_seconds(&io->out, key, *time_ns);
    }
}

void bench_json_number(struct bench_json *io, const char *key, double *v, double most, bool or_null) {
    if (io->reads) {
        const cJSON *value = value_of(io, key);
        *v = or_null && cJSON_IsNull(value) ? NAN : read_number(io, key, value, 0, most);
    } else if (or_null && !isfinite(*v)) {
        put_key(io, key);
        hpcw_i_json_null(&io->out);
    } else {
        hpcw_i_json_put_f64(&io->out, key, *v);
    }
}

/* ---- objects that several kinds of files contain ---- */

void bench_json_machine(struct bench_json *io, struct bench_machine *m) {
    (void)bench_json_begin(io, "machine", false, NULL);
    bench_json_text(io, "system", m->system, sizeof m->system, false);
    bench_json_text(io, "processor", m->processor, sizeof m->processor, false);
    bench_json_u32(io, "processors", &m->processors, 0, INT32_MAX);
    bench_json_u64(io, "memory_bytes", &m->memory, false);
    bench_json_text(io, "compiler", m->compiler, sizeof m->compiler, false);
    bench_json_text(io, "build", m->build, sizeof m->build, false);
    bench_json_end(io);
}

void bench_json_stats(struct bench_json *io, struct bench_stats *s) {
    bench_json_number(io, "median", &s->median, HUGE_VAL, false);
    bench_json_number(io, "mean", &s->mean, HUGE_VAL, false);
    bench_json_number(io, "sd", &s->sd, HUGE_VAL, false);
    bench_json_number(io, "min", &s->min, HUGE_VAL, false);
    bench_json_number(io, "q25", &s->q25, HUGE_VAL, false);
    bench_json_number(io, "q75", &s->q75, HUGE_VAL, false);
    bench_json_number(io, "max", &s->max, HUGE_VAL, false);
    bench_json_number(io, "ci_low", &s->ci_low, HUGE_VAL, false);
    bench_json_number(io, "ci_high", &s->ci_high, HUGE_VAL, false);
    bench_json_number(io, "ci_coverage", &s->ci_coverage, 1, false);
}

void bench_json_now(char text[BENCH_TIME]) {
    time_t now = time(NULL);
    struct tm tm;
    text[0] = '\0';
    if (gmtime_r(&now, &tm) != NULL) {
        (void)strftime(text, BENCH_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);
    }
}
