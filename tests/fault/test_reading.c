/* SPDX-License-Identifier: BSD-3-Clause */
/* Each system call and each allocation fails once while a file of each format is recognised, verified, summed up and
 * read by the calls of the public headers. The failure is reported: the readers never take an unreadable file for a
 * missing, damaged or empty one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/clog2_read.h>
#include <hpcw/hpcw.h>
#include <hpcw/linktest_read.h>
#include <hpcw/sion_read.h>
#include <hpcw/vom_read.h>

#include "gen/format/format.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "libwriter/io/sys.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/linktest_cases.h"
#include "tests/support/rank2file_cases.h"

enum { RANKS = 4, MOST_TEXT = 1 << 18 };

/* ---- inputs ---- */

static hpcw_status write_clog2(const char *path, hpcw_error *err) {
    struct clog2_case c;
    clog2_case_make(&c, 3, 50);
    hpcw_status s = clog2_case_write(&c, path, 0, err);
    clog2_case_free(&c);
    return s;
}

static hpcw_status write_linktest(const char *path, hpcw_error *err) {
    struct linktest_case c = linktest_cases[4]; /* all_to_all.sion */
    bool refuses;
    c.params.files = 2;
    return linktest_case_write(&c, NULL, path, NULL, c.params.tasks, NULL, NULL, &refuses, err);
}

static hpcw_status write_rank2file(const char *path, hpcw_error *err) {
    const struct rank2file_case *c = &rank2file_cases[1];
    return rank2file_case_write(c, NULL, path, NULL, c->ranks, NULL, err);
}

static hpcw_status write_sion(const char *path, hpcw_error *err) {
    hpcw_sion_options o;
    hpcw_sion *h;
    hpcw_sion_options_init(&o);
    o.count = RANKS;
    o.files = 2;
    o.fs_block_size = 512;
    hpcw_status s = hpcw_sion_open(path, NULL, &o, &h, err);
    for (uint32_t task = 0; s == HPCW_OK && task < RANKS; task++) {
        s = hpcw_sion_write(h, task, path, strlen(path), err);
    }
    s = s == HPCW_OK ? hpcw_sion_close(h, err) : s;
    hpcw_sion_free(h);
    return s;
}

/* The ranks send to each other in a ring. Each second file is compressed. */
static hpcw_status write_vom(const char *path, hpcw_error *err) {
    hpcw_vom *v[RANKS] = {NULL};
    hpcw_status s = hpcw_vom_make_directory(path, NULL, err);
    for (uint32_t rank = 0; s == HPCW_OK && rank < RANKS; rank++) {
        const uint64_t own = rank, next = (rank + 1) % RANKS;
        const hpcw_vom_task task = {.entity = hpcw_vom_element(rank, own, 7, &own, 1), .time_s = 0.25};
        const hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                                    .from = hpcw_vom_element((uint32_t)next, next, 7, &next, 1),
                                    .to = task.entity,
                                    .bytes = 100,
                                    .messages = 1};
        char file[512];
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = RANKS;
        (void)snprintf(file, sizeof file, "%s/data.%u.json%s", path, (unsigned)rank,
                       rank % 2 == 1 ? ".br" : "");
        s = hpcw_vom_open(file, &o, &v[rank], err);
        s = s == HPCW_OK ? hpcw_vom_begin_phase(v[rank], 0, err) : s;
        s = s == HPCW_OK ? hpcw_vom_edge_add(v[rank], &edge, err) : s;
        s = s == HPCW_OK ? hpcw_vom_task_add(v[rank], &task, err) : s;
        s = s == HPCW_OK ? hpcw_vom_end_phase(v[rank], NULL, 0, err) : s;
    }
    if (s == HPCW_OK) {
        s = hpcw_vom_close_set(v, RANKS, NULL, err);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        hpcw_vom_free(v[rank]);
    }
    return s;
}

static hpcw_status (*const writer[])(const char *path, hpcw_error *err) = {
    [GEN_FORMAT_CLOG2] = write_clog2,
    [GEN_FORMAT_LINKTEST] = write_linktest,
    [GEN_FORMAT_RANK2FILE] = write_rank2file,
    [GEN_FORMAT_SION] = write_sion,
    [GEN_FORMAT_VOM] = write_vom,
};

/* ---- reading ---- */

static hpcw_status verify(const struct gen_format *format, const char *path, struct hpcw_i_buf *text,
                          hpcw_error *err) {
    (void)text;
    uint64_t files;
    return format->verify(path, true, &files, err);
}

static hpcw_status sum_up(const struct gen_format *format, const char *path, struct hpcw_i_buf *text,
                          hpcw_error *err) {
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, text, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_status s = format->info(path, &json, err);
    if (s == HPCW_OK) {
        hpcw_i_json_end_object(&json);
        s = hpcw_i_json_finish(&json, err);
    }
    hpcw_i_json_free(&json);
    return s;
}

