/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/particles/particles.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/rng.h"

static struct model_particles model_of(uint32_t ranks, uint64_t seed) {
    struct model_particles_params params;
    struct model_particles model;
    hpcw_error err;
    model_particles_params_init(&params);
    if (model_particles_init(&model, &params, ranks, seed, NULL, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return model;
}

static float number(const unsigned char *record, int n) {
    uint32_t bits = hpcw_i_get_u32(record + 4 * n, false);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Any range at any address gives the same bytes, and changes no others. */
static void test_any_range(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    static unsigned char whole[COUNT * MODEL_PARTICLE_SIZE], piece[COUNT * MODEL_PARTICLE_SIZE + 16];
    struct model_particles model = model_of(4096, 1);
    model_particles_fill(&model, 1234, 0, COUNT, whole);
    for (uint32_t k = 0; k < 200; k++) {
        uint32_t w[4];
        hpcw_i_draw(2, HPCW_I_FOR_TIMING, k, 0, 0, w);
        uint32_t first = w[0] % COUNT, count = w[1] % (k % 2 == 0 ? 20 : COUNT);
        count = count < COUNT - first ? count : COUNT - first;
        unsigned char *at = piece + w[2] % 8;
        memset(piece, 0xa5, sizeof piece);
        model_particles_fill(&model, 1234, first, count, at);
        assert_memory_equal(at, whole + first * MODEL_PARTICLE_SIZE, count * MODEL_PARTICLE_SIZE);
        for (unsigned char *p = piece; p < at; p++) {
            assert_int_equal(*p, 0xa5);
        }
        assert_int_equal(at[count * MODEL_PARTICLE_SIZE], 0xa5);
    }
}

static void test_bytes_are_pinned(void **state) {
    (void)state;
    enum { COUNT = 500 };
    static unsigned char out[COUNT * MODEL_PARTICLE_SIZE];
    uint64_t hash = 0xcbf29ce484222325;
    struct model_particles model = model_of(4096, 1);
    for (uint32_t rank = 0; rank < 4096; rank += 97) {
        struct model_particles_layout layout = model_particles_layout(&model, rank, 4096);
        hash = (hash ^ model_particles_count(&model, rank)) * 0x100000001b3;
        hash = (hash ^ layout.chunk_size) * 0x100000001b3;
        model_particles_fill(&model, rank, rank, COUNT, out);
        for (size_t k = 0; k < sizeof out; k++) {
            hash = (hash ^ out[k]) * 0x100000001b3;
        }
    }
    assert_int_equal(hash, 0xdacf4e76b744e1a3);
}

static void test_records_make_sense(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 7, 60, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct model_particles model = model_of(sizes[i], 3);
        const uint32_t *dims = model.dims;
        assert_int_equal(dims[0] * dims[1] * dims[2], sizes[i]);
        uint32_t masked = 0, all = 0;
        for (uint32_t rank = 0; rank < sizes[i]; rank += 1 + sizes[i] / 50) {
            uint32_t count = model_particles_count(&model, rank);
            unsigned char *out = malloc((size_t)count * MODEL_PARTICLE_SIZE);
            assert_non_null(out);
            model_particles_fill(&model, rank, 0, count, out);
            const uint32_t at[3] = {rank / dims[2] / dims[1], rank / dims[2] % dims[1], rank % dims[2]};
            double sum[7] = {0}, squares[7] = {0};
            for (uint32_t k = 0; k < count; k++) {
                const unsigned char *record = out + (size_t)k * MODEL_PARTICLE_SIZE;
                for (int d = 0; d < 7; d++) {
                    double x = (double)number(record, d);
                    assert_true(isfinite(x));
                    sum[d] += x;
                    squares[d] += x * x;
                }
                for (int d = 0; d < 3; d++) {
                    double side = 256.0 / dims[d], x = (double)number(record, d);
                    assert_true(x >= side * at[d] * (1 - 1e-7) && x <= side * (at[d] + 1) * (1 + 1e-7));
                }
                assert_int_equal(hpcw_i_get_u64(record + 28, false), (uint64_t)rank << 32 | k);
                assert_in_range(hpcw_i_get_u16(record + 36, false), 0, 1);
                masked += hpcw_i_get_u16(record + 36, false);
                all++;
            }
            for (int d = 0; d < 3; d++) {
                double side = 256.0 / dims[d], mean = sum[d] / count, v = sum[3 + d] / count;
                assert_true(fabs(mean - side * (at[d] + 0.5)) < 0.25 * side);
                double sd = sqrt(squares[3 + d] / count - v * v);
                assert_true(fabs(sd - 100) < 5 * 100 / sqrt(2.0 * count));
                assert_true(fabs(v) < 300 * 3.5 + 5 * 100 / sqrt(count));
            }
            assert_true(sum[6] / count < 0);
            free(out);
        }
        assert_true(fabs(masked - 0.5 * all) < 5 * sqrt(0.25 * all));
    }
}

/* Particles form clumps, and their density is continuous between subdomains. */
static void test_density(void **state) {
    (void)state;
    enum { SLABS = 8, CELLS = 4 };
    struct model_particles model = model_of(512, 1);
    double last = 0, inside = 0, border = 0, dispersion = 0;
    model.params.mean_size = 100000;
    for (uint32_t rank = 0; rank < 512; rank++) {
        const uint32_t count = model_particles_count(&model, rank), z = rank % model.dims[2];
        const double side = 256.0 / model.dims[2];
        double slab[SLABS] = {0}, cell[CELLS * CELLS * CELLS] = {0}, squares = 0;
        unsigned char *out = malloc((size_t)count * MODEL_PARTICLE_SIZE);
        assert_non_null(out);
        model_particles_fill(&model, rank, 0, count, out);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t at = 0;
            for (int d = 0; d < 3; d++) {
                double place = (double)number(out + (size_t)k * MODEL_PARTICLE_SIZE, d) / side;
                place -= floor(place);
                at = at * CELLS + (uint32_t)(place * CELLS);
                slab[(uint32_t)(place * SLABS)] += d == 2;
            }
            cell[at]++;
        }
        free(out);
        for (int k = 1; k < SLABS; k++) {
            inside += log(slab[k] / slab[k - 1]) * log(slab[k] / slab[k - 1]) / (SLABS - 1) / 512;
        }
        border += z > 0 ? log(slab[0] / last) * log(slab[0] / last) / 512 : 0;
        last = slab[SLABS - 1];
        const double mean = count / (double)(CELLS * CELLS * CELLS);
        for (int k = 0; k < CELLS * CELLS * CELLS; k++) {
            squares += (cell[k] - mean) * (cell[k] - mean);
        }
        dispersion += squares / (CELLS * CELLS * CELLS) / mean / 512;
    }
    print_message("change of ln(density): %.2f inside, %.2f at borders; variance over mean of cells %.1f\n",
                  sqrt(inside), sqrt(border), dispersion);
    assert_true(sqrt(border) < 1.5 * sqrt(inside) && dispersion > 1.5);
}

/* Containers with the default options: distribution of the ranks' sizes, number of blocks, and bytes allocated
 * for all 4096 ranks. */
static void test_sizes(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct model_particles model = model_of(RANKS, seed);
        double sum = 0, logs = 0, log_squares = 0;
        uint64_t allocated = 0, blocks[5] = {0};
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            uint32_t count = model_particles_count(&model, rank), left = count;
            struct model_particles_layout l = model_particles_layout(&model, rank, 4096);
            assert_int_equal(l.chunk_size % 4096, 0);
            assert_in_range(l.blocks, 2, 4);
            assert_true((uint64_t)l.per_chunk * MODEL_PARTICLE_SIZE <= l.chunk_size);
            assert_true((uint64_t)l.per_chunk * l.blocks >= count);
            assert_true((uint64_t)l.per_chunk * (l.blocks - 1) < count);
            blocks[l.blocks]++;
            for (uint32_t b = 0; b < l.blocks; b++) {
                uint32_t here = left < l.per_chunk ? left : l.per_chunk;
                allocated += ((uint64_t)here * MODEL_PARTICLE_SIZE + 4095) / 4096 * 4096;
                left -= here;
            }
            double size = (double)count * MODEL_PARTICLE_SIZE;
            sum += size;
            logs += log(size);
            log_squares += log(size) * log(size);
        }
        double mean_log = logs / RANKS, sd = sqrt(log_squares / RANKS - mean_log * mean_log);
        print_message("seed %" PRIu64 ": mean %.1f KiB, sd of ln %.3f, %.1f MB allocated, blocks %" PRIu64
                      " %" PRIu64 " %" PRIu64 "\n",
                      seed, sum / RANKS / 1024, sd, (double)allocated / 1e6, blocks[2], blocks[3], blocks[4]);
        assert_true(fabs(sum / RANKS / 1024 - 47) < 2);
        assert_true(fabs(sd - 0.5) < 0.03);
        assert_true(allocated <= 210000000);
        assert_true(blocks[2] > 400 && blocks[3] > 400 && blocks[4] > 400);
    }
}

