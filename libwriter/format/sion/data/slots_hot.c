/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With many tasks, their own slots are small, but all of them together are far larger than any cache. A program
 * that writes task after task would leave a part in each slot, which later comes back from memory to be written.
 * Therefore a task begins with one of a few large *hot* slots, which it borrows. A thread that finds no free one
 * takes back the slot that it lent longest ago. If a program writes to all tasks in turn, many tasks return after
 * they lost their slot. Then hot slots are of no use, and from then on tasks begin with their own slots.
 *
 * A hot slot belongs to the thread that last wrote to its task (`writer`). Only that thread fills the slot or takes
 * it back without a lock. Another thread that writes to the task first becomes its writer, under the lock.
 */
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/data/slots.h"
#include "libwriter/io/sink.h"

enum {
    SHARE = 2, /* largest number of hot slots that a thread may hold */
    /* Hot slots end after this many returns of tasks that had lost their slot. */
    RETURNS = 2 * HPCW_I_SION_HOT_SLOTS,
    WORTH_A_WRITE = 4, /* bytes for 1/4 of a task's own slot or less are moved there, not written */
};

hpcw_status hpcw_i_sion_hot_new(struct hpcw_sion *h, hpcw_error *err) {
    h->hot.memory = hpcw_i_malloc((size_t)HPCW_I_SION_HOT_SLOTS * HPCW_I_SION_HOT_SLOT + HPCW_I_SION_PAGE);
    if (h->hot.memory == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, "buffers");
    }
    h->hot.taken = hpcw_i_calloc(h->options.count, sizeof *h->hot.taken);
    if (h->hot.taken == NULL) {
        return hpcw_i_fail_memory(err, h->path, 0, "buffers");
    }
    h->hot.bytes = hpcw_i_sion_page_in(h->hot.memory);
    for (uint32_t k = 0; k < HPCW_I_SION_HOT_SLOTS; k++) {
        h->hot.slot[k].task = UINT32_MAX;
    }
    atomic_store_explicit(&h->hot.lent, true, memory_order_relaxed);
    return HPCW_OK;
}

/* Returns a free hot slot, or the one that this thread lent longest ago if the thread holds SHARE of them or none
 * is free. Returns HPCW_I_SION_HOT_SLOTS if other threads hold all of them. */
static uint32_t choose_hot_slot(const struct hpcw_sion *h) {
    uint32_t free = HPCW_I_SION_HOT_SLOTS;
    uint32_t oldest = HPCW_I_SION_HOT_SLOTS;
    uint32_t mine = 0;
    for (uint32_t k = 0; k < HPCW_I_SION_HOT_SLOTS; k++) {
        if (h->hot.slot[k].task == UINT32_MAX) {
            free = k;
        } else if (atomic_load_explicit(&h->hot.slot[k].writer, memory_order_relaxed) == &hpcw_i_sion_me) {
            mine++;
            if (oldest == HPCW_I_SION_HOT_SLOTS || h->hot.slot[k].since < h->hot.slot[oldest].since) {
                oldest = k;
            }
        }
    }
    return mine < SHARE && free < HPCW_I_SION_HOT_SLOTS ? free : oldest;
}

/*
 * Moves a few bytes of task i from hot slot `k`, which the task has just lost, to the task's own slot. To write so
 * few bytes would cost more, most of all when a first round of records goes to thousands of tasks. Returns whether
 * the bytes were moved.
 */
static bool keep_waiting(struct hpcw_sion *h, uint32_t i, uint32_t k, size_t size) {
    if (size == 0) {
        return false;
    }
    struct hpcw_i_sion_cursor *c = &h->cursor[i];
    uint32_t room = hpcw_i_sion_slot_room(h, i, h->slots.size);
    if (size > h->slots.size / WORTH_A_WRITE || size >= room) {
        return false;
    }
    unsigned char *own = h->slots.bytes + i * h->slots.stride;
    memcpy(own, hpcw_i_sion_hot_bytes(h, k), size);
    c->to = own + size;
    c->room = room - (uint32_t)size;
    return true;
}

hpcw_status hpcw_i_sion_hot_lend(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    uint64_t at = 0;
    size_t size = 0;
    uint32_t k = HPCW_I_SION_HOT_SLOTS;
    (void)pthread_mutex_lock(&h->slots.lock);
    h->hot.returns += h->hot.taken[i];
    if (h->hot.returns > RETURNS) {
        atomic_store_explicit(&h->hot.lent, false, memory_order_relaxed);
    } else {
        k = choose_hot_slot(h);
    }
    if (k < HPCW_I_SION_HOT_SLOTS) {
        uint32_t last = h->hot.slot[k].task;
        if (last != UINT32_MAX) {
            size = hpcw_i_sion_buffered(h, last);
            h->hot.taken[last] = size > 0;
            if (keep_waiting(h, last, k, size)) {
                size = 0;
            } else {
                /* From here on only this thread handles the bytes in the slot. */
                sink = hpcw_i_sion_part_of(h, last)->sink;
                at = hpcw_i_sion_position(h, last, h->task[last].used);
                hpcw_i_sion_count_as_written(h, last, size);
            }
            atomic_store_explicit(&h->cursor[last].slot, 0, memory_order_release);
        }
        h->hot.slot[k].task = i;
        h->hot.slot[k].since = ++h->hot.clock;
        atomic_store_explicit(&h->hot.slot[k].writer, &hpcw_i_sion_me, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&h->slots.lock);
    if (k == HPCW_I_SION_HOT_SLOTS) {
        return HPCW_OK;
    }
    if (size > 0) {
        hpcw_error e;
        hpcw_status s = hpcw_sink_write_at(sink, at, hpcw_i_sion_hot_bytes(h, k), size, &e);
        if (s != HPCW_OK) {
            return hpcw_i_sion_break(h, s, &e, err);
        }
    }
    atomic_store_explicit(&h->cursor[i].slot, k + 1, memory_order_release);
    return HPCW_OK;
}

void hpcw_i_sion_hot_claim(struct hpcw_sion *h, uint32_t i) {
    uint32_t slot = atomic_load_explicit(&h->cursor[i].slot, memory_order_acquire);
    if (slot == 0 ||
        atomic_load_explicit(&h->hot.slot[slot - 1].writer, memory_order_relaxed) == &hpcw_i_sion_me) {
        return;
    }
    (void)pthread_mutex_lock(&h->slots.lock);
    slot = hpcw_i_sion_slot_of(h, i);
    if (slot != 0) {
        atomic_store_explicit(&h->hot.slot[slot - 1].writer, &hpcw_i_sion_me, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&h->slots.lock);
}
