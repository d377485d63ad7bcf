/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots that small writes wait in until they are one large write. What a task has depends on their number:
 *
 *   own slots     one per task, as long as the budget gives every task at least HPCW_I_SION_SMALLEST_SLOT bytes.
 *   Writes to
 *                 different tasks share nothing and take no lock.
 *   slots_hot.c   with own slots that are small, a task begins with a large one that it borrows
 *   pool          with more tasks than the budget has slots, all slots are borrowed
 *
 * slots.c has the pool and what all share; buffer.c chooses.
 */
#ifndef HPCW_FORMAT_SION_DATA_SLOTS_H
#define HPCW_FORMAT_SION_DATA_SLOTS_H

#include "libwriter/format/sion/handle/handle.h"

enum {
    HPCW_I_SION_SMALLEST_SLOT = 512,
    HPCW_I_SION_HOT_SLOT = 1 << 17,
    HPCW_I_SION_PAGE = 4096,
};

/* Its address tells threads apart; it holds nothing. The model spares every record a call to find it. */
extern _Thread_local char hpcw_i_sion_me __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The borrowed slot of a task, 1 + its number; 0: none. */
static inline uint32_t hpcw_i_sion_slot_of(const struct hpcw_sion *h, uint32_t i) {
    return atomic_load_explicit(&h->cursor[i].slot, memory_order_relaxed);
}

static inline unsigned char *hpcw_i_sion_hot_bytes(const struct hpcw_sion *h, uint32_t k) {
    return h->hot_bytes + k * (size_t)HPCW_I_SION_HOT_SLOT;
}

/* ---- slots.c ---- */

/* The first whole page in `memory`, so that records of 64 bytes lie in one cache line each. */
unsigned char *hpcw_i_sion_page_in(unsigned char *memory);

/* The slot of a task that has one: its own, a hot one, or one of the pool. */
unsigned char *hpcw_i_sion_slot_bytes(const struct hpcw_sion *h, uint32_t i);

/* Bytes that an empty slot of `size` bytes takes for task i before it is written out. */
uint32_t hpcw_i_sion_slot_room(const struct hpcw_sion *h, uint32_t i, uint64_t size);

/* Bytes of own task i that wait in its slot. */
uint32_t hpcw_i_sion_buffered(const struct hpcw_sion *h, uint32_t i);

/* From here on `size` bytes that waited for task i count as written, and its slot is empty. */
void hpcw_i_sion_count_as_written(struct hpcw_sion *h, uint32_t i, size_t size);

/* Writes what waits in the slot of task i, and `size` bytes after it. */
hpcw_status hpcw_i_sion_write_with(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                   hpcw_error *err);

/* Writes what waits in the slot of task i, if anything does. */
hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

/* ---- slots_hot.c ---- */

hpcw_status hpcw_i_sion_hot_new(struct hpcw_sion *h, hpcw_error *err);

/* Task i has no slot and nothing buffered: lends it a hot one, if it can. */
hpcw_status hpcw_i_sion_hot_lend(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

/* Makes the hot slot of own task i this thread's, if the task has one. */
void hpcw_i_sion_hot_claim(struct hpcw_sion *h, uint32_t i);

/* The pool. */
hpcw_status hpcw_i_sion_pool_new(struct hpcw_sion *h, uint64_t slot, hpcw_error *err);

/* Makes sure that task i has a slot. */
hpcw_status hpcw_i_sion_pool_borrow(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

#endif
