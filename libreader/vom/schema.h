/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: the schema of a data file, and the slots of what needs more than to be stored. */
#ifndef HPCW_LIBREADER_VOM_SCHEMA_H
#define HPCW_LIBREADER_VOM_SCHEMA_H

#include "libreader/vom/json/json.h"

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
    READ_VOM_S_MEMBER, /* of attributes or user_defined */
};

extern const struct read_vom_spec read_vom_data_schema;

#endif
