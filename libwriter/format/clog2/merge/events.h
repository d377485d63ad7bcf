/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what an event number means in a log. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_EVENTS_H
#define HPCW_FORMAT_CLOG2_MERGE_EVENTS_H

#include "libwriter/format/clog2/file/definitions.h"

struct hpcw_i_clog2_events {
    uint32_t ranks;
    int32_t end;      /* all events are below this */
    uint8_t *role;    /* [end] */
    uint64_t *pieces; /* [end] coded format of the cargo */
};

/* Role of an event. */
enum { HPCW_I_CLOG2_NO_EVENT, HPCW_I_CLOG2_STARTS, HPCW_I_CLOG2_ENDS, HPCW_I_CLOG2_SOLO };

hpcw_status hpcw_i_clog2_events_make(struct hpcw_i_clog2_events *e,
                                     const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                     hpcw_error *err);
void hpcw_i_clog2_events_free(struct hpcw_i_clog2_events *e);

static inline uint32_t hpcw_i_clog2_role(const struct hpcw_i_clog2_events *t, int32_t event) {
    return event >= 0 && event < t->end ? t->role[event] : HPCW_I_CLOG2_NO_EVENT;
}

#endif
