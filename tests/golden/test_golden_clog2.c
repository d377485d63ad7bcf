/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the CLOG-2 reader and writer with files of MPE2. Each file has the output of MPE's own clog2_print; every
 * line of it is compared. Then every record is written again, which must give the same bytes, except those that
 * MPE leaves undefined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/clog2_log.h>
#include <hpcw/clog2_read.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"
#include "tests/support/files.h"
#include "tests/support/memory_source.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *const merged[] = {"np1_default",    "np1_tiny", "np2_threads",    "np3_joined",
                                     "np3_multiblock", "np3_sync", "np4_cargo_msgs", "np4_comms"};

static const char *golden(const char *name, const char *suffix) {
    static char path[1024];
    char file[256];
    (void)snprintf(file, sizeof file, "clog2/%s%s", name, suffix);
    return golden_path(file, path, sizeof path);
}

static struct read_clog2 *opened(const char *name) {
    struct read_clog2 *reader;
    hpcw_error err = {0};
    if (read_clog2_open(golden(name, ".clog2"), &reader, &err) != HPCW_OK) {
        fail_msg("not opened: %s", err.message);
    }
    return reader;
}

static int32_t number(const unsigned char *p) {
    return (int32_t)hpcw_i_get_u32(p, true);
}

/* ---- output of clog2_print ------------------------------------------------------------------------------- */

/* Formats a record as clog2_print does, without what follows the known fields. */
static void describe(const struct read_clog2_item *i, char *text, size_t size) {
    int n = snprintf(text, size, "ts=%f icomm=%" PRId32 " rank=%" PRId32 " thd=%" PRId32 " type=", i->time,
                     i->comm, i->rank, i->thread);
    const unsigned char *p = i->payload;
    char *to = text + n;
    size -= (size_t)n;
    switch (i->kind) {
    case 2:
        (void)snprintf(to, size,
                       "sdef state=%" PRId32 " s_et=%" PRId32 " e_et=%" PRId32 " color=%s name=%s fmt=%s",
                       number(p), number(p + 4), number(p + 8), p + 16, p + 40, p + 72);
        break;
    case 3:
        (void)snprintf(to, size, "edef et=%" PRId32 " color=%s name=%s fmt=%s", number(p), p + 8, p + 32,
                       p + 64);
        break;
    case 4:
        (void)snprintf(to, size, "cdef et=%" PRId32 " name=%s value=%" PRId32, number(p), p + 8, number(p + 4));
        break;
    case 5:
        (void)snprintf(to, size, "bare et=%" PRId32, number(p));
        break;
    case 6:
        (void)snprintf(to, size, "cago et=%" PRId32 " bytes=", number(p));
        break;
    case 7:
        (void)snprintf(to, size, "msg  et=%s icomm=%" PRId32 " rank=%" PRId32 " tag=%" PRId32 " sz=%" PRId32,
                       number(p) == -101 ? "send" : "recv", number(p + 4), number(p + 8), number(p + 12),
                       number(p + 16));
        break;
    case 9:
        (void)snprintf(to, size, "comm et=");
        break;
    default:
        assert_int_equal(i->kind, 11);
        (void)snprintf(to, size, "shft shift=%f", hpcw_i_get_f64(p, true));
        break;
    }
}

static char **all_records(struct read_clog2 *reader, size_t *count) {
    char **line = NULL;
    struct read_clog2_item item;
    bool more;
    *count = 0;
    while (read_clog2_next(reader, &item, &more, NULL) == HPCW_OK && more) {
        char text[512];
        describe(&item, text, sizeof text);
        line = realloc(line, (*count + 1) * sizeof *line);
        assert_non_null(line);
        line[*count] = strdup(text);
        assert_non_null(line[(*count)++]);
    }
    assert_false(more);
    return line;
}

