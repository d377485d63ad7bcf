/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: names and colours, which are fields of fixed size in the file. */
#ifndef HPCW_FORMAT_CLOG2_FILE_TEXT_H
#define HPCW_FORMAT_CLOG2_FILE_TEXT_H

#include <stddef.h>

#include <hpcw/status.h>

/* Checks a text for a field of `room` bytes, NUL included: it is present, short enough, and without control
 * characters. */
hpcw_status hpcw_i_clog2_text_check(const char *what, const char *text, size_t room, hpcw_error *err);

#endif
