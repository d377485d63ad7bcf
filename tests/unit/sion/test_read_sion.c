/* SPDX-License-Identifier: BSD-3-Clause */
/* The SION reader with single files assembled by hand: reads every field, and detects damage of every field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "libreader/sion/sion.h"
#include "libwriter/base/mem.h"
#include "tests/support/sion_image.h"
#include "tests/support/sion_judge.h"

#define STRICT READ_SION_STRICT
#define GAPS READ_SION_GAPS
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Chunks of 100, 700, 512 and 1500 requested bytes in blocks of 512 bytes. The streams are those of SIONlib's
 * sample of this shape. */
static const uint64_t four_chunks[4] = {512, 1024, 512, 1536};
static const int64_t four_counts[4] = {2, 1, 5, 1};
static const int64_t four_sizes[5][4] = {
    {400, 1024, 300, 0}, {200, 0, 300, 0}, {0, 0, 300, 0}, {0, 0, 300, 0}, {0, 0, 300, 0}};

static struct sion_image_spec four_tasks(void) {
    struct sion_image_spec spec = sion_image_defaults();
    spec.tasks = 4;
    spec.chunk_sizes = four_chunks;
    spec.counts = four_counts;
    spec.blocks = 5;
    spec.sizes = &four_sizes[0][0];
    return spec;
}

/* ---- valid files ---------------------------------------------------------------------------------------- */

static void fields_in_both_orders_and_all_versions(void **state) {
    (void)state;
    for (int order = 0; order < 4; order++) {
        for (int32_t format = 2; format <= 6; format++) {
            struct sion_image_spec spec = four_tasks();
            spec.big = (order & 1) != 0;
            spec.data_big = (order & 2) != 0;
            spec.format = format;
            struct sion_image image = sion_image_make(&spec);
            struct read_sion_image one = sion_image_view(&image);
            struct read_sion *reader = open_images(&one, 1);
            struct read_sion_info info;
            assert_int_equal(read_sion_info(reader, 0, &info, NULL), HPCW_OK);
            assert_int_equal(info.meta_big, spec.big);
            assert_int_equal(info.data_big, spec.data_big);
            assert_int_equal(info.library_version, 1007);
            assert_int_equal(info.library_patch, 6);
            assert_int_equal(info.format, format);
            assert_int_equal(info.fs_block_size, 512);
            assert_int_equal(info.tasks, 4);
            assert_int_equal(info.files, 1);
            assert_int_equal(info.file_number, format == 2 ? 0 : 1);
            assert_int_equal(info.flag1, format == 2 ? 0 : UINT64_C(50) << 32);
            assert_int_equal(info.mode, READ_SION_MODE_PLAIN);
            assert_string_equal(info.prefix, "image.sion");
            assert_int_equal(info.blocks, 5);
            assert_int_equal(info.data_start, 1536);
            assert_int_equal(info.block_stride, 3584);
            assert_int_equal(info.meta2_start, 19456);
            assert_int_equal(info.meta2_end, 19648);
            assert_int_equal(info.mapping, READ_SION_MAPPING_EMPTY);
            assert_int_equal(info.file_size, 19652);
            assert_int_equal(read_sion_files(reader), 1);
            assert_int_equal(read_sion_tasks(reader), 4);
            for (uint32_t t = 0; t < 4; t++) {
                static const uint64_t starts[4] = {1536, 2048, 3072, 3584}, sizes[4] = {600, 1024, 1500, 0};
                struct read_sion_task task;
                assert_int_equal(read_sion_task(reader, 0, t, &task, NULL), HPCW_OK);
                assert_int_equal(task.rank, t);
                assert_int_equal(task.chunk_size, four_chunks[t]);
                assert_int_equal(task.start, starts[t]);
                assert_int_equal(task.blocks, four_counts[t]);
                assert_int_equal(task.size, sizes[t]);
                for (uint32_t b = 0; b < task.blocks; b++) {
                    uint64_t size;
                    assert_int_equal(read_sion_block_size(reader, &task, b, &size, NULL), HPCW_OK);
                    assert_int_equal(size, four_sizes[b][t]);
                }
                check_stream(reader, &task, 1);
                check_stream(reader, &task, 7);
                check_stream(reader, &task, 4096);
                /* Also backwards: the position of the last read does not matter. */
                for (uint64_t k = task.size; k-- > 0;) {
                    unsigned char byte;
                    assert_int_equal(read_sion_read(reader, &task, k, &byte, 1, NULL), HPCW_OK);
                    assert_int_equal(byte, sion_image_byte(t, k));
                }
            }
            struct read_sion_task none;
            assert_int_equal(read_sion_task(reader, 0, 4, &none, NULL), HPCW_EINVAL);
            assert_int_equal(read_sion_task(reader, 1, 0, &none, NULL), HPCW_EINVAL);
            read_sion_free(reader);
            accept_image(&image, GAPS);
            if (format == 5) {
                accept_image(&image, STRICT | GAPS);
            } else {
                refuse_image(&image, STRICT, HPCW_EFORMAT, "file format version at offset 16");
            }
            sion_image_free(&image);
        }
    }
}

