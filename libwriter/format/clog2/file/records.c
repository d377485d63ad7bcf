/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/records.h"

#include <inttypes.h>

#include "libwriter/base/status.h"

/* ------------------------------------------------------------------------------------------------------------
 *  Checks
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status hpcw_i_clog2_labels_check(const char *colour, const char *name, const char *format,
                                      hpcw_error *err) {
    hpcw_status s = hpcw_i_clog2_text_check("name", name, HPCW_CLOG2_NAME + 1, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_colour_check(colour, err);
    }
    return s == HPCW_OK && format != NULL ? hpcw_clog2_format_check(format, err) : s;
}

static hpcw_status wrong(hpcw_error *err, const char *what, const char *expected, int64_t got) {
    return hpcw_i_fail(err, HPCW_EINVAL, "clog2: %s: expected %s, got %" PRId64, what, expected, got);
}

static hpcw_status check_comm_event(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b,
                                    hpcw_error *err) {
    static const char what[] = "communicator event";
    switch (r->as.comm.event) {
    case HPCW_CLOG2_COMM_FREE:
        return HPCW_OK;
    case HPCW_CLOG2_WORLD_CREATE:
    case HPCW_CLOG2_SELF_CREATE:
    case HPCW_CLOG2_INTRA_CREATE:
    case HPCW_CLOG2_LOCAL_CREATE:
    case HPCW_CLOG2_REMOTE_CREATE:
    case HPCW_CLOG2_INTER_CREATE:
        break;
    default:
        return wrong(err, what, "one that MPE knows", r->as.comm.event);
    }
    if (r->as.comm.comm < 0 || (uint32_t)r->as.comm.comm >= b->comms) {
        return wrong(err, what, "an entry of the table of communicators", r->as.comm.comm);
    }
    if (r->as.comm.world_rank < 0 || (uint32_t)r->as.comm.world_rank >= b->ranks) {
        return wrong(err, what, "a rank of the world", r->as.comm.world_rank);
    }
    bool remote = r->as.comm.event == HPCW_CLOG2_REMOTE_CREATE;
    if (remote ? r->as.comm.rank != -1 : r->as.comm.rank < 0 || (uint32_t)r->as.comm.rank >= b->ranks) {
        return wrong(err, what, remote ? "rank -1 in a remote half" : "a rank in the new communicator",
                     r->as.comm.rank);
    }
    return HPCW_OK;
}

static hpcw_status check_message(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b,
                                 hpcw_error *err) {
    if (hpcw_i_clog2_is_message(r, b)) {
        return HPCW_OK;
    }
    if (r->as.message.event != HPCW_CLOG2_SEND && r->as.message.event != HPCW_CLOG2_RECEIVE) {
        return wrong(err, "message", "event -101 (send) or -102 (receive)", r->as.message.event);
    }
    if ((uint32_t)r->as.message.peer_comm >= b->comms) {
        return wrong(err, "message", "a peer's communicator of the table", r->as.message.peer_comm);
    }
    if ((uint32_t)r->as.message.peer_rank >= b->ranks) {
        return wrong(err, "message", "the rank of the peer", r->as.message.peer_rank);
    }
    return r->as.message.tag < 0 ? wrong(err, "message", "a tag >= 0", r->as.message.tag)
                                 : wrong(err, "message", "a size >= 0", r->as.message.size);
}

static hpcw_status check_state(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b,
                               hpcw_error *err) {
    if (r->as.state.start < 0 || r->as.state.start % 2 != 0 || r->as.state.start >= b->user_end) {
        return wrong(err, "state", "an even start event that the log announces", r->as.state.start);
    }
    if (r->as.state.end != r->as.state.start + 1) {
        return wrong(err, "state", "start event + 1 as end event", r->as.state.end);
    }
    if (r->as.state.state != r->as.state.start / 2) {
        return wrong(err, "state", "half the start event as number", r->as.state.state);
    }
    return hpcw_i_clog2_labels_check(r->as.state.colour, r->as.state.name, r->as.state.format, err);
}

static hpcw_status check_solo(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b,
                              hpcw_error *err) {
    if (!hpcw_i_clog2_is_event(r->as.solo.event, b) ||
        (r->as.solo.event >= 0 && r->as.solo.event < b->user_end)) {
        return wrong(err, "solo event", "one that the log announces", r->as.solo.event);
    }
    return hpcw_i_clog2_labels_check(r->as.solo.colour, r->as.solo.name, r->as.solo.format, err);
}

hpcw_status hpcw_i_clog2_record_check(const hpcw_clog2_record *r, const struct hpcw_i_clog2_bounds *b,
                                      hpcw_error *err) {
    if (r->comm < 0 || (uint32_t)r->comm >= b->comms) {
        return wrong(err, "record", "an entry of the table of communicators", r->comm);
    }
    if (r->rank < 0 || (uint32_t)r->rank >= b->ranks) {
        return wrong(err, "record", "a rank in the communicator", r->rank);
    }
    if (r->thread < 0 || (uint32_t)r->thread >= b->threads) {
        return wrong(err, "record", "a thread that the log announces", r->thread);
    }
    switch (r->kind) {
    case HPCW_CLOG2_BARE:
        return hpcw_i_clog2_is_event(r->as.event, b)
                   ? HPCW_OK
                   : wrong(err, "event", "an id that the log announces", r->as.event);
    case HPCW_CLOG2_WITH_CARGO:
        if (!hpcw_i_clog2_is_event(r->as.cargo.event, b)) {
            return wrong(err, "event with cargo", "an id that the log announces", r->as.cargo.event);
        }
        return r->as.cargo.size <= HPCW_CLOG2_CARGO
                   ? HPCW_OK
                   : hpcw_i_fail(err, HPCW_ERANGE,
                                 "clog2: cargo of event %d: expected at most %u bytes, got %u",
                                 (int)r->as.cargo.event, HPCW_CLOG2_CARGO, r->as.cargo.size);
    case HPCW_CLOG2_MESSAGE:
        return check_message(r, b, err);
    case HPCW_CLOG2_STATE_DEF:
        return check_state(r, b, err);
    case HPCW_CLOG2_EVENT_DEF:
        return check_solo(r, b, err);
    case HPCW_CLOG2_CONST_DEF:
        return hpcw_i_clog2_text_check("constant", r->as.constant.name, HPCW_CLOG2_NAME + 1, err);
    case HPCW_CLOG2_COMM_EVENT:
        return check_comm_event(r, b, err);
    case HPCW_CLOG2_TIME_SHIFT:
        return r->as.shift > -HPCW_CLOG2_LAST && r->as.shift < HPCW_CLOG2_LAST
                   ? HPCW_OK
                   : hpcw_i_fail(err, HPCW_EINVAL, "clog2: time shift: expected less than 1e8 s, got %g",
                                 r->as.shift);
    default:
        return wrong(err, "record", "a kind of hpcw_clog2_kind", r->kind);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Bytes
 * --------------------------------------------------------------------------------------------------------- */

