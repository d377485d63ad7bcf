/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of an export. Appends to a buffer; false when memory runs out. */
#ifndef HPCW_GEN_EXPORT_TEXT_H
#define HPCW_GEN_EXPORT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/base/buf.h"

bool gen_export_u64(struct hpcw_i_buf *b, uint64_t value);
bool gen_export_f64(struct hpcw_i_buf *b, double value);

/* In quotes, with the quotes inside doubled, as CSV wants it. */
bool gen_export_quoted(struct hpcw_i_buf *b, const char *text);

/* A text as all forms can quote it: printable ASCII, without quotes and backslashes. clean: [size]. */
void gen_export_clean(char *clean, const char *text, size_t size);

/* HPCW_ENOMEM, with its message. */
hpcw_status gen_export_no_memory(hpcw_error *err);

#endif