/* In formats 2 and 3, the reader rounds requested chunk sizes up to file system blocks. */
static void old_chunk_sizes_are_rounded(void **state) {
    (void)state;
    static const uint64_t requests[4] = {100, 1024, 512, 1500};
    for (int32_t format = 2; format <= 4; format++) {
        struct sion_image_spec spec = four_tasks();
        spec.format = format;
        spec.chunk_sizes = requests;
        static const int64_t counts[4] = {1, 1, 1, 1}, sizes[4] = {100, 1024, 512, 1500};
        spec.blocks = 1;
        spec.counts = counts;
        spec.sizes = sizes;
        struct sion_image image = sion_image_make(&spec);
        if (format <= 3) {
            struct read_sion_image one = sion_image_view(&image);
            struct read_sion *reader = open_images(&one, 1);
            struct read_sion_task task;
            assert_int_equal(read_sion_task(reader, 0, 3, &task, NULL), HPCW_OK);
            assert_int_equal(task.chunk_size, 1536);
            check_stream(reader, &task, 100);
            read_sion_free(reader);
            accept_image(&image, 0);
        } else {
            refuse_image(&image, 0, HPCW_EFORMAT, "sum of the chunk sizes");
        }
        sion_image_free(&image);
    }
}

/* The table has more tasks than the reader loads at once. The layout is packed, and some chunks are empty. */
static void many_tasks(void **state) {
    (void)state;
    enum { N = 5000, BLOCKS = 3 };
    static uint64_t chunks[N];
    static int64_t counts[N], sizes[BLOCKS][N];
    for (uint32_t t = 0; t < N; t++) {
        chunks[t] = t % 11;
        counts[t] = chunks[t] == 0 ? 1 : 1 + t % BLOCKS;
        for (uint32_t b = 0; b < BLOCKS; b++) {
            sizes[b][t] = b < counts[t] && chunks[t] > 0 ? 1 + (int64_t)((t + b) % chunks[t]) : 0;
        }
    }
    struct sion_image_spec spec = sion_image_defaults();
    spec.fs_block_size = 1;
    spec.tasks = N;
    spec.chunk_sizes = chunks;
    spec.counts = counts;
    spec.blocks = BLOCKS;
    spec.sizes = &sizes[0][0];
    struct sion_image image = sion_image_make(&spec);
    accept_image(&image, STRICT | GAPS);
    struct read_sion_image one = sion_image_view(&image);
    struct read_sion *reader = open_images(&one, 1);
    uint64_t start = image.data_start;
    for (uint32_t t = 0; t < N; t++) {
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, t, &task, NULL), HPCW_OK);
        assert_int_equal(task.index, t);
        assert_int_equal(task.start, start);
        int64_t size = 0;
        for (uint32_t b = 0; b < BLOCKS; b++) {
            size += sizes[b][t];
        }
        assert_int_equal(task.size, size);
        check_stream(reader, &task, 5);
        start += chunks[t];
    }
    read_sion_free(reader);
    /* The last size of the last task, far in the table, is too large for its chunk of 4 bytes. */
    sion_image_put(&image, sion_image_size_at(&image, N - 1, 1), 8, false, 6);
    refuse_image(&image, 0, HPCW_EFORMAT, "size of task 4999 in block 1");
    sion_image_free(&image);
}

static void ranks_in_any_order(void **state) {
    (void)state;
    static const int64_t ranks[4] = {70, 3, 1000000, 0};
    struct sion_image_spec spec = four_tasks();
    spec.ranks = ranks;
    struct sion_image image = sion_image_make(&spec);
    accept_image(&image, 0);
    refuse_image(&image, STRICT, HPCW_EFORMAT, "global rank of task 0 at offset 1076: expected 0, got 70");
    struct read_sion_image one = sion_image_view(&image);
    struct read_sion *reader = open_images(&one, 1);
    for (uint32_t t = 0; t < 4; t++) {
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, (uint32_t)ranks[t], &task, NULL), HPCW_OK);
        assert_int_equal(task.index, t);
    }
    hpcw_error err = {0};
    struct read_sion_task none;
    assert_int_equal(read_sion_find(reader, 2, &none, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "global rank 2, got none"));
    read_sion_free(reader);
    sion_image_free(&image);
}

