/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a CLOG-2 log: preamble, chain of blocks, table of communicators. */
#include "libreader/clog2/clog2.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libreader/clog2/private.h"
#include "libreader/source.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum {
    PREAMBLE = 1024,
    TOKENS = 33,
    VALUE = 31, /* longest value */
    HEAD = 24,
    ENTRY = 40,
    KINDS = 12
};

/* By kind, head included. */
static const uint32_t record_size[KINDS] = {24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32};

struct read_clog2 {
    struct read_source *source;
    struct read_clog2_info info;
    struct read_clog2_entry *entry; /* [comms] */
    unsigned char *block;
    uint64_t next_block; /* the one to read next */
    uint32_t at;         /* of the next record in the block */
    bool first;          /* of its block */
    bool ended;
    double announced; /* time at the end of the block before */
    struct read_clog2_frame frame;
};

hpcw_status read_clog2_wrong(const struct read_clog2 *r, uint64_t offset, hpcw_error *err, const char *fmt,
                             ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: at offset %" PRIu64 ": %s", read_source_name(r->source), offset,
                       text);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Preamble (doc/formats/clog2.md, "Preamble")
 * --------------------------------------------------------------------------------------------------------- */

struct tokens {
    const char *text[TOKENS];
    uint32_t at[TOKENS];
};

/* doc/formats/clog2.md#clog2-2 */
static hpcw_status split(const struct read_clog2 *r, const unsigned char *bytes, struct tokens *t,
                         hpcw_error *err) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < TOKENS; i++) {
        const unsigned char *end = memchr(bytes + at, 0, PREAMBLE - at);
        if (end == NULL || end == bytes + at) {
            return read_clog2_wrong(r, at, err, "preamble: expected token %" PRIu32 " of %d, got %s", i, TOKENS,
                                    end == NULL ? "one without an end" : "an empty one");
        }
        t->text[i] = (const char *)bytes + at;
        t->at[i] = at;
        at = (uint32_t)(end - bytes) + 1;
    }
    while (at < PREAMBLE && bytes[at] == 0) {
        at++;
    }
    return at == PREAMBLE ? HPCW_OK
                          : read_clog2_wrong(r, at, err, "preamble: expected zeros after token %d, got %02x",
                                             TOKENS - 1, bytes[at]);
}

static hpcw_status text_token(const struct read_clog2 *r, const struct tokens *t, uint32_t i,
                              const char *expected, hpcw_error *err) {
    return strcmp(t->text[i], expected) == 0
               ? HPCW_OK
               : read_clog2_wrong(r, t->at[i], err,
                                  "preamble: token %" PRIu32 ": expected \"%s\", got \"%.40s\"", i, expected,
                                  t->text[i]);
}

static hpcw_status number_token(const struct read_clog2 *r, const struct tokens *t, uint32_t i, int64_t low,
                                int64_t high, int64_t *value, hpcw_error *err) {
    const char *p = t->text[i];
    bool negative = *p == '-';
    p += negative;
    size_t digits = strspn(p, "0123456789");
    int64_t v = 0;
    bool good = digits > 0 && p[digits] == '\0' && strlen(t->text[i]) <= VALUE &&
                (p[0] != '0' || digits == 1) && digits <= 18;
    for (size_t k = 0; good && k < digits; k++) {
        v = v * 10 + (p[k] - '0');
    }
    v = negative ? -v : v;
    if (!good || v < low || v > high) {
        return read_clog2_wrong(r, t->at[i], err,
                                "preamble: token %" PRIu32 " (%s): expected a number from %" PRId64
                                " to %" PRId64 ", got \"%.40s\"",
                                i, t->text[i - 1], low, high, t->text[i]);
    }
    *value = v;
    return HPCW_OK;
}

