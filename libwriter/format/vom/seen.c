/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/vom/seen.h"

#include <string.h>

#include "libwriter/base/mem.h"

#define FIRST_SLOTS 16u
#define MOST_SLOTS (1u << 31)

/* Returns a bijection of x that spreads every bit over all others (the finaliser of MurmurHash3). */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

struct hpcw_i_seen_key hpcw_i_seen_number(uint64_t number) {
    return (struct hpcw_i_seen_key){.word = number, .part = (uint8_t)(mix(number) >> 56)};
}

struct hpcw_i_seen_key hpcw_i_seen_hash(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t word = mix(mix(mix(a + UINT64_C(0x9e3779b97f4a7c15)) + b) + c);
    uint64_t other = mix(mix(mix(c ^ UINT64_C(0xd1b54a32d192ed03)) + b) + a);
    return (struct hpcw_i_seen_key){.word = word, .part = (uint8_t)(other >> 56)};
}

/* Returns the slot of a word, or the free slot where it belongs. There is always a free slot. */
static uint32_t slot_of(const struct hpcw_i_seen_part *p, uint64_t word) {
    uint32_t slot = (uint32_t)mix(word) & (p->slots - 1);
    while (p->mark[slot] != 0 && p->word[slot] != word) {
        slot = (slot + 1) & (p->slots - 1);
    }
    return slot;
}

unsigned char hpcw_i_seen_get(const struct hpcw_i_seen *set, struct hpcw_i_seen_key key) {
    const struct hpcw_i_seen_part *p = &set->part[key.part];
    return p->slots == 0 ? 0 : p->mark[slot_of(p, key.word)];
}

static bool grow(struct hpcw_i_seen_part *p) {
    if (p->slots == MOST_SLOTS) {
        return false;
    }
    struct hpcw_i_seen_part larger = {.slots = p->slots == 0 ? FIRST_SLOTS : 2 * p->slots, .used = p->used};
    larger.word = hpcw_i_malloc(larger.slots * sizeof *larger.word);
    larger.mark = hpcw_i_calloc(larger.slots, sizeof *larger.mark);
    if (larger.word == NULL || larger.mark == NULL) {
        hpcw_i_free(larger.word);
        hpcw_i_free(larger.mark);
        return false;
    }
    for (uint32_t i = 0; i < p->slots; i++) {
        if (p->mark[i] != 0) {
            uint32_t slot = slot_of(&larger, p->word[i]);
            larger.word[slot] = p->word[i];
            larger.mark[slot] = p->mark[i];
        }
    }
    hpcw_i_free(p->word);
    hpcw_i_free(p->mark);
    *p = larger;
    return true;
}

bool hpcw_i_seen_reserve(struct hpcw_i_seen *set, struct hpcw_i_seen_key key) {
    struct hpcw_i_seen_part *p = &set->part[key.part];
    return p->used < p->slots / 4 * 3 || hpcw_i_seen_get(set, key) != 0 || grow(p);
}

void hpcw_i_seen_put(struct hpcw_i_seen *set, struct hpcw_i_seen_key key, unsigned char mark) {
    struct hpcw_i_seen_part *p = &set->part[key.part];
    uint32_t slot = slot_of(p, key.word);
    p->used += p->mark[slot] == 0;
    p->word[slot] = key.word;
    p->mark[slot] = mark;
}

uint64_t hpcw_i_seen_lowest(const struct hpcw_i_seen *set, unsigned char mark) {
    uint64_t lowest = UINT64_MAX;
    bool found = false;
    for (size_t k = 0; k < HPCW_I_SEEN_PARTS; k++) {
        const struct hpcw_i_seen_part *p = &set->part[k];
        for (uint32_t i = 0; i < p->slots; i++) {
            if (p->mark[i] == mark && p->word[i] <= lowest) {
                lowest = p->word[i];
                found = true;
            }
        }
    }
    return found ? lowest : 0;
}

void hpcw_i_seen_clear(struct hpcw_i_seen *set) {
    for (size_t k = 0; k < HPCW_I_SEEN_PARTS; k++) {
        struct hpcw_i_seen_part *p = &set->part[k];
        if (p->used > 0) {
            memset(p->mark, 0, p->slots);
            p->used = 0;
        }
    }
}

void hpcw_i_seen_free(struct hpcw_i_seen *set) {
    for (size_t k = 0; k < HPCW_I_SEEN_PARTS; k++) {
        hpcw_i_free(set->part[k].word);
        hpcw_i_free(set->part[k].mark);
    }
    *set = (struct hpcw_i_seen){0};
}
