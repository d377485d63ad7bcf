/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4: file 0 of a set that several ranges write. The set reads as finished when its file 0 has its name, so
 * that file waits under another one until all ranges are there.
 */
#ifndef HPCW_GEN_FORMAT_WAITING_H
#define HPCW_GEN_FORMAT_WAITING_H

#include "gen/format/format.h"

/* For hpcw_i_format.waits: unit 0, unless the range is all there is. */
#define HPCW_I_FIRST_WAITS(begin, end, units, index) ((index) == 0 && ((begin) > 0 || (end) < (units)))

struct hpcw_i_waiting {
    const struct hpcw_i_write *write;
    const struct hpcw_i_format *format;
};

/* Where the sinks of a range come from: file 0 opens under its waiting name. `waiting` must outlive the writer.
 */
hpcw_sink_source hpcw_i_waiting_source(struct hpcw_i_waiting *waiting);

/* Where a unit is, below the dataset's directory, that only the join can finish. */
void hpcw_i_waiting_name(const struct hpcw_i_format *format, uint64_t index, char name[HPCW_I_UNIT_PATH]);

/* Path of the waiting file. */
void hpcw_i_waiting_path(const struct hpcw_i_write *write, const struct hpcw_i_format *format, char *path,
                         size_t size);

/* Whether it still waits. */
bool hpcw_i_waiting_is_there(const struct hpcw_i_write *write, const struct hpcw_i_format *format);

/* Gives it its name. */
hpcw_status hpcw_i_waiting_release(const struct hpcw_i_write *write, const struct hpcw_i_format *format,
                                   hpcw_error *err);

#endif
