/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped formats and the template's. A program with this table is linked without gen/format/rows/table.c. */
#include "gen/format/format.h"

extern const struct gen_format gen_format_counter;

#define ROW(number, name) [GEN_FORMAT_##number] = &gen_format_##name,
const struct gen_format *const gen_format[] = {GEN_FORMAT_LIST(ROW)[GEN_FORMATS] = &gen_format_counter};
const size_t gen_format_count = sizeof gen_format / sizeof gen_format[0];
