/* SPDX-License-Identifier: BSD-3-Clause */
/* The LinkTest reader with results assembled by hand: reads everything, and refuses damage of header and
 * container. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "libreader/linktest/linktest.h"
#include "libwriter/base/mem.h"
#include "tests/support/linktest_image.h"
#include "tests/support/linktest_judge.h"

#define STRICT READ_SION_STRICT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- valid results -------------------------------------------------------------------------------------- */

static void everything_is_read(void **state) {
    (void)state;
    for (size_t i = 0; i < LINKTEST_SPECS; i++) {
        const struct linktest_image_spec *spec = linktest_specs[i];
        struct linktest_image image = linktest_image_make(spec);
        accept_linktest(&image, STRICT | READ_SION_GAPS);
        accept_linktest(&image, 0);
        struct read_linktest *reader;
        assert_int_equal(open_linktest(&image, &reader, NULL), HPCW_OK);
        const hpcw_linktest_info *info = read_linktest_info(reader);
        uint32_t n = spec->tasks;
        uint64_t permutations = spec->randomized > 0 ? spec->randomized : 1;
        assert_int_equal(info->tasks, n);
        assert_true(info->version[0] == 2 && info->version[1] == 1 && info->version[2] == 17);
        assert_string_equal(info->git_hash, "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00");
        assert_string_equal(info->mode, "mpi");
        assert_true(info->all_to_all == spec->all_to_all && info->bisection == spec->bisection);
        assert_true(info->parallel_sion && info->allocator == 0);
        assert_false(info->bidirectional || info->unidirectional || info->randomize_steps || info->serial ||
                     info->no_sion || info->gpu_memory || info->many_buffers || info->random_buffers ||
                     info->check_buffers);
        assert_int_equal(info->messages, 100);
        assert_int_equal(info->message_size, 8);
        assert_int_equal(info->warmup_messages, 3);
        assert_int_equal(info->retests, spec->retests);
        assert_int_equal(info->message_buffers, 1);
        assert_int_equal(info->buffer_seed, 0);
        assert_int_equal(info->randomized, spec->randomized > 0);
        assert_int_equal(info->task_seed, spec->randomized > 0 ? 5 : 0);
        assert_int_equal(info->permutations, permutations);
        assert_int_equal(info->steps, spec->bisection ? n / 2 : n - 1);

        uint32_t hosts;
        uint64_t payload, want = 0;
        assert_int_equal(read_linktest_totals(reader, &hosts, &payload, NULL), HPCW_OK);
        for (uint32_t r = 0; r < n; r++) {
            char host[READ_LINKTEST_MOST_HOST], name[] = "node00";
            int32_t core;
            name[5] = (char)('0' + r / 2);
            assert_int_equal(read_linktest_host(reader, r, host, &core, NULL), HPCW_OK);
            assert_string_equal(host, name);
            assert_int_equal(core, r % 2);
            want += image.size[r];
        }
        assert_int_equal(hosts, n / 2);
        assert_int_equal(payload, want);

        for (uint64_t p = 0; p < permutations; p++) {
            struct read_linktest_summary summary;
            assert_int_equal(read_linktest_summary(reader, p, &summary, NULL), HPCW_OK);
            char start[] = "2024-05-01T10:00:00Z", end[] = "2024-05-01T10:00:30Z";
            start[15] = end[15] = (char)('0' + p);
            assert_string_equal(summary.start, start);
            assert_string_equal(summary.end, end);
            double min = 1, max = 0;
            for (uint32_t r = 0; r < n; r++) {
                double time[LINKTEST_IMAGE_TASKS], all_to_all;
                uint64_t partner[LINKTEST_IMAGE_TASKS];
                assert_int_equal(read_linktest_row(reader, r, p, time, partner, &all_to_all, NULL), HPCW_OK);
                assert_true(all_to_all == (spec->all_to_all ? (r + 1) / 1e6 : 0));
                for (uint32_t s = 0; s < n - 1; s++) {
                    uint32_t met = linktest_image_partner(spec, r, s, p);
                    assert_int_equal(partner[s], met);
                    double seconds = s < info->steps ? linktest_image_time(r, met, p) : 0;
                    assert_true(time[s] == seconds);
                    min = s < info->steps && seconds < min ? seconds : min;
                    max = seconds > max ? seconds : max;
                }
            }
            assert_true(summary.min == min && summary.max == max);
            assert_true(summary.avg > min && (summary.avg < max));
            assert_true(summary.all_to_all_min == (spec->all_to_all ? 1e-6 : 0));
            struct read_linktest_slow slow[16];
            assert_int_equal(read_linktest_slow(reader, p, 0, (size_t)spec->retests, slow, NULL), HPCW_OK);
            for (size_t k = 0; k < spec->retests; k++) {
                assert_true(slow[k].original ==
                            linktest_image_time((uint32_t)slow[k].from, (uint32_t)slow[k].to, p));
                assert_true(slow[k].retest == slow[k].original / 2);
                struct read_linktest_slow one;
                assert_int_equal(read_linktest_slow(reader, p, k, 1, &one, NULL), HPCW_OK);
                assert_memory_equal(&one, &slow[k], sizeof one);
            }
            assert_int_equal(read_linktest_slow(reader, p, spec->retests, 1, slow, NULL), HPCW_EINVAL);
        }
        struct read_linktest_summary none;
        assert_int_equal(read_linktest_summary(reader, permutations, &none, NULL), HPCW_EINVAL);
        assert_int_equal(read_linktest_row(reader, 0, permutations, NULL, NULL, NULL, NULL), HPCW_EINVAL);
        assert_int_equal(read_linktest_row(reader, n, 0, NULL, NULL, NULL, NULL), HPCW_EINVAL);
        read_linktest_free(reader);
        linktest_image_free(&image);
    }
}

