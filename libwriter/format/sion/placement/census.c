/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/placement/placement.h"

#include "libwriter/base/status.h"
#include "libwriter/comm/reduce.h"

struct hpcw_i_sion_census hpcw_i_sion_census_of(uint32_t count, const uint32_t *ranks,
                                                const struct hpcw_i_sion_task *task, uint32_t block_size) {
    struct hpcw_i_sion_census c = {.tasks = count, .lists = ranks != NULL && count > 0, .ascending = 1};
    uint64_t chunk = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* Most chunks are equal, so skip the slow division for a chunk that is equal to the last one. */
        if (i == 0 || task[i].chunk != task[i - 1].chunk) {
            chunk = hpcw_i_align_up(task[i].chunk, block_size);
        }
        c.bytes = hpcw_i_sion_add_up(c.bytes, chunk);
    }
    if (c.lists) {
        c.low = ranks[0];
        c.high = ranks[count - 1];
        c.base = ranks[0];
        c.gapless = c.high - c.low == count - 1;
    }
    return c;
}

void hpcw_i_sion_census_add(struct hpcw_i_sion_census *left, const struct hpcw_i_sion_census *right) {
    if (right->lists) {
        uint64_t base = right->base - left->tasks;
        bool first = !left->lists;
        left->ascending =
            first ? right->ascending : left->ascending && right->ascending && left->high < right->low;
        left->gapless = right->gapless && (first || (left->gapless && left->base == base));
        left->base = base;
        left->low = first || right->low < left->low ? right->low : left->low;
        left->high = first || right->high > left->high ? right->high : left->high;
        left->lists = 1;
    }
    left->tasks += right->tasks;
    left->bytes = hpcw_i_sion_add_up(left->bytes, right->bytes);
}

static void combine_census(uint64_t *left, const uint64_t *right) {
    hpcw_i_sion_census_add((struct hpcw_i_sion_census *)(void *)left,
                           (const struct hpcw_i_sion_census *)(const void *)right);
}

hpcw_status hpcw_i_sion_census_take(hpcw_comm *comm, struct hpcw_i_sion_census *all,
                                    struct hpcw_i_sion_census *below, hpcw_error *err) {
    *below = (struct hpcw_i_sion_census){0};
    hpcw_status s = hpcw_i_comm_reduce_scan(comm, (uint64_t *)(void *)all, (uint64_t *)(void *)below,
                                            sizeof *all / sizeof(uint64_t), combine_census, err);
    return s == HPCW_OK && all->bytes == INT64_MAX
               ? hpcw_i_fail(err, HPCW_ERANGE, "the chunks of one block pass 2^63 bytes")
               : s;
}