static void compare_dump(const char *name) {
    struct read_clog2 *reader = opened(name);
    size_t count, size, compared = 0;
    char **line = all_records(reader, &count);
    char *text = (char *)read_file(golden(name, ".txt"), &size);
    assert_non_null(text);
    text[size] = '\0';
    char *end = strstr(text, "clog2TOslog2");
    assert_non_null(end);
    *end = '\0';
    size_t at = 0;
    for (char *p = strstr(text, "\nts="); p != NULL; p = strstr(p + 1, "\nts=")) {
        /* In long dumps, three dots precede the last lines. */
        if (p - text > 4 && strncmp(p - 4, "\n...", 4) == 0) {
            size_t rest = 0;
            for (char *q = p; q != NULL; q = strstr(q + 1, "\nts=")) {
                rest++;
            }
            at = count - rest;
        }
        assert_true(at < count);
        if (strncmp(p + 1, line[at], strlen(line[at])) != 0) {
            fail_msg("%s, record %zu: expected %.100s, got %s", name, at, p + 1, line[at]);
        }
        at++;
        compared++;
    }
    assert_int_equal(at, count);
    assert_true(compared >= 8);
    for (size_t i = 0; i < count; i++) {
        free(line[i]);
    }
    free(line);
    free(text);
    read_clog2_free(reader);
}

static void every_line_of_the_dumps(void **state) {
    (void)state;
    if (golden("", "") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(merged); i++) {
        compare_dump(merged[i]);
    }
}

