/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as bytes (doc/formats/clog2.md, "Records"). A merged file is big-endian; the sizes of all records are
 * multiples of eight. */
#ifndef HPCW_FORMAT_CLOG2_FILE_RECORDS_H
#define HPCW_FORMAT_CLOG2_FILE_RECORDS_H

#include <hpcw/clog2.h>

#include "libwriter/base/bytes.h"

/* Kinds that users of the library do not write. END_LOG and END_BLOCK end a block. COLLECTIVE and SOURCE occur only
 * in MPE's local files. */
enum {
    HPCW_I_CLOG2_END_LOG = 0,
    HPCW_I_CLOG2_END_BLOCK = 1,
    HPCW_I_CLOG2_COLLECTIVE = 8,
    HPCW_I_CLOG2_SOURCE = 10,
    HPCW_I_CLOG2_KINDS = 12
};

enum {
    HPCW_I_CLOG2_HEAD = 24,        /* bytes of a record's head: time, communicator, rank, thread, kind */
    HPCW_I_CLOG2_MAX_RECORD = 136, /* bytes of the largest record, the definition of a state */
    HPCW_I_CLOG2_ID = 32           /* bytes of a communicator's identity */
};

/* Returns the size of a record of this kind, head included; 0 for an unknown kind. */
static inline uint32_t hpcw_i_clog2_size(int32_t kind) {
    /* MPE's local files contain two kinds that this library reads and never writes. */
    static const uint8_t sizes[HPCW_I_CLOG2_KINDS] = {24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32};
    return kind >= 0 && kind < HPCW_I_CLOG2_KINDS ? sizes[kind] : 0;
}

/* Stores two neighbouring 32-bit fields at once. Each pair of fields begins at a multiple of eight bytes. */
static inline void hpcw_i_clog2_put_pair(unsigned char *p, int32_t first, int32_t second) {
    hpcw_i_put_u64(p, (uint64_t)(uint32_t)first << 32 | (uint32_t)second, true);
}

static inline void hpcw_i_clog2_put_head(unsigned char *p, double time, int32_t comm, int32_t rank,
                                         int32_t thread, int32_t kind) {
    hpcw_i_put_f64(p, time, true);
    hpcw_i_clog2_put_pair(p + 8, comm, rank);
    hpcw_i_clog2_put_pair(p + 16, thread, kind);
}

/* Limits of the numbers in a log's records, as the log's preamble announces them. */
struct hpcw_i_clog2_bounds {
    uint32_t ranks, threads, comms;
    int32_t user_end;  /* event numbers of states are below this value */
    int32_t solo_end;  /* event numbers of the user's solo events are below this value */
    int32_t known_end; /* event numbers of MPE's own solo events are below this value */
};

/* Returns whether the log announces this event number. The event may have cargo or not. */
static inline bool hpcw_i_clog2_is_event(int32_t event, const struct hpcw_i_clog2_bounds *b) {
    return (event >= 0 && event < b->user_end) || (event >= HPCW_CLOG2_USER_SOLO && event < b->solo_end) ||
           (event >= HPCW_CLOG2_KNOWN_SOLO && event < b->known_end);
}

/* Returns whether all fields of a message are valid. */
static inline bool hpcw_i_clog2_is_message(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b) {
    return (r->as.message.event == HPCW_CLOG2_SEND || r->as.message.event == HPCW_CLOG2_RECEIVE) &&
           (uint32_t)r->as.message.peer_comm < b->comms && (uint32_t)r->as.message.peer_rank < b->ranks &&
           r->as.message.tag >= 0 && r->as.message.size >= 0;
}

/* Checks all fields of a record except its time. */
hpcw_status hpcw_i_clog2_record_check(const hpcw_clog2_record *record, const struct hpcw_i_clog2_bounds *bounds,
                                      hpcw_error *err);

/* Encodes a bare event or a message. */
static inline void hpcw_i_clog2_encode_bare(const hpcw_clog2_record *r, unsigned char *p) {
    hpcw_i_clog2_put_head(p, r->time, r->comm, r->rank, r->thread, HPCW_CLOG2_BARE);
    hpcw_i_clog2_put_pair(p + HPCW_I_CLOG2_HEAD, r->as.event, 0);
}
static inline void hpcw_i_clog2_encode_message(const hpcw_clog2_record *r, unsigned char *p) {
    hpcw_i_clog2_put_head(p, r->time, r->comm, r->rank, r->thread, HPCW_CLOG2_MESSAGE);
    hpcw_i_clog2_put_pair(p + HPCW_I_CLOG2_HEAD, r->as.message.event, r->as.message.peer_comm);
    hpcw_i_clog2_put_pair(p + HPCW_I_CLOG2_HEAD + 8, r->as.message.peer_rank, r->as.message.tag);
    hpcw_i_clog2_put_pair(p + HPCW_I_CLOG2_HEAD + 16, r->as.message.size, 0);
}

/* Encodes a checked record as hpcw_i_clog2_size(kind) bytes. */
void hpcw_i_clog2_encode(const hpcw_clog2_record *record, unsigned char *p);

/* Encodes the identity of a communicator as HPCW_I_CLOG2_ID bytes. NULL: all bytes are 0, which means none. */
void hpcw_i_clog2_encode_id(const hpcw_clog2_comm_id *id, unsigned char *p);

/* Checks a text for a field of `room` bytes, NUL included. It must be present, short enough, and without control
 * characters. */
hpcw_status hpcw_i_clog2_text_check(const char *what, const char *text, size_t room, hpcw_error *err);

/* Checks name, colour and format of a definition. */
hpcw_status hpcw_i_clog2_labels_check(const char *colour, const char *name, const char *format,
                                      hpcw_error *err);

#endif
