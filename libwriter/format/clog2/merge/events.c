/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/stream.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/definitions.h"

hpcw_status hpcw_i_clog2_events_make(struct hpcw_i_clog2_events *events,
                                     const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                     hpcw_error *err) {
    int32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t last = definition[i].number;
        last = definition[i].kind == HPCW_CLOG2_STATE_DEF ? 2 * last + 1 : last;
        end = last >= end ? last + 1 : end;
    }
    events->end = end;
    events->role = hpcw_i_calloc((size_t)end + 1, sizeof *events->role);
    events->pieces = hpcw_i_calloc((size_t)end + 1, sizeof *events->pieces);
    if (events->role == NULL || events->pieces == NULL) {
        return hpcw_i_fail_memory(err, "clog2", (uint64_t)end, "events");
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct hpcw_i_clog2_definition *d = &definition[i];
        uint64_t pieces;
        hpcw_status s = hpcw_i_clog2_format_pieces(d->format, &pieces, err);
        if (s != HPCW_OK) {
            return s;
        }
        bool state = d->kind == HPCW_CLOG2_STATE_DEF;
        int32_t first = state ? 2 * d->number : d->number;
        for (int32_t e = first; e <= first + (state ? 1 : 0); e++) {
            events->role[e] = !state ? HPCW_I_CLOG2_SOLO : e == first ? HPCW_I_CLOG2_STARTS : HPCW_I_CLOG2_ENDS;
            events->pieces[e] = pieces;
        }
    }
    return HPCW_OK;
}

void hpcw_i_clog2_events_free(struct hpcw_i_clog2_events *events) {
    hpcw_i_free(events->role);
    hpcw_i_free(events->pieces);
}
