/* SPDX-License-Identifier: BSD-3-Clause */
/* The compressing sink: the original decoder reads its streams, and wrong calls are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/sink.h>

#include "libwriter/io/brotli.h"
#include "tests/support/brotli_text.h"
#include "tests/support/faults.h"
#include "tests/support/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LARGEST ((size_t)1500000)

static char text[LARGEST];

static void make_text(void) {
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof text;) {
        char line[64];
        int n = snprintf(line, sizeof line, "{\"id\":%u,\"time\":0.%u},", (unsigned)random_below(&state, 1000),
                         (unsigned)random_below(&state, 1000000));
        for (int k = 0; k < n && i < sizeof text; k++) {
            text[i++] = line[k];
        }
    }
}

static hpcw_sink *open_stream(const hpcw_brotli_options *o, hpcw_sink **inner) {
    hpcw_sink *sink = NULL;
    assert_int_equal(hpcw_sink_open_memory(inner, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_open_brotli(*inner, o, &sink, NULL), HPCW_OK);
    return sink;
}

/* Writes `size` bytes in pieces of about `piece` bytes. The caller frees the sink. */
static hpcw_sink *compress(const hpcw_brotli_options *o, size_t size, size_t piece, hpcw_sink **inner) {
    uint64_t state = piece;
    hpcw_sink *sink = open_stream(o, inner);
    for (size_t done = 0; done < size;) {
        size_t n = piece + random_below(&state, piece + 1);
        n = n < size - done ? n : size - done;
        assert_int_equal(hpcw_sink_write_at(sink, done, text + done, n, NULL), HPCW_OK);
        done += n;
    }
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    return sink;
}

static void assert_text(const hpcw_sink *inner, size_t size) {
    size_t stream_size = 0;
    size_t got = 0;
    const unsigned char *stream = hpcw_sink_memory_data(inner, &stream_size);
    unsigned char *back = brotli_text(stream, stream_size, &got);
    assert_non_null(back);
    assert_int_equal(got, size);
    assert_memory_equal(back, text, size);
    free(back);
}

/* Returns the window exponent from the first byte of a stream: RFC 7932, section 9.1. */
static int window_of(const unsigned char *s) {
    if ((s[0] & 1) == 0) {
        return 16;
    }
    if ((s[0] >> 1 & 7) != 0) {
        return 17 + (s[0] >> 1 & 7);
    }
    return (s[0] >> 4 & 7) == 0 ? 17 : 8 + (s[0] >> 4 & 7);
}

/* quality -1: stored, not compressed. */
static void every_quality_and_window(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 262144, 262145, 700001};
    make_text();
    for (int quality = -1; quality <= 9; quality++) {
        for (int window = 10; window <= 24; window++) {
            for (size_t i = 0; i < COUNT(sizes); i++) {
                if (i >= 5 && (window % 3 != 0 || quality > 5)) {
                    continue; /* larger sizes only with some windows, since they take long */
                }
                hpcw_brotli_options o = {
                    .quality = quality < 0 ? 0 : quality, .window = window, .stored = quality < 0};
                hpcw_sink *inner = NULL;
                hpcw_sink *sink = compress(&o, sizes[i], 100000, &inner);
                assert_text(inner, sizes[i]);
                int seen = window_of(hpcw_sink_memory_data(inner, NULL));
                /* Qualities 0 and 1 use windows of at least 2^18. */
                assert_int_equal(seen, (quality == 0 || quality == 1) && window < 18 ? 18 : window);
                hpcw_sink_free(sink);
            }
        }
    }
}

static void size_of_writes_does_not_show(void **state) {
    (void)state;
    static const size_t pieces[] = {1, 333, 4096, 65536, 520192, LARGEST};
    make_text();
    for (int quality = -1; quality <= 9; quality++) {
        hpcw_brotli_options o = {.quality = quality < 0 ? 0 : quality, .window = 18, .stored = quality < 0};
        hpcw_sink *first = NULL;
        hpcw_sink *reference = compress(&o, LARGEST, 100000, &first);
        size_t want_size = 0;
        const void *want = hpcw_sink_memory_data(first, &want_size);
        for (size_t i = quality < 2 ? 0 : 1; i < COUNT(pieces); i++) {
            hpcw_sink *inner = NULL;
            size_t size = 0;
            hpcw_sink *sink = compress(&o, LARGEST, pieces[i], &inner);
            const void *got = hpcw_sink_memory_data(inner, &size);
            assert_int_equal(size, want_size);
            assert_memory_equal(got, want, size);
            hpcw_sink_free(sink);
        }
        hpcw_sink_free(reference);
    }
}

static void defaults(void **state) {
    (void)state;
    hpcw_brotli_options o;
    hpcw_brotli_options_init(&o);
    assert_int_equal(o.quality, 4);
    assert_int_equal(o.window, 18);
    assert_false(o.stored);
    hpcw_sink *inner = NULL;
    make_text();
    hpcw_sink *sink = compress(NULL, LARGEST, 100000, &inner);
    assert_text(inner, LARGEST);
    hpcw_sink_free(sink);
}

