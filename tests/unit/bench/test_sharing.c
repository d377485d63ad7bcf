/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the count of shared blocks with a list of the owner of every byte. The owners of a container's bytes
 * are read from a file that the library wrote, by the reader, which shares no code with the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "bench/count/sharing.h"
#include "libreader/sion/sion.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

enum { MOST_RANKS = 64, META = -1, NOBODY = 0, ROUNDS = 1000 };

/* Owner of each byte of a file: rank + 1, META or NOBODY. */
struct owners {
    int *of;
    size_t size;
};

static void own(struct owners *o, uint64_t start, uint64_t size, int owner) {
    if (start + size > o->size) {
        o->of = realloc(o->of, (size_t)(start + size) * sizeof *o->of);
        assert_non_null(o->of);
        memset(o->of + o->size, 0, (size_t)(start + size - o->size) * sizeof *o->of);
        o->size = (size_t)(start + size);
    }
    for (uint64_t i = start; i < start + size; i++) {
        assert_int_equal(o->of[i], NOBODY);
        o->of[i] = owner;
    }
}

/* For each rank: whether it shares a block with any rank, and with the next rank. */
struct tally {
    bool shares[MOST_RANKS], pair[MOST_RANKS];
};

/* Counts the block at `begin`. host: [MOST_RANKS] host of each rank; NULL: hosts are not counted. */
static void count_block(const struct owners *o, uint64_t begin, uint64_t block, const uint32_t *host,
                        struct bench_sharing *c, struct tally *t) {
    bool in[MOST_RANKS + 1] = {false};
    uint64_t data = 0;
    uint64_t meta = 0;
    for (uint64_t i = begin; i < begin + block && i < o->size; i++) {
        data += o->of[i] > 0;
        meta += o->of[i] == META;
        if (o->of[i] > 0) {
            in[o->of[i] - 1] = true;
        }
    }
    uint32_t ranks = 0;
    bool on[MOST_RANKS] = {false};
    for (int r = 0; r < MOST_RANKS; r++) {
        ranks += in[r];
        if (in[r] && host != NULL) {
            on[host[r]] = true;
        }
    }
    int hosts = 0;
    for (int h = 0; h < MOST_RANKS; h++) {
        hosts += on[h];
    }
    c->owner_blocks += hosts > 1;
    for (int r = 0; r < MOST_RANKS && ranks > 1; r++) {
        t->shares[r] = t->shares[r] || in[r];
        t->pair[r] = t->pair[r] || (in[r] && in[r + 1]);
    }
    c->blocks += data + meta > 0;
    c->data_blocks += data > 0;
    c->shared_blocks += ranks > 1;
    c->largest = ranks > c->largest ? ranks : c->largest;
    c->bytes += data;
    c->shared_bytes += ranks > 1 ? data : 0;
    c->meta_blocks += meta > 0;
    c->mixed_blocks += meta > 0 && data > 0;
    c->meta_bytes += meta;
    c->unused_bytes += data + meta > 0 ? block - data - meta : 0;
}

static struct bench_sharing count_owners(const struct owners *files, uint32_t count, uint64_t block,
                                         const uint32_t *host) {
    struct bench_sharing c = {0};
    struct tally t = {0};
    for (uint32_t f = 0; f < count; f++) {
        for (uint64_t begin = 0; begin < files[f].size; begin += block) {
            count_block(&files[f], begin, block, host, &c, &t);
        }
    }
    for (int r = 0; r < MOST_RANKS; r++) {
        c.ranks += t.shares[r];
        c.pairs += t.pair[r];
    }
    return c;
}

static void same(const struct bench_geometry *g, const struct bench_sharing *got,
                 const struct bench_sharing *want) {
#define SAME(field)                                                                                            \
    if (got->field != want->field) {                                                                           \
        fail_msg("layout %d, %u ranks of %llu in records of %llu, chunks of %llu, block %llu in %llu, %u "     \
                 "files: " #field ": expected %llu, got %llu",                                                 \
                 (int)g->layout, g->ranks, (unsigned long long)g->rank_bytes,                                  \
                 (unsigned long long)g->record_bytes, (unsigned long long)g->chunk_bytes,                      \
                 (unsigned long long)g->container_block, (unsigned long long)g->fs_block, g->files,            \
                 (unsigned long long)want->field, (unsigned long long)got->field);                             \
    }
    SAME(blocks);
    SAME(data_blocks);
    SAME(shared_blocks);
    SAME(owner_blocks);
    SAME(largest);
    SAME(ranks);
    SAME(pairs);
    SAME(bytes);
    SAME(shared_bytes);
    SAME(meta_blocks);
    SAME(mixed_blocks);
    SAME(meta_bytes);
    SAME(unused_bytes);
#undef SAME
}

