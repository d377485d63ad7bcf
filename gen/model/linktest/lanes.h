/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The row maker, written once for all instruction sets. Include the lane operations of one (lanes_*.h) before this file;
 * ROW_NAME is the function to define. Every lane does the operations of model_linktest_one in the same order, and there is
 * no fused multiply-add, so the bits are equal.
 */
#include <string.h>

#include "gen/model/draw/lanes_random.h"
#include "gen/model/linktest/row.h"
#include "libwriter/base/detmath.h"

static inline vd exp_small(vd x) {
    vd y = d_set(HPCW_I_EXP_C8);
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C7));
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C6));
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C5));
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C4));
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C3));
    y = d_add(d_mul(y, x), d_set(HPCW_I_EXP_C2));
    y = d_add(d_mul(y, x), d_set(1.0));
    return d_add(d_mul(y, x), d_set(1.0));
}

static inline vd clamp(vd x, double low, double high) {
    return d_min(d_max(x, d_set(low)), d_set(high));
}

/* Draws the congestion of LANES steps from `step` on. Rare, so not inlined. */
static __attribute__((noinline)) void draw_congestion(const struct model_linktest_row *row, uint32_t step,
                                                      vu pair) {
    vu c[1][4] = {
        {u_add(u_set(step), u_lane_numbers()), u_set(row->permutation), pair, u_set(HPCW_I_FOR_CONGESTION)}};
    philox(row->seed, c, 1);
    vd share = d_add(d_set(row->load_mean), d_mul(d_set(row->load_scale), halves(c[0][0], c[0][1])));
    d_store(row->congestion + step, d_div(d_set(1.0), clamp(share, row->load_min, row->load_max)));
    u_store32(row->group_pair + step, pair);
}

/* Ranks of the same node are rare, so lane by lane. */
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

/* Timings are made in blocks, in two passes. In a single pass the chain of operations is too long for a processor to
 * overlap it with the next. */
enum { BLOCK = 256 };
_Static_assert(BLOCK % (LANES * AT_ONCE) == 0, "whole vectors in a block");
struct noise {
    double exponent[BLOCK];
    uint32_t tail_size[BLOCK];    /* word of the draw, where there is a delay */
    uint8_t tails[BLOCK / LANES]; /* which lanes have a delay */
};

/* Adds the delays of LANES timings from k on. */
static __attribute__((noinline)) vd add_tails(const struct model_linktest_row *row, const struct noise *noise,
                                              uint32_t k, uint32_t live, const uint32_t *partner, uint32_t step,
                                              vd time) {
    double lane[LANES];
    d_store(lane, time);
    for (uint32_t i = 0; i < LANES && k + i < live; i++) {
        if (noise->tails[k / LANES] >> i & 1) {
            double tail =
                model_linktest_tail(row->tail_ps, row->tail_max_ps, row->messages, noise->tail_size[k + i]);
            lane[i] += tail;
            model_linktest_note_tail(row->outliers, tail, row->permutation, step + k + i, partner[k + i]);
        }
    }
    return d_load(lane);
}

/* Draws the jitter's exponent and the delays of `count` timings, a multiple of LANES * AT_ONCE. */
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
            d_store(noise->exponent + at,
                    d_add(d_mul(d_set(row->pair_scale), halves(of_pair[0], of_pair[1])),
                          d_mul(d_set(row->message_scale), halves(of_timing[0], of_timing[1]))));
            unsigned tails = u_less(u_and(of_timing[2], u_set(0xffffffff)), u_set(row->tail_threshold));
            noise->tails[at / LANES] = (uint8_t)tails;
            if (tails != 0) {
                u_store32(noise->tail_size + at, of_timing[3]);
            }
        }
    }
}

/* Time before noise of LANES partners. */
static inline __attribute__((always_inline)) vd undisturbed(const struct model_linktest_row *row,
                                                            const uint32_t *partner, uint32_t step) {
    vu other = u_load32(partner);
    vu node = u_right(u_mul32(other, u_set(row->to_node.factor)), row->to_node.shift);
    vd time = d_gather(row->fixed, node);
    if (row->group_pair != NULL) {
        vu group = u_right(u_mul32(other, u_set(row->to_group.factor)), row->to_group.shift);
        vu own = u_set(row->own_group);
        vu pair = u_or(u_left(u_min32(own, group), 16), u_max32(own, group));
        if (u_differ(pair, u_load32(row->group_pair + step)) != 0) {
            draw_congestion(row, step, pair);
        }
        time = d_add(time, d_mul(d_gather(row->transfer, node), d_load(row->congestion + step)));
    }
    vu local = u_and(u_sub(other, u_set(row->own_first)), u_set(0xffffffff));
    return u_less(local, u_set(row->ppn)) == 0 ? time : replace_own_node(row, partner, time);
}

/* Makes `count` timings, a multiple of LANES * AT_ONCE; those from `live` on are not used. */
static inline __attribute__((always_inline)) void make_block(const struct model_linktest_row *row,
                                                             const uint32_t *partner, uint32_t step,
                                                             uint32_t count, uint32_t live, uint64_t *time_ps) {
    struct noise noise;
    draw_noise(row, partner, count, &noise);
    for (uint32_t k = 0; k < count; k += LANES) {
        vd jitter = exp_small(d_load(noise.exponent + k));
        for (uint32_t i = 0; i < row->squarings; i++) {
            jitter = d_mul(jitter, jitter);
        }
        vd time = d_mul(undisturbed(row, partner + k, step + k), jitter);
        if (noise.tails[k / LANES] != 0) {
            time = add_tails(row, &noise, k, live, partner, step, time);
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
