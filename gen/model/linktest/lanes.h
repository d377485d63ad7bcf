/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the timings of a rank (LinkTest rows) for one instruction set. Before this file, include its lane
 * operations (lanes_*.h) and define ROW_NAME as the name of the function. Each lane does the operations of
 * model_linktest_one in the same order, without fused multiply-add. So the bits are equal. */
#include <string.h>

#include "gen/model/draw/lanes_random.h"
#include "gen/model/linktest/row.h"
#include "gen/model/network/network.h"

static inline vd clamp(vd x, double low, double high) {
    return d_min(d_max(x, d_set(low)), d_set(high));
}

/* z + MODEL_TAIL_SHIFT, for the normal draw z from two words */
static inline vd shifted(vu word0, vu word1) {
    return d_add(d_mul(halves(word0, word1), d_set(HPCW_I_NORMAL_SCALE)), d_set(MODEL_TAIL_SHIFT));
}

/* Draws the congestion of LANES steps, the first of which is `step`, as model_network_factor does. The function
 * is called rarely, so it is not inlined. */
static __attribute__((noinline)) void draw_congestion(const struct model_linktest_row *row, uint32_t step,
                                                      vu pair) {
    const vu window = u_load32(row->window + step);
    const vu knot = u_right(window, 2), at = u_and(window, u_set(MODEL_KNOT_WINDOWS - 1));
    vu c[2][4];
    for (int i = 0; i < 2; i++) {
        c[i][0] = u_add(knot, u_set((uint64_t)i));
        c[i][1] = pair;
        c[i][2] = u_set(0);
        c[i][3] = u_set(HPCW_I_FOR_LINK);
    }
    philox(row->job_seed, c, 2);
    vd z[2];
    for (int i = 0; i < 2; i++) {
        z[i] = d_mul(d_gather(model_network_knot[i], at),
                     d_mul(halves(c[i][0], c[i][1]), d_set(HPCW_I_NORMAL_SCALE)));
    }
    vd u = d_max(d_add(d_add(z[0], z[1]), d_set(MODEL_TAIL_SHIFT)), d_set(0.0));
    vd both = d_add(d_load(row->background + step), d_mul(u, u));
    d_store(row->congestion + step, d_add(d_set(1.0), d_mul(d_set(row->congestion_step), both)));
    u_store32(row->region_pair + step, pair);
}
_Static_assert(MODEL_KNOT_WINDOWS == 1 << 2, "the knot is the window shifted by two bits");

/* Replaces the times to partners on the rank's own node, one lane at a time. Such partners are rare. */
static __attribute__((noinline)) vd replace_own_node(const struct model_linktest_row *row,
                                                     const uint32_t *partner, vd base) {
    double lane[LANES];
    d_store(lane, base);
    for (int i = 0; i < LANES; i++) {
        uint32_t local = partner[i] - row->own_first;
        if (local < row->ppn) {
            lane[i] = row->own_node[local];
        }
    }
    return d_load(lane);
}

/* Timings are made in blocks of this size, in two passes. A single pass is a chain of operations too long for a
 * processor to overlap iterations. */
enum { BLOCK = 256 };
_Static_assert(BLOCK % (LANES * AT_ONCE) == 0, "whole vectors in a block");
struct noise {
    double share[BLOCK];          /* noise as a share of the undisturbed time */
    uint32_t tail_size[BLOCK];    /* random word from which a delay's length follows */
    uint8_t tails[BLOCK / LANES]; /* bit mask of the lanes that have a delay */
};

/* Adds the delays of the LANES timings k, k + 1, ... of a block, and appends the indices of these timings to
 * row->delayed. at: index of the block in the row. */
static __attribute__((noinline)) vd add_tails(const struct model_linktest_row *row, const struct noise *noise,
                                              uint32_t k, uint32_t live, uint32_t at, vd time) {
    double lane[LANES];
    d_store(lane, time);
    for (uint32_t i = 0; i < LANES && k + i < live; i++) {
        if (noise->tails[k / LANES] >> i & 1) {
            lane[i] +=
                model_linktest_tail(row->tail_ps, row->tail_max_ps, row->messages, noise->tail_size[k + i]);
            row->delayed[(*row->delays)++] = at + k + i;
        }
    }
    return d_load(lane);
}

