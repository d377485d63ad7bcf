/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to the VOM reader: the entities of a phase. Tasks and end points of communications arrive in any order
 * and from any rank. Each id has one entry. It holds the fields of its task, or until the task arrives, those that
 * communications claim.
 */
#ifndef HPCW_LIBREADER_VOM_RULES_IDS_H
#define HPCW_LIBREADER_VOM_RULES_IDS_H

#include "libreader/vom/vom.h"
#include "libwriter/base/table.h"

/* ---- The entities of a phase ---------------------------------------------------------------------------- */

struct read_vom_ids {
    struct hpcw_i_table by_id, by_seq_id; /* entries of all entities */
    struct hpcw_i_table elements;         /* (collection, index) of all elements */
};

void read_vom_ids_init(struct read_vom_ids *ids);
void read_vom_ids_clear(struct read_vom_ids *ids);
void read_vom_ids_free(struct read_vom_ids *ids);
size_t read_vom_ids_bytes(const struct read_vom_ids *ids);

/* Adds a task of `rank` that `reader` has read; not id 0. */
hpcw_status read_vom_ids_task(struct read_vom_ids *ids, const struct read_vom *reader,
                              const struct read_vom_task *task, uint32_t rank, hpcw_error *err);

/* Adds an object at an end ("from" or "to") of a communication in the file of `rank`; not id 0. `here`: it must be
 * a task of that rank. */
hpcw_status read_vom_ids_end(struct read_vom_ids *ids, const struct read_vom *reader,
                             const struct read_vom_communication *c, const struct read_vom_entity *e,
                             const char *end, bool here, uint32_t rank, hpcw_error *err);

/* The first end point, by rank and offset, that is no task. Without `whole`, only end points that must be a task
 * of the rank naming them count. */
struct read_vom_dangling {
    bool found;
    bool here;
    bool seq;
    uint64_t id;
    uint32_t rank;
    uint64_t communication, offset;
};
void read_vom_ids_dangling(const struct read_vom_ids *ids, bool whole, struct read_vom_dangling *d);

#endif
