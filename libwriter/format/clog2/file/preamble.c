/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/file/file.h"

#include "libwriter/base/numfmt.h"

/* The preamble has the offset of the table of communicators as three numbers: offset / UNIT, UNIT, offset %
 * UNIT. */
#define UNIT (INT64_C(1) << 30)

static char *put_token(char *p, const char *text) {
    size_t size = strlen(text) + 1;
    memcpy(p, text, size);
    return p + size;
}

static char *put_number(char *p, int64_t value) {
    p = hpcw_i_fmt_i64(p, value);
    *p++ = '\0';
    return p;
}

void hpcw_i_clog2_preamble(const hpcw_clog2_options *o, uint64_t table,
                           unsigned char bytes[HPCW_I_CLOG2_PREAMBLE]) {
    /* Three oddities of MPE. The blank after TRUE is part of the token, as MPE's reader compares five characters.
     * "finalzed" is MPE's spelling. The number of buffered blocks is the size of MPE's buffer: readers ignore it,
     * and 128 is MPE's default. */
    static const char *const start[] = {"CLOG-02.44", "is_big_endian=", "TRUE ", "is_finalzed=", "TRUE "};
    const struct {
        const char *title;
        int64_t value;
    } numbers[] = {
        {"block_size=", o->block_size},
        {"num_buffered_blocks=", 128},
        {"max_comm_world_size=", o->ranks},
        {"max_thread_count=", o->threads},
        {"known_eventID_start=", 0},
        {"user_eventID_start=", HPCW_CLOG2_USER_EVENT},
        {"known_solo_eventID_start=", HPCW_CLOG2_KNOWN_SOLO},
        {"user_solo_eventID_start=", HPCW_CLOG2_USER_SOLO},
        {"known_stateID_count=", HPCW_CLOG2_USER_STATE},
        {"user_stateID_count=", o->states},
        {"known_solo_eventID_count=", o->known_solos},
        {"user_solo_eventID_count=", o->solos},
        {"commtable_fptr=", (int64_t)table / UNIT},
    };
    memset(bytes, 0, HPCW_I_CLOG2_PREAMBLE);
    char *p = (char *)bytes;
    for (size_t i = 0; i < sizeof start / sizeof start[0]; i++) {
        p = put_token(p, start[i]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        p = put_number(put_token(p, numbers[i].title), numbers[i].value);
    }
    (void)put_number(put_number(p, UNIT), (int64_t)table % UNIT);
}

void hpcw_i_clog2_encode_entry(const hpcw_clog2_comm_entry *entry, unsigned char p[HPCW_I_CLOG2_ENTRY]) {
    hpcw_i_clog2_encode_id(&entry->id, p);
    hpcw_i_put_u32(p + HPCW_I_CLOG2_ID, (uint32_t)entry->index, true);
    hpcw_i_put_u32(p + HPCW_I_CLOG2_ID + 4, (uint32_t)entry->kind, true);
}
