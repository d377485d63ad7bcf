/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema of a data file, from the inside out: the tables of doc/formats/vom.md from "Edge" back to "Top". Keys are
 * in byte order. */
#include "libreader/vom/schema.h"

#include "libreader/vom/vom.h"

#define COUNT(a) (unsigned)(sizeof(a) / sizeof(a)[0])
#define NUMBER(s, m)                                                                                           \
    { .type = READ_VOM_T_COUNT, .slot = READ_VOM_S_##s, .most = (m) }
#define FLOAT(s)                                                                                               \
    { .type = READ_VOM_T_FLOAT, .slot = READ_VOM_S_##s }
#define TEXT(s)                                                                                                \
    { .type = READ_VOM_T_TEXT, .slot = READ_VOM_S_##s }
#define FLAG(s)                                                                                                \
    { .type = READ_VOM_T_FLAG, .slot = READ_VOM_S_##s }
#define OBJECT(s, o)                                                                                           \
    { .type = READ_VOM_T_OBJECT, .slot = READ_VOM_S_##s, .object = &(o) }
#define ARRAY(s, e)                                                                                            \
    { .type = READ_VOM_T_ARRAY, .slot = READ_VOM_S_##s, .element = &(e) }
#define KEY(n) READ_VOM_KEY(n)

#define MOST_RANK (READ_VOM_MOST_RANKS - 1)

static const struct read_vom_spec user_value = {.type = READ_VOM_T_ANY, .slot = READ_VOM_S_USER_VALUE};
static const struct read_vom_spec phase_user_value = {.type = READ_VOM_T_ANY,
                                                      .slot = READ_VOM_S_PHASE_USER_VALUE};
static const struct read_vom_spec attribute = {.type = READ_VOM_T_SCALAR, .slot = READ_VOM_S_ATTRIBUTE};
static const struct read_vom_spec rank_attribute = {.type = READ_VOM_T_SCALAR,
                                                    .slot = READ_VOM_S_RANK_ATTRIBUTE};
static const struct read_vom_object user_object = {.any = &user_value};
static const struct read_vom_object phase_user_object = {.any = &phase_user_value};
static const struct read_vom_object attributes_object = {.any = &attribute};
static const struct read_vom_object rank_attributes_object = {.any = &rank_attribute};

static const struct read_vom_spec index_entry = NUMBER(INDEX_ENTRY, UINT64_MAX);
static const struct read_vom_key entity_keys[] = {
    {KEY("collection_id"), false, NUMBER(COLLECTION_ID, UINT64_MAX)},
    {KEY("home"), false, NUMBER(HOME, MOST_RANK)},
    {KEY("id"), false, NUMBER(ID, UINT64_MAX)},
    {KEY("index"), false, ARRAY(INDEX, index_entry)},
    {KEY("migratable"), false, FLAG(MIGRATABLE)},
    {KEY("objgroup_id"), false, NUMBER(OBJGROUP_ID, UINT64_MAX)},
    {KEY("seq_id"), false, NUMBER(SEQ_ID, UINT64_MAX)},
    {KEY("type"), true, TEXT(KIND)},
};
static const struct read_vom_object entity_object = {.key = entity_keys, .keys = COUNT(entity_keys)};

static const struct read_vom_key communication_keys[] = {
    {KEY("bytes"), true, FLOAT(BYTES)},
    {KEY("from"), true, OBJECT(FROM, entity_object)},
    {KEY("messages"), true, NUMBER(MESSAGES, UINT64_MAX)},
    {KEY("to"), true, OBJECT(TO, entity_object)},
    {KEY("type"), true, TEXT(CATEGORY)},
};
static const struct read_vom_object communication_object = {.key = communication_keys,
                                                            .keys = COUNT(communication_keys)};
static const struct read_vom_spec communication_spec = OBJECT(COMMUNICATION, communication_object);

static const struct read_vom_key subphase_keys[] = {
    {KEY("id"), true, NUMBER(SUBPHASE_ID, READ_VOM_MOST_SUBPHASES - 1)},
    {KEY("time"), true, FLOAT(SUBPHASE_TIME)},
};
static const struct read_vom_object subphase_object = {.key = subphase_keys, .keys = COUNT(subphase_keys)};
static const struct read_vom_spec subphase_spec = OBJECT(SUBPHASE, subphase_object);

static const struct read_vom_key task_keys[] = {
    {KEY("attributes"), false, OBJECT(ATTRIBUTES, attributes_object)},
    {KEY("entity"), true, OBJECT(ENTITY, entity_object)},
    {KEY("node"), true, NUMBER(TASK_NODE, MOST_RANK)},
    {KEY("resource"), true, TEXT(RESOURCE)},
    {KEY("subphases"), false, ARRAY(SUBPHASES, subphase_spec)},
    {KEY("time"), true, FLOAT(TASK_TIME)},
    {KEY("user_defined"), false, OBJECT(USER, user_object)},
};
static const struct read_vom_object task_object = {.key = task_keys, .keys = COUNT(task_keys)};
static const struct read_vom_spec task_spec = OBJECT(TASK, task_object);

static const struct read_vom_key iteration_keys[] = {
    {KEY("communications"), false, ARRAY(COMMUNICATIONS, communication_spec)},
    {KEY("id"), true, NUMBER(PHASE_ID, UINT64_MAX)},
    {KEY("tasks"), true, ARRAY(NOTHING, task_spec)},
    {KEY("user_defined"), false, OBJECT(PHASE_USER, phase_user_object)},
};
static const struct read_vom_object iteration_object = {.key = iteration_keys, .keys = COUNT(iteration_keys)};
static const struct read_vom_spec iteration_spec = OBJECT(ITERATION, iteration_object);

static const struct read_vom_key phase_keys[] = {
    {KEY("communications"), false, ARRAY(COMMUNICATIONS, communication_spec)},
    {KEY("id"), true, NUMBER(PHASE_ID, UINT64_MAX)},
    {KEY("lb_iterations"), false, ARRAY(ITERATIONS, iteration_spec)},
    {KEY("tasks"), true, ARRAY(NOTHING, task_spec)},
    {KEY("user_defined"), false, OBJECT(PHASE_USER, phase_user_object)},
};
static const struct read_vom_object phase_object = {.key = phase_keys, .keys = COUNT(phase_keys)};
static const struct read_vom_spec phase_spec = OBJECT(PHASE, phase_object);

static const struct read_vom_spec listed = NUMBER(LISTED, UINT64_MAX);
static const struct read_vom_spec range_end = NUMBER(RANGE_END, UINT64_MAX);
static const struct read_vom_spec range = ARRAY(RANGE, range_end);
static const struct read_vom_key list_keys[] = {
    {KEY("list"), true, ARRAY(LIST, listed)},
    {KEY("range"), true, ARRAY(RANGES, range)},
};
static const struct read_vom_object list_object = {.key = list_keys, .keys = COUNT(list_keys)};
static const struct read_vom_key phase_list_keys[] = {
    {KEY("count"), false, NUMBER(PHASE_COUNT, UINT64_MAX)},
    {KEY("identical_to_previous"), true, OBJECT(IDENTICAL, list_object)},
    {KEY("skipped"), true, OBJECT(SKIPPED, list_object)},
};
static const struct read_vom_object phase_lists_object = {.key = phase_list_keys,
                                                          .keys = COUNT(phase_list_keys)};

static const struct read_vom_key shared_node_keys[] = {
    {KEY("id"), true, NUMBER(NODE_ID, MOST_RANK)},
    {KEY("num_nodes"), true, NUMBER(NODE_COUNT, READ_VOM_MOST_RANKS)},
    {KEY("rank"), true, NUMBER(NODE_RANK, MOST_RANK)},
    {KEY("size"), true, NUMBER(NODE_SIZE, READ_VOM_MOST_RANKS)},
};
static const struct read_vom_object shared_node_object = {.key = shared_node_keys,
                                                          .keys = COUNT(shared_node_keys)};

static const struct read_vom_key metadata_keys[] = {
    {KEY("attributes"), false, OBJECT(RANK_ATTRIBUTES, rank_attributes_object)},
    {KEY("phases"), false, OBJECT(PHASE_LISTS, phase_lists_object)},
    {KEY("rank"), false, NUMBER(RANK, MOST_RANK)},
    {KEY("rank_alpha"), false, FLOAT(RANK_ALPHA)},
    {KEY("shared_node"), false, OBJECT(SHARED_NODE, shared_node_object)},
    {KEY("type"), false, TEXT(TYPE)},
};
static const struct read_vom_object metadata_object = {.key = metadata_keys, .keys = COUNT(metadata_keys)};

static const struct read_vom_key top_keys[] = {
    {KEY("metadata"), false, OBJECT(METADATA, metadata_object)},
    {KEY("phases"), true, ARRAY(NOTHING, phase_spec)},
    {KEY("type"), false, TEXT(TYPE)},
};
static const struct read_vom_object top_object = {.key = top_keys, .keys = COUNT(top_keys)};

const struct read_vom_spec read_vom_data_schema = OBJECT(NOTHING, top_object);
