/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small writes become large ones.
 *
 * Each task has a slot of its own as long as the budget gives every task at least SMALLEST_SLOT bytes: then
 * writes to different tasks share nothing and take no lock. With more tasks than that, slots are lent to the
 * tasks that write, the one lent longest ago is written out first, and one lock covers all of it (`pooled`).
 *
 * Own slots are small where tasks are many, and all of them together are far larger than any cache: a program
 * that writes task after task would leave a piece in each, to be fetched from memory again at the end.
 * Therefore a task begins with one of a few large *hot* slots, and the thread that finds none free takes back
 * the one it lent longest ago. Once tasks come back whose slot was taken, as when a program writes to all of
 * them in turn, this cannot win any more; from then on tasks begin with their own slots.
 *
 * A hot slot belongs to the thread that last wrote to its task (`writer`): that thread alone fills it without
 * a lock or takes it back. A thread that comes to another's task takes the slot over, under the lock.
 */
#include <string.h>
#include <sys/mman.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/buffer.h"
#include "libwriter/io/sink.h"

enum {
    SMALLEST_SLOT = 512,
    LARGEST_SLOT = 1 << 18, /* larger ones fall out of the second-level cache before they are written out */
    POOLED_SLOT = 4096,
    LARGE_WRITE = 1 << 14,               /* is not worth a copy */
    SHARE = 2,                           /* hot slots that one thread may hold */
    RETURNS = 2 * HPCW_I_SION_HOT_SLOTS, /* so many tasks that came back end the hot slots */
    PAGE = 4096,
    LARGE_PAGE = 1 << 21,
    /* Writes end at multiples of this, or of the slot's size: page caches keep whole large pages best. */
    BOUNDARY = 1 << 16,
    /* Slots at multiples of a power of two would all fall into the same few cache sets. */
    SKEW = 192,
    WORTH_A_WRITE = 4, /* this part of a task's own slot */
    /* With less than this to spend there are no hot slots. */
    HOT_BUDGET = 16 << 20,
};

_Thread_local char hpcw_i_sion_me;

/* The first whole page in `memory`, so that records of 64 bytes lie in one cache line each. */
static unsigned char *page_in(unsigned char *memory) {
    return memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
}

static hpcw_status hot_new(struct hpcw_sion *h, hpcw_error *err) {
    h->hot_memory = hpcw_i_malloc((size_t)HPCW_I_SION_HOT_SLOTS * HPCW_I_SION_HOT_SLOT + PAGE);
    if (h->hot_memory == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for buffers", h->path);
    }
    h->hot_taken = hpcw_i_calloc(h->options.count, sizeof *h->hot_taken);
    if (h->hot_taken == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for buffers", h->path);
    }
    h->hot_bytes = page_in(h->hot_memory);
    for (uint32_t k = 0; k < HPCW_I_SION_HOT_SLOTS; k++) {
        h->hot[k].task = UINT32_MAX;
    }
    atomic_store_explicit(&h->hot_lent, true, memory_order_relaxed);
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_buffers_new(struct hpcw_sion *h, hpcw_error *err) {
    uint64_t budget = h->options.buffer_size;
    uint32_t count = h->options.count;
    if (count == 0 || budget < SMALLEST_SLOT) {
        return HPCW_OK;
    }
    h->cursor = hpcw_i_calloc(count, sizeof *h->cursor);
    if (h->cursor == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for buffers", h->path);
    }
    uint64_t slot = SMALLEST_SLOT;
    while (slot * 2 <= budget / count && slot < LARGEST_SLOT) {
        slot *= 2;
    }
    h->slot_count = count;
    if (budget / count < SMALLEST_SLOT) {
        h->pooled = true;
        slot = budget < POOLED_SLOT ? SMALLEST_SLOT : POOLED_SLOT;
        h->slot_count = budget / slot > count ? count : (uint32_t)(budget / slot);
        h->slot_owner = hpcw_i_calloc(h->slot_count, sizeof *h->slot_owner);
        if (h->slot_owner == NULL) {
            return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u buffers", h->path, h->slot_count);
        }
    }
    size_t stride = (size_t)slot + (slot >= PAGE ? SKEW : 0);
    size_t size = stride * h->slot_count + PAGE;
    /* Address space, not memory: pages come with the first write to a slot. */
    h->slot_memory = hpcw_i_malloc(size);
    if (h->slot_memory == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u buffers of %llu bytes", h->path,
                           h->slot_count, (unsigned long long)slot);
    }
    h->slots = page_in(h->slot_memory);
    if (size > 2 * (size_t)LARGE_PAGE) {
        /* Writes in turn to many slots touch as many pages; a hint, so whether it
     * is followed does not matter. */
        (void)madvise(h->slots, size - PAGE, MADV_HUGEPAGE);
    }
    h->slot_stride = stride;
    h->slot_size = (size_t)slot;
    h->direct_size = slot < LARGE_WRITE ? LARGE_WRITE : (size_t)slot;
    bool quick = !h->pooled && h->ranks == NULL && h->options.content != HPCW_SION_KEYVAL;
    atomic_store_explicit(&h->quick, quick ? count : 0, memory_order_relaxed);
    bool hot = !h->pooled && slot < HPCW_I_SION_HOT_SLOT && budget >= HOT_BUDGET;
    return hot ? hot_new(h, err) : HPCW_OK;
}

