/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: one file being read. */
#ifndef HPCW_LIBREADER_VOM_PRIVATE_H
#define HPCW_LIBREADER_VOM_PRIVATE_H

#include "libreader/source.h"
#include "libreader/vom/json/json.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/buf.h"

/* ---- Growing lists --------------------------------------------------------------------------------------- */

/* Attributes or user_defined while they come: the texts of all one after the other, each with a NUL. */
struct read_vom_members_list {
    bool present;
    struct hpcw_i_buf text;
    struct read_vom_member *item;
    size_t count, capacity;
};
void read_vom_members_clear(struct read_vom_members_list *l);
hpcw_status read_vom_members_add(struct read_vom_members_list *l, const struct read_vom_json *json,
                                 const struct read_vom_value *v, hpcw_error *err);
struct read_vom_members read_vom_members_view(struct read_vom_members_list *l);
void read_vom_members_free(struct read_vom_members_list *l);

struct read_vom_intervals_list {
    struct read_vom_interval *item;
    size_t count, capacity;
};

/* ---- Records being assembled ----------------------------------------------------------------------------- */

struct read_vom_records {
    struct read_vom *reader;
    struct read_vom_metadata metadata;
    struct read_vom_intervals_list lists[4]; /* identical list and range, skipped list and range */
    unsigned list;                           /* the one being filled */
    struct read_vom_interval range;
    unsigned range_ends; /* numbers in `range` so far */

    struct read_vom_task task;
    struct read_vom_communication communication;
    struct read_vom_entity *entity; /* the one being filled */
    uint64_t subphase_id;
    double subphase_value;
    double *subphase;
    size_t subphase_capacity;
    struct hpcw_i_buf resource;
    struct read_vom_members_list rank_attributes, attributes, user_defined;

    /* [0] the phase, [1] an lb_iteration in it */
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
    bool strict;
    uint32_t rank;       /* as told by the caller, by metadata or by the first task */
    bool rank_from_task; /* by a task, which is weaker than what metadata says */
    bool typed;          /* the type was there */
    bool has_metadata;
    bool ended;
    uint64_t phases; /* read so far, in all runs */
    uint64_t until;  /* where this run stops */
    uint64_t last_id;
    hpcw_status broken; /* what an earlier run ended with */
    const struct read_vom_events *events;
    struct read_vom_records records;
};

/* What takes the values of the schema of a data file. */
extern const struct read_vom_consumer read_vom_data_consumer; /* its context is the reader */
void read_vom_records_free(struct read_vom_records *records);

/* What one entity says about itself; vom_entity.c. `task`: it is a task's, not an end point. */
hpcw_status read_vom_entity_check(const struct read_vom *r, const struct read_vom_entity *e, bool task,
                                  hpcw_error *err);
/* The end points that a category wants. */
hpcw_status read_vom_ends_check(const struct read_vom *r, const struct read_vom_communication *c,
                                hpcw_error *err);

/* How messages call an entity: "id 262147", "seq_id 3", "node 4", "shared_id 2". */
const char *read_vom_entity_text(const struct read_vom_entity *e, char text[64]);

/* The rank that an object group's or bare handler's or id's bits name. */
uint32_t read_vom_home_of(uint64_t id);

#endif
