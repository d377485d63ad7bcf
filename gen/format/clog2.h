/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the CLOG-2 row. */
#ifndef HPCW_GEN_FORMAT_CLOG2_H
#define HPCW_GEN_FORMAT_CLOG2_H

#include "gen/format/format.h"

#define GEN_CLOG2_PATH "clog2/app.clog2"

/* For `write` of the row: one process simulates and writes, the others have nothing to do. */
hpcw_status gen_clog2_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

#endif
