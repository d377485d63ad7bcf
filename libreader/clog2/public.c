/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/clog2_read.h>: the public reader of logs. */
#include <string.h>

#include "libreader/clog2/private.h"
#include "libreader/clog2/public.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status read_clog2_publish(struct read_clog2 *r, hpcw_clog2_reader **out, hpcw_error *err) {
    *out = hpcw_i_calloc(1, sizeof **out);
    if (*out == NULL) {
        hpcw_status status = hpcw_i_fail_memory(err, read_clog2_name(r), 0, NULL);
        read_clog2_free(r);
        return status;
    }
    const struct read_clog2_info *i = read_clog2_info(r);
    (*out)->r = r;
    (*out)->info = (hpcw_clog2_info){
        .ranks = i->ranks,
        .threads = i->threads,
        .states = i->states,
        .solos = i->solos,
        .known_solos = i->known_solos,
        .block_size = i->block_size,
        .blocks = i->blocks,
        .comms = i->comms,
    };
    return HPCW_OK;
}

hpcw_status hpcw_clog2_reader_open(const char *path, hpcw_clog2_reader **out, hpcw_error *err) {
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || path == NULL) {
        return read_clog2_missing(out == NULL ? "handle" : "path", err);
    }
    struct read_clog2 *r;
    hpcw_status status = read_clog2_open(path, &r, err);
    return status == HPCW_OK ? read_clog2_publish(r, out, err) : status;
}

void hpcw_clog2_reader_free(hpcw_clog2_reader *reader) {
    if (reader != NULL) {
        read_clog2_deselect(reader);
        read_clog2_free(reader->r);
        hpcw_i_free(reader);
    }
}

const hpcw_clog2_info *hpcw_clog2_reader_info(const hpcw_clog2_reader *reader) {
    return reader == NULL ? NULL : &reader->info;
}

static hpcw_clog2_comm_id decode_id(const unsigned char *p) {
    hpcw_clog2_comm_id id = {.random = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_ID_RANDOM_AT, true),
                             .created = hpcw_i_get_f64(p + READ_CLOG2_ID_CREATED_AT, true)};
    memcpy(id.host, p + READ_CLOG2_ID_HOST_AT, sizeof id.host);
    return id;
}

bool hpcw_clog2_reader_comm(const hpcw_clog2_reader *reader, uint32_t index, hpcw_clog2_comm_entry *entry) {
    if (reader == NULL || entry == NULL || index >= reader->info.comms) {
        return false;
    }
    const struct read_clog2_entry *e = read_clog2_entry(reader->r, index);
    *entry = (hpcw_clog2_comm_entry){.id = decode_id(e->id), .index = e->index, .kind = e->kind};
    return true;
}

/* ---- records ---- */

/* Copies a text of `size` bytes, which may have no NUL, and adds a NUL. */
static const char *text_of(const struct read_clog2_item *item, uint32_t at, char *to, size_t size) {
    memcpy(to, item->payload + (at - READ_CLOG2_HEAD_SIZE), size);
    to[size] = '\0';
    return to;
}

static void decode_texts(hpcw_clog2_reader *reader, const struct read_clog2_item *item, uint32_t at) {
    (void)text_of(item, at, reader->colour, READ_CLOG2_COLOUR_SIZE);
    at += READ_CLOG2_COLOUR_SIZE;
    (void)text_of(item, at, reader->name, READ_CLOG2_NAME_SIZE);
    at += READ_CLOG2_NAME_SIZE;
    (void)text_of(item, at, reader->format, READ_CLOG2_FORMAT_SIZE);
}

static void decode_comm_event(hpcw_clog2_reader *reader, const struct read_clog2_item *item,
                              hpcw_clog2_record *record) {
    static const unsigned char none[READ_CLOG2_ID_SIZE];
    const unsigned char *id = item->payload + (READ_CLOG2_COMM_ID_AT - READ_CLOG2_HEAD_SIZE);
    bool has_id = memcmp(id, none, sizeof none) != 0;
    reader->id = decode_id(id);
    record->as.comm.event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
    record->as.comm.comm = read_clog2_i32(item, READ_CLOG2_COMM_COMM_AT);
    record->as.comm.rank = read_clog2_i32(item, READ_CLOG2_COMM_RANK_AT);
    record->as.comm.world_rank = read_clog2_i32(item, READ_CLOG2_COMM_WORLD_RANK_AT);
    record->as.comm.id = has_id ? &reader->id : NULL;
}

