/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts drawables (complete states, solo events and messages), and finds equal ones. Also has the memory for
 * open messages. */
#include <inttypes.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/array.h"

uint32_t read_clog2_open_grow(struct read_clog2_pass *p) {
    struct read_clog2_open *grown =
        p->unmet.ends == UINT32_MAX
            ? NULL
            : hpcw_i_grow(p->unmet.end, &p->unmet.capacity, (size_t)p->unmet.ends + 1, sizeof *grown);
    if (grown == NULL) {
        read_clog2_no_memory(p);
        return 0;
    }
    p->unmet.end = grown;
    return ++p->unmet.ends;
}

void read_clog2_amount_put(struct read_clog2_pass *p, struct hpcw_i_table *profile, int64_t first,
                           int64_t second, int32_t bytes, double seconds) {
    const uint64_t key[] = {(uint64_t)first, (uint64_t)second};
    struct read_clog2_amount *v = read_clog2_add(p, profile, key);
    if (v != NULL) {
        v->count++;
        v->bytes += bytes > 0 ? (uint64_t)bytes : 0;
        v->seconds += seconds;
    }
}

/* Reports two equal drawables: doc/formats/clog2.md#clog2-19. */
void read_clog2_equal(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    read_clog2_found(p, READ_CLOG2_EQUAL, item->offset,
                     "expected another place or time than the one before, got %.9f s again, on rank %" PRId32
                     " of communicator %" PRId32,
                     item->time, item->rank, item->comm);
}

/* Looks for equal drawables. Drawables can only be equal if they end at the same time. So only the keys of
 * drawables that ended at the latest time are kept. */
void read_clog2_complete(struct read_clog2_pass *p, const struct read_clog2_item *item,
                         uint64_t (*key)[HPCW_I_TABLE_KEY], uint32_t count) {
    bool fresh = true;
    if (p->latest.drawables.count > 0 && item->time != p->latest.time) {
        hpcw_i_table_clear(&p->latest.drawables);
    }
    p->latest.time = item->time;
    for (uint32_t i = 0; i < count; i++) {
        if (hpcw_i_table_add(&p->latest.drawables, key[i], &fresh) == NULL) {
            read_clog2_no_memory(p);
            return;
        }
    }
    if (!fresh) {
        read_clog2_equal(p, item);
    }
}
