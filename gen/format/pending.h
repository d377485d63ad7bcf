/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: file 0 of a set that several ranges write. Readers take a set with a file 0 for a finished one, so that file keeps
 * another name, below .hpcw, until the join.
 */
#ifndef HPCW_GEN_FORMAT_PENDING_H
#define HPCW_GEN_FORMAT_PENDING_H

#include "gen/format/format.h"

/* For gen_format.is_pending: unit 0, unless the range is the whole set. */
#define GEN_FIRST_IS_PENDING(begin, end, units, index) ((index) == 0 && ((begin) > 0 || (end) < (units)))

/* Opens the sinks of a range, file 0 under its pending name. `w` must outlive the writer. */
hpcw_sink_source gen_pending_source(const struct gen_write *w);

/* The name of a pending unit, below the dataset's directory. */
void gen_pending_name(const struct gen_format *format, uint64_t index, char name[GEN_UNIT_PATH]);

/* The path of the pending file 0, and whether it exists. */
void gen_pending_path(const struct gen_write *w, char *path, size_t size);
bool gen_pending_exists(const struct gen_write *w);

/* Gives it its final name. */
hpcw_status gen_pending_release(const struct gen_write *w, hpcw_error *err);

#endif
