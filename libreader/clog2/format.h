/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the CLOG-2 reader: sizes, offsets and numbers of the format, named as in doc/formats/clog2.md. */
#ifndef HPCW_LIBREADER_CLOG2_FORMAT_H
#define HPCW_LIBREADER_CLOG2_FORMAT_H

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"

/* ---- File ------------------------------------------------------------------------------------------------- */

enum { READ_CLOG2_PREAMBLE_SIZE = 1024 };

/* Time of the record ENDLOG, seconds. All other times are below it. */
#define READ_CLOG2_LAST 1e8

/* Table of communicators: the number of entries, then the entries. */
enum {
    READ_CLOG2_TABLE_HEAD = 4,
    READ_CLOG2_ID_SIZE = 32,
    READ_CLOG2_ENTRY_INDEX_AT = 32,
    READ_CLOG2_ENTRY_KIND_AT = 36,
    READ_CLOG2_ENTRY_SIZE = 40,
};

/* Returns the offset in the file of an entry of the table of communicators. */
static inline uint64_t read_clog2_entry_at(const struct read_clog2_info *info, uint32_t index) {
    return info->table_at + READ_CLOG2_TABLE_HEAD + (uint64_t)READ_CLOG2_ENTRY_SIZE * index;
}

/* ---- Records: offsets count from the start of the record -------------------------------------------------- */

enum {
    READ_CLOG2_HEAD_TIME_AT = 0,
    READ_CLOG2_HEAD_COMM_AT = 8,
    READ_CLOG2_HEAD_RANK_AT = 12,
    READ_CLOG2_HEAD_THREAD_AT = 16,
    READ_CLOG2_HEAD_KIND_AT = 20,
    READ_CLOG2_HEAD_SIZE = 24,
};

enum {
    READ_CLOG2_IS_END_LOG = 0,
    READ_CLOG2_IS_END_BLOCK = 1,
    READ_CLOG2_IS_STATE_DEF = 2,
    READ_CLOG2_IS_EVENT_DEF = 3,
    READ_CLOG2_IS_CONST_DEF = 4,
    READ_CLOG2_IS_BARE = 5,
    READ_CLOG2_IS_WITH_CARGO = 6,
    READ_CLOG2_IS_MESSAGE = 7,
    READ_CLOG2_IS_COLLECTIVE = 8,
    READ_CLOG2_IS_COMM_EVENT = 9,
    READ_CLOG2_IS_SOURCE = 10,
    READ_CLOG2_IS_TIME_SHIFT = 11,
    READ_CLOG2_KINDS = 12,
};

/* Definitions of states and of solo events both end in three texts. */
enum {
    READ_CLOG2_STATE_NUMBER_AT = 24,
    READ_CLOG2_STATE_START_AT = 28,
    READ_CLOG2_STATE_END_AT = 32,
    READ_CLOG2_STATE_TEXTS_AT = 40,
    READ_CLOG2_SOLO_EVENT_AT = 24,
    READ_CLOG2_SOLO_TEXTS_AT = 32,
    READ_CLOG2_DEF_PAD_SIZE = 4, /* padding before the texts */
    READ_CLOG2_COLOUR_SIZE = 24,
    READ_CLOG2_NAME_SIZE = 32,
    READ_CLOG2_FORMAT_SIZE = 40,
};

enum {
    READ_CLOG2_CONST_VALUE_AT = 28,
    READ_CLOG2_CONST_NAME_AT = 32,
};

enum {
    /* offset of the event in bare events, events with cargo, messages and communicator events */
    READ_CLOG2_EVENT_AT = 24,
    READ_CLOG2_EVENT_PAD_AT = 28,
    READ_CLOG2_CARGO_AT = 32,
    READ_CLOG2_CARGO_SIZE = 32,
};

enum {
    READ_CLOG2_MESSAGE_PEER_COMM_AT = 28,
    READ_CLOG2_MESSAGE_PEER_RANK_AT = 32,
    READ_CLOG2_MESSAGE_TAG_AT = 36,
    READ_CLOG2_MESSAGE_SIZE_AT = 40,
    READ_CLOG2_MESSAGE_PAD_AT = 44,
    READ_CLOG2_MESSAGE_END = 48,
};

enum {
    READ_CLOG2_COMM_COMM_AT = 28,
    READ_CLOG2_COMM_RANK_AT = 32,
    READ_CLOG2_COMM_WORLD_RANK_AT = 36,
    READ_CLOG2_COMM_ID_AT = 40,
};

/* Fields of a communicator's identity. */
enum {
    READ_CLOG2_ID_RANDOM_AT = 0,
    READ_CLOG2_ID_CREATED_AT = 4,
    READ_CLOG2_ID_HOST_AT = 12,
};

/* ---- Numbers of events ------------------------------------------------------------------------------------ */

enum {
    READ_CLOG2_USER_STATE = 300,
    READ_CLOG2_USER_EVENT = 600,
    READ_CLOG2_USER_SOLO = 5000,
    READ_CLOG2_KNOWN_SOLO = -10,
    READ_CLOG2_KNOWN_SOLOS = 10,
    READ_CLOG2_UNDEFINED = -1,
    READ_CLOG2_SEND = -101,
    READ_CLOG2_RECEIVE = -102,
    READ_CLOG2_COMM_FREE = 10,
    READ_CLOG2_REMOTE_CREATE = 102,
};

/* Reads the field of a record at an offset from the record's start. */
static inline int32_t read_clog2_i32(const struct read_clog2_item *item, uint32_t at) {
    return (int32_t)hpcw_i_get_u32(item->payload + (at - READ_CLOG2_HEAD_SIZE), true);
}

#endif