void hpcw_i_sion_buffers_free(struct hpcw_sion *h) {
    hpcw_i_free(h->cursor);
    hpcw_i_free(h->slot_memory);
    hpcw_i_free(h->slot_owner);
    hpcw_i_free(h->hot_memory);
    hpcw_i_free(h->hot_taken);
}

/* Remembers the first failure that the file cannot recover from. */
hpcw_status hpcw_i_sion_break(struct hpcw_sion *h, hpcw_status s, const hpcw_error *e, hpcw_error *err) {
    (void)pthread_mutex_lock(&h->failure_lock);
    if (!atomic_load_explicit(&h->broken, memory_order_relaxed)) {
        h->failure = *e;
        atomic_store_explicit(&h->broken, true, memory_order_release);
        atomic_store_explicit(&h->quick, 0, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&h->failure_lock);
    if (err != NULL) {
        *err = *e;
    }
    return s;
}

static uint32_t slot_of(const struct hpcw_sion *h, uint32_t i) {
    return atomic_load_explicit(&h->cursor[i].slot, memory_order_relaxed);
}

/* The slot of a task that has one: its own, a hot one, or one on loan. */
static unsigned char *bytes_of(const struct hpcw_sion *h, uint32_t i) {
    uint32_t slot = slot_of(h, i);
    if (h->pooled) {
        return h->slots + (slot - 1) * h->slot_stride;
    }
    return slot == 0 ? h->slots + i * h->slot_stride : h->hot_bytes + (slot - 1) * (size_t)HPCW_I_SION_HOT_SLOT;
}

uint32_t hpcw_i_sion_buffered(const struct hpcw_sion *h, uint32_t i) {
    return h->cursor == NULL || h->cursor[i].to == NULL ? 0 : (uint32_t)(h->cursor[i].to - bytes_of(h, i));
}

/* From here on `size` bytes that waited for task i are counted as written, and its buffer is empty. */
static void count_as_written(struct hpcw_sion *h, uint32_t i, size_t size) {
    h->task[i].used += size;
    if (h->cursor != NULL) {
        h->cursor[i].to = NULL;
        h->cursor[i].room = 0;
    }
}

/* Writes the buffer of task i and `size` bytes behind it. */
static hpcw_status write_with(struct hpcw_sion *h, uint32_t i, const void *data, size_t size, hpcw_error *err) {
    hpcw_sink *sink = hpcw_i_sion_part_of(h, i)->sink;
    uint64_t at = hpcw_i_sion_position(h, i, h->task[i].used);
    size_t buffered = hpcw_i_sion_buffered(h, i);
    hpcw_error e;
    hpcw_status s;
    if (buffered == 0) {
        s = hpcw_sink_write_at(sink, at, data, size, &e);
    } else {
        struct hpcw_i_piece both[] = {{bytes_of(h, i), buffered}, {data, size}};
        s = hpcw_i_sink_write(sink, at, both, 2, &e);
    }
    if (s != HPCW_OK) {
        return hpcw_i_sion_break(h, s, &e, err);
    }
    count_as_written(h, i, buffered + size);
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_write_out(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    return hpcw_i_sion_buffered(h, i) == 0 ? HPCW_OK : write_with(h, i, NULL, 0, err);
}

/* Pooled: makes sure that task i has a slot. */
static hpcw_status borrow_slot(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    if (slot_of(h, i) != 0) {
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

/*
 * A free hot slot, unless this thread has its share of them already; else the one that it lent longest ago.
 * HPCW_I_SION_HOT_SLOTS if there is neither, as others hold them all.
 */
static uint32_t choose_hot_slot(const struct hpcw_sion *h) {
    uint32_t free = HPCW_I_SION_HOT_SLOTS;
    uint32_t oldest = HPCW_I_SION_HOT_SLOTS;
    uint32_t mine = 0;
    for (uint32_t k = 0; k < HPCW_I_SION_HOT_SLOTS; k++) {
        if (h->hot[k].task == UINT32_MAX) {
            free = k;
        } else if (atomic_load_explicit(&h->hot[k].writer, memory_order_relaxed) == &hpcw_i_sion_me) {
            mine++;
            if (oldest == HPCW_I_SION_HOT_SLOTS || h->hot[k].since < h->hot[oldest].since) {
                oldest = k;
            }
        }
    }
    return mine < SHARE && free < HPCW_I_SION_HOT_SLOTS ? free : oldest;
}

/* Bytes that an empty slot of `size` bytes takes for task i before it is written out. */
static uint32_t room_in(const struct hpcw_sion *h, uint32_t i, uint64_t size) {
    const struct hpcw_i_sion_task *t = &h->task[i];
    uint64_t unit = size >= BOUNDARY ? BOUNDARY : size;
    uint64_t room = size - hpcw_i_sion_position(h, i, t->used) % unit;
    uint64_t left = t->chunk - t->used;
    return (uint32_t)(room < left ? room : left);
}

/*
 * Little that waits in hot slot `k`, which task i has just lost, goes on waiting in the task's own slot: a write of a
 * few bytes costs more than that, and most of all when a first round of records goes to thousands of tasks. Whether it
 * did.
 */
static bool keep_waiting(struct hpcw_sion *h, uint32_t i, uint32_t k, size_t size) {
    if (size == 0) {
        return false;
    }
    struct hpcw_i_sion_cursor *c = &h->cursor[i];
    uint32_t room = room_in(h, i, h->slot_size);
    if (size > h->slot_size / WORTH_A_WRITE || size >= room) {
        return false;
    }
    unsigned char *own = h->slots + i * h->slot_stride;
    memcpy(own, h->hot_bytes + k * (size_t)HPCW_I_SION_HOT_SLOT, size);
    c->to = own + size;
    c->room = room - (uint32_t)size;
    return true;
}

/* Task i has no slot and nothing buffered: lends it a hot one, if it can. */
static hpcw_status lend_hot_slot(struct hpcw_sion *h, uint32_t i, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    uint64_t at = 0;
    size_t size = 0;
    uint32_t k = HPCW_I_SION_HOT_SLOTS;
    (void)pthread_mutex_lock(&h->slot_lock);
    h->returns += h->hot_taken[i];
    if (h->returns > RETURNS) {
        atomic_store_explicit(&h->hot_lent, false, memory_order_relaxed);
    } else {
        k = choose_hot_slot(h);
    }
    if (k < HPCW_I_SION_HOT_SLOTS) {
        uint32_t last = h->hot[k].task;
        if (last != UINT32_MAX) {
            size = hpcw_i_sion_buffered(h, last);
            h->hot_taken[last] = size > 0;
            if (keep_waiting(h, last, k, size)) {
                size = 0;
            } else {
                /* From here on the bytes in the slot are this thread's affair. */
                sink = hpcw_i_sion_part_of(h, last)->sink;
                at = hpcw_i_sion_position(h, last, h->task[last].used);
                count_as_written(h, last, size);
            }
            atomic_store_explicit(&h->cursor[last].slot, 0, memory_order_release);
        }
        h->hot[k].task = i;
        h->hot[k].since = ++h->hot_clock;
        atomic_store_explicit(&h->hot[k].writer, &hpcw_i_sion_me, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&h->slot_lock);
    if (k == HPCW_I_SION_HOT_SLOTS) {
        return HPCW_OK;
    }
    if (size > 0) {
        hpcw_error e;
        hpcw_status s = hpcw_sink_write_at(sink, at, h->hot_bytes + k * (size_t)HPCW_I_SION_HOT_SLOT, size, &e);
        if (s != HPCW_OK) {
            return hpcw_i_sion_break(h, s, &e, err);
        }
    }
    atomic_store_explicit(&h->cursor[i].slot, k + 1, memory_order_release);
    return HPCW_OK;
}

void hpcw_i_sion_claim(struct hpcw_sion *h, uint32_t i) {
    if (h->pooled) {
        (void)pthread_mutex_lock(&h->slot_lock);
        return;
    }
    if (h->cursor == NULL) {
        return;
    }
    uint32_t slot = atomic_load_explicit(&h->cursor[i].slot, memory_order_acquire);
    if (slot != 0 && atomic_load_explicit(&h->hot[slot - 1].writer, memory_order_relaxed) != &hpcw_i_sion_me) {
        (void)pthread_mutex_lock(&h->slot_lock);
        slot = slot_of(h, i);
        if (slot != 0) {
            atomic_store_explicit(&h->hot[slot - 1].writer, &hpcw_i_sion_me, memory_order_relaxed);
        }
        (void)pthread_mutex_unlock(&h->slot_lock);
    }
}

void hpcw_i_sion_release(struct hpcw_sion *h) {
    if (h->pooled) {
        (void)pthread_mutex_unlock(&h->slot_lock);
    }
}

hpcw_status hpcw_i_sion_append(struct hpcw_sion *h, uint32_t i, const void *data, size_t size,
                               hpcw_error *err) {
    struct hpcw_i_sion_cursor *c = h->cursor == NULL ? NULL : &h->cursor[i];
    if (c == NULL || size >= h->direct_size || (size >= h->slot_size && size > c->room)) {
        return size == 0 ? HPCW_OK : write_with(h, i, data, size, err);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && size > 0) {
        if (c->to == NULL) {
            if (h->pooled) {
                s = borrow_slot(h, i, err);
            } else if (slot_of(h, i) == 0 && atomic_load_explicit(&h->hot_lent, memory_order_relaxed)) {
                s = lend_hot_slot(h, i, err);
            }
            if (s != HPCW_OK) {
                break;
            }
            c->to = bytes_of(h, i);
            c->room = room_in(h, i, !h->pooled && slot_of(h, i) != 0 ? HPCW_I_SION_HOT_SLOT : h->slot_size);
        }
        size_t n = size < c->room ? size : c->room;
        memcpy(c->to, data, n);
        c->to += n;
        c->room -= (uint32_t)n;
        data = (const unsigned char *)data + n;
        size -= n;
        if (size > 0) {
            s = hpcw_i_sion_write_out(h, i, err);
        }
    }
    return s;
}
