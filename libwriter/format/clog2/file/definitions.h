/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the states and events that a log defines. */
#ifndef HPCW_FORMAT_CLOG2_FILE_DEFINITIONS_H
#define HPCW_FORMAT_CLOG2_FILE_DEFINITIONS_H

#include <hpcw/clog2.h>

/* A definition. Local files store the same bytes. */
struct hpcw_i_clog2_definition {
    int32_t kind;   /* HPCW_CLOG2_STATE_DEF or HPCW_CLOG2_EVENT_DEF */
    int32_t number; /* of the state, or the event */
    char colour[HPCW_CLOG2_COLOUR + 1], name[HPCW_CLOG2_NAME + 1], format[HPCW_CLOG2_FORMAT + 1];
};

/* Counts the user states and solo events of a list. */
void hpcw_i_clog2_count_definitions(const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    uint32_t *states, uint32_t *solos);

/* The definition of the state that shows waiting for the disk. */
void hpcw_i_clog2_spill_definition(struct hpcw_i_clog2_definition *definition);

#endif