/* ---- damage --------------------------------------------------------------------------------------------- */

static void damaged_header(void **state) {
    (void)state;
    /* Offsets in the stream of rank 0 if the mode string has 4 bytes with its NUL: doc/formats/linktest.md,
     * "File header". */
    static const struct {
        size_t offset, size;
        uint64_t value;
        unsigned flags;
        const char *text;
    } cases[] = {
        {0, 1, 'K', 0, "offset 0: tag: expected \"LinkTest\""},
        {8, 4, 1, 0, "offset 8: version: expected 2.1.17, whose layout this is, got 1.1.17"},
        {12, 4, 0, 0, "version: expected 2.1.17"},
        {16, 4, 16, 0, "got 2.1.16"},
        {30, 1, 'G', STRICT, "git hash: expected 40 lower-case hex digits"},
        {30, 1, 0, 0, "git hash: expected 40 characters"},
        {60, 1, 'a', 0, "git hash: expected 40 characters"},
        {61, 4, 0, 0, "offset 61: length of the mode string"},
        {61, 4, 5, 0, "END_HEADER"},
        {61, 4, 0xffffffff, 0, "offset 61: length of the mode string"},
        {65, 1, 'M', STRICT, "mode: expected mpi"},
        {65, 1, 0, 0, "mode: expected a word"},
        {68, 1, 'x', 0, "mode: expected a word with one NUL"},
        {70, 1, 2, 0, "offset 70: bidirectional: expected a flag"},
        {72, 1, 1, 0, "offset"}, /* bisection, which has fewer steps */
        {73, 1, 255, 0, "randomize_steps: expected a flag"},
        {75, 1, 1, 0, "no_sion: expected 0"},
        {80, 1, 2, 0, "check_buffers: expected a flag"},
        {81, 1, 1, STRICT, "offset 81: allocator: expected 0, got 1"},
        {82, 8, 0, 0, "offset 82: messages: expected >= 1, got 0"},
        {106, 8, 3, 0, ""},
        {106, 8, 31, 0, "offset 106: retests: expected at most the 30 timings"},
        {106, 8, UINT64_MAX, 0, "offset 106: retests"},
        {114, 8, 2, STRICT, "offset 114: message_buffers: expected 1"},
        {78, 1, 1, STRICT, "message_buffers: expected >= 2 with many_buffers"},
        {122, 8, 1, STRICT, "offset 122: buffer_seed: expected 0 without random_buffers"},
        {130, 8, 2, 0, "offset 130: permutations"},
        {130, 8, UINT64_MAX, 0, "offset 130: permutations"},
        {138, 8, 1, STRICT, "offset 138: task_seed: expected 0 if permutations is 0"},
        {150, 1, 0, 0, "offset 146: expected \"END_HEADER\""},
    };
    struct linktest_image good = linktest_image_make(&linktest_plain);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct linktest_image bad = linktest_image_copy(&good);
        for (size_t k = 0; k < cases[i].size; k++) {
            *linktest_image_byte(&bad, 0, cases[i].offset + k) = (unsigned char)(cases[i].value >> 8 * k);
        }
        refuse_linktest(&bad, cases[i].flags, HPCW_EFORMAT, cases[i].text);
        if (cases[i].flags != 0) {
            accept_linktest(&bad, 0);
        }
        linktest_image_free(&bad);
    }
    /* Combinations. */
    *linktest_image_byte(&good, 0, 70) = *linktest_image_byte(&good, 0, 71) = 1;
    accept_linktest(&good, 0);
    refuse_linktest(&good, STRICT, HPCW_EFORMAT, "unidirectional: expected 0 with bidirectional");
    linktest_image_free(&good);
    good = linktest_image_make(&linktest_rich);
    memcpy(linktest_image_byte(&good, 0, 65), "tcp", 3);
    accept_linktest(&good, 0);
    refuse_linktest(&good, STRICT, HPCW_EFORMAT, "all_to_all: expected 0 unless mode is mpi");
    linktest_image_free(&good);
}

