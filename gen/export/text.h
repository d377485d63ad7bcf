/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of an export. The functions append to a buffer, and return false if memory runs out. */
#ifndef HPCW_GEN_EXPORT_TEXT_H
#define HPCW_GEN_EXPORT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/base/buf.h"

bool gen_export_u64(struct hpcw_i_buf *b, uint64_t value);
bool gen_export_f64(struct hpcw_i_buf *b, double value);

/* Appends a text in quotes. Quotes inside are doubled, as CSV requires. */
bool gen_export_quoted(struct hpcw_i_buf *b, const char *text);

/* Makes a text that all forms can quote: printable ASCII without quotes and backslashes. clean: [size]. */
void gen_export_clean(char *clean, const char *text, size_t size);

hpcw_status gen_export_no_memory(hpcw_error *err);

#endif
