/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes random containers and reads them with the reader, which shares no code with the writer. Checks every byte
 * of every stream, its blocks, and every rule of doc/formats/sion.md. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libreader/sion/sion.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/sion_streams.h"

enum { MOST_TASKS = 300, MOST_RECORDS = 24, MOST_THREADS = 4, MOST_RECORD = 4096 };

/* What to write, all from one seed. */
struct plan {
    uint64_t seed;
    hpcw_sion_options options;
    uint32_t tasks;
    unsigned threads;
    uint64_t request[MOST_TASKS];
    uint32_t records[MOST_TASKS];
};

#define PICK(list, rng) (list)[random_below(rng, sizeof(list) / sizeof(list)[0])]

static struct plan random_plan(uint64_t seed) {
    static const uint32_t block_sizes[] = {1, 100, 512, 4096};
    static const uint64_t buffer_sizes[] = {0, 300, 4096, 16 << 20, 64 << 20};
    static const uint64_t largest[] = {20, 700, 5000, 100000};
    struct plan p = {.seed = seed};
    uint64_t rng = seed;
    hpcw_sion_options *o = &p.options;
    hpcw_sion_options_init(o);
    p.tasks = 1 + (uint32_t)random_below(&rng, (uint64_t)1 << (1 + random_below(&rng, 8)));
    p.threads = 1 + (unsigned)random_below(&rng, MOST_THREADS);
    o->count = p.tasks;
    o->fs_block_size = PICK(block_sizes, &rng);
    o->buffer_size = PICK(buffer_sizes, &rng);
    o->content = (hpcw_sion_content)random_below(&rng, 3);
    o->layout = (hpcw_sion_layout)random_below(&rng, 2);
    o->tasks_per_group = (uint32_t)random_below(&rng, 7);
    o->endian = (hpcw_sion_endian)random_below(&rng, 2);
    o->data_endian = (hpcw_sion_endian)random_below(&rng, 2);
    o->flavour = (hpcw_sion_flavour)random_below(&rng, 3);
    o->durability = HPCW_SYNC_NONE;
    o->files = 1;
    if (o->flavour != HPCW_SION_SERIAL && random_below(&rng, 2) == 0) {
        /* 0 means one file per colour. A single process has one colour, so this gives one file. */
        o->files = (uint32_t)random_below(&rng, p.tasks + 1);
    }
    o->name = p.seed % 4 == 0 ? "another name" : NULL;
    uint64_t most = PICK(largest, &rng);
    for (uint32_t t = 0; t < p.tasks; t++) {
        uint64_t least = o->content == HPCW_SION_KEYVAL ? HPCW_SION_MIN_KEY_CHUNK : 1;
        p.request[t] = random_below(&rng, 8) == 0 ? 0 : least + random_below(&rng, most);
        p.records[t] = p.request[t] == 0 ? 0 : (uint32_t)random_below(&rng, MOST_RECORDS + 1);
    }
    return p;
}

/* In some plans, tasks leave a part of a chunk unused. */
static bool leaves_parts(const struct plan *p) {
    return p->seed % 3 == 0;
}

/* Returns how many bytes of a chunk the task fills: all, or those it requested. */
static uint64_t limit_of(const struct plan *p, uint32_t t, uint64_t chunk) {
    return leaves_parts(p) ? p->request[t] : chunk;
}

/* A record of a task. Key-value streams end with a value that is not empty, since readers lose an empty one. */
struct record {
    uint64_t key;
    size_t size;
    bool reserved; /* space is reserved first and filled at the end */
    unsigned char data[MOST_RECORD];
};

