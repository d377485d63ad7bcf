/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats. In a file of its own, so that a program with its own table is linked without it. */
#include "gen/format/format.h"

/* In the order of `probe`: LinkTest results are SION containers, too. */
const struct gen_format *const gen_format[] = {
    [GEN_FORMAT_LINKTEST] = &gen_format_linktest,
    [GEN_FORMAT_SION] = &gen_format_sion,
    [GEN_FORMAT_VOM] = &gen_format_vom,
    [GEN_FORMAT_CLOG2] = &gen_format_clog2,
    [GEN_FORMAT_RANK2FILE] = &gen_format_rank2file,
};
const size_t gen_format_count = sizeof gen_format / sizeof gen_format[0];
