/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped formats and the template's: a program with this table is linked without gen/format/table.c. */
#include "gen/format/format.h"

extern const struct gen_format gen_format_counter;

const struct gen_format *const gen_format[] = {
    [GEN_FORMAT_LINKTEST] = &gen_format_linktest,
    [GEN_FORMAT_SION] = &gen_format_sion,
    [GEN_FORMAT_VOM] = &gen_format_vom,
    [GEN_FORMAT_CLOG2] = &gen_format_clog2,
    [GEN_FORMAT_RANK2FILE] = &gen_format_rank2file,
    [GEN_FORMATS] = &gen_format_counter,
};
const size_t gen_format_count = sizeof gen_format / sizeof gen_format[0];
