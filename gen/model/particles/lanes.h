/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills particles for one instruction set. Before this file, include its lane operations (lanes_*.h) and define
 * FILL_NAME as the name of the function. The function first computes columns of numbers for many particles,
 * then stores the particles as records. */
#include "gen/model/draw/lanes_random.h"
#include "gen/model/particles/run.h"
#include "libwriter/base/bytes.h"

enum { COLUMNS = 7, BATCH = 64, REST_BITS = MODEL_POSITION_BITS - MODEL_PLACE_BITS };
_Static_assert(BATCH % LANES == 0, "whole vectors in a batch");

struct columns {
    float number[COLUMNS][BATCH]; /* xx yy zz vx vy vz phi */
    uint32_t mask[BATCH];
};

/* Computes the columns of `count` particles from `first` on. `count` is rounded up to whole vectors. */
static inline __attribute__((always_inline)) void
make_columns(const struct model_particles_run *run, uint32_t first, uint32_t count, struct columns *columns) {
    const vu rest_mask = u_set((1 << REST_BITS) - 1);
    const vu position_mask = u_set(((uint64_t)1 << MODEL_POSITION_BITS) - 1);
    for (uint32_t k = 0; k < count; k += LANES) {
        vu c[2][4];
        for (uint32_t part = 0; part < 2; part++) {
            c[part][0] = u_add(u_set((uint64_t)first + k), u_lane_numbers());
            c[part][1] = u_set(run->rank);
            c[part][2] = u_set(part);
            c[part][3] = u_set(HPCW_I_FOR_PARTICLE);
        }
        philox(run->seed, c, 2);

        vu bits = u_join(c[0][0], c[0][1]);
        vd square = d_set(0);
        for (int d = 0; d < 3; d++) {
            vu share = u_and(u_right(bits, (uint32_t)d * MODEL_POSITION_BITS), position_mask);
            vu entry = u_right(share, REST_BITS);
            vd rest = d_mul(u_to_d(u_and(share, rest_mask)), d_set(1.0 / (1 << REST_BITS)));
            vd below = d_gather(run->place[d], entry), above = d_gather(run->place[d] + 1, entry);
            vd place = d_add(below, d_mul(rest, d_sub(above, below)));
            d_store_f32(columns->number[d] + k,
                        d_add(d_set(run->corner[d]), d_mul(d_set(run->side[d]), place)));
            vd off = d_sub(place, d_set(0.5));
            square = d_add(square, d_mul(off, off));
        }
        u_store32(columns->mask + k, u_right(bits, 3 * MODEL_POSITION_BITS));

        const vd scale = d_set(run->thermal_scale);
        vd x = halves(c[0][2], c[0][3]), y = halves(c[1][0], c[1][1]), z = halves(c[1][2], c[1][3]);
        d_store_f32(columns->number[3] + k, d_add(d_set(run->flow[0]), d_mul(scale, x)));
        d_store_f32(columns->number[4] + k, d_add(d_set(run->flow[1]), d_mul(scale, y)));
        d_store_f32(columns->number[5] + k, d_add(d_set(run->flow[2]), d_mul(scale, z)));
        d_store_f32(columns->number[6] + k, d_add(d_set(run->phi), d_mul(d_set(run->phi_scale), square)));
    }
}

void FILL_NAME(const struct model_particles_run *given) {
    /* A local copy tells the compiler that stores to `out` do not change the arguments. */
    const struct model_particles_run run = *given;
    unsigned char *out = run.out;
    struct columns columns;
    for (uint32_t done = 0; done < run.count; done += BATCH) {
        const uint32_t count = run.count - done < BATCH ? run.count - done : BATCH;
        make_columns(&run, run.first + done, count, &columns);
        for (uint32_t k = 0; k < count; k++, out += MODEL_PARTICLE_SIZE) {
            for (int n = 0; n < COLUMNS; n++) {
                uint32_t bits;
                memcpy(&bits, &columns.number[n][k], sizeof bits);
                hpcw_i_put_u32(out + 4 * n, bits, false);
            }
            hpcw_i_put_u64(out + 28, (uint64_t)run.rank << 32 | (run.first + done + k), false);
            hpcw_i_put_u16(out + 36, (uint16_t)columns.mask[k], false);
        }
    }
}
