/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/definitions.h"

void hpcw_i_clog2_count_definitions(const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    uint32_t *states, uint32_t *solos) {
    *states = *solos = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool state = definition[i].kind == HPCW_CLOG2_STATE_DEF;
        *states += state && definition[i].number >= HPCW_CLOG2_USER_STATE;
        *solos += !state;
    }
}

void hpcw_i_clog2_spill_definition(struct hpcw_i_clog2_definition *definition) {
    *definition = (struct hpcw_i_clog2_definition){.kind = HPCW_CLOG2_STATE_DEF,
                                                   .number = HPCW_CLOG2_SPILL_STATE,
                                                   .colour = "maroon",
                                                   .name = "CLOG_Buffer_write2disk"};
}