static void decode(hpcw_clog2_reader *reader, const struct read_clog2_item *item, hpcw_clog2_record *record) {
    *record = (hpcw_clog2_record){.time = item->time,
                                  .comm = item->comm,
                                  .rank = item->rank,
                                  .thread = item->thread,
                                  .kind = (hpcw_clog2_kind)item->kind};
    switch (item->kind) {
    case READ_CLOG2_IS_STATE_DEF:
        decode_texts(reader, item, READ_CLOG2_STATE_TEXTS_AT);
        record->as.state.state = read_clog2_i32(item, READ_CLOG2_STATE_NUMBER_AT);
        record->as.state.start = read_clog2_i32(item, READ_CLOG2_STATE_START_AT);
        record->as.state.end = read_clog2_i32(item, READ_CLOG2_STATE_END_AT);
        record->as.state.colour = reader->colour;
        record->as.state.name = reader->name;
        record->as.state.format = reader->format;
        break;
    case READ_CLOG2_IS_EVENT_DEF:
        decode_texts(reader, item, READ_CLOG2_SOLO_TEXTS_AT);
        record->as.solo.event = read_clog2_i32(item, READ_CLOG2_SOLO_EVENT_AT);
        record->as.solo.colour = reader->colour;
        record->as.solo.name = reader->name;
        record->as.solo.format = reader->format;
        break;
    case READ_CLOG2_IS_CONST_DEF:
        record->as.constant.value = read_clog2_i32(item, READ_CLOG2_CONST_VALUE_AT);
        record->as.constant.name = text_of(item, READ_CLOG2_CONST_NAME_AT, reader->name, READ_CLOG2_NAME_SIZE);
        break;
    case READ_CLOG2_IS_BARE:
        record->as.event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
        break;
    case READ_CLOG2_IS_WITH_CARGO:
        record->as.cargo.event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
        record->as.cargo.size = READ_CLOG2_CARGO_SIZE;
        memcpy(record->as.cargo.bytes, item->payload + (READ_CLOG2_CARGO_AT - READ_CLOG2_HEAD_SIZE),
               READ_CLOG2_CARGO_SIZE);
        break;
    case READ_CLOG2_IS_MESSAGE:
        record->as.message.event = read_clog2_i32(item, READ_CLOG2_EVENT_AT);
        record->as.message.peer_comm = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_COMM_AT);
        record->as.message.peer_rank = read_clog2_i32(item, READ_CLOG2_MESSAGE_PEER_RANK_AT);
        record->as.message.tag = read_clog2_i32(item, READ_CLOG2_MESSAGE_TAG_AT);
        record->as.message.size = read_clog2_i32(item, READ_CLOG2_MESSAGE_SIZE_AT);
        break;
    case READ_CLOG2_IS_COMM_EVENT:
        decode_comm_event(reader, item, record);
        break;
    case READ_CLOG2_IS_TIME_SHIFT:
        record->as.shift = hpcw_i_get_f64(item->payload, true);
        break;
    default:
        break; /* kinds 8 and 10, which no program writes */
    }
}

hpcw_status hpcw_clog2_reader_next(hpcw_clog2_reader *reader, hpcw_clog2_record *record, bool *more,
                                   hpcw_error *err) {
    if (more != NULL) {
        *more = false;
    }
    if (reader == NULL || record == NULL || more == NULL) {
        return read_clog2_missing(reader == NULL ? "handle" : record == NULL ? "record" : "more", err);
    }
    if (reader->calls_back) {
        return read_clog2_in_callback(reader, err);
    }
    read_clog2_deselect(reader);
    struct read_clog2_item item;
    hpcw_status status = read_clog2_next(reader->r, &item, more, err);
    if (status == HPCW_OK && *more) {
        decode(reader, &item, record);
    }
    return status;
}

void hpcw_clog2_reader_rewind(hpcw_clog2_reader *reader) {
    if (reader != NULL && !reader->calls_back) {
        read_clog2_deselect(reader);
        read_clog2_rewind(reader->r);
    }
}

/* ---- states and messages ---- */

static hpcw_clog2_stretch public_stretch(const struct read_clog2_stretch *s) {
    return (hpcw_clog2_stretch){.state = s->number,
                                .name = s->name,
                                .rank = s->rank,
                                .comm = s->comm,
                                .thread = s->thread,
                                .from = s->from,
                                .to = s->to,
                                .cargo = s->cargo};
}

/* The callbacks of the caller, and their result. */
struct watching {
    hpcw_clog2_watch calls;
    hpcw_status stop; /* the first status other than HPCW_OK; after it no callback is called */
};

static void call_stretch(void *context, const struct read_clog2_stretch *s) {
    struct watching *w = context;
    if (w->stop == HPCW_OK) {
        hpcw_clog2_stretch stretch = public_stretch(s);
        w->stop = w->calls.stretch(w->calls.context, &stretch);
    }
}

