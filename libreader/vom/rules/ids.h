/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: the entities of a phase. Tasks and end points of communications arrive in any order
 * and from any rank. Each id has one entry. The entry holds the fields of the entity's task. Until the task
 * arrives, it holds the fields that communications give for the entity. */
#ifndef HPCW_LIBREADER_VOM_RULES_IDS_H
#define HPCW_LIBREADER_VOM_RULES_IDS_H

#include "libreader/vom/vom.h"
#include "libwriter/base/table.h"

/* ---- The entities of a phase ---------------------------------------------------------------------------- */

struct read_vom_ids {
    struct hpcw_i_table by_id, by_seq_id; /* entries of all entities */
    struct hpcw_i_table elements;         /* (collection, index) of all elements of collections */
};

void read_vom_ids_init(struct read_vom_ids *ids);
void read_vom_ids_clear(struct read_vom_ids *ids);
void read_vom_ids_free(struct read_vom_ids *ids);
size_t read_vom_ids_bytes(const struct read_vom_ids *ids);

/* Adds a task of `rank` that `reader` has read. The task must not have id 0. */
hpcw_status read_vom_ids_task(struct read_vom_ids *ids, const struct read_vom *reader,
                              const struct read_vom_task *task, uint32_t rank, hpcw_error *err);

/* Adds an object that is an end ("from" or "to") of a communication in the file of `rank`. The object must not have
 * id 0. `here`: the object must be a task of `rank`. */
hpcw_status read_vom_ids_end(struct read_vom_ids *ids, const struct read_vom *reader,
                             const struct read_vom_communication *c, const struct read_vom_entity *e,
                             const char *end, bool here, uint32_t rank, hpcw_error *err);

/* The first end point, by rank and offset, that is not a task. Without `whole`, only those end points count that
 * must be a task of the rank whose file names them. */
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
