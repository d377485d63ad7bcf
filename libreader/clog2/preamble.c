/* SPDX-License-Identifier: BSD-3-Clause */
/* The preamble (doc/formats/clog2.md, "Preamble"): 33 texts, of which most are pairs of title and value. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "libreader/clog2/private.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"

/* Indices of the texts. */
enum {
    VERSION = 0,
    BIG_ENDIAN = 2,
    FINALIZED = 4,
    FIRST_NUMBER = 6,
    TABLE_QUOTIENT = 30,
    TABLE_REMAINDER = 32,
    TEXTS = 33,
};

/* The preamble stores the offset of the table of communicators as quotient * 2^30 + remainder. */
enum { TABLE_UNIT_BITS = 30 };

enum { MOST_CHARACTERS = 31, MOST_DIGITS = 18 /* 10^18 fits an int64_t */ };
enum { LEAST_BLOCK = 64 };

/* A preamble being parsed. The first failure stays in `status`; after a failure nothing more is checked, and
 * numbers are 0. */
struct preamble {
    const char *name;
    unsigned char bytes[READ_CLOG2_PREAMBLE_SIZE];
    const char *text[TEXTS];
    uint32_t at[TEXTS];
    hpcw_status status;
    hpcw_error *err;
};

hpcw_status read_clog2_wrong(const char *name, uint64_t offset, hpcw_error *err, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: at offset %" PRIu64 ": %s", name, offset, text);
}

/* Splits the preamble into its texts: doc/formats/clog2.md#clog2-2. */
static void split(struct preamble *p) {
    const unsigned char *bytes = p->bytes;
    uint32_t at = 0;
    for (uint32_t i = 0; i < TEXTS; i++) {
        const unsigned char *end = memchr(bytes + at, 0, sizeof p->bytes - at);
        if (end == NULL || end == bytes + at) {
            p->status =
                read_clog2_wrong(p->name, at, p->err, "preamble: expected token %" PRIu32 " of %d, got %s", i,
                                 TEXTS, end == NULL ? "one without an end" : "an empty one");
            return;
        }
        p->text[i] = (const char *)bytes + at;
        p->at[i] = at;
        at = (uint32_t)(end - bytes) + 1;
    }
    while (at < sizeof p->bytes && bytes[at] == 0) {
        at++;
    }
    if (at < sizeof p->bytes) {
        p->status = read_clog2_wrong(p->name, at, p->err, "preamble: expected zeros after token %d, got %02x",
                                     TEXTS - 1, bytes[at]);
    }
}

static void check_text(struct preamble *p, uint32_t i, const char *expected) {
    if (p->status == HPCW_OK && strcmp(p->text[i], expected) != 0) {
        p->status = read_clog2_wrong(p->name, p->at[i], p->err,
                                     "preamble: token %" PRIu32 ": expected \"%s\", got \"%.40s\"", i, expected,
                                     p->text[i]);
    }
}

/* Checks the title at index i - 1, and reads the number at index i. */
static int64_t take_number(struct preamble *p, uint32_t i, const char *title, int64_t low, int64_t high) {
    check_text(p, i - 1, title);
    if (p->status != HPCW_OK) {
        return 0;
    }
    const char *text = p->text[i];
    bool negative = *text == '-';
    text += negative;
    size_t digits = strspn(text, "0123456789");
    bool good = digits > 0 && text[digits] == '\0' && strlen(p->text[i]) <= MOST_CHARACTERS &&
                (text[0] != '0' || digits == 1) && digits <= MOST_DIGITS;
    int64_t v = 0;
    for (size_t k = 0; good && k < digits; k++) {
        v = v * 10 + (text[k] - '0');
    }
    v = negative ? -v : v;
    if (!good || v < low || v > high) {
        p->status = read_clog2_wrong(p->name, p->at[i], p->err,
                                     "preamble: token %" PRIu32 " (%s): expected a number from %" PRId64
                                     " to %" PRId64 ", got \"%.40s\"",
                                     i, title, low, high, p->text[i]);
        return 0;
    }
    return v;
}

/* Checks that the log is merged and not the local file of one process. */
static void check_merged(struct preamble *p) {
    check_text(p, BIG_ENDIAN - 1, "is_big_endian=");
    check_text(p, FINALIZED - 1, "is_finalzed=");
    if (p->status == HPCW_OK &&
        (strcmp(p->text[BIG_ENDIAN], "FALSE") == 0 || strcmp(p->text[FINALIZED], "FALSE") == 0)) {
        p->status = hpcw_i_fail(
            p->err, HPCW_ENOTSUP,
            "%s: expected a merged log (big-endian and finalized), got the local file of one process", p->name);
    }
    check_text(p, BIG_ENDIAN, "TRUE ");
    check_text(p, FINALIZED, "TRUE ");
}

hpcw_status read_clog2_preamble(const struct read_source *source, struct read_clog2_info *info,
                                hpcw_error *err) {
    uint32_t fixed;
    const struct {
        const char *title;
        int64_t low, high;
        uint32_t *to;
    } numbers[] = {
        {"block_size=", LEAST_BLOCK, INT64_C(1) << 30, &info->block_size},
        {"num_buffered_blocks=", 0, INT32_MAX, &info->buffered_blocks},
        {"max_comm_world_size=", 1, INT32_MAX, &info->ranks},
        {"max_thread_count=", 1, INT32_MAX, &info->threads},
        {"known_eventID_start=", 0, 0, &fixed},
        {"user_eventID_start=", READ_CLOG2_USER_EVENT, READ_CLOG2_USER_EVENT, &fixed},
        {"known_solo_eventID_start=", READ_CLOG2_KNOWN_SOLO, READ_CLOG2_KNOWN_SOLO, &fixed},
        {"user_solo_eventID_start=", READ_CLOG2_USER_SOLO, READ_CLOG2_USER_SOLO, &fixed},
        {"known_stateID_count=", READ_CLOG2_USER_STATE, READ_CLOG2_USER_STATE, &fixed},
        {"user_stateID_count=", 0, INT32_MAX / 2 - READ_CLOG2_USER_EVENT, &info->states},
        {"known_solo_eventID_count=", 0, READ_CLOG2_KNOWN_SOLOS, &info->known_solos},
        {"user_solo_eventID_count=", 0, INT32_MAX - READ_CLOG2_USER_SOLO, &info->solos},
    };
    struct preamble p = {.name = read_source_name(source), .err = err};
    p.status = read_source_read(source, 0, p.bytes, sizeof p.bytes, "preamble", err);
    if (p.status == HPCW_OK) {
        split(&p);
    }
    check_text(&p, VERSION, "CLOG-02.44");
    check_merged(&p);
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i].to =
            (uint32_t)take_number(&p, FIRST_NUMBER + 2 * i, numbers[i].title, numbers[i].low, numbers[i].high);
    }
    uint64_t quotient =
        (uint64_t)take_number(&p, TABLE_QUOTIENT, "commtable_fptr=", 0, INT64_MAX >> (TABLE_UNIT_BITS + 1));
    uint64_t remainder =
        (uint64_t)take_number(&p, TABLE_REMAINDER, "1073741824", 0, (INT64_C(1) << TABLE_UNIT_BITS) - 1);
    info->table_at = (quotient << TABLE_UNIT_BITS) + remainder;
    return p.status;
}