static hpcw_status read_preamble(struct read_clog2 *r, hpcw_error *err) {
    static const struct {
        const char *title;
        int64_t low, high;
    } numbers[] = {
        {"block_size=", 64, INT64_C(1) << 30},   {"num_buffered_blocks=", 0, INT32_MAX},
        {"max_comm_world_size=", 1, INT32_MAX},  {"max_thread_count=", 1, INT32_MAX},
        {"known_eventID_start=", 0, 0},          {"user_eventID_start=", 600, 600},
        {"known_solo_eventID_start=", -10, -10}, {"user_solo_eventID_start=", 5000, 5000},
        {"known_stateID_count=", 300, 300},      {"user_stateID_count=", 0, INT32_MAX / 2 - 600},
        {"known_solo_eventID_count=", 0, 10},    {"user_solo_eventID_count=", 0, INT32_MAX - 5000},
    };
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    unsigned char bytes[PREAMBLE];
    struct tokens t;
    hpcw_status s = read_source_read(r->source, 0, bytes, sizeof bytes, "preamble", err);
    if (s == HPCW_OK) {
        s = split(r, bytes, &t, err);
    }
    if (s == HPCW_OK) {
        s = text_token(r, &t, 0, "CLOG-02.44", err);
    }
    if (s == HPCW_OK) {
        s = text_token(r, &t, 1, "is_big_endian=", err);
    }
    if (s == HPCW_OK) {
        s = text_token(r, &t, 3, "is_finalzed=", err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    if (strcmp(t.text[2], "FALSE") == 0 || strcmp(t.text[4], "FALSE") == 0) {
        return hpcw_i_fail(
            err, HPCW_ENOTSUP,
            "%s: expected a merged log (big-endian and finalized), got the local file of one process",
            read_source_name(r->source));
    }
    s = text_token(r, &t, 2, "TRUE ", err);
    if (s == HPCW_OK) {
        s = text_token(r, &t, 4, "TRUE ", err);
    }
    int64_t value[COUNT] = {0};
    for (uint32_t i = 0; s == HPCW_OK && i < COUNT; i++) {
        s = text_token(r, &t, 5 + 2 * i, numbers[i].title, err);
        if (s == HPCW_OK) {
            s = number_token(r, &t, 6 + 2 * i, numbers[i].low, numbers[i].high, &value[i], err);
        }
    }
    int64_t quotient = 0, remainder = 0;
    if (s == HPCW_OK) {
        s = text_token(r, &t, 29, "commtable_fptr=", err);
    }
    if (s == HPCW_OK) {
        s = number_token(r, &t, 30, 0, INT64_MAX >> 31, &quotient, err);
    }
    if (s == HPCW_OK) {
        s = text_token(r, &t, 31, "1073741824", err);
    }
    if (s == HPCW_OK) {
        s = number_token(r, &t, 32, 0, (INT64_C(1) << 30) - 1, &remainder, err);
    }
    if (s == HPCW_OK) {
        r->info = (struct read_clog2_info){
            .block_size = (uint32_t)value[0],
            .buffered_blocks = (uint32_t)value[1],
            .ranks = (uint32_t)value[2],
            .threads = (uint32_t)value[3],
            .states = (uint32_t)value[9],
            .known_solos = (uint32_t)value[10],
            .solos = (uint32_t)value[11],
            .table_at = ((uint64_t)quotient << 30) + (uint64_t)remainder,
        };
    }
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Table of communicators (doc/formats/clog2.md, "Communicators")
 * --------------------------------------------------------------------------------------------------------- */

/* doc/formats/clog2.md#clog2-4 and clog2-5 */
static hpcw_status measure(struct read_clog2 *r, hpcw_error *err) {
    struct read_clog2_info *info = &r->info;
    uint64_t size = read_source_size(r->source);
    if (info->table_at == 0) {
        return read_clog2_wrong(
            r, 0, err, "preamble: expected the offset of the table of communicators, got 0: the writer died");
    }
    if (info->table_at < PREAMBLE + (uint64_t)info->block_size ||
        (info->table_at - PREAMBLE) % info->block_size != 0) {
        return read_clog2_wrong(r, 0, err,
                                "preamble: expected a table of communicators after whole blocks of %" PRIu32
                                " bytes, got offset %" PRIu64,
                                info->block_size, info->table_at);
    }
    info->blocks = (info->table_at - PREAMBLE) / info->block_size;
    unsigned char count[4];
    hpcw_status s =
        read_source_read(r->source, info->table_at, count, sizeof count, "number of communicators", err);
    if (s != HPCW_OK) {
        return s;
    }
    info->comms = hpcw_i_get_u32(count, true);
    uint64_t expected = info->table_at + 4 + (uint64_t)ENTRY * info->comms;
    if (info->comms == 0 || info->comms > INT32_MAX) {
        return read_clog2_wrong(r, info->table_at, err,
                                "number of communicators: expected 1 to 2^31 - 1, got %" PRIu32, info->comms);
    }
    if (size < expected) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: table of %" PRIu32 " communicators: expected a file of %" PRIu64
                           " bytes, got %" PRIu64,
                           read_source_name(r->source), info->comms, expected, size);
    }
    return size == expected ? HPCW_OK
                            : read_clog2_wrong(r, expected, err,
                                               "expected the end of the file after the table of %" PRIu32
                                               " communicators, got %" PRIu64 " more bytes",
                                               info->comms, size - expected);
}

static hpcw_status read_table(struct read_clog2 *r, hpcw_error *err) {
    enum { AT_ONCE = 256 };
    unsigned char bytes[AT_ONCE * ENTRY];
    const struct read_clog2_info *info = &r->info;
    r->entry = hpcw_i_calloc(info->comms, sizeof *r->entry);
    if (r->entry == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %" PRIu32 " communicators",
                           read_source_name(r->source), info->comms);
    }
    for (uint32_t i = 0; i < info->comms; i += AT_ONCE) {
        uint32_t n = info->comms - i < AT_ONCE ? info->comms - i : AT_ONCE;
        hpcw_status s = read_source_read(r->source, info->table_at + 4 + (uint64_t)i * ENTRY, bytes,
                                         (size_t)n * ENTRY, "table of communicators", err);
        if (s != HPCW_OK) {
            return s;
        }
        for (uint32_t k = 0; k < n; k++) {
            const unsigned char *p = bytes + (size_t)k * ENTRY;
            struct read_clog2_entry *e = &r->entry[i + k];
            memcpy(e->id, p, sizeof e->id);
            e->index = (int32_t)hpcw_i_get_u32(p + 32, true);
            e->kind = (int32_t)hpcw_i_get_u32(p + 36, true);
            /* A reader maps every communicator through it, without a check: doc/formats/clog2.md#clog2-6. */
            if (e->index < 0 || (uint32_t)e->index >= info->comms || e->kind < -1 || e->kind > 3) {
                return read_clog2_wrong(r, info->table_at + 4 + (uint64_t)(i + k) * ENTRY + 32, err,
                                        "communicator %" PRIu32 ": expected an index below %" PRIu32
                                        " and a kind from -1 to 3, got %" PRId32 " and %" PRId32,
                                        i + k, info->comms, e->index, e->kind);
            }
        }
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Open and free
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status opened(struct read_source *source, struct read_clog2 **out, hpcw_error *err) {
    struct read_clog2 *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        hpcw_status s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", read_source_name(source));
        read_source_free(source);
        return s;
    }
    r->source = source;
    hpcw_status s = read_preamble(r, err);
    if (s == HPCW_OK) {
        s = measure(r, err);
    }
    if (s == HPCW_OK) {
        s = read_table(r, err);
    }
    if (s == HPCW_OK) {
        r->block = hpcw_i_malloc(r->info.block_size);
        if (r->block == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for a block of %" PRIu32 " bytes",
                            read_source_name(source), r->info.block_size);
        }
    }
    if (s != HPCW_OK) {
        read_clog2_free(r);
        return s;
    }
    read_clog2_rewind(r);
    *out = r;
    return HPCW_OK;
}