/* Checks the counts without hosts, with neighbouring ranks on a host, and with ranks assigned to hosts in turn. */
static void check(const struct bench_geometry *geometry, const struct owners *files, uint32_t count) {
    for (int map = 0; map < 3; map++) {
        struct bench_geometry of_map = *geometry, *g = &of_map;
        uint32_t host[MOST_RANKS];
        for (uint32_t r = 0; r < MOST_RANKS; r++) {
            host[r] = map == 1 ? r / 3 : r % 3;
        }
        g->owner = map == 0 ? NULL : host;
        hpcw_error err;
        struct bench_sharing got;
        if (bench_sharing_count(g, &got, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        struct bench_sharing want = count_owners(files, count, g->fs_block, g->owner);
        same(g, &got, &want);
    }
}

/* Writes a container of this geometry from one process. */
static void write_container(const char *path, const struct bench_geometry *g) {
    static const unsigned char data[65536];
    hpcw_error err;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = g->ranks;
    o.fs_block_size = (uint32_t)g->container_block;
    o.chunk_size = g->chunk_bytes == 0 ? g->rank_bytes : g->chunk_bytes;
    o.layout = g->layout == BENCH_SION_PACKED ? HPCW_SION_PACKED : HPCW_SION_ALIGNED;
    o.content = g->record_bytes == 0 ? HPCW_SION_STREAM : HPCW_SION_RECORDS;
    o.files = g->files == 0 ? 1 : g->files;
    o.durability = HPCW_SYNC_NONE;
    hpcw_sion *sion;
    hpcw_status s = hpcw_sion_open(path, NULL, &o, &sion, &err);
    uint64_t step = g->record_bytes == 0 ? g->rank_bytes : g->record_bytes;
    for (uint32_t r = 0; s == HPCW_OK && r < g->ranks; r++) {
        for (uint64_t at = 0; s == HPCW_OK && at < g->rank_bytes; at += step) {
            uint64_t size = g->rank_bytes - at < step ? g->rank_bytes - at : step;
            s = hpcw_sion_write(sion, r, data, (size_t)size, &err);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_sion_close(sion, &err);
    }
    hpcw_sion_free(sion);
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

#define MUST(call)                                                                                             \
    do {                                                                                                       \
        if ((call) != HPCW_OK) {                                                                               \
            fail_msg("%s", err.message);                                                                       \
        }                                                                                                      \
    } while (0)

/* Sets the owners of the data in file f of a container, with all offsets increased by `shift`. */
static void own_file(struct read_sion *reader, uint32_t f, uint64_t shift, struct owners *o) {
    hpcw_error err;
    struct read_sion_info info;
    MUST(read_sion_info(reader, f, &info, &err));
    own(o, shift, info.meta1_size, META);
    own(o, shift + info.meta2_start, info.file_size - info.meta2_start, META);
    for (uint32_t i = 0; i < info.tasks; i++) {
        struct read_sion_task task;
        MUST(read_sion_task(reader, f, i, &task, &err));
        for (uint32_t b = 0; b < task.blocks; b++) {
            uint64_t size;
            MUST(read_sion_block_size(reader, &task, b, &size, &err));
            own(o, shift + task.start + b * info.block_stride, size, (int)task.rank + 1);
        }
    }
}

static struct bench_geometry random_geometry(uint64_t *rng) {
    static const uint64_t block[] = {1, 3, 8, 16, 32, 48, 64, 96, 512, 1000, 1024, 4096};
    enum { BLOCKS = sizeof block / sizeof block[0] };
    struct bench_geometry g = {.layout = (enum bench_layout)random_below(rng, 2),
                               .ranks = 1 + (uint32_t)random_below(rng, 1 << (1 + random_below(rng, 6))),
                               .fs_block = block[random_below(rng, BLOCKS)],
                               .container_block = block[random_below(rng, BLOCKS)],
                               .rank_bytes = 1 + random_below(rng, 1 << (1 + random_below(rng, 10)))};
    if (random_below(rng, 3) != 0) {
        g.chunk_bytes = 1 + random_below(rng, g.rank_bytes);
    }
    if (random_below(rng, 3) != 0) {
        g.record_bytes = 1 + random_below(rng, g.chunk_bytes == 0 ? g.rank_bytes : g.chunk_bytes);
    }
    if (random_below(rng, 3) == 0) {
        g.files = 1 + (uint32_t)random_below(rng, g.ranks);
    }
    return g;
}

static void containers_are_as_the_library_writes_them(void **state) {
    (void)state;
    char dir[256];
    char path[300];
    scratch_make(dir, sizeof dir);
    (void)snprintf(path, sizeof path, "%s/c.sion", dir);
    uint64_t rng = 20;
    for (int round = 0; round < ROUNDS; round++) {
        struct bench_geometry g = random_geometry(&rng);
        write_container(path, &g);
        hpcw_error err;
        struct read_sion *reader;
        MUST(read_sion_open(path, &reader, &err));
        uint32_t files = read_sion_files(reader);
        for (int shifted = 0; shifted <= (g.layout == BENCH_SION_ALIGNED); shifted++) {
            struct owners *o = calloc(files, sizeof *o);
            assert_non_null(o);
            g.layout = shifted ? BENCH_SION_SHIFTED : g.layout;
            for (uint32_t f = 0; f < files; f++) {
                own_file(reader, f, bench_layout_shift(g.layout, g.container_block), &o[f]);
            }
            check(&g, o, files);
            for (uint32_t f = 0; f < files; f++) {
                free(o[f].of);
            }
            free(o);
        }
        read_sion_free(reader);
    }
    scratch_remove(dir);
}

static void dense_files_are_rank_after_rank(void **state) {
    (void)state;
    uint64_t rng = 21;
    for (int round = 0; round < ROUNDS; round++) {
        struct bench_geometry g = random_geometry(&rng);
        struct owners o = {0};
        /* Datasets of HDF5 begin inside a block, unless 16 MiB is a multiple of the block size. */
        const uint64_t start = BENCH_HDF5_START % g.fs_block;
        struct owners dataset = {0};
        for (uint32_t r = 0; r < g.ranks; r++) {
            own(&o, r * g.rank_bytes, g.rank_bytes, (int)r + 1);
            own(&dataset, start + r * g.rank_bytes, g.rank_bytes, (int)r + 1);
        }
        for (int i = BENCH_SHARED_POSIX; i <= BENCH_HDF5_COLLECTIVE; i++) {
            g.layout = (enum bench_layout)i;
            check(&g, i < BENCH_HDF5_INDEPENDENT ? &o : &dataset, 1);
        }
        free(o.of);
        free(dataset.of);
    }
}

static void files_of_their_own_share_nothing(void **state) {
    (void)state;
    uint64_t rng = 22;
    for (int round = 0; round < 100; round++) {
        struct bench_geometry g = random_geometry(&rng);
        struct owners o[MOST_RANKS] = {{0}};
        g.layout = BENCH_TASK_LOCAL;
        for (uint32_t r = 0; r < g.ranks; r++) {
            own(&o[r], 0, g.rank_bytes, (int)r + 1);
        }
        check(&g, o, g.ranks);
        for (uint32_t r = 0; r < g.ranks; r++) {
            free(o[r].of);
        }
    }
}

static struct bench_sharing count(struct bench_geometry g) {
    hpcw_error err;
    struct bench_sharing c;
    MUST(bench_sharing_count(&g, &c, &err));
    return c;
}

/* Counts of a million ranks with 47008 bytes each, in blocks of 16 MiB, computed by hand. */
static void a_million_ranks(void **state) {
    (void)state;
    const uint64_t mib = 1 << 20;
    struct bench_geometry g = {.layout = BENCH_SHARED_POSIX,
                               .ranks = 1000000,
                               .fs_block = 16 * mib,
                               .container_block = 16 * mib,
                               .rank_bytes = 47008};
    struct bench_sharing c = count(g);
    assert_int_equal(c.blocks, (47008 * UINT64_C(1000000) + 16 * mib - 1) / (16 * mib));
    assert_int_equal(c.shared_blocks, c.blocks); /* about 357 ranks to a block */
    assert_int_equal(c.largest, 358);
    assert_int_equal(c.pairs, 999998); /* the data of rank 2^19 begin a block, as 47008 is 2^5 * 1469 */
    assert_int_equal(c.ranks, 1000000);
    assert_int_equal(c.shared_bytes, c.bytes);
    /* Aligned container: each rank has its own block. The metadata before and after the data have a block each. */
    g.layout = BENCH_SION_ALIGNED;
    c = count(g);
    assert_int_equal(c.data_blocks, 1000000);
    assert_int_equal(c.shared_blocks, 0);
    assert_int_equal(c.largest, 1);
    assert_int_equal(c.meta_blocks, 2);
    assert_int_equal(c.mixed_blocks, 0);
    /* At unaligned offsets and with whole blocks of data, every block except the last has parts of two ranks. */
    g.layout = BENCH_SION_SHIFTED;
    g.rank_bytes = 16 * mib;
    c = count(g);
    assert_int_equal(c.data_blocks, 1000001);
    assert_int_equal(c.shared_blocks, 999999);
    assert_int_equal(c.pairs, 999999);
    assert_int_equal(c.mixed_blocks, 2);
    /* Each rank has ten chunks. */
    g.chunk_bytes = g.rank_bytes;
    g.rank_bytes = 10 * g.chunk_bytes;
    c = count(g);
    assert_int_equal(c.data_blocks, 10000001);
    assert_int_equal(c.shared_blocks, 9999999);
    assert_int_equal(c.pairs, 999999);
    assert_int_equal(c.shared_bytes, c.bytes - g.fs_block);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const struct bench_geometry good = {
        .layout = BENCH_SION_ALIGNED, .ranks = 4, .fs_block = 4096, .container_block = 4096, .rank_bytes = 100};
    struct bench_geometry g[10];
    for (int i = 0; i < 10; i++) {
        g[i] = good;
    }
    g[0].ranks = 0;
    g[1].fs_block = 0;
    g[2].rank_bytes = 0;
    g[3].container_block = 0;
    g[4].layout = BENCH_LAYOUTS;
    g[5].record_bytes = 5000;
    g[5].rank_bytes = 5000;
    g[5].chunk_bytes = 100;
    g[6].files = 5;
    g[7].rank_bytes = UINT64_MAX;
    g[8].container_block = UINT64_C(1) << 31;
    g[9].chunk_bytes = UINT64_MAX / 4;
    static const hpcw_status want[] = {HPCW_EINVAL, HPCW_EINVAL, HPCW_EINVAL, HPCW_EINVAL, HPCW_EINVAL,
                                       HPCW_EINVAL, HPCW_EINVAL, HPCW_ERANGE, HPCW_EINVAL, HPCW_ERANGE};
    for (int i = 0; i < 10; i++) {
        hpcw_error err = {0};
        struct bench_sharing c;
        assert_int_equal(bench_sharing_count(&g[i], &c, &err), want[i]);
        assert_memory_equal(err.message, "sharing: ", 9);
    }
    /* More chunks of a rank than the format can represent. */
    struct bench_geometry many = good;
    many.chunk_bytes = 1;
    many.container_block = 1;
    many.rank_bytes = UINT64_C(1) << 32;
    struct bench_sharing c;
    assert_int_equal(bench_sharing_count(&many, &c, NULL), HPCW_ERANGE);
}

static size_t allocations_left;
static bool allow_some(size_t size) {
    (void)size;
    return allocations_left-- > 0;
}

static void no_memory_is_said(void **state) {
    (void)state;
    const struct bench_geometry g = {
        .layout = BENCH_SHARED_POSIX, .ranks = 8, .fs_block = 64, .rank_bytes = 100};
    for (size_t n = 0; n < 2; n++) {
        hpcw_error err;
        struct bench_sharing c;
        allocations_left = n;
        hpcw_i_mem_gate = allow_some;
        hpcw_status s = bench_sharing_count(&g, &c, &err);
        hpcw_i_mem_gate = NULL;
        assert_int_equal(s, HPCW_ENOMEM);
        assert_int_equal(c.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_are_as_the_library_writes_them),
        cmocka_unit_test(dense_files_are_rank_after_rank),
        cmocka_unit_test(files_of_their_own_share_nothing),
        cmocka_unit_test(a_million_ranks),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
