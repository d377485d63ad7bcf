/* SPDX-License-Identifier: BSD-3-Clause */
/* A writer replaces the input before each open of a reader. The reader returns the old content or the new content,
 * or reports that the input was replaced. It never mixes both: for instance, it never reads the streams of the
 * new file by the old file's table of sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>
#include <hpcw/linktest_read.h>
#include <hpcw/sion_read.h>

#include "gen/export/export.h"
#include "gen/export/rewrite/rewrite.h"
#include "gen/export/rewrite/vom.h"
#include "gen/export/vom.h"
#include "libreader/sion/sion.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/set/summary.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"

enum { RANKS = 4, MOST_TASKS = 70, STREAM = 300 };

struct subject {
    const char *name;
    uint32_t files, tasks;
    unsigned skipped; /* number of opens between two that are tried, since many opens are alike */
    hpcw_status (*write)(const struct subject *s, const char *path, bool newer, hpcw_error *err);
    hpcw_status (*read)(const struct subject *s, const char *path, struct hpcw_i_buf *text, hpcw_error *err);
};

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

/* ---- containers ---- */

/* Old and new streams differ in length but have chunks of one size, so the files have the same size. */
static hpcw_status write_sion(const struct subject *s, const char *path, bool newer, hpcw_error *err) {
    char bytes[STREAM];
    hpcw_sion_options o;
    hpcw_sion *h;
    hpcw_sion_options_init(&o);
    o.count = s->tasks;
    o.files = s->files;
    o.chunk_size = STREAM;
    o.fs_block_size = 512;
    o.durability = HPCW_SYNC_NONE;
    memset(bytes, newer ? 'n' : 'o', sizeof bytes);
    hpcw_status status = hpcw_sion_open(path, NULL, &o, &h, err);
    for (uint32_t t = 0; status == HPCW_OK && t < s->tasks; t++) {
        status = hpcw_sion_write(h, t, bytes, newer ? STREAM : STREAM / 3, err);
    }
    status = status == HPCW_OK ? hpcw_sion_close(h, err) : status;
    hpcw_sion_free(h);
    return status;
}

static bool add(struct hpcw_i_buf *text, uint32_t task, const char *bytes, size_t size) {
    char head[64];
    (void)snprintf(head, sizeof head, "\n%u %zu ", task, size);
    return hpcw_i_buf_append_str(text, head) && hpcw_i_buf_append(text, bytes, size);
}

/* Reads all streams in pieces, so that files closed in between are opened again. */
static hpcw_status read_sion(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                             hpcw_error *err) {
    static const size_t piece[] = {30, STREAM};
    char bytes[STREAM];
    hpcw_sion_reader *r;
    hpcw_status status = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, err);
    for (size_t p = 0; p < 2; p++) {
        for (uint32_t t = 0; status == HPCW_OK && t < s->tasks; t++) {
            size_t got = 0;
            status = hpcw_sion_reader_read(r, t, bytes, piece[p], &got, err);
            assert_true(status != HPCW_OK || add(text, t, bytes, got));
        }
    }
    hpcw_sion_reader_free(r);
    return status;
}

/* Reads by the reader that hpcgen info, verify and report use. */
static hpcw_status read_tables(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                               hpcw_error *err) {
    char bytes[STREAM];
    struct read_sion *r;
    hpcw_status status = read_sion_open(path, &r, err);
    for (uint32_t t = 0; status == HPCW_OK && t < s->tasks; t++) {
        struct read_sion_task task;
        status = read_sion_find(r, t, &task, err);
        status = status == HPCW_OK ? read_sion_read(r, &task, 0, bytes, (size_t)task.size, err) : status;
        assert_true(status != HPCW_OK || add(text, t, bytes, (size_t)task.size));
    }
    read_sion_free(r);
    return status;
}

/* ---- LinkTest results ---- */

/* The new result has its timings in another order. */
static hpcw_status write_linktest(const struct subject *s, const char *path, bool newer, hpcw_error *err) {
    struct linktest_case c = linktest_cases[0];
    bool refuses;
    c.params.files = s->files;
    c.params.tasks = s->tasks;
    c.params.durability = HPCW_SYNC_NONE;
    c.own_partners = newer;
    return linktest_case_write(&c, NULL, path, NULL, s->tasks, NULL, NULL, &refuses, err);
}

/* Reads step by step, like the exports of timings by partner. */
static hpcw_status read_linktest(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                                 hpcw_error *err) {
    double time[MOST_TASKS];
    uint32_t partner[MOST_TASKS];
    hpcw_linktest_reader *r;
    hpcw_status status = hpcw_linktest_reader_open(path, &r, err);
    for (uint32_t t = 0; status == HPCW_OK && t < s->tasks; t++) {
        status = hpcw_linktest_reader_row(r, t, 0, time, partner, NULL, err);
        for (uint32_t k = 0; status == HPCW_OK && k < s->tasks - 1; k++) {
            char line[64];
            (void)snprintf(line, sizeof line, "%u %u %g\n", t, partner[k], time[k]);
            assert_true(hpcw_i_buf_append_str(text, line));
        }
    }
    hpcw_linktest_reader_free(r);
    return status;
}

