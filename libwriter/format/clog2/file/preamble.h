/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what comes before and after the blocks (doc/formats/clog2.md, "Preamble" and "Communicators"). */
#ifndef HPCW_FORMAT_CLOG2_FILE_PREAMBLE_H
#define HPCW_FORMAT_CLOG2_FILE_PREAMBLE_H

#include "libwriter/format/clog2/file/records.h"

enum {
    HPCW_I_CLOG2_PREAMBLE = 1024,
    HPCW_I_CLOG2_ENTRY = 40 /* of the table of communicators */
};

/* The preamble of a finished log; `table` is the offset of the table of communicators. */
void hpcw_i_clog2_preamble(const hpcw_clog2_options *options, uint64_t table,
                           unsigned char bytes[HPCW_I_CLOG2_PREAMBLE]);

/* One entry of the table, whose first four bytes are the number of entries. */
void hpcw_i_clog2_encode_entry(const hpcw_clog2_comm_entry *entry, unsigned char p[HPCW_I_CLOG2_ENTRY]);

#endif
