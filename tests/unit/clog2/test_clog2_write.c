/* SPDX-License-Identifier: BSD-3-Clause */
/* The CLOG-2 writer alone: blocks, texts, cargo, slices, and everything it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libwriter/format/clog2/file/blocks.h"
#include "libwriter/format/clog2/file/file.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/memory_source.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static double time_at(const unsigned char *p) {
    return hpcw_i_get_f64(p, true);
}

static int kind_at(const unsigned char *p) {
    return (int)hpcw_i_get_u32(p + 20, true);
}

/* Returns space for a record, and counts the record as put. */
static unsigned char *room_for(struct hpcw_i_clog2_blocks *b, uint32_t size, double time) {
    size_t room, most;
    unsigned char *p = hpcw_i_clog2_blocks_space(b, size, time, &room, &most);
    if (p != NULL) {
        hpcw_i_clog2_blocks_took(b, size, 1);
    }
    return p;
}

static void put_bare(struct hpcw_i_clog2_blocks *b, double time) {
    hpcw_clog2_record r = {.time = time, .kind = HPCW_CLOG2_BARE, .as.event = 600};
    unsigned char *p = room_for(b, hpcw_i_clog2_size((int32_t)r.kind), time);
    assert_non_null(p);
    hpcw_i_clog2_encode(&r, p);
}

/* In a block of 256 bytes, 7 records of 32 bytes use 224. The record of 24 bytes that ends a block fits behind
 * them; an eighth record does not. */
static void a_block_takes_what_the_rule_says(void **state) {
    (void)state;
    struct hpcw_i_clog2_blocks b = {0};
    hpcw_i_clog2_blocks_begin(&b, 256, 0);
    for (int i = 0; i < 7; i++) {
        put_bare(&b, i);
        assert_int_equal(hpcw_i_clog2_blocks_count(&b), 1);
    }
    put_bare(&b, 7);
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), 2);
    assert_int_equal(hpcw_i_clog2_blocks_ready(&b), 256);
    assert_int_equal(kind_at(b.data + 224), 1);
    assert_true(time_at(b.data + 224) == 7);
    for (int i = 248; i < 256; i++) {
        assert_int_equal(b.data[i], 0);
    }
    assert_true(hpcw_i_clog2_blocks_end(&b, HPCW_CLOG2_LAST));
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), 2);
    assert_int_equal(kind_at(b.data + 256 + 32), 0);
    assert_true(time_at(b.data + 256 + 32) == 1e8);
    hpcw_i_clog2_blocks_free(&b);
}

/* A record does not fit if used + size + 24 equals the block size. At least one byte must stay free. */
static void a_block_is_never_quite_full(void **state) {
    (void)state;
    struct hpcw_i_clog2_blocks b = {0};
    hpcw_i_clog2_blocks_begin(&b, 280, 0);
    for (int i = 0; i < 8; i++) {
        put_bare(&b, i); /* 7 * 32 + 32 + 24 == 280 */
    }
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), 2);
    hpcw_i_clog2_blocks_begin(&b, 288, 0);
    for (int i = 0; i < 8; i++) {
        put_bare(&b, i);
    }
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), 1);
    hpcw_i_clog2_blocks_free(&b);
}

static void a_segment_begins_a_block(void **state) {
    (void)state;
    struct hpcw_i_clog2_blocks b = {0};
    hpcw_i_clog2_blocks_begin(&b, 65536, HPCW_CLOG2_SEGMENT);
    for (uint32_t i = 0; i < HPCW_CLOG2_SEGMENT; i++) {
        put_bare(&b, i);
    }
    uint64_t before = hpcw_i_clog2_blocks_count(&b); /* a block holds 2047 records of 32 bytes */
    assert_int_equal(before, (HPCW_CLOG2_SEGMENT + 2046) / 2047);
    put_bare(&b, 1e6);
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), before + 1);
    assert_int_equal(b.used, 32);
    assert_true(time_at(b.data + b.start - 65536 + (HPCW_CLOG2_SEGMENT % 2047) * 32) == 1e6);
    hpcw_i_clog2_blocks_drop(&b);
    assert_int_equal(hpcw_i_clog2_blocks_count(&b), before + 1);
    assert_true(time_at(b.data) == 1e6);
    hpcw_i_clog2_blocks_free(&b);
}

/* ---- preamble (doc/formats/clog2.md, "Preamble") ----------------------------------------------------------- */