/* ---- damage --------------------------------------------------------------------------------------------- */

struct damage {
    size_t offset, size;
    uint64_t value;
    unsigned flags; /* flags of the check that refuses the damage; 0: every check */
    hpcw_status status;
    const char *text;
};

static void damaged_fields(void **state) {
    (void)state;
    static const struct damage cases[] = {
        {0, 4, 0x6e6f6974, 0, HPCW_EFORMAT, "magic at offset 0"},
        {4, 4, 1, 0, HPCW_EFORMAT,
         "file format version at offset 16: expected 2..65535 (big-endian), got 83886080"},
        {4, 4, 0x00000100, 0, HPCW_EFORMAT, "endianness word at offset 4"},
        {4, 4, 0x02000002, 0, HPCW_EFORMAT, "endianness word at offset 4"},
        {8, 4, 1006, STRICT, HPCW_EFORMAT, "library version at offset 8: expected 1007, got 1006"},
        {12, 4, 7, STRICT, HPCW_EFORMAT, "library patch level at offset 12"},
        {16, 4, 1, 0, HPCW_EFORMAT,
         "file format version at offset 16: expected 2..65535 (little-endian), got 1"},
        {16, 4, 0xffffffff, 0, HPCW_EFORMAT, "file format version at offset 16"},
        {16, 4, 2, 0, HPCW_EFORMAT, ""},
        {16, 4, 4, STRICT, HPCW_EFORMAT, "file format version at offset 16: expected 5, got 4"},
        {20, 4, 0, 0, HPCW_EFORMAT, "fsblksize at offset 20: expected >= 1, got 0"},
        {20, 4, 0x80000000, 0, HPCW_EFORMAT, "fsblksize at offset 20"},
        {20, 4, 1024, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144"},
        {20, 4, 0x7fffffff, 0, HPCW_EFORMAT, ""},
        {24, 4, 0, 0, HPCW_EFORMAT, "ntasks at offset 24: expected 1..134217659, got 0"},
        {24, 4, 0xffffffff, 0, HPCW_EFORMAT, "ntasks at offset 24: expected 1..134217659, got -1"},
        {24, 4, 134217660, 0, HPCW_EFORMAT, "ntasks at offset 24"},
        {24, 4, 134217659, 0, HPCW_ETRUNCATED, "META1 of 134217659 tasks needs 2147483632 bytes"},
        {24, 4, 3, 0, HPCW_EFORMAT, ""},
        {24, 4, 5, 0, HPCW_ETRUNCATED, "never closed"},
        {28, 4, 0, 0, HPCW_EFORMAT, "nfiles at offset 28: expected >= 1, got 0"},
        {28, 4, 0xffffffff, 0, HPCW_EFORMAT, "nfiles at offset 28"},
        {28, 4, 2, 0, HPCW_EFORMAT, "end of the file"},
        {32, 4, 0, STRICT, HPCW_EFORMAT, "mapping at offset 19648: expected none or a full one"},
        {32, 4, 2, 0, HPCW_EFORMAT, "filenumber at offset 32: expected 0 or 1"},
        {32, 4, 0xffffffff, 0, HPCW_EFORMAT, "filenumber at offset 32"},
        {36, 8, UINT64_C(52) << 32, 0, HPCW_ENOTSUP, "got 52, which is reserved"},
        {36, 8, UINT64_C(53) << 32, 0, HPCW_ENOTSUP, "got 53, which is reserved"},
        {36, 8, UINT64_C(54) << 32, 0, HPCW_EFORMAT, "mode in flag1 at offset 36"},
        {36, 8, UINT64_C(51) << 32, 0, HPCW_EFORMAT, "key-value stream of task 0"},
        {36, 8, UINT64_C(50) << 32 | 1, STRICT, HPCW_EFORMAT, "flag1 at offset 36"},
        {36, 8, 0, STRICT, HPCW_EFORMAT, "flag1 at offset 36"},
        {44, 8, 1, STRICT, HPCW_EFORMAT, "flag2 at offset 44"},
        {52, 1, 0, STRICT, HPCW_EFORMAT, "file name prefix at offset 53"},
        {54, 1, '/', STRICT, HPCW_EFORMAT, "file name prefix at offset 52: expected a base name"},
        {1075, 1, 'x', STRICT, HPCW_EFORMAT, "file name prefix at offset 1075: expected zeros after the name"},
        {1076, 8, 9, STRICT, HPCW_EFORMAT, "global rank of task 0 at offset 1076"},
        {1108, 8, 511, 0, HPCW_EFORMAT, "start_of_varheader"},
        {1108, 8, UINT64_MAX, 0, HPCW_EFORMAT, "chunk size of task 0 at offset 1108"},
        {1132, 8, UINT64_C(1) << 62, 0, HPCW_EFORMAT, "chunk size of task 3 at offset 1132"},
        {1140, 4, 0, 0, HPCW_EFORMAT, "maxchunks at offset 1140: expected >= 1, got 0"},
        {1140, 4, 0xffffffff, 0, HPCW_EFORMAT, "maxchunks at offset 1140"},
        {1140, 4, 4, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144: expected 15872"},
        {1140, 4, 0x7fffffff, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144"},
        {1144, 8, 0, 0, HPCW_ETRUNCATED, "the file was never closed by its writer"},
        {1144, 8, 19457, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144: expected 19456"},
        {1144, 8, UINT64_MAX, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144"},
        {1144, 8, INT64_MAX, 0, HPCW_EFORMAT, "start_of_varheader at offset 1144"},
        {1152, 1, 1, GAPS, HPCW_EFORMAT, "byte at offset 1152, which no stream uses: expected 0, got 01"},
        {1936, 1, 2, GAPS, HPCW_EFORMAT, "byte at offset 1936, which no stream uses"},
        {19455, 1, 3, GAPS, HPCW_EFORMAT, "byte at offset 19455, which no stream uses"},
        {19456, 8, 0, 0, HPCW_EFORMAT, "block count of task 0 at offset 19456: expected 1..5, got 0"},
        {19456, 8, 6, 0, HPCW_EFORMAT, "block count of task 0 at offset 19456: expected 1..5, got 6"},
        {19456, 8, UINT64_MAX, 0, HPCW_EFORMAT, "block count of task 0"},
        {19472, 8, 4, 0, HPCW_EFORMAT, "size of task 2 in unused block 4 at offset 19632: expected 0 or -1"},
        {19456, 8, 3, STRICT, HPCW_EFORMAT, "task 0: expected a byte in each of its 3 blocks, got 2"},
        {19488, 8, 513, 0, HPCW_EFORMAT, "size of task 0 in block 0 at offset 19488: expected 0..512, got 513"},
        {19488, 8, UINT64_MAX, 0, HPCW_EFORMAT, "size of task 0 in block 0"},
        {19488, 8, 399, GAPS, HPCW_EFORMAT, "byte at offset 1935"},
        {19552, 8, UINT64_MAX, STRICT, HPCW_EFORMAT, "size of task 0 in unused block 2"},
        {19552, 8, 1, 0, HPCW_EFORMAT,
         "size of task 0 in unused block 2 at offset 19552: expected 0 or -1, got 1"},
        {19648, 4, 1, 0, HPCW_EFORMAT, "end of the file: expected 19648"},
    };
    struct sion_image_spec spec = four_tasks();
    struct sion_image good = sion_image_make(&spec);
    accept_image(&good, STRICT | GAPS);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct damage *d = &cases[i];
        struct sion_image bad = sion_image_copy(&good);
        sion_image_put(&bad, d->offset, d->size, false, d->value);
        refuse_image(&bad, d->flags, d->status, d->text);
        if (d->flags != 0) {
            accept_image(&bad, 0);
        }
        sion_image_free(&bad);
    }
    sion_image_free(&good);
}

/* Tasks can be used without verify: a damaged task is refused, its neighbours are not. */
static void damaged_tasks(void **state) {
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
        const char *text;
    } cases[] = {
        {19456 + 16, 6, "block count of task 2 at offset 19472: expected 1..5, got 6"},
        {19456 + 16, 0, "block count of task 2 at offset 19472: expected 1..5, got 0"},
        {19488 + 3 * 32 + 16, 513, "size of task 2 in block 3 at offset 19600: expected 0..512, got 513"},
        {19488 + 3 * 32 + 16, UINT64_MAX, "size of task 2 in block 3 at offset 19600: expected 0..512, got -1"},
    };
    struct sion_image_spec spec = four_tasks();
    struct sion_image image = sion_image_make(&spec);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t before = sion_image_get(&image, cases[i].offset, 8, false);
        sion_image_put(&image, cases[i].offset, 8, false, cases[i].value);
        struct read_sion_image one = sion_image_view(&image);
        struct read_sion *reader = open_images(&one, 1);
        for (uint32_t t = 0; t < 4; t++) {
            struct read_sion_task task;
            hpcw_error err = {0};
            hpcw_status status = read_sion_task(reader, 0, t, &task, &err);
            if (t != 2) {
                assert_int_equal(status, HPCW_OK);
                check_stream(reader, &task, 100);
            } else if (status != HPCW_EFORMAT || strstr(err.message, cases[i].text) == NULL) {
                fail_msg("expected \"%s\", got \"%s\"", cases[i].text, err.message);
            }
        }
        read_sion_free(reader);
        sion_image_put(&image, cases[i].offset, 8, false, before);
    }
    sion_image_free(&image);
}

/* maxchunks and start_of_varheader are both changed, so that they agree. */
static void too_many_blocks(void **state) {
    (void)state;
    struct sion_image_spec spec = four_tasks();
    static const int64_t sizes[6][4] = {{400, 1024, 300, 0}, {200, 0, 300, 0}, {0, 0, 300, 0},
                                        {0, 0, 300, 0},      {0, 0, 300, 0},   {0, 0, 0, 0}};
    spec.blocks = 6;
    spec.sizes = &sizes[0][0];
    struct sion_image image = sion_image_make(&spec);
    refuse_image(&image, 0, HPCW_EFORMAT,
                 "maxchunks at offset 1140: expected the largest block count 5, got 6");
    sion_image_free(&image);
}

static void cut_anywhere(void **state) {
    (void)state;
    struct sion_image_spec spec = four_tasks();
    struct sion_image image = sion_image_make(&spec);
    struct read_sion_image part = sion_image_view(&image);
    /* Truncated at every position in the metadata, and at some in the chunks. */
    for (part.size = 0; part.size < image.size;
         part.size += part.size < 1536 || part.size >= image.counts - 1 ? 1 : 509) {
        hpcw_error err = {0};
        /* parallel writers leave files that end here: only the strict check refuses them */
        unsigned flags = part.size == image.mapping ? STRICT : 0;
        hpcw_status status = judge_files(&part, 1, flags, &err);
        assert_true(status == HPCW_ETRUNCATED || status == HPCW_EFORMAT);
        assert_string_not_equal(err.message, "");
    }
    sion_image_free(&image);
    /* Files that are too long. */
    for (size_t more = 1; more < 40; more++) {
        image = sion_image_make(&spec);
        image.data = realloc(image.data, image.size + more);
        assert_non_null(image.data);
        memset(image.data + image.size, 0, more);
        image.size += more;
        refuse_image(&image, 0, HPCW_EFORMAT, "end of the file");
        sion_image_free(&image);
    }
}

/* Returns whether the table states more bytes for a used block than were written, but no more than its chunk has.
 * The task could have written these zeros, so no reader can notice. */
static bool stretched(const struct sion_image *image, const uint64_t *chunks, const int64_t *sizes, bool big) {
    for (size_t at = image->sizes, i = 0; at < image->mapping; at += 8, i++) {
        uint64_t size = sion_image_get(image, at, 8, big);
        if (sizes[i] > 0 && size > (uint64_t)sizes[i] && size <= chunks[i % image->tasks]) {
            return true;
        }
    }
    return false;
}

/* A flip of any bit of metadata, padding and unused bytes is detected, except in the name. */
static void flipped_bits(void **state) {
    (void)state;
    static const uint64_t chunks[3] = {24, 0, 40};
    static const int64_t counts[3] = {2, 1, 1}, sizes[2][3] = {{24, 0, 33}, {5, 0, 0}};
    static const int32_t mapped[3][2] = {{0, 0}, {0, 1}, {0, 2}};
    for (int kind = 0; kind < 3; kind++) {
        struct sion_image_spec spec = sion_image_defaults();
        spec.fs_block_size = 16;
        spec.tasks = 3;
        spec.chunk_sizes = chunks;
        spec.blocks = 2;
        spec.counts = counts;
        spec.sizes = &sizes[0][0];
        spec.big = kind == 2;
        spec.file_number = kind == 0;
        spec.mapping = kind == 0 ? 0 : kind == 1 ? -1 : 3;
        spec.mapped = mapped;
        struct sion_image image = sion_image_make(&spec);
        accept_image(&image, STRICT | GAPS);
        for (size_t at = 0; at < image.size; at++) {
            /* The NUL belongs to the name, as any other value makes the name longer. */
            bool name = at >= 52 && at <= 52 + strlen(spec.prefix);
            bool payload = false;
            for (uint32_t b = 0; b < 2; b++) {
                size_t start = image.data_start + b * image.stride;
                payload |= at >= start && at < start + (size_t)sizes[b][0];
                payload |= at >= start + 24 && at < start + 24 + (size_t)sizes[b][2];
            }
            for (int bit = 0; bit < 8; bit++) {
                image.data[at] ^= (unsigned char)(1 << bit);
                hpcw_error err = {0};
                hpcw_status status = judge_image(&image, STRICT | GAPS, &err);
                if (payload) {
                    assert_int_equal(status, HPCW_OK);
                } else if (!name && !stretched(&image, chunks, &sizes[0][0], spec.big) && status == HPCW_OK) {
                    fail_msg("bit %d of byte %zu does not matter", bit, at);
                }
                image.data[at] ^= (unsigned char)(1 << bit);
            }
        }
        sion_image_free(&image);
    }
}

/* The mapped writer marks unused blocks with -1, and adds a mapping to a single file. */
static void marks_of_the_mapped_writer(void **state) {
    (void)state;
    static const int64_t sizes[5][4] = {
        {400, 1024, 300, 0}, {200, -1, 300, -1}, {-1, -1, 300, -1}, {-1, -1, 300, -1}, {-1, -1, 300, -1}};
    static const int32_t mapped[4][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    struct sion_image_spec spec = four_tasks();
    spec.sizes = &sizes[0][0];
    spec.file_number = 0;
    spec.mapping = 4;
    spec.mapped = mapped;
    struct sion_image image = sion_image_make(&spec);
    accept_image(&image, GAPS);
    refuse_image(&image, STRICT, HPCW_EFORMAT, "size of task 1 in unused block 1");
    struct read_sion_image one = sion_image_view(&image);
    struct read_sion *reader = open_images(&one, 1);
    struct read_sion_info info;
    assert_int_equal(read_sion_info(reader, 0, &info, NULL), HPCW_OK);
    assert_int_equal(info.mapping, READ_SION_MAPPING_FULL);
    struct read_sion_task task;
    assert_int_equal(read_sion_find(reader, 1, &task, NULL), HPCW_OK);
    assert_int_equal(task.size, 1024);
    read_sion_free(reader);
    sion_image_put(&image, image.mapping + 4 + 8 + 4, 4, false, 2);
    refuse_image(&image, 0, HPCW_EFORMAT, "mapping of global rank 1 at offset 19660: expected file 0, task 1");
    sion_image_free(&image);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static size_t largest_request;

static bool note_largest(size_t size) {
    largest_request = size > largest_request ? size : largest_request;
    return true;
}

static void hostile_headers_take_no_memory(void **state) {
    (void)state;
    static const uint32_t numbers[] = {134217659, 0x7fffffff, 0x80000000, 0xffffffff, 1000000, 1 << 27};
    struct sion_image_spec spec = four_tasks();
    struct sion_image image = sion_image_make(&spec);
    hpcw_i_mem_gate = note_largest;
    largest_request = 0;
    for (size_t field = 20; field <= 1148; field = field == 28 ? 1140 : field + 4) {
        uint64_t before = sion_image_get(&image, field, 4, false);
        for (size_t i = 0; i < COUNT(numbers); i++) {
            sion_image_put(&image, field, 4, false, numbers[i]);
            hpcw_error err = {0};
            hpcw_status status = judge_image(&image, 0, &err);
            assert_true(status == HPCW_EFORMAT || status == HPCW_ETRUNCATED);
        }
        sion_image_put(&image, field, 4, false, before);
    }
    hpcw_i_mem_gate = NULL;
    assert_true(largest_request <= 256 * 1024);
    sion_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_in_both_orders_and_all_versions),
        cmocka_unit_test(old_chunk_sizes_are_rounded),
        cmocka_unit_test(many_tasks),
        cmocka_unit_test(ranks_in_any_order),
        cmocka_unit_test(damaged_fields),
        cmocka_unit_test(damaged_tasks),
        cmocka_unit_test(too_many_blocks),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(marks_of_the_mapped_writer),
        cmocka_unit_test(hostile_headers_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