static hpcw_status recognise(const struct gen_format *format, const char *path, struct hpcw_i_buf *text,
                             hpcw_error *err) {
    (void)text;
    bool is = false;
    hpcw_status s = format->probe(path, &is, err);
    assert_true(s != HPCW_OK || is);
    return s;
}

/* ---- the public readers ---- */

static void put(struct hpcw_i_buf *text, hpcw_status s, const void *values, size_t size) {
    assert_true(s != HPCW_OK || hpcw_i_buf_append(text, values, size));
}

static hpcw_status read_clog2(const char *path, struct hpcw_i_buf *text, hpcw_error *err) {
    enum { ROWS = 64 };
    uint32_t rank[ROWS] = {0};
    hpcw_clog2_reader *r;
    hpcw_status s = hpcw_clog2_reader_open(path, &r, err);
    for (int table = HPCW_CLOG2_TABLE_STATES; s == HPCW_OK && table <= HPCW_CLOG2_TABLE_SOLOS; table++) {
        size_t count = 1;
        s = hpcw_clog2_reader_select(r, (hpcw_clog2_table)table, NULL, err);
        while (s == HPCW_OK && count > 0) {
            s = table == HPCW_CLOG2_TABLE_STATES
                    ? hpcw_clog2_reader_states(r, &(hpcw_clog2_states){.rank = rank}, ROWS, &count, err)
                : table == HPCW_CLOG2_TABLE_MESSAGES
                    ? hpcw_clog2_reader_messages(r, &(hpcw_clog2_messages){.to = rank}, ROWS, &count, err)
                    : hpcw_clog2_reader_solos(r, &(hpcw_clog2_solos){.rank = rank}, ROWS, &count, err);
            put(text, s, rank, count * sizeof *rank);
        }
    }
    s = s == HPCW_OK ? hpcw_clog2_reader_profile(r, &(hpcw_clog2_profile){.context = NULL}, err) : s;
    hpcw_clog2_reader_free(r);
    return s;
}

static hpcw_status read_linktest(const char *path, struct hpcw_i_buf *text, hpcw_error *err) {
    double time[64], to_all;
    uint32_t partner[64];
    int32_t core;
    char host[64];
    hpcw_linktest_totals totals = {.start = ""};
    hpcw_linktest_connection slow;
    hpcw_linktest_reader *r;
    hpcw_status s = hpcw_linktest_reader_open(path, &r, err);
    for (uint32_t task = 0; s == HPCW_OK && task < hpcw_linktest_reader_info(r)->tasks; task++) {
        s = hpcw_linktest_reader_host(r, task, host, &core, err);
        put(text, s, &core, sizeof core);
        s = s == HPCW_OK ? hpcw_linktest_reader_row(r, task, 0, time, partner, &to_all, err) : s;
        put(text, s, partner, hpcw_linktest_reader_info(r)->steps * sizeof *partner);
        put(text, s, &to_all, sizeof to_all);
        s = s == HPCW_OK ? hpcw_linktest_reader_matrix(r, 0, task, 1, time, err) : s;
        put(text, s, time, hpcw_linktest_reader_info(r)->tasks * sizeof *time);
    }
    s = s == HPCW_OK ? hpcw_linktest_reader_totals(r, 0, &totals, err) : s;
    put(text, s, &totals.min_s, sizeof totals.min_s);
    s = s == HPCW_OK ? hpcw_linktest_reader_slowest(r, 0, 0, 1, &slow, err) : s;
    put(text, s, &slow.time_s, sizeof slow.time_s);
    hpcw_linktest_reader_free(r);
    return s;
}

static hpcw_status read_sion(const char *path, struct hpcw_i_buf *text, hpcw_error *err) {
    char bytes[512];
    hpcw_sion_reader *r;
    hpcw_status s = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, err);
    for (uint32_t task = 0; s == HPCW_OK && task < RANKS; task++) {
        size_t got = 0;
        s = hpcw_sion_reader_read(r, task, bytes, sizeof bytes, &got, err);
        put(text, s, bytes, got);
    }
    hpcw_sion_reader_free(r);
    return s;
}

static hpcw_status read_vom(const char *path, struct hpcw_i_buf *text, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (unsigned rank = 0; s == HPCW_OK && rank < 2; rank++) { /* a plain and a compressed file */
        char file[512];
        hpcw_vom_reader *r;
        hpcw_vom_rows rows = {0};
        (void)snprintf(file, sizeof file, "%s/data.%u.json%s", path, rank, rank == 1 ? ".br" : "");
        s = hpcw_vom_reader_open(file, &r, err);
        s = s == HPCW_OK ? hpcw_vom_reader_load(r, 0, UINT64_MAX, &rows, err) : s;
        put(text, s, &rows, sizeof rows);
        hpcw_vom_reader_free(r);
    }
    return s;
}

