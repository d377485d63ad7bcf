/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots gather small writes until they are one large write. How a task gets a slot depends on the number of
 * tasks:
 *
 *   own slots    one per task, if the budget gives each at least HPCW_I_SION_SMALLEST_SLOT bytes. Writes to
 *                different tasks share nothing and take no lock.
 *   slots_hot.c  if own slots are small, a task begins with a large slot that it borrows
 *   pool         if there are more tasks than slots in the budget, all slots are borrowed
 *
 * slots.c has the pool and common functions; buffer.c chooses.
 */
#ifndef HPCW_FORMAT_SION_DATA_SLOTS_H
#define HPCW_FORMAT_SION_DATA_SLOTS_H

#include "libwriter/format/sion/handle/handle.h"

enum {
    HPCW_I_SION_SMALLEST_SLOT = 512,
    HPCW_I_SION_HOT_SLOT = 1 << 17,
    HPCW_I_SION_PAGE = 4096,
};

/* The address of this variable identifies the thread; its value is not used. With this TLS model, the address is
 * found without a call. */
extern _Thread_local char hpcw_i_sion_me __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns 1 + the number of the slot that a task has borrowed; 0: none. */
static inline uint32_t hpcw_i_sion_slot_of(const struct hpcw_sion *h, uint32_t i) {
    return atomic_load_explicit(&h->cursor[i].slot, memory_order_relaxed);
}

static inline unsigned char *hpcw_i_sion_hot_bytes(const struct hpcw_sion *h, uint32_t k) {
    return h->hot.bytes + k * (size_t)HPCW_I_SION_HOT_SLOT;
}

/* ---- slots.c ---- */

/* Returns the first whole page in `memory`, so that a record of 64 bytes is in one cache line. */
unsigned char *hpcw_i_sion_page_in(unsigned char *memory);

/* Returns the slot of a task that has one: its own, a hot one, or one of the pool. */
unsigned char *hpcw_i_sion_slot_bytes(const struct hpcw_sion *h, uint32_t i);

/* Returns how many bytes task i may put into an empty slot of `size` bytes until the slot must be written. */
uint32_t hpcw_i_sion_slot_room(const struct hpcw_sion *h, uint32_t i, uint64_t size);

/* Returns the bytes of own task i that wait in its slot. */
uint32_t hpcw_i_sion_buffered(const struct hpcw_sion *h, uint32_t i);

/* Adds `size` bytes that waited for task i to its written bytes. The slot of the task is then empty. */
void hpcw_i_sion_count_as_written(struct hpcw_sion *h, uint32_t i, size_t size);

/* Writes the bytes that wait in the slot of task i, and `size` bytes after them. */
hpcw_status hpcw_i_sion_write_with(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                   hpcw_error *err);

/* Writes the bytes that wait in the slot of task i, if there are any. */
hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

/* ---- slots_hot.c ---- */

hpcw_status hpcw_i_sion_hot_new(struct hpcw_sion *h, hpcw_error *err);

/* Lends task i a large slot, if one is available. The task must have no borrowed slot and nothing buffered. */
hpcw_status hpcw_i_sion_hot_lend(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

/* Makes this thread the writer of the large slot that own task i has borrowed, if there is one. */
void hpcw_i_sion_hot_claim(struct hpcw_sion *h, uint32_t i);

/* Makes the pool of slots that tasks borrow. */
hpcw_status hpcw_i_sion_pool_new(struct hpcw_sion *h, uint64_t slot, hpcw_error *err);

/* Gives task i a slot of the pool, unless it has one. */
hpcw_status hpcw_i_sion_pool_borrow(struct hpcw_sion *h, uint32_t i, hpcw_error *err);

#endif