hpcw_status read_clog2_open(const char *path, struct read_clog2 **out, hpcw_error *err) {
    struct read_source *source;
    *out = NULL;
    hpcw_status s = read_source_open(path, &source, err);
    return s == HPCW_OK ? opened(source, out, err) : s;
}

hpcw_status read_clog2_open_memory(const void *data, size_t size, struct read_clog2 **out, hpcw_error *err) {
    struct read_source *source;
    *out = NULL;
    hpcw_status s = read_source_open_memory("memory", data, size, &source, err);
    return s == HPCW_OK ? opened(source, out, err) : s;
}

void read_clog2_free(struct read_clog2 *r) {
    if (r != NULL) {
        read_source_free(r->source);
        hpcw_i_free(r->entry);
        hpcw_i_free(r->block);
        hpcw_i_free(r);
    }
}

bool read_clog2_probe(const char *path) {
    struct read_source *source;
    char tag[8];
    if (read_source_open(path, &source, NULL) != HPCW_OK) {
        return false;
    }
    bool is = read_source_read(source, 0, tag, sizeof tag, "tag", NULL) == HPCW_OK &&
              memcmp(tag, "CLOG-02.", sizeof tag) == 0;
    read_source_free(source);
    return is;
}

const struct read_clog2_info *read_clog2_info(const struct read_clog2 *r) {
    return &r->info;
}

const struct read_clog2_entry *read_clog2_entry(const struct read_clog2 *r, uint32_t index) {
    return &r->entry[index];
}

