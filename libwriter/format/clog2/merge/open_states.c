/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/open_states.h"

#include <stdbool.h>
#include <stddef.h>

#include "libwriter/base/mem.h"

static uint32_t *count_of(const struct hpcw_i_clog2_open_states *o, uint64_t key) {
    for (uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (o->slots - 1);;
         i = (i + 1) & (o->slots - 1)) {
        if (o->key[i] == key) {
            return &o->count[i];
        }
        if (o->key[i] == 0) {
            o->key[i] = key;
            return NULL;
        }
    }
}

uint32_t *hpcw_i_clog2_open_find(struct hpcw_i_clog2_open_states *o, uint64_t key) {
    if (2 * (o->used + 1) > o->slots) {
        struct hpcw_i_clog2_open_states larger = {.slots = o->slots == 0 ? 64 : 2 * o->slots, .used = o->used};
        larger.key = hpcw_i_calloc(larger.slots, sizeof *larger.key);
        larger.count = hpcw_i_calloc(larger.slots, sizeof *larger.count);
        if (larger.key == NULL || larger.count == NULL) {
            hpcw_i_free(larger.key);
            hpcw_i_free(larger.count);
            return NULL;
        }
        for (uint32_t i = 0; i < o->slots; i++) {
            if (o->key[i] != 0) {
                (void)count_of(&larger, o->key[i]);
                *count_of(&larger, o->key[i]) = o->count[i];
            }
        }
        hpcw_i_free(o->key);
        hpcw_i_free(o->count);
        *o = larger;
    }
    uint32_t *count = count_of(o, key);
    if (count == NULL) {
        o->used++;
        count = count_of(o, key);
    }
    o->last_key = key;
    o->last = count;
    return count;
}

uint64_t hpcw_i_clog2_open_total(const struct hpcw_i_clog2_open_states *o) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < o->slots; i++) {
        total += o->count[i];
    }
    return total;
}

void hpcw_i_clog2_open_free(struct hpcw_i_clog2_open_states *o) {
    hpcw_i_free(o->key);
    hpcw_i_free(o->count);
}
