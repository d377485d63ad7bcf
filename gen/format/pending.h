/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit 0 of a format that is written in ranges, until the join: see struct gen_format. Its file is below .hpcw. */
#ifndef HPCW_GEN_FORMAT_PENDING_H
#define HPCW_GEN_FORMAT_PENDING_H

#include "gen/format/format.h"

/* Whether unit `index`, written in this range, is pending. */
bool gen_is_pending(const struct gen_format *format, const struct gen_dataset *d, uint64_t begin, uint64_t end,
                    uint64_t index);

/* Opens the sinks of a range of a set: those of `outputs`; without them files, file 0 under its pending name unless the
 * range is the whole set. `w` must outlive the writer. */
hpcw_sink_source gen_set_source(const struct gen_write *w);

/* The name of a pending unit, below the dataset's directory. */
void gen_pending_name(const struct gen_format *format, uint64_t index, char name[GEN_UNIT_PATH]);

/* Whether this is the name in .hpcw of a pending unit. */
bool gen_is_pending_name(const struct gen_format *format, const char *name);

/* The path of the pending file 0, and whether it exists. HPCW_EEXIST: something else has its name. */
void gen_pending_path(const struct gen_write *w, char *path, size_t size);
hpcw_status gen_pending_look(const struct gen_write *w, bool *exists, hpcw_error *err);

/* Gives it its final name. */
hpcw_status gen_pending_release(const struct gen_write *w, hpcw_error *err);

/* The same, unless it has this name already: `complete` of a row. */
hpcw_status gen_pending_complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                                 uint64_t *changed, hpcw_error *err);

#endif
