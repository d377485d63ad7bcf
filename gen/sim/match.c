/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/match.h"

#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

/* No result depends on these numbers.
 *
 *    CACHE_LINE      bytes of a cache line of the usual processors, and of an item
 *    FIRST_CAPACITY  number of items that the first memory has room for: 64 KiB
 *    LARGE_PAGE      bytes from which memory is taken in large pages, which have this size on x86 */
enum { CACHE_LINE = 64, FIRST_CAPACITY = 1024, LARGE_PAGE = 2 << 20 };
_Static_assert(sizeof(struct sim_half) == CACHE_LINE && sizeof(struct sim_pair) == CACHE_LINE, "a line each");

/* As hpcw_i_grow, for items of one cache line each, in large pages, since a run accesses the items in random
 * order. */
static void *grow_lines(void *items, size_t *capacity, size_t least) {
    if (least <= *capacity) {
        return items;
    }
    const size_t more = *capacity > 0 ? 2 * *capacity : FIRST_CAPACITY;
    const size_t bytes = more * CACHE_LINE;
    void *grown = bytes < LARGE_PAGE ? hpcw_i_malloc_aligned(CACHE_LINE, bytes) : hpcw_i_malloc_large(bytes);
    if (grown == NULL) {
        return NULL;
    }
    if (*capacity > 0) {
        memcpy(grown, items, *capacity * CACHE_LINE);
    }
    hpcw_i_free(items);
    *capacity = more;
    return grown;
}

void sim_match_init(struct sim_match *m, uint32_t most) {
    *m = (struct sim_match){
        .unused = SIM_NOTHING, .most = most, .number = {.key_words = 1, .value_size = sizeof(uint32_t)}};
    sim_mail_init(&m->mail);
}

void sim_match_free(struct sim_match *m) {
    hpcw_i_free(m->half);
    hpcw_i_free(m->pair);
    hpcw_i_free(m->next_in);
    hpcw_i_table_free(&m->number);
    sim_mail_free(&m->mail);
}

uint32_t sim_match_pair(struct sim_match *m, uint32_t from, uint32_t to) {
    const uint64_t key = (uint64_t)from << 32 | to;
    const uint32_t *known = hpcw_i_table_find(&m->number, &key);
    if (known != NULL) {
        return *known;
    }
    const size_t pairs = m->pairs + (size_t)1;
    struct sim_pair *grown = grow_lines(m->pair, &m->pair_capacity, pairs);
    m->pair = grown != NULL ? grown : m->pair;
    uint32_t *next_in = hpcw_i_grow(m->next_in, &m->next_in_capacity, pairs, sizeof *next_in);
    m->next_in = next_in != NULL ? next_in : m->next_in;
    uint32_t *number = grown != NULL && next_in != NULL ? hpcw_i_table_add(&m->number, &key, NULL) : NULL;
    if (number == NULL) {
        return SIM_NOTHING;
    }
    *number = m->pairs++;
    next_in[*number] = SIM_NOTHING;
    grown[*number] = (struct sim_pair){
        .from = from, .to = to, .message = {SIM_NOTHING, SIM_NOTHING}, .receive = {SIM_NOTHING, SIM_NOTHING}};
    return *number;
}

uint32_t sim_partners_search(const struct sim_partners *p, uint32_t rank) {
    uint32_t low = 0;
    uint32_t high = p->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->list[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool sim_partners_add(struct sim_partners *p, uint32_t rank, uint32_t pair) {
    struct sim_partner *grown = hpcw_i_grow(p->list, &p->capacity, p->count + (size_t)1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    p->list = grown;
    const uint32_t at = sim_partners_search(p, rank);
    memmove(grown + at + 1, grown + at, (p->count - at) * sizeof *grown);
    grown[at] = (struct sim_partner){rank, pair};
    p->count++;
    p->next = at + 1;
    return true;
}

bool sim_match_grow(struct sim_match *m) {
    if (m->count == m->most) {
        return false;
    }
    struct sim_half *grown = grow_lines(m->half, &m->capacity, m->count + (size_t)1);
    if (grown == NULL) {
        return false;
    }
    m->half = grown;
    m->unused = m->count++;
    grown[m->unused] = (struct sim_half){.next = SIM_NOTHING};
    return true;
}
