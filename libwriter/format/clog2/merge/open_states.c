/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/open_states.h"

#include <stdbool.h>
#include <stddef.h>

#include "libwriter/base/mem.h"

/* Returns the slot of a key, or the free slot for it. */
static struct hpcw_i_clog2_open_state *slot_of(const struct hpcw_i_clog2_open_states *o, uint64_t key) {
    uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (o->slots - 1);
    while (o->slot[i].key != key && o->slot[i].key != 0) {
        i = (i + 1) & (o->slots - 1);
    }
    return &o->slot[i];
}

uint32_t *hpcw_i_clog2_open_find(struct hpcw_i_clog2_open_states *o, uint64_t key) {
    if (2 * (o->used + 1) > o->slots) {
        struct hpcw_i_clog2_open_states larger = {.slots = o->slots == 0 ? 64 : 2 * o->slots, .used = o->used};
        larger.slot = hpcw_i_calloc(larger.slots, sizeof *larger.slot);
        if (larger.slot == NULL) {
            return NULL;
        }
        for (uint32_t i = 0; i < o->slots; i++) {
            if (o->slot[i].key != 0) {
                *slot_of(&larger, o->slot[i].key) = o->slot[i];
            }
        }
        hpcw_i_free(o->slot);
        *o = larger;
    }
    o->last = slot_of(o, key);
    o->used += o->last->key == 0;
    o->last->key = key;
    return &o->last->count;
}

uint64_t hpcw_i_clog2_open_total(const struct hpcw_i_clog2_open_states *o) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < o->slots; i++) {
        total += o->slot[i].count;
    }
    return total;
}

void hpcw_i_clog2_open_free(struct hpcw_i_clog2_open_states *o) {
    hpcw_i_free(o->slot);
}