static void damaged_heads_and_ends(void **state) {
    (void)state;
    for (uint32_t rank = 0; rank < 6; rank += 5) {
        struct linktest_image image = linktest_image_make(&linktest_plain);
        size_t head = rank == 0 ? image.host : 0;
        unsigned char *h = linktest_image_byte(&image, rank, head);
        h[0] = 6;
        refuse_linktest(&image, 0, HPCW_EFORMAT,
                        "length of the host name: expected 7, what the length of the stream leaves");
        h[0] = 7;
        h[10] = 'x';
        refuse_linktest(&image, 0, HPCW_EFORMAT,
                        "host name: expected one NUL as the last of its 7 bytes, got none");
        h[10] = 0;
        h[6] = 0;
        refuse_linktest(&image, 0, HPCW_EFORMAT, "got one before");
        h[6] = '\n';
        refuse_linktest(&image, 0, HPCW_EFORMAT, "host name: expected printable ASCII, got 0a");
        h[6] = 'd';
        h[14] = 0x80;
        refuse_linktest(&image, 0, HPCW_EFORMAT, "core number: expected >= 0, got -");
        h[14] = 0;
        *linktest_image_byte(&image, rank, image.size[rank] - 1) = 'k';
        refuse_linktest(&image, 0, HPCW_EFORMAT, "expected \"END_BLOCK\"");
        *linktest_image_byte(&image, rank, image.size[rank] - 1) = 'K';
        accept_linktest(&image, STRICT);
        linktest_image_free(&image);
    }
}

/* ---- containers ----------------------------------------------------------------------------------------- */

static void containers_that_do_not_fit(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    struct sion_image *c = &image.file[0];
    struct read_linktest *reader;
    hpcw_error err = {0};

    sion_image_put(c, 36, 8, false, UINT64_C(51) << 32);
    refuse_linktest(&image, 0, HPCW_EFORMAT, "container: expected plain streams (mode 50), got mode 51");
    sion_image_put(c, 36, 8, false, UINT64_C(50) << 32);
    sion_image_put(c, c->ranks + 16, 8, false, 1);
    refuse_linktest(&image, 0, HPCW_EFORMAT, "global rank of task 2 in file 0: expected one of 0..5");
    sion_image_put(c, c->ranks + 16, 8, false, 6);
    refuse_linktest(&image, 0, HPCW_EFORMAT, "global rank of task 2 in file 0: expected one of 0..5");
    sion_image_put(c, c->ranks + 16, 8, false, 2);
    /* Streams that are one byte too short or too long. */
    for (uint32_t t = 0; t < 6; t++) {
        size_t at = sion_image_size_at(c, t, 0);
        for (int step = -1; step <= 1; step += 2) {
            sion_image_put(c, at, 8, false, image.size[t] + (uint64_t)step);
            refuse_linktest(&image, 0, HPCW_EFORMAT, "");
        }
        sion_image_put(c, at, 8, false, 0);
        assert_int_not_equal(judge_linktest(&image, 0, &err), HPCW_OK);
        sion_image_put(c, at, 8, false, image.size[t]);
    }
    accept_linktest(&image, STRICT);
    /* A rule of containers that the result does not depend on. */
    unsigned char *longer = realloc(c->data, c->size + 1);
    assert_non_null(longer);
    c->data = longer;
    c->data[c->size++] = 0;
    refuse_linktest(&image, 0, HPCW_EFORMAT, "end of the file: expected ");
    linktest_image_free(&image);

    /* An odd number of tasks. */
    static const uint64_t chunks[3] = {64, 64, 64};
    static const int64_t counts[3] = {1, 1, 1}, sizes[3] = {64, 64, 64};
    struct sion_image_spec spec = sion_image_defaults();
    spec.fs_block_size = 64;
    spec.tasks = 3;
    spec.chunk_sizes = chunks;
    spec.counts = counts;
    spec.sizes = sizes;
    struct sion_image odd = sion_image_make(&spec);
    struct read_sion_image view = {odd.data, odd.size};
    assert_int_equal(read_linktest_open_memory(&view, 1, &reader, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "number of tasks: expected an even one >= 2, got 3"));
    sion_image_free(&odd);

    /* Gives only the second of two files. */
    image = linktest_image_make(&linktest_spread);
    view = (struct read_sion_image){image.file[1].data, image.file[1].size};
    assert_int_equal(read_linktest_open_memory(&view, 1, &reader, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "expected file 0 of the set of 2 files"));
    linktest_image_free(&image);
}