static hpcw_status (*const reader[])(const char *path, struct hpcw_i_buf *text, hpcw_error *err) = {
    [GEN_FORMAT_CLOG2] = read_clog2, [GEN_FORMAT_LINKTEST] = read_linktest,
    [GEN_FORMAT_RANK2FILE] = NULL, /* a restart takes an older dataset instead: test_rank2file.c */
    [GEN_FORMAT_SION] = read_sion,   [GEN_FORMAT_VOM] = read_vom,
};

static hpcw_status read_publicly(const struct gen_format *format, const char *path, struct hpcw_i_buf *text,
                                 hpcw_error *err) {
    for (size_t f = 0; f < gen_format_count; f++) {
        if (gen_format[f] == format) {
            return reader[f](path, text, err);
        }
    }
    return HPCW_EINTERNAL;
}

typedef hpcw_status reading(const struct gen_format *format, const char *path, struct hpcw_i_buf *text,
                            hpcw_error *err);

static int (*armed)(enum hpcw_i_sys_call call, size_t *size);
static bool look_failed, read_failed;

/* What was read is whole, even if a close fails. */
static int spare_closes(enum hpcw_i_sys_call call, size_t *size) {
    int e = call == HPCW_I_SYS_CLOSE ? 0 : armed(call, size);
    look_failed = look_failed || (e != 0 && call == HPCW_I_SYS_STAT);
    read_failed = read_failed || (e != 0 && call == HPCW_I_SYS_PREAD);
    return e;
}

static void fail_each_call(const struct gen_format *format, const char *path, reading *read, enum fault fault,
                           const struct hpcw_i_buf *want) {
    bool met = true;
    read_failed = false;
    for (unsigned long n = 1; met; n++) {
        struct hpcw_i_buf text = {0};
        hpcw_error err = {.message = ""};
        int descriptors = count_descriptors();
        assert_true(hpcw_i_buf_reserve(&text, MOST_TEXT));
        fault_arm(fault, n);
        armed = hpcw_i_sys_gate;
        hpcw_i_sys_gate = armed == NULL ? NULL : spare_closes;
        look_failed = false;
        hpcw_status s = read(format, path, &text, &err);
        met = fault_disarm();
        assert_int_equal(count_descriptors(), descriptors);
        /* A data file of a checkpoint that cannot be looked at counts as one that exists, so it is read. */
        const bool looks_again = s == HPCW_OK && read == verify && format == gen_format[GEN_FORMAT_RANK2FILE] &&
                                 (look_failed || fault == FAULT_NOMEM);
        if (met && !fault_is_harmless(fault) && !looks_again) {
            /* The summary's own text has no path. */
            const char *subject = strstr(err.message, "JSON text") == NULL ? path : "JSON text";
            if (s != fault_status(fault) || !good_message(s, &err, subject)) {
                fail_msg("%s, %s, call %lu: status %d", format->name, fault_name(fault), n, (int)s);
            }
        } else if (s != HPCW_OK || text.size != want->size || memcmp(text.data, want->data, want->size) != 0) {
            fail_msg("%s, %s, call %lu: %s", format->name, fault_name(fault), n, err.message);
        }
        hpcw_i_buf_free(&text);
    }
    assert_true(read_failed || read == recognise || fault != FAULT_EIO);
}

static void every_call_fails_once(void **state) {
    (void)state;
    static reading *const readings[] = {recognise, verify, sum_up, read_publicly};
    char dir[256];
    scratch_make(dir, sizeof dir);
    for (size_t f = 0; f < gen_format_count; f++) {
        char path[300];
        hpcw_error err;
        (void)snprintf(path, sizeof path, "%s/%s", dir, gen_format[f]->name);
        if (writer[f](path, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        for (size_t r = 0; r < sizeof readings / sizeof readings[0]; r++) {
            struct hpcw_i_buf want = {0};
            if (readings[r] == read_publicly && reader[f] == NULL) {
                continue;
            }
            assert_true(hpcw_i_buf_reserve(&want, MOST_TEXT));
            if (readings[r](gen_format[f], path, &want, &err) != HPCW_OK) {
                fail_msg("%s", err.message);
            }
            for (int fault = 0; fault < FAULTS; fault++) {
                fail_each_call(gen_format[f], path, readings[r], (enum fault)fault, &want);
            }
            hpcw_i_buf_free(&want);
        }
    }
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_fails_once)};
    return cmocka_run_group_tests_name("fault_reading", tests, NULL, NULL);
}