static void the_preamble_is_that_of_the_page(void **state) {
    (void)state;
    static const char want[] = "CLOG-02.44\0is_big_endian=\0TRUE \0is_finalzed=\0TRUE \0block_size=\0"
                               "2048\0num_buffered_blocks=\0"
                               "128\0max_comm_world_size=\0"
                               "1\0max_thread_count=\0"
                               "1\0known_eventID_start=\0"
                               "0\0user_eventID_start=\0"
                               "600\0known_solo_eventID_start=\0-10\0user_solo_eventID_start=\0"
                               "5000\0known_stateID_count=\0"
                               "300\0user_stateID_count=\0"
                               "2\0known_solo_eventID_count=\0"
                               "0\0user_solo_eventID_count=\0"
                               "1\0commtable_fptr=\0"
                               "2\0"
                               "1073741824\0"
                               "93651968";
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.block_size = 2048;
    o.ranks = 1;
    o.states = 2;
    o.solos = 1;
    unsigned char bytes[HPCW_I_CLOG2_PREAMBLE];
    hpcw_i_clog2_preamble(&o, (UINT64_C(2) << 30) + 93651968, bytes);
    assert_memory_equal(bytes, want, sizeof want);
    for (size_t i = sizeof want; i < sizeof bytes; i++) {
        assert_int_equal(bytes[i], 0);
    }
    assert_int_equal(hpcw_clog2_file_size(1, 65536, 2), 66644);
}

/* ---- texts and cargo ------------------------------------------------------------------------------------- */