/* A stream in two chunks can be read, but LinkTest requires one: doc/formats/linktest.md#linktest-4. */
static void one_chunk_per_stream(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_pair);
    struct sion_image_spec spec = sion_image_defaults();
    const void *const streams[2] = {linktest_image_byte(&image, 0, 0), linktest_image_byte(&image, 1, 0)};
    const uint64_t chunks[2] = {256, 64};
    const int64_t counts[2] = {2, 1};
    const int64_t sizes[2][2] = {{256, (int64_t)image.size[1]}, {(int64_t)image.size[0] - 256, 0}};
    spec.fs_block_size = 64;
    spec.tasks = 2;
    spec.blocks = 2;
    spec.chunk_sizes = chunks;
    spec.counts = counts;
    spec.sizes = &sizes[0][0];
    spec.streams = streams;
    struct sion_image two = sion_image_make(&spec);
    struct read_sion_image view = {two.data, two.size};
    struct read_linktest *reader;
    hpcw_error err = {0};
    assert_int_equal(read_linktest_open_memory(&view, 1, &reader, &err), HPCW_OK);
    double time;
    assert_int_equal(read_linktest_row(reader, 0, 0, &time, NULL, NULL, &err), HPCW_OK);
    assert_true(time == linktest_image_time(0, 1, 0));
    assert_int_equal(read_linktest_verify(reader, 0, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "stream of rank 0: expected it in one chunk, got 2 blocks"));
    read_linktest_free(reader);
    sion_image_free(&two);
    linktest_image_free(&image);
}

static void cut_anywhere(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_plain);
    size_t size = image.file[0].size;
    for (image.file[0].size = 0; image.file[0].size < size; image.file[0].size++) {
        hpcw_error err = {0};
        hpcw_status status = judge_linktest(&image, 0, &err);
        assert_true(status == HPCW_ETRUNCATED || status == HPCW_EFORMAT);
    }
    linktest_image_free(&image);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static size_t requests, failing_request, requested;

static bool note_request(size_t size) {
    requested += size;
    return ++requests != failing_request;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct linktest_image image = linktest_image_make(&linktest_rich);
    hpcw_status status = HPCW_ENOMEM;
    hpcw_i_mem_gate = note_request;
    for (failing_request = 1; status == HPCW_ENOMEM; failing_request++) {
        requests = 0;
        hpcw_error err = {0};
        struct read_linktest *reader;
        uint32_t hosts;
        status = open_linktest(&image, &reader, &err);
        if (status == HPCW_OK) {
            status = read_linktest_totals(reader, &hosts, NULL, &err);
        }
        if (status == HPCW_OK) {
            status = read_linktest_verify(reader, STRICT, &err);
        }
        read_linktest_free(reader);
        assert_int_equal(err.code, status);
    }
    hpcw_i_mem_gate = NULL;
    assert_int_equal(status, HPCW_OK);
    assert_true(failing_request > 15);
    failing_request = 0;
    linktest_image_free(&image);
}

/* Numbers that would need large arrays are first compared with the length of the stream. */
static void hostile_numbers_take_no_memory(void **state) {
    (void)state;
    static const uint64_t numbers[] = {1 << 20,           UINT32_MAX, UINT64_C(1) << 40, UINT64_C(1) << 59,
                                       UINT64_C(1) << 61, INT64_MAX,  UINT64_MAX};
    struct linktest_image image = linktest_image_make(&linktest_plain);
    requested = 0;
    hpcw_i_mem_gate = note_request;
    for (size_t at = 82; at < 146; at += 8) {
        uint64_t before = linktest_image_get(&image, 0, at);
        for (size_t i = 0; i < COUNT(numbers); i++) {
            linktest_image_put(&image, 0, at, numbers[i]);
            hpcw_error err = {0};
            assert_true(judge_linktest(&image, 0, &err) == HPCW_OK || err.code == HPCW_EFORMAT);
        }
        linktest_image_put(&image, 0, at, before);
    }
    hpcw_i_mem_gate = NULL;
    assert_true(requested < (size_t)64 << 20); /* sum over 56 runs */
    linktest_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),        cmocka_unit_test(damaged_header),
        cmocka_unit_test(damaged_heads_and_ends),    cmocka_unit_test(containers_that_do_not_fit),
        cmocka_unit_test(one_chunk_per_stream),      cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(every_allocation_may_fail), cmocka_unit_test(hostile_numbers_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
