/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/sion_cases.h"

#include <string.h>

unsigned char golden_byte(uint32_t task, uint64_t k) {
    return (unsigned char)(31 * task + 7 * k + k / 256);
}

/* Writes `count` records of `size` bytes, which continue the task's data at byte *k. */
static hpcw_status records(hpcw_sion *sion, uint32_t task, unsigned count, size_t size, uint64_t *k,
                           hpcw_error *err) {
    unsigned char data[4096];
    for (unsigned r = 0; r < count; r++) {
        for (size_t i = 0; i < size; i++) {
            data[i] = golden_byte(task, (*k)++);
        }
        hpcw_status s = hpcw_sion_write(sion, task, data, size, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

static hpcw_status write_one(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, 1, 40, &k, err);
}

static hpcw_status write_four(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    static const struct {
        unsigned count;
        size_t size;
    } r[4] = {{3, 200}, {1, 1024}, {5, 300}, {0, 0}};
    uint64_t k = 0;
    return records(sion, task, r[task].count, r[task].size, &k, err);
}

static hpcw_status write_multi(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    hpcw_status s = records(sion, task, 1, 60 * (task + 1), &k, err);
    return s == HPCW_OK && task % 3 == 0 ? records(sion, task, 1, 450, &k, err) : s;
}

static hpcw_status write_many(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, task == 0 ? 120 : 1, 64, &k, err);
}

static hpcw_status write_mapped(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    hpcw_status s = records(sion, task, task == 1 ? 0 : task == 3 ? 4 : 1, 90 + task, &k, err);
    return s == HPCW_OK && task == 3 ? records(sion, task, 2, 400, &k, err) : s;
}

static hpcw_status write_unaligned(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, 2, 80, &k, err);
}

static hpcw_status write_zero(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, task == 1 ? 0 : 1, 50, &k, err);
}

static hpcw_status write_keys(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    static const struct {
        uint64_t key;
        size_t size;
    } r[2][5] = {{{7, 100}, {9, 5}, {7, 60}, {4711, 0}, {UINT64_C(0xFFFFFFFFFFFFFFFE), 3}},
                 {{1, 496}, {2, 1000}, {1, 24}}};
    uint64_t k = 0;
    for (unsigned i = 0; i < (task == 0 ? 5U : task == 1 ? 3U : 0U); i++) {
        unsigned char value[1024];
        for (size_t b = 0; b < r[task][i].size; b++) {
            value[b] = golden_byte(task, k++);
        }
        hpcw_status s = hpcw_sion_write_key(sion, task, r[task][i].key, value, r[task][i].size, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

static hpcw_status write_collective(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, 3, 200, &k, err);
}

/* For a packed container: each task writes two records as long as its requested chunk. Tasks that requested
 * nothing write nothing. */
static const uint64_t packed_chunk[8] = {97, 130, 1000, 96, 0, 255, 4096, 100};

static hpcw_status write_packed(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, 1 + task % 3, packed_chunk[task % 8], &k, err);
}

/* Writes streams of very different lengths, some empty, in pieces of odd sizes. */
static hpcw_status write_uneven(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    hpcw_status s = HPCW_OK;
    for (unsigned r = 0; s == HPCW_OK && r < (task * 7) % 23; r++) {
        s = records(sion, task, 1, 1 + (task * 31 + r * 17) % 96, &k, err);
    }
    return s;
}

/* Writes hundreds of blocks whose sizes are alike, all different, or mixed. */
static hpcw_status write_runs(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    unsigned blocks = task == 2 ? 3000 : task % 5 == 0 ? 1 : 700 + 13 * task;
    uint64_t k = 0;
    hpcw_status s = HPCW_OK;
    for (unsigned b = 0; s == HPCW_OK && b < blocks; b++) {
        /* Tasks 4k + 1 have runs of 1 to 10 equal sizes. Sizes of tasks 4k + 3 differ from block to block. */
        size_t size = task % 2 == 0 ? 64 : task % 4 == 1 ? 40 + b / (1 + b / 100) % 25 : 40 + b * 7 % 25;
        s = records(sion, task, 1, size, &k, err);
    }
    return s;
}

/* All tasks write 1 to 16 blocks of one size, then as many of another. */
static hpcw_status write_steps(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    hpcw_status s = HPCW_OK;
    for (unsigned b = 0; s == HPCW_OK && b < 1500 + task % 3; b++) {
        s = records(sion, task, 1, 40 + b / (1 + b / 100) % 25, &k, err);
    }
    return s;
}

/* Task 5 has nearly the largest number of blocks for which one process writes all tables alone. The others have 1,
 * 101, 201, ... blocks, so the rows of the tables change every hundred rows. */
static hpcw_status write_alike(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, task == 5 ? 8180 : 1 + task * 100, 8, &k, err);
}