static void real_logs_are_good(void **state) {
    (void)state;
    if (golden("", "") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(merged); i++) {
        struct read_clog2 *reader = opened(merged[i]);
        hpcw_error err;
        if (read_clog2_verify(reader, 0, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_clog2_free(reader);
        bool is;
        assert_int_equal(read_clog2_probe(golden(merged[i], ".clog2"), &is, NULL), HPCW_OK);
        assert_true(is);
    }
    bool is;
    assert_int_equal(read_clog2_probe(golden(merged[0], ".txt"), &is, NULL), HPCW_OK);
    assert_false(is);
}

static void local_files_are_called_so(void **state) {
    (void)state;
    if (golden("", "") == NULL) {
        skip();
    }
    struct read_clog2 *reader;
    hpcw_error err;
    assert_int_equal(read_clog2_open(golden("np3_sync_local1", ".clog2"), &reader, &err), HPCW_ENOTSUP);
    assert_null(reader);
    assert_non_null(strstr(err.message, "got the local file of one process"));
}

/* ---- writing the records again --------------------------------------------------------------------------- */

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    assert_true(hpcw_clog2_reader_comm(context, index, entry));
}

/* Zeroes what MPE leaves undefined: pad words, texts after their NUL, blocks after their end. */
static void clear_undefined(unsigned char *file, const struct read_clog2_info *info) {
    static const uint32_t sizes[] = {24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32};
    static const struct {
        int kind;
        uint32_t at, size;
        bool text;
    } field[] = {{2, 36, 4, false}, {2, 40, 24, true}, {2, 64, 32, true}, {2, 96, 40, true},
                 {3, 28, 4, false}, {3, 32, 24, true}, {3, 56, 32, true}, {3, 88, 40, true},
                 {4, 32, 32, true}, {5, 28, 4, false}, {6, 28, 4, false}, {7, 44, 4, false}};
    for (uint64_t b = 0; b < info->blocks; b++) {
        unsigned char *block = file + 1024 + b * info->block_size;
        uint32_t at = 0;
        int kind;
        do {
            kind = number(block + at + 20);
            for (size_t f = 0; f < COUNT(field); f++) {
                unsigned char *p = block + at + field[f].at;
                size_t keep = field[f].text ? strnlen((char *)p, field[f].size) : 0;
                if (field[f].kind == kind) {
                    memset(p + keep, 0, field[f].size - keep);
                }
            }
            at += sizes[kind];
        } while (kind > 1);
        memset(block + at, 0, info->block_size - at);
    }
}

static void write_again(const char *name) {
    struct read_clog2 *below = opened(name);
    const struct read_clog2_info *info = read_clog2_info(below);
    hpcw_clog2_reader *reader;
    assert_int_equal(hpcw_clog2_reader_open(golden(name, ".clog2"), &reader, NULL), HPCW_OK);
    struct memory_source source = {0};
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = info->ranks;
    o.threads = info->threads;
    o.states = info->states;
    o.solos = info->solos;
    o.known_solos = info->known_solos;
    o.block_size = info->block_size;
    o.comms = info->comms;
    o.comm_of = comm_of;
    o.comm_context = reader;
    o.sink_source = memory_source(&source);
    hpcw_clog2 *log;
    hpcw_clog2_slice *slice;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_open(name, NULL, &o, &log, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_new(log, 0, &slice, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_place(slice, 0, &err), HPCW_OK);
    hpcw_clog2_record r;
    bool more;
    while (hpcw_clog2_reader_next(reader, &r, &more, &err) == HPCW_OK && more) {
        if (hpcw_clog2_slice_put(slice, &r, 1, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
    }
    assert_int_equal(hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_close(log, hpcw_clog2_slice_blocks(slice), &err), HPCW_OK);
    size_t want_size, size;
    unsigned char *want = read_file(golden(name, ".clog2"), &want_size);
    assert_non_null(want);
    const unsigned char *got = memory_source_data(&source, 0, &size);
    clear_undefined(want, info);
    /* The preamble has the number of buffered blocks. MPE stores the configured number, and our writer the
     * default. */
    size_t from = info->buffered_blocks == 128 ? 0 : 1024;
    assert_true(same_bytes(name, want + from, want_size - from, got + from, size - from));
    free(want);
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(log);
    hpcw_clog2_reader_free(reader);
    read_clog2_free(below);
}

static void records_written_again_are_the_same(void **state) {
    (void)state;
    if (golden("", "") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(merged); i++) {
        /* The preamble of a log of clog2_join counts more known events than exist, so its bytes cannot be the
         * same. */
        if (strcmp(merged[i], "np3_joined") != 0) {
            write_again(merged[i]);
        }
    }
}

/* ---- local files ----------------------------------------------------------------------------------------- */

/* Recovers a log from MPE's local files, of which only the first `keep` bytes are used. compare: the log must be
 * equal to MPE's merged log. */
static uint64_t recover_locals(const char *directory, size_t keep, bool compare) {
    char out[512], local[3][600];
    const char *locals[3];
    (void)snprintf(out, sizeof out, "%s/out.clog2", directory);
    for (int r = 0; r < 3; r++) {
        char name[64];
        size_t size;
        (void)snprintf(name, sizeof name, "np3_sync_local%d", r);
        (void)snprintf(local[r], sizeof local[r], "%s/%d", directory, r);
        unsigned char *bytes = read_file(golden(name, ".clog2"), &size);
        assert_non_null(bytes);
        FILE *f = fopen(local[r], "wb");
        assert_non_null(f);
        size = keep < size ? keep : size;
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
        free(bytes);
        locals[2 - r] = local[r];
    }
    hpcw_clog2_recovered found;
    hpcw_error err;
    if (hpcw_clog2_recover(out, locals, 3, false, &found, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    struct read_clog2 *got, *want = opened("np3_sync");
    assert_int_equal(read_clog2_open(out, &got, &err), HPCW_OK);
    if (read_clog2_verify(got, 0, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    read_clog2_rewind(got);
    struct read_clog2_item a, b;
    bool more_a, more_b;
    uint64_t records = 0;
    for (;; records++) {
        assert_int_equal(read_clog2_next(got, &b, &more_b, &err), HPCW_OK);
        if (!more_b) {
            break;
        }
        if (compare) {
            char text_a[512], text_b[512];
            assert_int_equal(read_clog2_next(want, &a, &more_a, &err), HPCW_OK);
            assert_true(more_a);
            describe(&a, text_a, sizeof text_a);
            describe(&b, text_b, sizeof text_b);
            assert_string_equal(text_b, text_a);
        }
    }
    assert_int_equal(records, found.records);
    assert_int_equal(found.truncated > 0, !compare);
    read_clog2_free(got);
    read_clog2_free(want);
    return records;
}

static void local_files_become_the_log(void **state) {
    (void)state;
    if (golden("", "") == NULL) {
        skip();
    }
    char directory[256];
    scratch_make(directory, sizeof directory);
    uint64_t all = recover_locals(directory, SIZE_MAX, true), last = 0;
    for (size_t keep = 1024 + 2048; keep < 9000; keep += 700) {
        uint64_t some = recover_locals(directory, keep, false);
        assert_true(some >= last && some < all);
        last = some;
    }
    assert_true(last > all / 2);
    scratch_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_the_dumps),    cmocka_unit_test(real_logs_are_good),
        cmocka_unit_test(local_files_are_called_so),  cmocka_unit_test(records_written_again_are_the_same),
        cmocka_unit_test(local_files_become_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