static void record_of(const struct plan *p, uint32_t task, uint32_t index, struct record *r) {
    uint64_t rng = p->seed * 1000003 + task * 1009 + index;
    bool whole = p->options.content == HPCW_SION_RECORDS;
    bool keys = p->options.content == HPCW_SION_KEYVAL;
    uint64_t most = whole ? p->request[task] : 3 * p->request[task];
    most = most > MOST_RECORD ? MOST_RECORD : most;
    r->key = random_word(&rng) >> random_below(&rng, 64);
    r->size = random_below(&rng, 6) == 0 ? (size_t)most : (size_t)random_below(&rng, most + 1);
    r->reserved = !keys && r->size <= p->request[task] && random_below(&rng, 5) == 0;
    for (size_t k = 0; k < r->size; k++) {
        r->data[k] = (unsigned char)random_word(&rng);
    }
}

/* Returns whether a key-value record is written to a single chunk. */
static bool kept_together(const struct plan *p, const struct record *r, uint64_t limit) {
    return leaves_parts(p) && (r->key & 2) != 0 && HPCW_SION_MIN_KEY_CHUNK + r->size <= limit;
}

/* ---- writing ---- */

struct writer {
    const struct plan *plan;
    hpcw_sion *sion;
    unsigned number;
    hpcw_status status;
    hpcw_error err;
};

/* Writes a record in two writes, which must give the same as one. */
static hpcw_status write_in_pieces(const struct plan *p, hpcw_sion *sion, uint32_t task, const struct record *r,
                                   hpcw_error *err) {
    hpcw_status s =
        p->options.content == HPCW_SION_RECORDS ? hpcw_sion_keep_together(sion, task, r->size, err) : HPCW_OK;
    s = s == HPCW_OK ? hpcw_sion_write(sion, task, r->data, r->size / 2, err) : s;
    return s == HPCW_OK ? hpcw_sion_write(sion, task, r->data + r->size / 2, r->size - r->size / 2, err) : s;
}

static hpcw_status write_key(const struct plan *p, hpcw_sion *sion, uint32_t task, const struct record *r,
                             hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (kept_together(p, r, limit_of(p, task, hpcw_sion_chunk_size(sion, task)))) {
        s = hpcw_sion_keep_together(sion, task, HPCW_SION_MIN_KEY_CHUNK + r->size, err);
    }
    return s == HPCW_OK ? hpcw_sion_write_key(sion, task, r->key, r->data, r->size, err) : s;
}

/* Writes the tasks of one thread, a record of each in turn, so that they evict each other from the buffers. */
static void *write_share(void *context) {
    struct writer *w = context;
    const struct plan *p = w->plan;
    static _Thread_local struct record r;
    static _Thread_local uint64_t places[MOST_TASKS][MOST_RECORDS];
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < MOST_RECORDS; i++) {
            for (uint32_t t = w->number; t < p->tasks && w->status == HPCW_OK; t += p->threads) {
                if (i >= p->records[t]) {
                    continue;
                }
                record_of(p, t, i, &r);
                if (pass == 1) {
                    w->status = !r.reserved ? HPCW_OK
                                            : hpcw_sion_fill(w->sion, t, places[t][i], r.data, r.size, &w->err);
                } else if (r.reserved) {
                    w->status = hpcw_sion_reserve(w->sion, t, r.size, &places[t][i], &w->err);
                } else if (p->options.content == HPCW_SION_KEYVAL) {
                    w->status = write_key(p, w->sion, t, &r, &w->err);
                } else if (r.key & 1) {
                    w->status = write_in_pieces(p, w->sion, t, &r, &w->err);
                } else {
                    w->status = hpcw_sion_write(w->sion, t, r.data, r.size, &w->err);
                }
            }
        }
    }
    return NULL;
}

