/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls all functions of the CLOG-2 reader with arbitrary bytes. */
#include <string.h>

#include "libreader/clog2/clog2.h"
#include "libreader/clog2/public.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "tests/fuzz/images.h"

static void report(struct read_clog2 *reader) {
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_status s = read_clog2_report(reader, &json, NULL);
    hpcw_i_json_end_object(&json);
    hpcw_status written = hpcw_i_json_finish(&json, NULL);
    demand(s != HPCW_OK || written == HPCW_OK);
    hpcw_i_buf_free(&buf);
}

/* Total length of names, in bytes, after which the callbacks end the run. */
enum { MOST_NAMES = 1 << 20 };

static hpcw_status take_name(size_t *sum, const char *name) {
    *sum += strlen(name);
    return *sum < MOST_NAMES ? HPCW_OK : HPCW_ERANGE;
}

static hpcw_status take_stretch(void *context, const hpcw_clog2_stretch *s) {
    return take_name(context, s->name);
}

static hpcw_status take_end(void *context, const hpcw_clog2_end *e) {
    *(size_t *)context += e->meets;
    return HPCW_OK;
}

static hpcw_status take_share(void *context, const hpcw_clog2_share *s) {
    return take_name(context, s->name);
}

static hpcw_status take_flow(void *context, const hpcw_clog2_flow *f) {
    *(size_t *)context += f->count > 0;
    return HPCW_OK;
}

static void read_records(hpcw_clog2_reader *reader) {
    hpcw_clog2_record record;
    hpcw_error err;
    size_t sum = 0;
    hpcw_clog2_comm_entry entry;
    uint32_t comms = 0;
    while (hpcw_clog2_reader_comm(reader, comms, &entry)) {
        demand(entry.index >= 0 && (uint32_t)entry.index < hpcw_clog2_reader_info(reader)->comms);
        comms++;
    }
    demand(comms == hpcw_clog2_reader_info(reader)->comms);
    hpcw_clog2_reader_rewind(reader);
    for (bool more = true; more && hpcw_clog2_reader_next(reader, &record, &more, &err) == HPCW_OK;) {
        if (more && record.kind == HPCW_CLOG2_STATE_DEF) {
            sum +=
                strlen(record.as.state.colour) + strlen(record.as.state.name) + strlen(record.as.state.format);
        } else if (more && record.kind == HPCW_CLOG2_CONST_DEF) {
            sum += strlen(record.as.constant.name);
        }
    }
    const hpcw_clog2_watch watch = {&sum, take_stretch, take_stretch, take_end};
    const hpcw_clog2_profile profile = {&sum, take_share, take_flow};
    (void)(hpcw_clog2_reader_watch(reader, &watch, &err) == HPCW_OK);
    (void)(hpcw_clog2_reader_profile(reader, &profile, &err) == HPCW_OK);
    demand(sum < SIZE_MAX);
}

/* Reads the rows of a window. Every state must have a definition and be inside the window. */
static void read_columns(hpcw_clog2_reader *reader) {
    enum { ROWS = 5 };
    uint32_t definition[ROWS], rank[ROWS];
    double from[ROWS], to[ROWS];
    unsigned char cargo[ROWS * HPCW_CLOG2_CARGO];
    const hpcw_clog2_states states = {
        .definition = definition, .rank = rank, .from = from, .to = to, .cargo = cargo};
    const hpcw_clog2_messages messages = {.from = rank, .sent = from, .received = to};
    const hpcw_clog2_solos solos = {.definition = definition, .time = from, .cargo = cargo};
    hpcw_clog2_window window;
    hpcw_clog2_window_init(&window);
    for (int wide = 1; wide >= 0; wide--) {
        window.to = wide ? window.to : 0.5;
        size_t count = 1;
        demand(hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_STATES, &window, NULL) == HPCW_OK);
        while (hpcw_clog2_reader_states(reader, &states, ROWS, &count, NULL) == HPCW_OK && count > 0) {
            for (size_t i = 0; i < count; i++) {
                hpcw_clog2_definition d;
                demand(hpcw_clog2_reader_definition(reader, definition[i], &d) && d.state);
                demand(from[i] < window.to);
            }
        }
        demand(hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_MESSAGES, &window, NULL) == HPCW_OK);
        while (hpcw_clog2_reader_messages(reader, &messages, ROWS, &count, NULL) == HPCW_OK && count > 0) {
        }
        demand(hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_SOLOS, &window, NULL) == HPCW_OK);
        while (hpcw_clog2_reader_solos(reader, &solos, ROWS, &count, NULL) == HPCW_OK && count > 0) {
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    struct read_clog2 *reader;
    hpcw_error err;
    if (fuzz_split(data, size, images) == 0 ||
        read_clog2_open_memory(images[0].data, images[0].size, &reader, &err) != HPCW_OK) {
        return 0;
    }
    struct read_clog2_item item;
    bool more = true;
    unsigned sum = 0;
    while (more && read_clog2_next(reader, &item, &more, &err) == HPCW_OK && more) {
        for (uint32_t i = 0; i < item.size; i++) {
            sum += item.payload[i];
        }
    }
    demand(sum < UINT32_MAX);
    hpcw_status loose = read_clog2_verify(reader, 0, &err);
    hpcw_status strict = read_clog2_verify(reader, READ_CLOG2_STRICT, &err);
    demand(strict != HPCW_OK || loose == HPCW_OK);
    demand(strict == HPCW_OK || (err.code == strict && err.message[0] != '\0'));
    report(reader);
    hpcw_clog2_reader *published;
    demand(read_clog2_publish(reader, &published, &err) == HPCW_OK);
    read_records(published);
    read_columns(published);
    hpcw_clog2_reader_free(published);
    return 0;
}
