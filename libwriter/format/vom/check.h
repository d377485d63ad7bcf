/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the values of a record, also against the options of the file (doc/formats/vom.md, "Rules"). The functions
 * have no state and do no I/O. */
#ifndef HPCW_FORMAT_VOM_CHECK_H
#define HPCW_FORMAT_VOM_CHECK_H

#include <hpcw/vom.h>

/* The place of a record in the file, for messages, and the options that the record is checked with. */
struct hpcw_i_vom_place {
    const char *path;
    const hpcw_vom_options *options;
    const char *what; /* "task", "edge"; NULL before the first phase */
    uint64_t phase;
    uint64_t number; /* number of the record among those of its kind in the phase, from 0 */
};

/* Fails like hpcw_i_fail, with the place of the record before the message. */
hpcw_status hpcw_i_vom_refuse(const struct hpcw_i_vom_place *place, hpcw_error *err, hpcw_status code,
                              const char *fmt, ...) HPCW_PRINTF(4, 5);

/* Returns whether a name ends in ".br". */
bool hpcw_i_vom_is_br(const char *name);

/* Checks the options of a data file, with what their pointers point to. */
hpcw_status hpcw_i_vom_check_options(const char *path, const hpcw_vom_options *options, hpcw_error *err);

/* Checks the options that data files and statistics files have in common. */
hpcw_status hpcw_i_vom_check_output(const char *path, const hpcw_vom_options *options, hpcw_error *err);

hpcw_status hpcw_i_vom_check_task(const struct hpcw_i_vom_place *place, const hpcw_vom_task *task,
                                  hpcw_error *err);
hpcw_status hpcw_i_vom_check_edge(const struct hpcw_i_vom_place *place, const hpcw_vom_edge *edge,
                                  hpcw_error *err);

/* Kinds of named values. Each value has a key, no key comes twice, and JSON has a form for each value. */
enum hpcw_i_vom_values {
    HPCW_I_VOM_ATTRIBUTES, /* integers of 32 bits */
    HPCW_I_VOM_TASK_VALUES,
    HPCW_I_VOM_PHASE_VALUES,
};
hpcw_status hpcw_i_vom_check_values(const struct hpcw_i_vom_place *place, enum hpcw_i_vom_values kind,
                                    const hpcw_vom_value *values, size_t count, hpcw_error *err);

/* ---- Edges ----------------------------------------------------------------------------------------------- */

enum hpcw_i_vom_end { HPCW_I_VOM_OBJECT, HPCW_I_VOM_NODE, HPCW_I_VOM_SHARED };

struct hpcw_i_vom_category {
    const char *name; /* NULL: this category is never in a file */
    enum hpcw_i_vom_end from, to;
};

#define HPCW_I_VOM_CATEGORIES 11
extern const struct hpcw_i_vom_category hpcw_i_vom_categories[HPCW_I_VOM_CATEGORIES];

/* Returns the sender or receiver whose rank records the edge. NULL if the two do not determine this rank. */
const hpcw_vom_entity *hpcw_i_vom_recorder(const hpcw_vom_edge *edge);

/* Returns the id of an entity. If the entity has a seq_id, makes the id from it as vt does. */
uint64_t hpcw_i_vom_id_of(const hpcw_vom_entity *entity);

#endif
