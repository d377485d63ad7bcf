/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: the state of a file that is being read. */
#ifndef HPCW_LIBREADER_VOM_PRIVATE_H
#define HPCW_LIBREADER_VOM_PRIVATE_H

#include "libreader/source.h"
#include "libreader/vom/json/json.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/buf.h"

/* ---- The schema of a data file --------------------------------------------------------------------------- */

/* Slots of values that the parser cannot simply store. */
enum read_vom_slot {
    READ_VOM_S_NOTHING,
    READ_VOM_S_METADATA,
    READ_VOM_S_RANK,
    READ_VOM_S_LISTED,
    READ_VOM_S_RANGE,
    READ_VOM_S_RANGE_END,
    READ_VOM_S_PHASE,
    READ_VOM_S_PHASE_ID,
    READ_VOM_S_PHASE_USER,
    READ_VOM_S_ITERATION,
    READ_VOM_S_COMMUNICATION,
    READ_VOM_S_TASK,
    READ_VOM_S_TASK_NODE,
    READ_VOM_S_TASK_ENTITY,
    READ_VOM_S_END_POINT,
    READ_VOM_S_INDEX,
    READ_VOM_S_INDEX_ENTRY,
    READ_VOM_S_RESOURCE,
    READ_VOM_S_SUBPHASE,
    READ_VOM_S_MEMBER, /* member of attributes or user_defined */
};

extern const struct read_vom_spec read_vom_data_schema;

/* ---- Records that are incomplete ------------------------------------------------------------------------- */

/* The members of attributes or user_defined read so far. Their texts follow each other, each with a NUL. */
struct read_vom_members_list {
    bool present;
    struct hpcw_i_buf text;
    struct read_vom_member *item;
    size_t count, capacity;
};
struct read_vom_records {
    struct read_vom_metadata metadata;
    uint64_t range[2];
    unsigned range_ends; /* how many of the two numbers of the current range were read */

    struct read_vom_task task;
    struct read_vom_communication communication;
    struct read_vom_entity entity; /* entity of the current task or end point */
    uint64_t subphase_id;
    double subphase_time;
    double *subphase;
    size_t subphase_capacity;
    struct hpcw_i_buf resource;
    struct read_vom_members_list rank_attributes, attributes, user_defined;

    /* [0]: the current phase, [1]: the current lb_iteration of the phase */
    struct read_vom_phase phase[2];
    struct read_vom_members_list phase_user_defined[2];
    unsigned level;
};

/* ---- The reader ------------------------------------------------------------------------------------------ */

struct read_vom {
    struct read_source *source;
    struct read_vom_text *text;
    struct read_vom_json *json;
    const char *name;
    bool strict, parsed, lenient; /* READ_VOM_STRICT, READ_VOM_PARSED, READ_VOM_LENIENT */
    bool rank_from_task;          /* here.rank comes from the first task, not from the caller or metadata */
    uint64_t until;               /* number of phases in the file after which this run stops */
    /* position in the file, without `offset` and `seen`, which the parser has */
    struct read_vom_position here;
    hpcw_status broken; /* failure of an earlier run */
    const struct read_vom_events *events;
    struct read_vom_records records;
    uint64_t mended;
    hpcw_error first_mended;
};

/* Opens a source, and takes ownership of it, also on failure. Otherwise as read_vom_open. */
hpcw_status read_vom_open_source(struct read_source *source, uint32_t rank, unsigned flags,
                                 struct read_vom **out, hpcw_error *err);

/* The consumer that gets the values of a data file from the parser. Its context is the struct read_vom. */
extern const struct read_vom_consumer read_vom_data_consumer;
/* The function `whole` of read_vom_data_consumer. */
const unsigned char *read_vom_take_whole(void *context, const struct read_vom_spec *spec,
                                         const unsigned char *text);
void read_vom_records_free(struct read_vom_records *records);

/* Names of kinds and categories as in the files. */
extern const char *const read_vom_kind_names[READ_VOM_KINDS];
extern const char *const read_vom_category_names[READ_VOM_CATEGORIES];

/* Checks the bits of an entity's packed id against the other fields of the entity. `task`: the entity is that of a
 * task, not an end point of a communication. */
hpcw_status read_vom_entity_check(const struct read_vom *r, const struct read_vom_entity *e, bool task,
                                  hpcw_error *err);
/* Repairs an entity for a lenient reader, after read_vom_entity_check failed with *why. If the entity cannot be
 * repaired, fails with *why. */
hpcw_status read_vom_entity_mend(struct read_vom *r, struct read_vom_entity *e, const hpcw_error *why,
                                 hpcw_error *err);
/* Counts a repaired record, and keeps the message of the first one as a warning. */
void read_vom_mended(struct read_vom *r, const char *why);
/* Checks the end points of a communication against its category. */
hpcw_status read_vom_ends_check(const struct read_vom *r, const struct read_vom_communication *c,
                                hpcw_error *err);

/* Describes an entity for messages: "id 262147", "seq_id 3", "node 4", "shared_id 2". */
const char *read_vom_entity_text(const struct read_vom_entity *e, char text[64]);

#endif