const struct read_clog2_frame *read_clog2_frame(const struct read_clog2 *r) {
    return &r->frame;
}

const char *read_clog2_name(const struct read_clog2 *r) {
    return read_source_name(r->source);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Blocks and record headers (doc/formats/clog2.md, "Blocks" and "Record header")
 * --------------------------------------------------------------------------------------------------------- */

void read_clog2_rewind(struct read_clog2 *r) {
    r->next_block = 0;
    r->at = 0;
    r->ended = false;
    r->frame = (struct read_clog2_frame){0};
}

static uint64_t offset_of(const struct read_clog2 *r) {
    return PREAMBLE + (r->next_block - 1) * r->info.block_size + r->at;
}

static hpcw_status next_block(struct read_clog2 *r, hpcw_error *err) {
    hpcw_status s = read_source_read(r->source, PREAMBLE + r->next_block * r->info.block_size, r->block,
                                     r->info.block_size, "block", err);
    r->next_block++;
    r->at = 0;
    r->first = true;
    return s;
}

/* The record that ends a block or the log, and what comes after it: doc/formats/clog2.md#clog2-7. */
static hpcw_status end_block(struct read_clog2 *r, const struct read_clog2_item *head, hpcw_error *err) {
    bool last = r->next_block == r->info.blocks;
    if (last != (head->kind == 0)) {
        return read_clog2_wrong(r, head->offset, err,
                                "block %" PRIu64 " of %" PRIu64
                                ": expected it to end with record type %d, got %" PRId32,
                                head->block, r->info.blocks, last ? 0 : 1, head->kind);
    }
    struct read_clog2_frame *f = &r->frame;
    r->announced = head->time;
    uint32_t end = r->at + HEAD;
    if (!f->slack && (head->comm | head->rank | head->thread) != 0) {
        f->slack = true;
        f->slack_at = head->offset + 8;
    }
    for (uint32_t i = end; !f->slack && i < r->info.block_size; i++) {
        if (r->block[i] != 0) {
            f->slack = true;
            f->slack_at = head->offset + (i - r->at);
        }
    }
    if (last) {
        r->ended = true;
        if (head->time != 1e8 && !f->chain) {
            f->chain = true;
            f->chain_at = head->offset;
        }
    }
    return HPCW_OK;
}

hpcw_status read_clog2_next(struct read_clog2 *r, struct read_clog2_item *item, bool *more, hpcw_error *err) {
    *more = false;
    for (;;) {
        if (r->ended) {
            return HPCW_OK;
        }
        if (r->at == 0) {
            hpcw_status s = next_block(r, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
        const unsigned char *p = r->block + r->at;
        uint32_t left = r->info.block_size - r->at;
        item->offset = offset_of(r);
        item->block = r->next_block - 1;
        if (left < HEAD) {
            return read_clog2_wrong(r, item->offset, err,
                                    "block %" PRIu64 ": expected a record that ends it, got only %" PRIu32
                                    " bytes left",
                                    item->block, left);
        }
        item->time = hpcw_i_get_f64(p, true);
        item->comm = (int32_t)hpcw_i_get_u32(p + 8, true);
        item->rank = (int32_t)hpcw_i_get_u32(p + 12, true);
        item->thread = (int32_t)hpcw_i_get_u32(p + 16, true);
        item->kind = (int32_t)hpcw_i_get_u32(p + 20, true);
        if (item->kind < 0 || item->kind >= KINDS) {
            return read_clog2_wrong(r, item->offset + 20, err, "record type: expected 0 to 11, got %" PRId32,
                                    item->kind);
        }
        if (item->kind <= 1) {
            hpcw_status s = end_block(r, item, err);
            if (s != HPCW_OK) {
                return s;
            }
            r->at = 0;
            continue;
        }
        uint32_t size = record_size[item->kind];
        if (size > left || left - size < HEAD) {
            return read_clog2_wrong(r, item->offset, err,
                                    "record type %" PRId32 " of %" PRIu32
                                    " bytes: expected it and the end of the block in the %" PRIu32
                                    " bytes left",
                                    item->kind, size, left);
        }
        if (r->first && item->block > 0 && !r->frame.chain && item->time != r->announced) {
            r->frame.chain = true;
            r->frame.chain_at = item->offset;
        }
        item->first_of_block = r->first;
        item->payload = p + HEAD;
        item->size = size - HEAD;
        r->first = false;
        r->at += size;
        *more = true;
        return HPCW_OK;
    }
}
