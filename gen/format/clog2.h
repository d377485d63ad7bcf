/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the format CLOG-2 that are defined outside of its row in the table of formats. */
#ifndef HPCW_GEN_FORMAT_CLOG2_H
#define HPCW_GEN_FORMAT_CLOG2_H

#include "gen/format/format.h"

#define GEN_CLOG2_PATH "clog2/app.clog2"

/* The member `write` of the format. One process simulates and writes; the others have nothing to do. */
hpcw_status gen_clog2_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err);

#endif