static void write_plan(const struct plan *p, const char *path, uint64_t *chunk, uint64_t *stream_size) {
    hpcw_sion_options o = p->options;
    o.sizes = p->request;
    hpcw_error err = {.message = ""};
    hpcw_sion *h;
    if (hpcw_sion_open(path, NULL, &o, &h, &err) != HPCW_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)p->seed, err.message);
    }
    for (uint32_t t = 0; t < p->tasks; t++) {
        chunk[t] = hpcw_sion_chunk_size(h, t);
        if (hpcw_sion_limit(h, t, limit_of(p, t, chunk[t]), &err) != HPCW_OK) {
            fail_msg("seed %llu: %s", (unsigned long long)p->seed, err.message);
        }
    }
    static struct writer w[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    for (unsigned i = 0; i < p->threads; i++) {
        w[i] = (struct writer){.plan = p, .sion = h, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, write_share, &w[i]), 0);
    }
    for (unsigned i = 0; i < p->threads; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        if (w[i].status != HPCW_OK) {
            fail_msg("seed %llu: %s", (unsigned long long)p->seed, w[i].err.message);
        }
    }
    for (uint32_t t = 0; t < p->tasks; t++) {
        stream_size[t] = hpcw_sion_stream_size(h, t);
    }
    if (hpcw_sion_close(h, &err) != HPCW_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)p->seed, err.message);
    }
    hpcw_sion_free(h);
}

/* ---- reading ---- */

/* Expected bytes in each block of a task. They depend on the kind of content: records or key-value records. */
struct blocks {
    uint32_t count;
    uint64_t size[4 * MOST_RECORDS * (MOST_RECORD + 16)]; /* more than any stream of one-byte chunks has */
};

static struct blocks expected;

/* Expects the next `size` bytes in one chunk. The task fills `limit` bytes of each chunk. */
static void expect_together(uint64_t limit, uint64_t size) {
    if (size > limit - expected.size[expected.count - 1]) {
        expected.size[expected.count++] = 0;
    }
}

static void expect_record(uint64_t limit, uint64_t size) {
    expect_together(limit, size);
    expected.size[expected.count - 1] += size;
}

static void expect_bytes(uint64_t limit, uint64_t size) {
    while (size > 0) {
        if (expected.size[expected.count - 1] == limit) {
            expected.size[expected.count++] = 0;
        }
        uint64_t room = limit - expected.size[expected.count - 1];
        uint64_t n = size < room ? size : room;
        expected.size[expected.count - 1] += n;
        size -= n;
    }
}

static void check_stream(const struct plan *p, struct read_sion *reader, uint32_t t, uint64_t chunk,
                         uint64_t stream_size) {
    struct read_sion_task task;
    static struct record r;
    static unsigned char got[MOST_RECORD];
    static struct read_sion_keys keys;
    bool keyval = p->options.content == HPCW_SION_KEYVAL;
    assert_int_equal(read_sion_find(reader, t, &task, NULL), HPCW_OK);
    assert_true(task.rank == t && task.chunk_size == chunk && task.size == stream_size);
    expected.count = 1;
    expected.size[0] = 0;
    uint64_t at = 0;
    uint64_t limit = limit_of(p, t, chunk);
    read_sion_keys_begin(&keys, &task);
    for (uint32_t i = 0; i < p->records[t]; i++) {
        record_of(p, t, i, &r);
        if (keyval) {
            struct read_sion_record head;
            bool more = false;
            assert_int_equal(read_sion_keys_next(reader, &keys, &head, &more, NULL), HPCW_OK);
            assert_true(more && head.key == r.key && head.size == r.size && head.offset == at + 16);
            at += 16;
            if (kept_together(p, &r, limit)) {
                expect_together(limit, 16 + r.size);
            }
            expect_bytes(limit, 16);
        }
        assert_int_equal(read_sion_read(reader, &task, at, got, r.size, NULL), HPCW_OK);
        assert_memory_equal(got, r.data, r.size);
        at += r.size;
        if (p->options.content == HPCW_SION_RECORDS || r.reserved) {
            expect_record(limit, r.size);
        } else {
            expect_bytes(limit, r.size);
        }
    }
    assert_true(at == stream_size);
    if (keyval) {
        struct read_sion_record head;
        bool more = true;
        assert_int_equal(read_sion_keys_next(reader, &keys, &head, &more, NULL), HPCW_OK);
        assert_false(more);
    }
    assert_int_equal(task.blocks, expected.count);
    for (uint32_t b = 0; b < task.blocks; b++) {
        uint64_t size = 0;
        assert_int_equal(read_sion_block_size(reader, &task, b, &size, NULL), HPCW_OK);
        assert_true(size == expected.size[b]);
    }
}

