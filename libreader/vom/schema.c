/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema of a data file. A table comes before the tables that use it, so the order is that of
 * doc/formats/vom.md from "Edge" back to "Top". Keys are in byte order. */
#include "libreader/vom/private.h"

/* Macros for the places in struct read_vom where the values of the current record are stored. */
#define AT(member) READ_VOM_AT(struct read_vom, records.member)
#define PUT(member) READ_VOM_PUT(struct read_vom, records.member)
#define HAS(member) .present = offsetof(struct read_vom, records.member)
#define SLOT(s) .slot = READ_VOM_S_##s

#define NUMBER(m, ...)                                                                                         \
    { .type = READ_VOM_T_COUNT, .most = (m), __VA_ARGS__ }
#define FLOAT(...)                                                                                             \
    { .type = READ_VOM_T_FLOAT, __VA_ARGS__ }
#define WORD(w, ...)                                                                                           \
    { .type = READ_VOM_T_WORD, .words = &(w), __VA_ARGS__ }
#define OBJECT(k, ...)                                                                                         \
    { .type = READ_VOM_T_OBJECT, READ_VOM_KEYS(k), __VA_ARGS__ }
#define ANY_KEYS(e, ...)                                                                                       \
    { .type = READ_VOM_T_OBJECT, .element = &(e), __VA_ARGS__ }
#define ARRAY(e, ...)                                                                                          \
    { .type = READ_VOM_T_ARRAY, .element = &(e), __VA_ARGS__ }
#define KEY(n) READ_VOM_KEY(n)

#define MOST_RANK (READ_VOM_MOST_RANKS - 1)

/* ---- Attributes and user_defined ------------------------------------------------------------------------- */

