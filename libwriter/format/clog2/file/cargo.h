/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: formats and cargo as lists of pieces. */
#ifndef HPCW_FORMAT_CLOG2_FILE_CARGO_H
#define HPCW_FORMAT_CLOG2_FILE_CARGO_H

#include <hpcw/clog2.h>

/* The pieces of a format, coded as in hpcw_clog2_cargo; those of NULL are none. Results as
 * hpcw_clog2_format_check. */
hpcw_status hpcw_i_clog2_format_pieces(const char *format, uint64_t *pieces, hpcw_error *err);

/* Whether a cargo is complete and has these pieces. */
hpcw_status hpcw_i_clog2_cargo_matches(const hpcw_clog2_cargo *cargo, uint64_t pieces, hpcw_error *err);

#endif