/* ---- load data ---- */

/* Old and new data have different phases and times. The handles of a set are in descending order of ranks. */
static hpcw_status write_loads(const struct subject *s, const char *path, bool newer, hpcw_error *err) {
    hpcw_vom *v[RANKS] = {NULL};
    hpcw_status status = s->files > 1 ? hpcw_vom_make_directory(path, NULL, err) : HPCW_OK;
    for (uint32_t i = 0; status == HPCW_OK && i < s->files; i++) {
        const uint32_t rank = s->files - 1 - i;
        const uint64_t index = rank;
        hpcw_vom_task task = {.entity = hpcw_vom_element(rank, rank, 7, &index, 1),
                              .time_s = newer ? 0.5 : 0.25};
        char file[512];
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = RANKS;
        o.allow = HPCW_VOM_ALLOW_GAPS;
        o.durability = HPCW_SYNC_NONE;
        (void)snprintf(file, sizeof file, s->files > 1 ? "%s/data.%u.json" : "%s", path, (unsigned)rank);
        status = hpcw_vom_open(file, &o, &v[i], err);
        status = status == HPCW_OK ? hpcw_vom_begin_phase(v[i], newer ? 1 : 0, err) : status;
        status = status == HPCW_OK ? hpcw_vom_task_add(v[i], &task, err) : status;
        status = status == HPCW_OK ? hpcw_vom_end_phase(v[i], NULL, 0, err) : status;
    }
    if (status == HPCW_OK) {
        status = hpcw_vom_close_set(v, s->files, NULL, err);
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        hpcw_vom_free(v[i]);
    }
    return status;
}

static hpcw_status take(hpcw_sink *sink, hpcw_status status, struct hpcw_i_buf *text) {
    size_t size = 0;
    const void *data = hpcw_sink_memory_data(sink, &size);
    assert_true(status != HPCW_OK || hpcw_i_buf_append(text, data, size));
    hpcw_sink_free(sink);
    return status;
}

static hpcw_status export_loads(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                                hpcw_error *err) {
    (void)s;
    const struct gen_export what = {.form = GEN_EXPORT_CSV, .last_rank = UINT32_MAX};
    struct gen_exported done;
    hpcw_sink *sink;
    assert_int_equal(hpcw_sink_open_memory(&sink, err), HPCW_OK);
    return take(sink, gen_export_vom.run(path, &what, sink, &done, err), text);
}

static hpcw_status rewrite_loads(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                                 hpcw_error *err) {
    (void)s;
    const struct gen_rewrite what = {
        .form = GEN_REWRITE_PLAIN, .last_phase = UINT64_MAX, .last_rank = UINT32_MAX, .files = 1};
    struct gen_rewritten done;
    char to[512];
    size_t size = 0;
    (void)snprintf(to, sizeof to, "%s/again", scratch);
    hpcw_status status = gen_rewrite_vom.run(path, to, &what, &done, err);
    unsigned char *bytes = status == HPCW_OK ? read_file(to, &size) : NULL;
    assert_true(status != HPCW_OK || hpcw_i_buf_append(text, bytes, size));
    free(bytes);
    (void)remove(to);
    return status;
}

static hpcw_status sum_up_loads(const struct subject *s, const char *path, struct hpcw_i_buf *text,
                                hpcw_error *err) {
    (void)s;
    struct read_vom_summary sums;
    hpcw_status status = read_vom_summarise(path, &sums, err);
    for (size_t p = 0; p < sums.phases; p++) {
        double figure[READ_VOM_FIGURES];
        char line[128];
        read_vom_moments_figures(&sums.phase[p].quantity[READ_VOM_RANK_LOAD], figure);
        (void)snprintf(line, sizeof line, "phase %llu: load %g, tasks %llu\n",
                       (unsigned long long)sums.phase[p].id, figure[0],
                       (unsigned long long)sums.phase[p].tasks);
        assert_true(hpcw_i_buf_append_str(text, line));
    }
    read_vom_summary_free(&sums);
    return status;
}

/* ---- the test ---- */

static const struct subject *replaced;
static const char *replaced_path;
static unsigned long opens_left;

static int replace_at_last(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call == HPCW_I_SYS_OPEN && --opens_left == 0) {
        hpcw_error err;
        hpcw_i_sys_gate = NULL;
        if (replaced->write(replaced, replaced_path, true, &err) != HPCW_OK) {
            fail_msg("%s: the new writer: %s", replaced->name, err.message);
        }
    }
    return 0;
}

static void must_write(const struct subject *s, const char *path, bool newer) {
    hpcw_error err;
    if (s->write(s, path, newer, &err) != HPCW_OK) {
        fail_msg("%s: %s", s->name, err.message);
    }
}

static void must_read(const struct subject *s, const char *path, struct hpcw_i_buf *text) {
    hpcw_error err;
    if (s->read(s, path, text, &err) != HPCW_OK) {
        fail_msg("%s: %s", s->name, err.message);
    }
}