/* One task writes so many blocks that one process cannot write all tables alone. */
static hpcw_status write_long(hpcw_sion *sion, uint32_t task, hpcw_error *err) {
    uint64_t k = 0;
    return records(sion, task, task == 5 ? 8200 : 1 + task % 2, 8, &k, err);
}

#define GOLDEN_OPTIONS .fs_block_size = 512, .buffer_size = 1 << 16

const struct sion_case sion_cases[] = {
    {.name = "one_task.sion",
     .golden = "one_task.sion",
     .tasks = 1,
     .files = 1,
     .chunk = {100},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL},
     .write = write_one},
    {.name = "four_tasks_serial.sion",
     .golden = "four_tasks_serial.sion",
     .tasks = 4,
     .files = 1,
     .chunk = {100, 700, 512, 1500},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL},
     .write = write_four},
    {.name = "four_tasks_parallel.sion",
     .golden = "four_tasks_parallel.sion",
     .tasks = 4,
     .files = 1,
     .chunk = {100, 700, 512, 1500},
     .options = {GOLDEN_OPTIONS},
     .write = write_four},
    {.name = "be_four_tasks.sion",
     .golden = "be_four_tasks.sion",
     .tasks = 4,
     .files = 1,
     .chunk = {100, 700, 512, 1500},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL, .endian = HPCW_SION_BIG,
                 .data_endian = HPCW_SION_BIG},
     .write = write_four},
    {.name = "le_meta_be_data.sion",
     .golden = "le_meta_be_data.sion",
     .tasks = 4,
     .files = 1,
     .chunk = {100, 700, 512, 1500},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL, .data_endian = HPCW_SION_BIG},
     .write = write_four},
    {.name = "multi8of2.sion",
     .golden = "multi8of2.sion",
     .tasks = 8,
     .files = 2,
     .chunk = {100, 200, 300, 400, 500, 600, 700, 800},
     .options = {GOLDEN_OPTIONS},
     .write = write_multi},
    {.name = "inter8of2.sion",
     .golden = "inter8of2.sion",
     .tasks = 8,
     .files = 2,
     .by_parity = true,
     .chunk = {100, 200, 300, 400, 500, 600, 700, 800},
     .options = {GOLDEN_OPTIONS},
     .write = write_multi},
    {.name = "many_blocks.sion",
     .golden = "many_blocks.sion",
     .tasks = 2,
     .files = 1,
     .chunk = {64, 64},
     .options = {.fs_block_size = 64, .buffer_size = 4096},
     .write = write_many},
    {.name = "mapped6of1.sion",
     .golden = "mapped6of1.sion",
     .tasks = 6,
     .files = 1,
     .chunk = {100, 300, 500, 100, 300, 500},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_MAPPED, .mark_unused = true},
     .write = write_mapped},
    {.name = "mapped6of2.sion",
     .golden = "mapped6of2.sion",
     .tasks = 6,
     .files = 2,
     .chunk = {100, 300, 500, 100, 300, 500},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_MAPPED, .mark_unused = true},
     .write = write_mapped},
    {.name = "unaligned_fsb1.sion",
     .golden = "unaligned_fsb1.sion",
     .tasks = 3,
     .files = 1,
     .chunk = {100, 100, 100},
     .options = {.fs_block_size = 1, .buffer_size = 1 << 16},
     .write = write_unaligned},
    {.name = "zero_chunk.sion",
     .golden = "zero_chunk.sion",
     .tasks = 3,
     .files = 1,
     .chunk = {100, 0, 100},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL},
     .write = write_zero},
    {.name = "keyval.sion",
     .golden = "keyval.sion",
     .tasks = 3,
     .files = 1,
     .chunk = {512, 512, 512},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL, .content = HPCW_SION_KEYVAL},
     .write = write_keys},
    {.name = "be_keyval.sion",
     .golden = "be_keyval.sion",
     .tasks = 3,
     .files = 1,
     .chunk = {512, 512, 512},
     .options = {GOLDEN_OPTIONS, .flavour = HPCW_SION_SERIAL, .content = HPCW_SION_KEYVAL,
                 .endian = HPCW_SION_BIG, .data_endian = HPCW_SION_BIG},
     .write = write_keys},
    {.name = "collective.sion",
     .tasks = 4,
     .files = 1,
     .chunk = {300, 300, 300, 300},
     .options = {GOLDEN_OPTIONS, .layout = HPCW_SION_PACKED, .tasks_per_group = 2},
     .write = write_collective},
    {.name = "packed.sion",
     .tasks = 61,
     .files = 3,
     .chunk = {97, 130, 1000, 96, 0, 255, 4096, 100},
     .options = {.fs_block_size = 512,
                 .buffer_size = 1 << 14,
                 .layout = HPCW_SION_PACKED,
                 .content = HPCW_SION_RECORDS},
     .write = write_packed},
    {.name = "uneven.sion",
     .tasks = 37,
     .files = 1,
     .chunk = {96, 96, 200, 128, 96, 300, 96, 512},
     .options = {.fs_block_size = 64, .buffer_size = 1 << 14},
     .write = write_uneven},
    {.name = "runs.sion",
     .tasks = 23,
     .files = 1,
     .chunk = {64, 64, 64, 64, 64, 64, 64, 64},
     .options = {.fs_block_size = 64,
                 .buffer_size = 1 << 16,
                 .endian = HPCW_SION_BIG,
                 .flavour = HPCW_SION_MAPPED,
                 .mark_unused = true},
     .write = write_runs},
    {.name = "steps.sion",
     .tasks = 23,
     .files = 1,
     .chunk = {64, 64, 64, 64, 64, 64, 64, 64},
     .options = {.fs_block_size = 64, .buffer_size = 1 << 16},
     .write = write_steps},
    {.name = "alike.sion",
     .tasks = 64,
     .files = 1,
     .chunk = {8, 8, 8, 8, 8, 8, 8, 8},
     .options = {.fs_block_size = 8, .buffer_size = 1 << 23},
     .write = write_alike},
    {.name = "long.sion",
     .tasks = 64,
     .files = 1,
     .chunk = {8, 8, 8, 8, 8, 8, 8, 8},
     .options = {.fs_block_size = 8, .buffer_size = 1 << 23},
     .write = write_long},
    {.name = "uneven_set.sion",
     .tasks = 41,
     .files = 5,
     .chunk = {96, 96, 200, 128, 96, 300, 96, 512},
     .options = {.fs_block_size = 100, .buffer_size = 700},
     .write = write_uneven},
    {.name = "shares.sion",
     .tasks = 20,
     .files = 3,
     .chunk = {96, 96, 200, 128, 96, 300, 96, 512},
     .options = {.fs_block_size = 100, .tasks_per_file = 7, .flavour = HPCW_SION_MAPPED},
     .write = write_uneven},
    {.name = "packed_shares.sion",
     .tasks = 23,
     .files = 4,
     .chunk = {96, 96, 200, 128, 96, 300, 96, 512},
     .options = {.fs_block_size = 64, .tasks_per_file = 2, .layout = HPCW_SION_PACKED, .tasks_per_group = 3},
     .write = write_uneven},
    {.name = "uneven_colours.sion",
     .tasks = 38,
     .files = 2,
     .by_parity = true,
     .chunk = {96, 96, 200, 128, 96, 300, 96, 512},
     .options = {.fs_block_size = 64, .buffer_size = 0, .endian = HPCW_SION_BIG},
     .write = write_uneven},
    {.name = "split_stream.sion",
     .tasks = 19,
     .files = 2,
     .chunk = {1, 2, 3, 5, 8, 13, 21, 34},
     .options = {.fs_block_size = 1, .buffer_size = 1 << 14, .content = HPCW_SION_STREAM},
     .write = write_uneven},
};

const unsigned sion_case_count = sizeof sion_cases / sizeof sion_cases[0];

hpcw_sion_options sion_case_options(const struct sion_case *c, uint32_t count, const uint32_t *ranks,
                                    const uint64_t *sizes) {
    hpcw_sion_options o = c->options;
    o.size = sizeof o;
    o.count = count;
    o.ranks = ranks;
    o.sizes = sizes;
    o.files = c->by_parity ? 0 : c->files;
    o.durability = HPCW_SYNC_NONE;
    return o;
}
