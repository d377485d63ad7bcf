/* SPDX-License-Identifier: BSD-3-Clause */
/* The states and events that a log defines, and the opening records of a rank. */
#ifndef HPCW_FORMAT_CLOG2_FILE_DEFINITIONS_H
#define HPCW_FORMAT_CLOG2_FILE_DEFINITIONS_H

#include <hpcw/clog2.h>

#include "libwriter/base/buf.h"

/* A definition of a state or event. Local files contain this struct as it is in memory. */
struct hpcw_i_clog2_definition {
    int32_t kind; /* HPCW_CLOG2_STATE_DEF or HPCW_CLOG2_EVENT_DEF */
    int32_t number;
    char colour[HPCW_CLOG2_COLOUR + 1], name[HPCW_CLOG2_NAME + 1], format[HPCW_CLOG2_FORMAT + 1];
};

/* Counts the user states and solo events of a list. */
void hpcw_i_clog2_count_definitions(const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    uint32_t *states, uint32_t *solos);

/* Appends the state that shows waits for the disk, unless the list has this state already. The list must have space
 * for one more definition. */
void hpcw_i_clog2_define_spill(struct hpcw_i_clog2_definition *definition, uint32_t *count);

/* Appends the records of a rank at time 0: its time shift, and its ranks in the world and in its own communicator.
 * For the first rank of the file, MPE's constants and all definitions follow. False: out of memory. */
bool hpcw_i_clog2_opening_records(struct hpcw_i_buf *to, uint32_t rank, bool first, double shift,
                                  const hpcw_clog2_comm_id *world, const hpcw_clog2_comm_id *self,
                                  const struct hpcw_i_clog2_definition *definition, uint32_t count);

/* Returns whether a cargo has the pieces of a format. Cargo that the caller packed only needs enough bytes. */
bool hpcw_i_clog2_cargo_fits(uint64_t pieces, const unsigned char bytes[HPCW_CLOG2_CARGO], uint64_t format);

/* Gets the types of the pieces of a format, coded as in hpcw_clog2_cargo; 0 if `format` is NULL. Fails like
 * hpcw_clog2_format_check. */
hpcw_status hpcw_i_clog2_format_pieces(const char *format, uint64_t *pieces, hpcw_error *err);

#endif
