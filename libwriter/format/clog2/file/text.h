/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: names and colours, which are fields of fixed size in the file. */
#ifndef HPCW_FORMAT_CLOG2_FILE_TEXT_H
#define HPCW_FORMAT_CLOG2_FILE_TEXT_H

#include <stddef.h>

#include <hpcw/status.h>

/* A text for a field of `room` bytes, NUL included: present, short enough, printable ASCII or UTF-8. */
hpcw_status hpcw_i_clog2_text_check(const char *what, const char *text, size_t room, hpcw_error *err);

#endif
