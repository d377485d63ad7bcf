/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: what stands before the blocks and behind them (MPE2 2.4.9b, clog_preamble.c, clog_commset.c). */
#ifndef HPCW_FORMAT_CLOG2_PREAMBLE_H
#define HPCW_FORMAT_CLOG2_PREAMBLE_H

#include "libwriter/format/clog2/records.h"

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