static void colours(void **state) {
    (void)state;
    static const char *const good[] = {"red",
                                       "SteelBlue",
                                       "DarkOliveGreen2",
                                       "navy blue",
                                       "light goldenrod yellow",
                                       "gray0",
                                       "grey100",
                                       "gray",
                                       "snow4",
                                       "LightGoldenrodYellow",
                                       "SlateGray1",
                                       "white",
                                       "yellow"};
    static const char *const bad[] = {"Red",        "red5",        "red0",    "gray101",   "gray01",
                                      "navy  blue", " red",        "navy ",   "Navy Blue", "steelblue",
                                      "pinkish",    "SlateGray11", "white1x", "blue 2",    "zzz"};
    hpcw_error err;
    for (size_t i = 0; i < COUNT(good); i++) {
        if (hpcw_clog2_colour_check(good[i], &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (hpcw_clog2_colour_check(bad[i], &err) != HPCW_EINVAL) {
            fail_msg("took \"%s\"", bad[i]);
        }
    }
    assert_int_equal(hpcw_clog2_colour_check(NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_colour_check("", &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_colour_check("LightGoldenrodYellowAndSo", &err), HPCW_ERANGE);
}

static void formats(void **state) {
    (void)state;
    static const struct {
        const char *format;
        hpcw_status want;
    } cases[] = {
        {"", HPCW_OK},
        {"plain", HPCW_OK},
        {"%s%h%d%l%x%X%e%E", HPCW_ERANGE}, /* 40 bytes */
        {"h=%h x=%x X=%X e=%e", HPCW_OK},
        {"%l%l%l%l", HPCW_OK},
        {"%l%l%l%l%h", HPCW_ERANGE},
        {"100%", HPCW_EINVAL},
        {"%i", HPCW_EINVAL},
        {"%%", HPCW_EINVAL},
        {"%5d", HPCW_EINVAL},
        {"a\nb", HPCW_EINVAL},
        {"0123456789012345678901234567890123456789", HPCW_ERANGE},
        {"012345678901234567890123456789012345678", HPCW_OK},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        hpcw_error err = {.message = ""};
        if (hpcw_clog2_format_check(cases[i].format, &err) != cases[i].want) {
            fail_msg("\"%s\": %s", cases[i].format, err.message);
        }
    }
}

static void cargo_is_packed_big_endian(void **state) {
    (void)state;
    static const unsigned char want[] = {0xff, 0xfe, 0xde, 0xad, 0xbe, 0xef, 0x01, 0x23, 0x45,
                                         0x67, 0x89, 0xab, 0xcd, 0xef, 0x3f, 0xc0, 0,    0,
                                         0,    3,    'o',  'k',  '!',  0,    0,    1,    0};
    hpcw_clog2_cargo c = {0};
    hpcw_clog2_cargo_i16(&c, -2);
    hpcw_clog2_cargo_x32(&c, 0xdeadbeef);
    hpcw_clog2_cargo_x64(&c, UINT64_C(0x0123456789abcdef));
    hpcw_clog2_cargo_f32(&c, 1.5f);
    hpcw_clog2_cargo_text(&c, "ok!", 3);
    hpcw_clog2_cargo_i32(&c, 256);
    assert_int_equal(c.size, sizeof want);
    assert_memory_equal(c.bytes, want, sizeof want);
    hpcw_error err;
    assert_int_equal(hpcw_clog2_cargo_check(&c, "%h %x %X %e %s %d", &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_cargo_check(&c, "%h %x %X %e %s %x", &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "\"%h %x %X %e %s %x\" of the format, got \"%h %x %X %e %s %d\""));
    assert_int_equal(hpcw_clog2_cargo_check(&c, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_cargo_check(NULL, "", &err), HPCW_EINVAL);
    hpcw_clog2_cargo_f64(&c, 1);
    assert_int_equal(hpcw_clog2_cargo_check(&c, "%h %x %X %e %s %d %E", &err), HPCW_ERANGE);
    hpcw_clog2_cargo empty = {0};
    assert_int_equal(hpcw_clog2_cargo_check(&empty, NULL, &err), HPCW_OK);
    hpcw_clog2_cargo_text(&empty, "0123456789012345678901234567890", 30);
    assert_int_equal(hpcw_clog2_cargo_check(&empty, "%s", &err), HPCW_OK);
    hpcw_clog2_cargo longer = {0};
    hpcw_clog2_cargo_text(&longer, "0123456789012345678901234567890", 31);
    assert_int_equal(hpcw_clog2_cargo_check(&longer, "%s", &err), HPCW_ERANGE);
}

/* ---- slices ---------------------------------------------------------------------------------------------- */

/* A log in memory. */
struct image {
    struct memory_source source;
    hpcw_clog2 *log;
};

static void image_open(struct image *m, struct clog2_case *c) {
    memset(m, 0, sizeof *m);
    c->options.sink_source = memory_source(&m->source);
    hpcw_error err;
    if (hpcw_clog2_open("log", NULL, &c->options, &m->log, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static const unsigned char *image_data(struct image *m, size_t *size) {
    return memory_source_data(&m->source, 0, size);
}

/* Slices of any length, in any order, placed before or after they are filled, give the same bytes. */
static void slices_make_the_same_bytes(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 14000);
    assert_true(c.count > 4 * HPCW_CLOG2_SEGMENT);
    struct image whole;
    image_open(&whole, &c);
    hpcw_error err;
    uint64_t blocks = 0;
    assert_int_equal(clog2_case_slice(&c, whole.log, 0, c.count, true, 0, &blocks, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_close(whole.log, blocks, &err), HPCW_OK);
    size_t want_size, size;
    const unsigned char *want = image_data(&whole, &want_size);
    assert_int_equal(want_size, hpcw_clog2_file_size(blocks, 65536, 4));
    for (size_t step = HPCW_CLOG2_SEGMENT; step < c.count; step += HPCW_CLOG2_SEGMENT) {
        for (int late = 0; late < 2; late++) {
            struct image parts;
            image_open(&parts, &c);
            uint64_t placed = 0;
            for (size_t from = 0; from < c.count; from += step) {
                size_t to = c.count - from < step ? c.count : from + step;
                assert_int_equal(clog2_case_slice(&c, parts.log, from, to, late == 0, placed, &placed, &err),
                                 HPCW_OK);
            }
            assert_int_equal(placed, blocks);
            assert_int_equal(hpcw_clog2_close(parts.log, placed, &err), HPCW_OK);
            const unsigned char *got = image_data(&parts, &size);
            assert_int_equal(size, want_size);
            assert_memory_equal(got, want, size);
            hpcw_clog2_free(parts.log);
        }
    }
    hpcw_clog2_free(whole.log);
    clog2_case_free(&c);
}

/* Writes a whole log, its records in pieces of one length. */
static void put_pieces(struct image *m, struct clog2_case *c, size_t piece) {
    hpcw_clog2_slice *slice;
    hpcw_error err;
    image_open(m, c);
    assert_int_equal(hpcw_clog2_slice_new(m->log, 0, &slice, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_place(slice, 0, &err), HPCW_OK);
    for (size_t i = 0; i < c->count; i += piece) {
        size_t n = c->count - i < piece ? c->count - i : piece;
        assert_int_equal(hpcw_clog2_slice_put(slice, c->record + i, n, &err), HPCW_OK);
    }
    assert_int_equal(hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_close(m->log, hpcw_clog2_slice_blocks(slice), &err), HPCW_OK);
    hpcw_clog2_slice_free(slice);
}

/* Plain records take a faster path, but give the same blocks for any number of records in a call. */
static void pieces_make_the_same_bytes(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 3, 200);
    for (c.options.block_size = 256; c.options.block_size <= 70000;
         c.options.block_size += c.options.block_size < 400 ? 8 : 20000) {
        struct image one;
        size_t want_size;
        put_pieces(&one, &c, 1);
        const unsigned char *want = image_data(&one, &want_size);
        for (size_t piece = 2; piece <= 2 * c.count; piece *= 7) {
            struct image m;
            size_t size;
            put_pieces(&m, &c, piece);
            const unsigned char *got = image_data(&m, &size);
            assert_int_equal(size, want_size);
            assert_memory_equal(got, want, size);
            hpcw_clog2_free(m.log);
        }
        hpcw_clog2_free(one.log);
    }
    clog2_case_free(&c);
}

static void a_log_may_be_empty(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 1, 0);
    struct image m;
    image_open(&m, &c);
    c.count = 0;
    uint64_t blocks = 0;
    hpcw_error err;
    assert_int_equal(clog2_case_slice(&c, m.log, 0, 0, true, 0, &blocks, &err), HPCW_OK);
    assert_int_equal(blocks, 1);
    assert_int_equal(hpcw_clog2_close(m.log, blocks, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_close(m.log, blocks, &err), HPCW_ESTATE);
    size_t size;
    const unsigned char *p = image_data(&m, &size);
    assert_int_equal(size, 66644);
    assert_int_equal(kind_at(p + 1024), 0);
    hpcw_clog2_free(m.log);
    clog2_case_free(&c);
}

static void slices_are_refused(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 2);
    struct image m;
    image_open(&m, &c);
    hpcw_clog2_slice *slice;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_slice_new(m.log, 5, &slice, &err), HPCW_EINVAL);
    assert_null(slice);
    assert_int_equal(hpcw_clog2_slice_new(NULL, 0, &slice, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_slice_new(m.log, 0, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_slice_new(m.log, HPCW_CLOG2_SEGMENT, &slice, &err), HPCW_OK);
    /* the slice is empty */
    assert_int_equal(hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_slice_put(slice, c.record, 2, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_records(slice), 2);
    assert_int_equal(hpcw_clog2_slice_end(slice, 1, &err), HPCW_EINVAL); /* not at a segment's end */
    assert_non_null(strstr(err.message, "multiple of 65536, got 65538"));
    assert_int_equal(hpcw_clog2_slice_end(slice, -1, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_slice_place(slice, UINT64_MAX / 4, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_clog2_slice_place(slice, 1, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_place(slice, 1, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_put(slice, c.record, 1, &err), HPCW_ESTATE);
    assert_int_equal(hpcw_clog2_slice_again(slice, 3, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_slice_again(slice, 0, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_blocks(slice), 0);
    hpcw_clog2_slice_free(slice);
    assert_int_equal(hpcw_clog2_close(m.log, 0, &err), HPCW_EINVAL);
    hpcw_clog2_free(m.log);
    clog2_case_free(&c);
}

static void a_log_can_be_abandoned(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 1, 0);
    struct image m;
    image_open(&m, &c);
    hpcw_error reason = {.code = HPCW_EIO, .message = "the model broke"}, err;
    hpcw_clog2_abandon(m.log, &reason);
    assert_int_equal(hpcw_clog2_close(m.log, 1, &err), HPCW_EIO);
    assert_string_equal(err.message, "the model broke");
    hpcw_clog2_free(m.log);
    image_open(&m, &c);
    hpcw_clog2_abandon(m.log, NULL);
    assert_int_equal(hpcw_clog2_close(m.log, 1, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "the program abandoned it"));
    hpcw_clog2_free(m.log);
    assert_int_equal(hpcw_clog2_close(NULL, 1, &err), HPCW_EINVAL);
    hpcw_clog2_free(NULL);
    clog2_case_free(&c);
}

/* ---- records --------------------------------------------------------------------------------------------- */

static void records_are_refused(void **state) {
    (void)state;
    static const hpcw_clog2_record good = {.time = 1, .kind = HPCW_CLOG2_BARE, .as.event = 600};
    hpcw_clog2_record bad[64];
    hpcw_status want[64];
    size_t n = 0;
#define BAD(status)                                                                                            \
    bad[n] = good;                                                                                             \
    want[n] = (status);                                                                                        \
    n++
#define OF(kind_)                                                                                              \
    BAD(HPCW_EINVAL);                                                                                          \
    bad[n - 1].kind = (kind_)
    BAD(HPCW_EINVAL), bad[n - 1].time = 0.5; /* earlier than the last record */
    BAD(HPCW_EINVAL), bad[n - 1].time = 1e8;
    BAD(HPCW_EINVAL), bad[n - 1].time = __builtin_nan("");
    BAD(HPCW_EINVAL), bad[n - 1].comm = 3;
    BAD(HPCW_EINVAL), bad[n - 1].comm = -1;
    BAD(HPCW_EINVAL), bad[n - 1].rank = 2;
    BAD(HPCW_EINVAL), bad[n - 1].rank = -1;
    BAD(HPCW_EINVAL), bad[n - 1].thread = 1;
    BAD(HPCW_EINVAL), bad[n - 1].kind = (hpcw_clog2_kind)8;
    BAD(HPCW_EINVAL), bad[n - 1].kind = (hpcw_clog2_kind)0;
    BAD(HPCW_EINVAL), bad[n - 1].as.event = 604;
    BAD(HPCW_EINVAL), bad[n - 1].as.event = -10;
    BAD(HPCW_EINVAL), bad[n - 1].as.event = 5001;
    OF(HPCW_CLOG2_WITH_CARGO), bad[n - 1].as.cargo.event = 4999;
    OF(HPCW_CLOG2_WITH_CARGO), bad[n - 1].as.cargo.event = 600, bad[n - 1].as.cargo.size = 33,
                                       want[n - 1] = HPCW_ERANGE;
    for (int i = 0; i < 6; i++) {
        OF(HPCW_CLOG2_MESSAGE);
        bad[n - 1].as.message.event = i == 0 ? -100 : HPCW_CLOG2_SEND;
        bad[n - 1].as.message.peer_comm = i == 1 ? 3 : 0;
        bad[n - 1].as.message.peer_rank = i == 2 ? -1 : i == 3 ? 2 : 1;
        bad[n - 1].as.message.tag = i == 4 ? -1 : 0;
        bad[n - 1].as.message.size = i == 5 ? -1 : 0;
    }
    for (int i = 0; i < 8; i++) {
        OF(HPCW_CLOG2_STATE_DEF);
        bad[n - 1].as.state.state = i == 0 ? 301 : 300;
        bad[n - 1].as.state.start = i == 1 ? 601 : i == 2 ? 604 : 600;
        bad[n - 1].as.state.end = i == 3 ? 602 : 601;
        bad[n - 1].as.state.colour = i == 4 ? "nocolour" : "red";
        bad[n - 1].as.state.name = i == 5 ? "" : i == 6 ? "a name of more than 31 bytes, too long" : "name";
        bad[n - 1].as.state.format = i == 7 ? "50%" : "";
        want[n - 1] = i == 6 ? HPCW_ERANGE : HPCW_EINVAL;
    }
    OF(HPCW_CLOG2_EVENT_DEF), bad[n - 1].as.solo.event = 600, bad[n - 1].as.solo.colour = "red",
                                      bad[n - 1].as.solo.name = "x";
    OF(HPCW_CLOG2_EVENT_DEF), bad[n - 1].as.solo.event = 5000, bad[n - 1].as.solo.colour = "red";
    OF(HPCW_CLOG2_CONST_DEF), bad[n - 1].as.constant.name = "a\tb";
    for (int i = 0; i < 5; i++) {
        OF(HPCW_CLOG2_COMM_EVENT);
        bad[n - 1].as.comm.event = i == 0 ? 2 : i == 1 ? HPCW_CLOG2_REMOTE_CREATE : HPCW_CLOG2_INTRA_CREATE;
        bad[n - 1].as.comm.comm = i == 2 ? 3 : 0;
        bad[n - 1].as.comm.rank = i == 3 ? 2 : 0;
        bad[n - 1].as.comm.world_rank = i == 4 ? 2 : 0;
    }
    OF(HPCW_CLOG2_TIME_SHIFT), bad[n - 1].as.shift = 2e8;
    assert_true(n <= COUNT(bad));

    struct clog2_case c;
    clog2_case_make(&c, 2, 0);
    struct image m;
    image_open(&m, &c);
    hpcw_clog2_slice *slice;
    hpcw_error err;
    assert_int_equal(hpcw_clog2_slice_new(m.log, 0, &slice, &err), HPCW_OK);
    assert_int_equal(hpcw_clog2_slice_put(slice, &good, 1, &err), HPCW_OK);
    for (size_t i = 0; i < n; i++) {
        hpcw_clog2_record two[2] = {good, bad[i]};
        err = (hpcw_error){.message = ""};
        hpcw_status s = hpcw_clog2_slice_put(slice, two, 2, &err);
        if (s != want[i] || strncmp(err.message, "log: clog2: ", 12) != 0 ||
            strstr(err.message, "expected") == NULL) {
            fail_msg("record %zu: %d, \"%s\"", i, (int)s, err.message);
        }
        /* the valid record before this one was taken */
        assert_int_equal(hpcw_clog2_slice_records(slice), 2 + i);
    }
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(m.log);
    clog2_case_free(&c);
}

static void options_are_refused(void **state) {
    (void)state;
    struct clog2_case c;
    clog2_case_make(&c, 2, 0);
    static const struct {
        uint32_t ranks, threads, states, solos, known, block, comms;
        hpcw_status want;
    } cases[] = {
        {0, 1, 0, 0, 0, 65536, 1, HPCW_EINVAL},
        {1, 0, 0, 0, 0, 65536, 1, HPCW_EINVAL},
        {1, 1, 0, 0, 0, 65536, 0, HPCW_EINVAL},
        {1, 1, 2200, 0, 0, 65536, 1, HPCW_OK},
        {1, 1, 2201, 0, 0, 65536, 1, HPCW_ERANGE},
        {1, 1, 0, 1000001, 0, 65536, 1, HPCW_ERANGE},
        {1, 1, 0, 0, 3, 65536, 1, HPCW_EINVAL},
        {1, 1, 0, 0, 2, 256, 1, HPCW_OK},
        {1, 1, 0, 0, 0, 248, 1, HPCW_EINVAL},
        {1, 1, 0, 0, 0, 1028, 1, HPCW_EINVAL},
        {1, 1, 0, 0, 0, 1u << 31, 1, HPCW_EINVAL},
        {46340, 1, 0, 0, 0, 65536, 46341, HPCW_OK},
        {46341, 1, 0, 0, 0, 65536, 46342, HPCW_ERANGE},
        {46340, 2, 0, 0, 0, 65536, 46341, HPCW_ERANGE},
        {UINT32_MAX, UINT32_MAX, 0, 0, 0, 65536, UINT32_MAX, HPCW_ERANGE},
    };
    hpcw_error err;
    for (size_t i = 0; i < COUNT(cases); i++) {
        hpcw_clog2_options o = c.options;
        o.ranks = cases[i].ranks;
        o.threads = cases[i].threads;
        o.states = cases[i].states;
        o.solos = cases[i].solos;
        o.known_solos = cases[i].known;
        o.block_size = cases[i].block;
        o.comms = cases[i].comms;
        if (hpcw_clog2_options_check(&o, &err) != cases[i].want) {
            fail_msg("options %zu", i);
        }
    }
    hpcw_clog2 *log;
    assert_int_equal(hpcw_clog2_options_check(NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_open(NULL, NULL, &c.options, &log, &err), HPCW_EINVAL);
    assert_null(log);
    c.options.durability = (hpcw_durability)9;
    assert_int_equal(hpcw_clog2_open("x", NULL, &c.options, &log, NULL), HPCW_EINVAL);
    c.options.comm_of = NULL;
    assert_int_equal(hpcw_clog2_options_check(&c.options, &err), HPCW_EINVAL);
    clog2_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_takes_what_the_rule_says),
        cmocka_unit_test(a_block_is_never_quite_full),
        cmocka_unit_test(a_segment_begins_a_block),
        cmocka_unit_test(the_preamble_is_that_of_the_page),
        cmocka_unit_test(colours),
        cmocka_unit_test(formats),
        cmocka_unit_test(cargo_is_packed_big_endian),
        cmocka_unit_test(slices_make_the_same_bytes),
        cmocka_unit_test(pieces_make_the_same_bytes),
        cmocka_unit_test(a_log_may_be_empty),
        cmocka_unit_test(slices_are_refused),
        cmocka_unit_test(a_log_can_be_abandoned),
        cmocka_unit_test(records_are_refused),
        cmocka_unit_test(options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