static bool equal(const struct hpcw_i_buf *a, const struct hpcw_i_buf *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void replace_before_each_open(const struct subject *s) {
    struct hpcw_i_buf older = {0}, newer = {0};
    unsigned found_older = 0, found_newer = 0, refused = 0;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", scratch, s->name);
    must_write(s, path, true);
    must_read(s, path, &newer);
    must_write(s, path, false);
    must_read(s, path, &older);
    assert_false(equal(&older, &newer));
    for (unsigned long n = 1;; n += 1 + s->skipped) {
        struct hpcw_i_buf text = {0};
        hpcw_error err;
        must_write(s, path, false);
        replaced = s;
        replaced_path = path;
        opens_left = n;
        hpcw_i_sys_gate = replace_at_last;
        hpcw_status status = s->read(s, path, &text, &err);
        bool met = hpcw_i_sys_gate == NULL;
        hpcw_i_sys_gate = NULL;
        if (status == HPCW_OK && !equal(&text, &older) && !equal(&text, &newer)) {
            fail_msg("%s, replaced before open %lu: neither the old nor the new content: %.*s", s->name, n,
                     (int)text.size, (const char *)text.data);
        }
        if (status != HPCW_OK && (status != HPCW_EIO || strstr(err.message, "read it again") == NULL)) {
            fail_msg("%s, replaced before open %lu: status %d: %s", s->name, n, (int)status, err.message);
        }
        refused += status != HPCW_OK;
        found_older += status == HPCW_OK && equal(&text, &older);
        found_newer += status == HPCW_OK && equal(&text, &newer);
        hpcw_i_buf_free(&text);
        if (!met) {
            break;
        }
    }
    /* Each outcome occurred. found_older > 0 also follows from the last run, in which no file is replaced. */
    assert_true(found_older > 0 && found_newer > 0 && refused > 0);
    hpcw_i_buf_free(&older);
    hpcw_i_buf_free(&newer);
}

static struct hpcw_i_buf contents[2];
static unsigned refusals;

static int read_before_renames(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call == HPCW_I_SYS_RENAME) {
        struct hpcw_i_buf text = {0};
        hpcw_error err;
        hpcw_i_sys_gate = NULL;
        hpcw_status status = replaced->read(replaced, replaced_path, &text, &err);
        hpcw_i_sys_gate = read_before_renames;
        if (status == HPCW_OK && !equal(&text, &contents[0]) && !equal(&text, &contents[1])) {
            fail_msg("neither the old nor the new content: %.*s", (int)text.size, (const char *)text.data);
        }
        refusals += status != HPCW_OK;
        hpcw_i_buf_free(&text);
    }
    return 0;
}

/* A reader opens the load data before each rename of a writer. */
static void load_data_between_names(void **state) {
    (void)state;
    static const struct subject s = {
        .name = "loads", .files = RANKS, .write = write_loads, .read = export_loads};
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", scratch, s.name);
    must_write(&s, path, true);
    must_read(&s, path, &contents[1]);
    must_write(&s, path, false);
    must_read(&s, path, &contents[0]);
    replaced = &s;
    replaced_path = path;
    refusals = 0;
    hpcw_i_sys_gate = read_before_renames;
    must_write(&s, path, true);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(refusals, RANKS); /* there is no file of rank 0 before any of the renames */
    hpcw_i_buf_free(&contents[0]);
    hpcw_i_buf_free(&contents[1]);
}

#define REPLACE(test, ...)                                                                                     \
    static void test(void **state) {                                                                           \
        (void)state;                                                                                           \
        replace_before_each_open(&(const struct subject){.name = #test, __VA_ARGS__});                         \
    }

REPLACE(a_container, .files = 1, .tasks = 6, .write = write_sion, .read = read_sion)
REPLACE(a_set, .files = 3, .tasks = 6, .write = write_sion, .read = read_sion)
REPLACE(tables_of_a_set, .files = 3, .tasks = 6, .write = write_sion, .read = read_tables)
/* More files than can be open at a time. */
REPLACE(a_set_of_many_files, .files = MOST_TASKS, .tasks = MOST_TASKS, .skipped = 16, .write = write_sion,
        .read = read_sion)
REPLACE(tables_of_many_files, .files = 20, .tasks = 20, .write = write_sion, .read = read_tables)
REPLACE(a_result, .files = 2, .tasks = 8, .write = write_linktest, .read = read_linktest)
REPLACE(load_data, .files = RANKS, .write = write_loads, .read = export_loads)
REPLACE(sums_of_load_data, .files = RANKS, .write = write_loads, .read = sum_up_loads)
REPLACE(a_file_of_load_data, .files = 1, .write = write_loads, .read = export_loads)
REPLACE(a_file_that_is_rewritten, .files = 1, .write = write_loads, .read = rewrite_loads)

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_container),
        TEST(a_set),
        TEST(tables_of_a_set),
        TEST(a_set_of_many_files),
        TEST(tables_of_many_files),
        TEST(a_result),
        TEST(load_data),
        TEST(sums_of_load_data),
        TEST(a_file_of_load_data),
        TEST(a_file_that_is_rewritten),
        TEST(load_data_between_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
