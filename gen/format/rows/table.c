/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats. It has its own file, so that a program with another table can be linked without it. */
#include "gen/format/format.h"

#define ROW(number, name) [GEN_FORMAT_##number] = &gen_format_##name,
const struct gen_format *const gen_format[] = {GEN_FORMAT_LIST(ROW)};
const size_t gen_format_count = sizeof gen_format / sizeof gen_format[0];
