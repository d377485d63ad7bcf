/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With more tasks than slots, the tasks that write borrow one, and the slot lent longest ago is written out first. One
 * lock covers all of it.
 */
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/data/slots.h"

hpcw_status hpcw_i_sion_pool_new(struct hpcw_sion *h, uint64_t slot, hpcw_error *err) {
    uint32_t count = h->options.count;
    uint64_t slots = h->options.buffer_size / slot;
    h->pooled = true;
    h->slot_count = slots > count ? count : (uint32_t)slots;
    h->slot_owner = hpcw_i_calloc(h->slot_count, sizeof *h->slot_owner);
    return h->slot_owner == NULL ? hpcw_i_fail_memory(err, h->path, h->slot_count, "buffers") : HPCW_OK;
}

hpcw_status hpcw_i_sion_pool_borrow(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    if (hpcw_i_sion_slot_of(h, i) != 0) {
        return HPCW_OK;
    }
    uint32_t slot = h->next_slot;
    uint32_t owner = h->slot_owner[slot];
    if (owner != 0) {
        hpcw_status s = hpcw_i_sion_write_out(h, owner - 1, err);
        if (s != HPCW_OK) {
            return s;
        }
        atomic_store_explicit(&h->cursor[owner - 1].slot, 0, memory_order_relaxed);
    }
    h->slot_owner[slot] = i + 1;
    atomic_store_explicit(&h->cursor[i].slot, slot + 1, memory_order_relaxed);
    h->next_slot = slot + 1 == h->slot_count ? 0 : slot + 1;
    return HPCW_OK;
}