static void put_i32(unsigned char *p, int32_t v) {
    hpcw_i_put_u32(p, (uint32_t)v, true);
}

/* Writes a text into a field, and zeros into the rest of the field. */
static void put_text(unsigned char *p, const char *text, size_t room) {
    size_t length = text == NULL ? 0 : strlen(text);
    if (length > 0) {
        memcpy(p, text, length);
    }
    memset(p + length, 0, room - length);
}

void hpcw_i_clog2_encode_id(const hpcw_clog2_comm_id *id, unsigned char *p) {
    if (id == NULL) {
        memset(p, 0, HPCW_I_CLOG2_ID);
        return;
    }
    put_i32(p, id->random);
    hpcw_i_put_f64(p + 4, id->created, true);
    memcpy(p + 12, id->host, sizeof id->host);
}

void hpcw_i_clog2_encode(const hpcw_clog2_record *r, unsigned char *p) {
    unsigned char *const head = p;
    hpcw_i_clog2_put_head(p, r->time, r->comm, r->rank, r->thread, (int32_t)r->kind);
    p += HPCW_I_CLOG2_HEAD;
    switch (r->kind) {
    case HPCW_CLOG2_BARE:
        hpcw_i_clog2_encode_bare(r, head);
        break;
    case HPCW_CLOG2_WITH_CARGO:
        put_i32(p, r->as.cargo.event);
        put_i32(p + 4, 0);
        memset(p + 8, 0, HPCW_CLOG2_CARGO);
        memcpy(p + 8, r->as.cargo.bytes, r->as.cargo.size);
        break;
    case HPCW_CLOG2_MESSAGE:
        hpcw_i_clog2_encode_message(r, head);
        break;
    case HPCW_CLOG2_STATE_DEF:
        put_i32(p, r->as.state.state);
        put_i32(p + 4, r->as.state.start);
        put_i32(p + 8, r->as.state.end);
        put_i32(p + 12, 0);
        put_text(p + 16, r->as.state.colour, HPCW_CLOG2_COLOUR + 1);
        put_text(p + 40, r->as.state.name, HPCW_CLOG2_NAME + 1);
        put_text(p + 72, r->as.state.format, HPCW_CLOG2_FORMAT + 1);
        break;
    case HPCW_CLOG2_EVENT_DEF:
        put_i32(p, r->as.solo.event);
        put_i32(p + 4, 0);
        put_text(p + 8, r->as.solo.colour, HPCW_CLOG2_COLOUR + 1);
        put_text(p + 32, r->as.solo.name, HPCW_CLOG2_NAME + 1);
        put_text(p + 64, r->as.solo.format, HPCW_CLOG2_FORMAT + 1);
        break;
    case HPCW_CLOG2_CONST_DEF:
        put_i32(p, -201);
        put_i32(p + 4, r->as.constant.value);
        put_text(p + 8, r->as.constant.name, HPCW_CLOG2_NAME + 1);
        break;
    case HPCW_CLOG2_COMM_EVENT:
        put_i32(p, r->as.comm.event);
        put_i32(p + 4, r->as.comm.comm);
        put_i32(p + 8, r->as.comm.rank);
        put_i32(p + 12, r->as.comm.world_rank);
        hpcw_i_clog2_encode_id(r->as.comm.id, p + 16);
        break;
    case HPCW_CLOG2_TIME_SHIFT:
        hpcw_i_put_f64(p, r->as.shift, true);
        break;
    }
}
