/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/data/slots.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

/* Writes of large slots end at multiples of BOUNDARY bytes, as page caches keep whole large pages best. Writes of
 * smaller slots end at multiples of the slot's size. */
enum { BOUNDARY = 1 << 16 };

_Thread_local char hpcw_i_sion_me;

unsigned char *hpcw_i_sion_page_in(unsigned char *memory) {
    return memory + (HPCW_I_SION_PAGE - (uintptr_t)memory % HPCW_I_SION_PAGE) % HPCW_I_SION_PAGE;
}

unsigned char *hpcw_i_sion_slot_bytes(const struct hpcw_sion *h, uint32_t i) {
    uint32_t slot = hpcw_i_sion_slot_of(h, i);
    if (h->slots.pooled) {
        return h->slots.bytes + (slot - 1) * h->slots.stride;
    }
    return slot == 0 ? h->slots.bytes + i * h->slots.stride : hpcw_i_sion_hot_bytes(h, slot - 1);
}

uint32_t hpcw_i_sion_slot_room(const struct hpcw_sion *h, uint32_t i, uint64_t size) {
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t unit = size >= BOUNDARY ? BOUNDARY : size;
    uint64_t room = size - hpcw_i_sion_position(h, i, t->used) % unit;
    uint64_t left = hpcw_i_sion_usable(t) - t->used;
    return (uint32_t)(room < left ? room : left);
}

uint32_t hpcw_i_sion_buffered(const struct hpcw_sion *h, uint32_t i) {
    return h->cursor == NULL || h->cursor[i].to == NULL
               ? 0
               : (uint32_t)(h->cursor[i].to - hpcw_i_sion_slot_bytes(h, i));
}

void hpcw_i_sion_count_as_written(struct hpcw_sion *h, uint32_t i, size_t size) {
    h->task[i].used += size;
    if (h->cursor != NULL) {
        h->cursor[i].to = NULL;
        h->cursor[i].room = 0;
    }
}

hpcw_status hpcw_i_sion_write_with(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                                   hpcw_error *err) {
    hpcw_sink *sink = hpcw_i_sion_part_of(h, i)->sink;
    uint64_t at = hpcw_i_sion_position(h, i, h->task[i].used);
    size_t buffered = hpcw_i_sion_buffered(h, i);
    hpcw_error e;
    hpcw_status s;
    if (buffered == 0) {
        s = hpcw_sink_write_at(sink, at, data, size, &e);
    } else {
        struct hpcw_i_piece both[] = {{hpcw_i_sion_slot_bytes(h, i), buffered}, {data, size}};
        s = hpcw_i_sink_write(sink, at, both, 2, &e);
    }
    if (s != HPCW_OK) {
        return hpcw_i_sion_break(h, s, &e, err);
    }
    hpcw_i_sion_count_as_written(h, i, buffered + size);
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    return hpcw_i_sion_buffered(h, i) == 0 ? HPCW_OK : hpcw_i_sion_write_with(h, i, NULL, 0, err);
}

/* ------------------------------------------------------------------------------------------------------------
 *  The pool is used if there are more tasks than slots. A task that writes borrows a slot, and the slot lent
 *  longest ago is written out first. One lock covers the pool.
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_sion_pool_new(struct hpcw_sion *h, uint64_t slot, hpcw_error *err) {
    uint32_t count = h->options.count;
    uint64_t slots = h->options.buffer_size / slot;
    h->slots.pooled = true;
    h->slots.count = slots > count ? count : (uint32_t)slots;
    h->slots.owner = hpcw_i_calloc(h->slots.count, sizeof *h->slots.owner);
    return h->slots.owner == NULL ? hpcw_i_fail_memory(err, h->path, h->slots.count, "buffers") : HPCW_OK;
}

hpcw_status hpcw_i_sion_pool_borrow(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    if (hpcw_i_sion_slot_of(h, i) != 0) {
        return HPCW_OK;
    }
    uint32_t slot = h->slots.next;
    uint32_t owner = h->slots.owner[slot];
    if (owner != 0) {
        hpcw_status s = hpcw_i_sion_write_out(h, owner - 1, err);
        if (s != HPCW_OK) {
            return s;
        }
        atomic_store_explicit(&h->cursor[owner - 1].slot, 0, memory_order_relaxed);
    }
    h->slots.owner[slot] = i + 1;
    atomic_store_explicit(&h->cursor[i].slot, slot + 1, memory_order_relaxed);
    h->slots.next = slot + 1 == h->slots.count ? 0 : slot + 1;
    return HPCW_OK;
}