static void call_state(void *context, const struct read_clog2_stretch *s) {
    struct watching *w = context;
    if (w->stop == HPCW_OK) {
        hpcw_clog2_stretch state = public_stretch(s);
        w->stop = w->calls.state(w->calls.context, &state);
    }
}

static void call_message(void *context, const struct read_clog2_end *e) {
    struct watching *w = context;
    hpcw_clog2_end end = {.rank = e->rank,
                          .peer = e->peer,
                          .tag = e->tag,
                          .size = e->bytes,
                          .send = e->send,
                          .time = e->time,
                          .meets = e->meets,
                          .other = e->other};
    if (w->stop == HPCW_OK) {
        w->stop = w->calls.message(w->calls.context, &end);
    }
}

hpcw_status hpcw_clog2_reader_watch(hpcw_clog2_reader *reader, const hpcw_clog2_watch *watch, hpcw_error *err) {
    if (reader == NULL || watch == NULL) {
        return read_clog2_missing(reader == NULL ? "handle" : "watch", err);
    }
    if (reader->calls_back) {
        return read_clog2_in_callback(reader, err);
    }
    read_clog2_deselect(reader);
    struct watching w = {.calls = *watch};
    const struct read_clog2_watch calls = {.context = &w,
                                           .stretch = watch->stretch == NULL ? NULL : call_stretch,
                                           .state = watch->state == NULL ? NULL : call_state,
                                           .message = watch->message == NULL ? NULL : call_message,
                                           .stop = &w.stop};
    reader->calls_back = true;
    hpcw_status status = read_clog2_watch(reader->r, &calls, err);
    reader->calls_back = false;
    return status;
}

/* ---- profile ---- */

static hpcw_status call_shares(const struct read_clog2_pass *p, const struct read_clog2_row *row,
                               const hpcw_clog2_profile *profile) {
    hpcw_status status = HPCW_OK;
    for (size_t i = 0; status == HPCW_OK && i < p->shares.count; i++) {
        const struct read_clog2_definition *d = &p->definition[row[i].key[0]];
        if (row[i].key[1] > UINT32_MAX) {
            continue; /* skip a rank that no communicator event introduced */
        }
        const hpcw_clog2_share share = {.state = d->state,
                                        .number = d->number,
                                        .name = d->name,
                                        .rank = (uint32_t)row[i].key[1],
                                        .count = row[i].amount.count,
                                        .seconds = row[i].amount.seconds};
        status = profile->share(profile->context, &share);
    }
    return status;
}

static hpcw_status call_flows(const struct read_clog2_pass *p, const struct read_clog2_row *row,
                              const hpcw_clog2_profile *profile) {
    hpcw_status status = HPCW_OK;
    for (size_t i = 0; status == HPCW_OK && i < p->flows.count; i++) {
        if (row[i].key[0] > UINT32_MAX || row[i].key[1] > UINT32_MAX) {
            continue;
        }
        const hpcw_clog2_flow flow = {.from = (uint32_t)row[i].key[0],
                                      .to = (uint32_t)row[i].key[1],
                                      .count = row[i].amount.count,
                                      .bytes = row[i].amount.bytes};
        status = profile->flow(profile->context, &flow);
    }
    return status;
}

hpcw_status hpcw_clog2_reader_profile(hpcw_clog2_reader *reader, const hpcw_clog2_profile *profile,
                                      hpcw_error *err) {
    if (reader == NULL || profile == NULL) {
        return read_clog2_missing(reader == NULL ? "handle" : "profile", err);
    }
    if (reader->calls_back) {
        return read_clog2_in_callback(reader, err);
    }
    read_clog2_deselect(reader);
    struct read_clog2_pass pass;
    struct read_clog2_row *shares = NULL, *flows = NULL;
    hpcw_status s = read_clog2_pass_run(&pass, reader->r, 0, true, NULL, err);
    if (s == HPCW_OK) {
        shares = read_clog2_rows(&pass.shares, read_clog2_by_key);
        flows = read_clog2_rows(&pass.flows, read_clog2_by_key);
        s = shares == NULL || flows == NULL
                ? hpcw_i_fail_memory(err, read_clog2_name(reader->r), 0, "its profile")
                : HPCW_OK;
    }
    reader->calls_back = true;
    if (s == HPCW_OK && profile->share != NULL) {
        s = read_clog2_stopped(reader->r, call_shares(&pass, shares, profile), err);
    }
    if (s == HPCW_OK && profile->flow != NULL) {
        s = read_clog2_stopped(reader->r, call_flows(&pass, flows, profile), err);
    }
    reader->calls_back = false;
    hpcw_i_free(shares);
    hpcw_i_free(flows);
    read_clog2_pass_free(&pass);
    return s;
}