#define MEMBER(t, list)                                                                                        \
    { .type = READ_VOM_T_##t, SLOT(MEMBER), AT(list) }

static const struct read_vom_spec user_value = MEMBER(ANY, user_defined);
static const struct read_vom_spec phase_user_value = MEMBER(ANY, phase_user_defined[0]);
static const struct read_vom_spec iteration_user_value = MEMBER(ANY, phase_user_defined[1]);
static const struct read_vom_spec attribute = MEMBER(SCALAR, attributes);
static const struct read_vom_spec rank_attribute = MEMBER(SCALAR, rank_attributes);

/* ---- Entities -------------------------------------------------------------------------------------------- */

static const struct read_vom_words kinds = {
    .expected = "\"object\", \"node\" or \"shared_id\"", .count = READ_VOM_KINDS, .word = read_vom_kind_names};
static const struct read_vom_spec index_entry = NUMBER(UINT64_MAX, SLOT(INDEX_ENTRY));
static const struct read_vom_key entity_keys[] = {
    {KEY("collection_id"), false, NUMBER(UINT64_MAX, PUT(entity.collection_id), HAS(entity.has_collection_id))},
    {KEY("home"), false, NUMBER(MOST_RANK, PUT(entity.home), HAS(entity.has_home))},
    {KEY("id"), false, NUMBER(UINT64_MAX, PUT(entity.id), HAS(entity.has_id))},
    {KEY("index"), false, ARRAY(index_entry, SLOT(INDEX))},
    {KEY("migratable"), false, {.type = READ_VOM_T_FLAG, PUT(entity.migratable), HAS(entity.has_migratable)}},
    {KEY("objgroup_id"), false, NUMBER(UINT64_MAX, PUT(entity.objgroup_id), HAS(entity.has_objgroup_id))},
    {KEY("seq_id"), false, NUMBER(UINT64_MAX, PUT(entity.seq_id), HAS(entity.has_seq_id))},
    {KEY("type"), true, WORD(kinds, PUT(entity.kind))},
};

/* ---- Communications -------------------------------------------------------------------------------------- */

static const struct read_vom_words categories = {
    .expected = "the name of a category", .count = READ_VOM_CATEGORIES, .word = read_vom_category_names};
static const struct read_vom_key communication_keys[] = {
    {KEY("bytes"), true, FLOAT(PUT(communication.bytes))},
    {KEY("from"), true, OBJECT(entity_keys, SLOT(END_POINT), AT(communication.from))},
    {KEY("messages"), true, NUMBER(UINT64_MAX, PUT(communication.messages))},
    {KEY("to"), true, OBJECT(entity_keys, SLOT(END_POINT), AT(communication.to))},
    {KEY("type"), true, WORD(categories, PUT(communication.category))},
};
static const struct read_vom_spec communication =
    OBJECT(communication_keys, SLOT(COMMUNICATION), .whole = true);

/* ---- Tasks ----------------------------------------------------------------------------------------------- */

static const struct read_vom_key subphase_keys[] = {
    {KEY("id"), true, NUMBER(READ_VOM_MOST_SUBPHASES - 1, PUT(subphase_id))},
    {KEY("time"), true, FLOAT(PUT(subphase_time))},
};
static const struct read_vom_spec subphase = OBJECT(subphase_keys, SLOT(SUBPHASE));

static const struct read_vom_key task_keys[] = {
    {KEY("attributes"), false, ANY_KEYS(attribute, HAS(attributes.present))},
    {KEY("entity"), true, OBJECT(entity_keys, SLOT(TASK_ENTITY), AT(task.entity))},
    {KEY("node"), true, NUMBER(MOST_RANK, SLOT(TASK_NODE), PUT(task.node))},
    {KEY("resource"), true, {.type = READ_VOM_T_TEXT, SLOT(RESOURCE)}},
    {KEY("subphases"), false, ARRAY(subphase, HAS(task.has_subphases))},
    {KEY("time"), true, FLOAT(PUT(task.time))},
    {KEY("user_defined"), false, ANY_KEYS(user_value, HAS(user_defined.present))},
};
static const struct read_vom_spec task = OBJECT(task_keys, SLOT(TASK), .whole = true);

/* ---- Phases and iterations ------------------------------------------------------------------------------- */

static const struct read_vom_key iteration_keys[] = {
    {KEY("communications"), false, ARRAY(communication, HAS(phase[1].has_communications))},
    {KEY("id"), true, NUMBER(UINT64_MAX, PUT(phase[1].id))},
    {KEY("tasks"), true, ARRAY(task, SLOT(NOTHING))},
    {KEY("user_defined"), false, ANY_KEYS(iteration_user_value, HAS(phase_user_defined[1].present))},
};
static const struct read_vom_spec iteration = OBJECT(iteration_keys, SLOT(ITERATION));

static const struct read_vom_key phase_keys[] = {
    {KEY("communications"), false, ARRAY(communication, HAS(phase[0].has_communications))},
    {KEY("id"), true, NUMBER(UINT64_MAX, SLOT(PHASE_ID), PUT(phase[0].id))},
    {KEY("lb_iterations"), false, ARRAY(iteration, SLOT(NOTHING))},
    {KEY("tasks"), true, ARRAY(task, SLOT(NOTHING))},
    {KEY("user_defined"), false,
     ANY_KEYS(phase_user_value, SLOT(PHASE_USER), HAS(phase_user_defined[0].present))},
};
static const struct read_vom_spec phase = OBJECT(phase_keys, SLOT(PHASE));

/* ---- Metadata -------------------------------------------------------------------------------------------- */

static const struct read_vom_spec range_end = NUMBER(UINT64_MAX, SLOT(RANGE_END));
static const struct read_vom_spec identical = NUMBER(UINT64_MAX, SLOT(LISTED), AT(metadata.identical_list));
static const struct read_vom_spec identical_range = ARRAY(range_end, SLOT(RANGE), AT(metadata.identical_range));
static const struct read_vom_spec skipped = NUMBER(UINT64_MAX, SLOT(LISTED), AT(metadata.skipped_list));
static const struct read_vom_spec skipped_range = ARRAY(range_end, SLOT(RANGE), AT(metadata.skipped_range));
static const struct read_vom_key identical_keys[] = {
    {KEY("list"), true, ARRAY(identical, SLOT(NOTHING))},
    {KEY("range"), true, ARRAY(identical_range)},
};
static const struct read_vom_key skipped_keys[] = {
    {KEY("list"), true, ARRAY(skipped, SLOT(NOTHING))},
    {KEY("range"), true, ARRAY(skipped_range)},
};
static const struct read_vom_key phase_list_keys[] = {
    {KEY("count"), false, NUMBER(UINT64_MAX, PUT(metadata.count), HAS(metadata.has_count))},
    {KEY("identical_to_previous"), true, OBJECT(identical_keys, SLOT(NOTHING))},
    {KEY("skipped"), true, OBJECT(skipped_keys, SLOT(NOTHING))},
};

static const struct read_vom_key shared_node_keys[] = {
    {KEY("id"), true, NUMBER(MOST_RANK, PUT(metadata.shared_node.id))},
    {KEY("num_nodes"), true, NUMBER(READ_VOM_MOST_RANKS, PUT(metadata.shared_node.num_nodes))},
    {KEY("rank"), true, NUMBER(MOST_RANK, PUT(metadata.shared_node.rank))},
    {KEY("size"), true, NUMBER(READ_VOM_MOST_RANKS, PUT(metadata.shared_node.size))},
};

static const char *const type_words[] = {"LBDatafile"};
static const struct read_vom_words type = {.expected = "\"LBDatafile\"", .count = 1, .word = type_words};

static const struct read_vom_key metadata_keys[] = {
    {KEY("attributes"), false, ANY_KEYS(rank_attribute, HAS(rank_attributes.present))},
    {KEY("phases"), false, OBJECT(phase_list_keys, HAS(metadata.has_phases))},
    {KEY("rank"), false, NUMBER(MOST_RANK, SLOT(RANK), PUT(metadata.rank), HAS(metadata.has_rank))},
    {KEY("rank_alpha"), false, FLOAT(PUT(metadata.rank_alpha), HAS(metadata.has_rank_alpha))},
    {KEY("shared_node"), false, OBJECT(shared_node_keys, HAS(metadata.has_shared_node))},
    {KEY("type"), false, WORD(type, HAS(metadata.has_type))},
};

static const struct read_vom_key top_keys[] = {
    {KEY("metadata"), false, OBJECT(metadata_keys, SLOT(METADATA))},
    {KEY("phases"), true, ARRAY(phase, SLOT(NOTHING))},
    {KEY("type"), false, WORD(type, .present = offsetof(struct read_vom, here.typed))},
};

const struct read_vom_spec read_vom_data_schema = OBJECT(top_keys, SLOT(NOTHING));