static void misuse(void **state) {
    (void)state;
    static const hpcw_brotli_options bad[] = {{.quality = -1, .window = 18},
                                              {.quality = 10, .window = 18},
                                              {.quality = 11, .window = 18},
                                              {.quality = 4, .window = 9},
                                              {.quality = 4, .window = 25}};
    hpcw_error err;
    hpcw_sink *inner = NULL;
    hpcw_sink *sink = NULL;
    assert_int_equal(hpcw_sink_open_memory(&inner, NULL), HPCW_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        sink = inner;
        assert_int_equal(hpcw_sink_open_brotli(inner, &bad[i], &sink, &err), HPCW_EINVAL);
        assert_null(sink);
        assert_non_null(strstr(err.message, i < 3 ? "quality: expected 0 to 9" : "window: expected 10 to 24"));
    }
    assert_int_equal(hpcw_sink_open_brotli(NULL, NULL, &sink, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sink_open_brotli(inner, NULL, NULL, &err), HPCW_EINVAL);
    hpcw_sink_free(inner);

    sink = open_stream(NULL, &inner);
    assert_int_equal(hpcw_sink_write_at(sink, 1, "x", 1, &err), HPCW_ENOTSUP);
    assert_string_equal(err.message, "brotli sink: expected text at offset 0, got some at 1");
    assert_int_equal(hpcw_sink_write_at(sink, 0, "abc", 3, &err), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 2, "x", 1, &err), HPCW_ENOTSUP);
    assert_int_equal(hpcw_sink_set_size(sink, 3, &err), HPCW_OK);
    assert_int_equal(hpcw_sink_set_size(sink, 4, &err), HPCW_ENOTSUP);
    assert_int_equal(hpcw_sink_sync(sink, &err), HPCW_OK);
    assert_int_equal(hpcw_i_brotli_finish(sink, &err), HPCW_OK);
    assert_int_equal(hpcw_i_brotli_finish(sink, &err), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 3, "d", 1, &err), HPCW_ENOTSUP);
    assert_non_null(strstr(err.message, "after the end"));
    assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_OK);
    hpcw_sink_free(sink);
}

/* The sink that takes the compressed bytes is full. The first write fails, the compressing sink is then broken,
 * and nothing is published. */
static void no_space(void **state) {
    (void)state;
    make_text();
    for (int stored = 0; stored < 2; stored++) {
        hpcw_brotli_options o = {.quality = 0, .window = 18, .stored = stored == 1};
        hpcw_sink *inner = NULL;
        hpcw_sink *limited = NULL;
        hpcw_sink *sink = NULL;
        hpcw_error err;
        assert_int_equal(hpcw_sink_open_memory(&inner, NULL), HPCW_OK);
        assert_int_equal(hpcw_sink_open_limited(inner, 1000, 0, &limited, NULL), HPCW_OK);
        assert_int_equal(hpcw_sink_open_brotli(limited, &o, &sink, NULL), HPCW_OK);
        hpcw_status s = hpcw_sink_write_at(sink, 0, text, LARGEST, &err);
        if (stored == 1) {
            assert_int_equal(s, HPCW_ENOSPC);
            assert_int_equal(hpcw_sink_write_at(sink, LARGEST, text, 1, &err), HPCW_ESTATE);
            assert_int_equal(hpcw_sink_sync(sink, &err), HPCW_ESTATE);
            assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_ESTATE);
        } else {
            assert_true(s == HPCW_OK || s == HPCW_ENOSPC);
            assert_int_equal(hpcw_sink_publish(sink, &err), s == HPCW_OK ? HPCW_ENOSPC : HPCW_ESTATE);
        }
        hpcw_sink_free(sink);
    }
}

/* Memory can also run out within the encoder, which must not end the process. */
static void no_memory(void **state) {
    (void)state;
    make_text();
    unsigned failures = 0;
    for (bool met = true; met;) {
        hpcw_sink *inner = NULL;
        hpcw_sink *sink = NULL;
        hpcw_error err;
        assert_int_equal(hpcw_sink_open_null(&inner, NULL), HPCW_OK);
        fault_arm(FAULT_NOMEM, failures + 1);
        hpcw_status s = hpcw_sink_open_brotli(inner, NULL, &sink, &err);
        if (s == HPCW_OK) {
            s = hpcw_sink_write_at(sink, 0, text, LARGEST, &err);
            s = s == HPCW_OK ? hpcw_sink_publish(sink, &err) : s;
        }
        met = fault_disarm();
        assert_int_equal(s, met ? HPCW_ENOMEM : HPCW_OK);
        if (met) {
            assert_int_equal(err.code, HPCW_ENOMEM);
            failures++;
        }
        hpcw_sink_free(sink != NULL ? sink : inner);
    }
    assert_true(failures > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quality_and_window),
        cmocka_unit_test(size_of_writes_does_not_show),
        cmocka_unit_test(defaults),
        cmocka_unit_test(misuse),
        cmocka_unit_test(no_space),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("brotli", tests, NULL, NULL);
}
