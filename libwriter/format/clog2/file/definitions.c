/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/definitions.h"

#include "libwriter/format/clog2/file/records.h"

void hpcw_i_clog2_count_definitions(const struct hpcw_i_clog2_definition *definition, uint32_t count,
                                    uint32_t *states, uint32_t *solos) {
    *states = *solos = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool state = definition[i].kind == HPCW_CLOG2_STATE_DEF;
        *states += state && definition[i].number >= HPCW_CLOG2_USER_STATE;
        *solos += !state;
    }
}

void hpcw_i_clog2_define_spill(struct hpcw_i_clog2_definition *definition, uint32_t *count) {
    for (uint32_t i = 0; i < *count; i++) {
        if (definition[i].kind == HPCW_CLOG2_STATE_DEF && definition[i].number == HPCW_CLOG2_SPILL_STATE) {
            return;
        }
    }
    definition[(*count)++] = (struct hpcw_i_clog2_definition){.kind = HPCW_CLOG2_STATE_DEF,
                                                              .number = HPCW_CLOG2_SPILL_STATE,
                                                              .colour = "maroon",
                                                              .name = "CLOG_Buffer_write2disk"};
}

static bool add(struct hpcw_i_buf *to, const hpcw_clog2_record *record) {
    unsigned char bytes[HPCW_I_CLOG2_MAX_RECORD];
    hpcw_i_clog2_encode(record, bytes);
    return hpcw_i_buf_append(to, bytes, hpcw_i_clog2_size((int32_t)record->kind));
}

static bool add_definitions(struct hpcw_i_buf *to, const struct hpcw_i_clog2_definition *definition,
                            uint32_t count) {
    /* Open MPI's values of MPE's constants. Tools only show them. */
    static const struct {
        const char *name;
        int32_t value;
    } constants[] = {{"MPI_PROC_NULL", -2}, {"MPI_ANY_SOURCE", -1}, {"MPI_ANY_TAG", -1}};
    bool good = true;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        const hpcw_clog2_record r = {.kind = HPCW_CLOG2_CONST_DEF,
                                     .as.constant = {constants[i].value, constants[i].name}};
        good = good && add(to, &r);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct hpcw_i_clog2_definition *d = &definition[i];
        hpcw_clog2_record r = {.kind = (hpcw_clog2_kind)d->kind};
        if (d->kind == HPCW_CLOG2_STATE_DEF) {
            r.as.state.state = d->number;
            r.as.state.start = 2 * d->number;
            r.as.state.end = 2 * d->number + 1;
            r.as.state.colour = d->colour;
            r.as.state.name = d->name;
            r.as.state.format = d->format;
        } else {
            r.as.solo.event = d->number;
            r.as.solo.colour = d->colour;
            r.as.solo.name = d->name;
            r.as.solo.format = d->format;
        }
        good = good && add(to, &r);
    }
    return good;
}

bool hpcw_i_clog2_opening_records(struct hpcw_i_buf *to, uint32_t rank, bool first, double shift,
                                  const hpcw_clog2_comm_id *world, const hpcw_clog2_comm_id *self,
                                  const struct hpcw_i_clog2_definition *definition, uint32_t count) {
    const hpcw_clog2_record records[] = {
        /* The record has the value that was added to all times, with the opposite sign: -0.0 if nothing was
         * added. */
        {.rank = (int32_t)rank, .kind = HPCW_CLOG2_TIME_SHIFT, .as.shift = -shift},
        {.rank = (int32_t)rank,
         .kind = HPCW_CLOG2_COMM_EVENT,
         .as.comm = {HPCW_CLOG2_WORLD_CREATE, 0, (int32_t)rank, (int32_t)rank, world}},
        {.rank = (int32_t)rank,
         .kind = HPCW_CLOG2_COMM_EVENT,
         .as.comm = {HPCW_CLOG2_SELF_CREATE, 1 + (int32_t)rank, 0, (int32_t)rank, self}},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        good = good && add(to, &records[i]);
    }
    return good && (!first || add_definitions(to, definition, count));
}