static void check_header(const struct plan *p, struct read_sion *reader) {
    const hpcw_sion_options *o = &p->options;
    uint32_t files = o->files == 0 ? 1 : o->files;
    assert_int_equal(read_sion_files(reader), files);
    assert_int_equal(read_sion_tasks(reader), p->tasks);
    for (uint32_t f = 0; f < files; f++) {
        struct read_sion_info info;
        assert_int_equal(read_sion_info(reader, f, &info, NULL), HPCW_OK);
        assert_int_equal(info.meta_big, o->endian == HPCW_SION_BIG);
        assert_int_equal(info.data_big, o->data_endian == HPCW_SION_BIG);
        assert_int_equal(info.fs_block_size, o->fs_block_size);
        assert_int_equal(info.tasks, hpcw_sion_first_task_of_file(p->tasks, files, f + 1) -
                                         hpcw_sion_first_task_of_file(p->tasks, files, f));
        assert_int_equal(info.file_number, o->flavour == HPCW_SION_SERIAL ? 1 : f);
        assert_int_equal(info.mode,
                         o->content == HPCW_SION_KEYVAL ? READ_SION_MODE_KEYVAL : READ_SION_MODE_PLAIN);
        assert_string_equal(info.prefix, o->name != NULL ? o->name : "x.sion");
        enum read_sion_mapping want = files > 1 ? (f == 0 ? READ_SION_MAPPING_FULL : READ_SION_MAPPING_NONE)
                                      : o->flavour == HPCW_SION_SERIAL ? READ_SION_MAPPING_EMPTY
                                      : o->flavour == HPCW_SION_MAPPED ? READ_SION_MAPPING_FULL
                                                                       : READ_SION_MAPPING_NONE;
        assert_int_equal(info.mapping, want);
    }
}

static void random_containers(void **state) {
    (void)state;
    char dir[256];
    char path[512];
    unsigned sets = 0;
    unsigned pooled = 0;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        struct plan p = random_plan(seed);
        uint64_t chunk[MOST_TASKS];
        uint64_t stream_size[MOST_TASKS];
        scratch_make(dir, sizeof dir);
        (void)snprintf(path, sizeof path, "%s/x.sion", dir);
        write_plan(&p, path, chunk, stream_size);
        struct read_sion *reader = NULL;
        hpcw_error err = {.message = ""};
        bool full = p.options.content != HPCW_SION_KEYVAL || !leaves_parts(&p);
        if (read_sion_open(path, &reader, &err) != HPCW_OK ||
            read_sion_verify(reader, full ? READ_SION_STRICT | READ_SION_GAPS : READ_SION_GAPS, &err) !=
                HPCW_OK) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        check_header(&p, reader);
        for (uint32_t t = 0; t < p.tasks; t++) {
            check_stream(&p, reader, t, chunk[t], stream_size[t]);
        }
        hpcw_sion_reader *streams;
        if (hpcw_sion_reader_open(path, NULL, 0, NULL, &streams, &err) != HPCW_OK ||
            hpcw_sion_reader_count(streams) != p.tasks || !same_streams(streams, reader, seed)) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        hpcw_sion_reader_free(streams);
        read_sion_free(reader);
        scratch_remove(dir);
        sets += p.options.files > 1;
        pooled += p.options.buffer_size == 4096 && p.tasks > 8;
    }
    assert_true(sets > 20 && pooled > 20); /* the seeds cover these cases */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_containers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