/* The number of particles follows a field over the ranks, such as their work. */
static void test_counts_follow_a_field(void **state) {
    (void)state;
    enum { RANKS = 2000 };
    static double field[RANKS];
    double x = 0, xx = 0, xy = 0, y = 0, yy = 0;
    struct model_particles model = model_of(RANKS, 1);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t w[4];
        hpcw_i_draw(7, HPCW_I_FOR_TIMING, rank, 0, 0, w);
        field[rank] = hpcw_i_normal(w[0], w[1]);
    }
    model.field = field;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        double ln = log(model_particles_count(&model, rank));
        x += field[rank];
        xx += field[rank] * field[rank];
        xy += field[rank] * ln;
        y += ln;
        yy += ln * ln;
    }
    x /= RANKS, y /= RANKS;
    double correlation = (xy / RANKS - x * y) / sqrt((xx / RANKS - x * x) * (yy / RANKS - y * y));
    print_message("correlation %.3f, sd %.3f\n", correlation, sqrt(yy / RANKS - y * y));
    assert_true(correlation > 0.87 && correlation < 0.92);
    assert_true(fabs(sqrt(yy / RANKS - y * y) - 0.5) < 0.03);
}

static void test_layout_at_odd_alignments(void **state) {
    (void)state;
    static const uint64_t alignments[] = {1, 7, 38, 512, 3000, 4096, 65536, 16 << 20};
    struct model_particles model = model_of(500, 1);
    for (int tiny = 0; tiny < 2; tiny++) {
        if (tiny == 1) {
            model.params.mean_size = 38;
            model.params.min_particles = 1;
        }
        for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
            for (uint32_t rank = 0; rank < 500; rank++) {
                struct model_particles_layout l = model_particles_layout(&model, rank, alignments[i]);
                uint64_t count = model_particles_count(&model, rank), size = count * MODEL_PARTICLE_SIZE;
                assert_true(count >= 1);
                assert_true(l.per_chunk >= 1 && (uint64_t)l.per_chunk * MODEL_PARTICLE_SIZE <= l.chunk_size);
                assert_int_equal(l.chunk_size % alignments[i], 0);
                assert_int_equal(l.blocks, (count + l.per_chunk - 1) / l.per_chunk);
                assert_true(l.blocks <= 4);
                assert_true(l.blocks >= 2 || size <= alignments[i] || count == 1);
            }
        }
    }
}

static void test_refusals(void **state) {
    (void)state;
    struct model_particles_params params;
    struct model_particles model;
    hpcw_error err;
    model_particles_params_init(&params);
    assert_int_equal(model_particles_init(&model, &params, 0, 1, NULL, &err), HPCW_ERANGE);
    params.mean_size = (uint64_t)1 << 36;
    assert_int_equal(model_particles_init(&model, &params, 4, 1, NULL, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "sion.mean_size"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_range),
        cmocka_unit_test(test_bytes_are_pinned),
        cmocka_unit_test(test_records_make_sense),
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_counts_follow_a_field),
        cmocka_unit_test(test_layout_at_odd_alignments),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
