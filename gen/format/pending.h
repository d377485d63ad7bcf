/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending unit 0 of a format: if a dataset is written in several ranges, this file has a temporary name below
 * .hpcw until they are joined. See struct gen_format. */
#ifndef HPCW_GEN_FORMAT_PENDING_H
#define HPCW_GEN_FORMAT_PENDING_H

#include "gen/format/format.h"

/* Returns whether unit `index` is pending if the range [begin, end) writes it. */
bool gen_is_pending(const struct gen_format *format, const struct gen_dataset *d, uint64_t begin, uint64_t end,
                    uint64_t index);

/* Returns the source of sinks for a range of a set. Unless the range is the whole set, file 0 gets its pending
 * name. `w` must outlive the writer. */
hpcw_sink_source gen_set_source(const struct gen_write *w);

/* Writes the name of a pending unit, relative to the dataset's directory. */
void gen_pending_name(const struct gen_format *format, uint64_t index, char name[GEN_UNIT_PATH]);

/* Returns whether a name in the directory .hpcw is that of a pending unit. */
bool gen_is_pending_name(const struct gen_format *format, const char *name);

/* gen_pending_path: writes the path of the pending file 0. gen_pending_look: finds whether this file exists.
 * HPCW_EEXIST: something else has the name. */
void gen_pending_path(const struct gen_write *w, char *path, size_t size);
hpcw_status gen_pending_look(const struct gen_write *w, bool *exists, hpcw_error *err);

/* Renames the pending file to its final name. */
hpcw_status gen_pending_release(const struct gen_write *w, hpcw_error *err);

/* The member `complete` of formats that only rename the pending file. If the file has its final name already,
 * does nothing. */
hpcw_status gen_pending_complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                                 uint64_t *changed, hpcw_error *err);

#endif
