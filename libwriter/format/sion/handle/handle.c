/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/handle/handle.h"

#include "libwriter/base/array.h"

uint32_t hpcw_i_sion_index(const struct hpcw_sion *h, uint32_t rank) {
    uint32_t count = h->options.count;
    if (h->ranks != NULL) {
        return hpcw_i_find_ascending(h->ranks, count, rank);
    }
    uint32_t i = rank - h->placement.first; /* wraps to a large number if the rank is below the first */
    return i < count ? i : UINT32_MAX;
}

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