/* Draws the noise and the delays of `count` timings. count: a multiple of LANES * AT_ONCE. */
static inline __attribute__((always_inline)) void
draw_noise(const struct model_linktest_row *row, const uint32_t *partner, uint32_t count, struct noise *noise) {
    const vu self = u_set(row->rank);
    for (uint32_t k = 0; k < count; k += LANES * AT_ONCE) {
        vu c[2 * AT_ONCE][4];
        UNROLL for (int v = 0; v < AT_ONCE; v++) {
            vu other = u_load32(partner + k + v * LANES);
            vu *of_pair = c[2 * v], *of_timing = c[2 * v + 1];
            of_pair[0] = u_min32(self, other);
            of_pair[1] = u_max32(self, other);
            of_pair[2] = u_set(0xffffffff);
            of_pair[3] = u_set(HPCW_I_FOR_PAIR);
            of_timing[0] = self;
            of_timing[1] = other;
            of_timing[2] = u_set(row->permutation);
            of_timing[3] = u_set(HPCW_I_FOR_TIMING);
        }
        philox(row->seed, c, 2 * AT_ONCE);
        UNROLL for (int v = 0; v < AT_ONCE; v++) {
            const vu *of_pair = c[2 * v], *of_timing = c[2 * v + 1];
            const uint32_t at = k + (uint32_t)v * LANES;
            vd pair = shifted(of_pair[0], of_pair[1]), message = shifted(of_timing[0], of_timing[1]);
            d_store(noise->share + at, d_add(d_mul(d_mul(pair, pair), d_set(row->pair_scale)),
                                             d_mul(d_mul(message, message), d_set(row->message_scale))));
            unsigned tails = u_less(u_and(of_timing[2], u_set(0xffffffff)), u_set(row->tail_threshold));
            noise->tails[at / LANES] = (uint8_t)tails;
            if (tails != 0) {
                u_store32(noise->tail_size + at, of_timing[3]);
            }
        }
    }
}

/* Returns the times to LANES partners, without noise and delays. */
static inline __attribute__((always_inline)) vd undisturbed(const struct model_linktest_row *row,
                                                            const uint32_t *partner, uint32_t step) {
    vu other = u_load32(partner);
    vu node = u_right(u_mul32(other, u_set(row->to_node.factor)), row->to_node.shift);
    vd time = d_gather(row->fixed, node);
    if (row->region_pair != NULL) {
        vu own = u_set(row->own_region), region = u_gather(row->region, node);
        vu pair = u_or(u_left(u_min32(own, region), 16), u_max32(own, region));
        if (u_differ(pair, u_load32(row->region_pair + step)) != 0) {
            draw_congestion(row, step, pair);
        }
        time = d_add(time, d_mul(d_gather(row->wait, node), d_load(row->congestion + step)));
    }
    vu local = u_and(u_sub(other, u_set(row->own_first)), u_set(0xffffffff));
    return u_less(local, u_set(row->ppn)) == 0 ? time : replace_own_node(row, partner, time);
}

/* Makes `count` timings. count: a multiple of LANES * AT_ONCE. Timings from index `live` on only fill the last
 * vectors. */
static inline __attribute__((always_inline)) void make_block(const struct model_linktest_row *row,
                                                             const uint32_t *partner, uint32_t step,
                                                             uint32_t count, uint32_t live, uint64_t *time_ps) {
    struct noise noise;
    draw_noise(row, partner, count, &noise);
    for (uint32_t k = 0; k < count; k += LANES) {
        vd time = d_mul(undisturbed(row, partner + k, step + k), d_add(d_set(1.0), d_load(noise.share + k)));
        if (noise.tails[k / LANES] != 0) {
            time = add_tails(row, &noise, k, live, step - row->first_step, time);
        }
        time = clamp(time, MODEL_TIME_MIN, MODEL_TIME_MAX);
        u_store(time_ps + k, u_and(d_as_u(d_add(time, d_set(0x1p52))), u_set(0x000fffffffffffff)));
    }
}

void ROW_NAME(const struct model_linktest_row *row) {
    const uint32_t whole = row->count - row->count % (LANES * AT_ONCE);
    for (uint32_t k = 0; k < whole; k += BLOCK) {
        uint32_t count = whole - k < BLOCK ? whole - k : BLOCK;
        make_block(row, row->partner + k, row->first_step + k, count, count, row->time_ps + k);
    }
    const uint32_t rest = row->count - whole;
    if (rest != 0) {
        uint32_t partner[LANES * AT_ONCE];
        uint64_t time_ps[LANES * AT_ONCE];
        for (uint32_t i = 0; i < LANES * AT_ONCE; i++) {
            partner[i] = row->partner[whole + (i < rest ? i : 0)];
        }
        make_block(row, partner, row->first_step + whole, LANES * AT_ONCE, rest, time_ps);
        memcpy(row->time_ps + whole, time_ps, rest * sizeof *time_ps);
    }
}
