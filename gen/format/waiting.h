/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: file 0 of a set that several ranges write. The set reads as finished when its file 0 has its name, so
 * that file waits under another one until all ranges are there.
 */
#ifndef HPCW_GEN_FORMAT_WAITING_H
#define HPCW_GEN_FORMAT_WAITING_H

#include "gen/format/format.h"

/* For gen_format.waits: unit 0, unless the range is all there is. */
#define GEN_FIRST_WAITS(begin, end, units, index) ((index) == 0 && ((begin) > 0 || (end) < (units)))

struct gen_waiting {
    const struct gen_write *write;
    const struct gen_format *format;
};

/* Where the sinks of a range come from: file 0 opens under its waiting name. `waiting` must outlive the writer.
 */
hpcw_sink_source gen_waiting_source(struct gen_waiting *waiting);

/* Where a unit is, below the dataset's directory, that only the join can finish. */
void gen_waiting_name(const struct gen_format *format, uint64_t index, char name[GEN_UNIT_PATH]);

/* Path of the waiting file. */
void gen_waiting_path(const struct gen_write *write, const struct gen_format *format, char *path, size_t size);

/* Whether it still waits. */
bool gen_waiting_is_there(const struct gen_write *write, const struct gen_format *format);

/* Gives it its name. */
hpcw_status gen_waiting_release(const struct gen_write *write, const struct gen_format *format,
                                hpcw_error *err);

#endif
