/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules have the numbers of doc/formats/counter.md, "Rules". */
#include "libreader/counter/counter.h"

#include <inttypes.h>
#include <string.h>

#include "libreader/source.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define MAGIC "RANKVALS"

enum { MAGIC_SIZE = 8, VERSION_AT = 8, RANKS_AT = 12, UNIT_AT = 16, UNIT_SIZE = 16, VALUES_AT = 32 };

#define MOST_RANKS (UINT32_C(1) << 26)

struct read_counter {
    struct read_source *source;
    struct read_counter_info info;
};

static uint64_t at_rank(uint32_t rank) {
    return VALUES_AT + 8 * (uint64_t)rank;
}

/* Rule 4: characters, then nothing but NULs. */
static bool good_unit(const unsigned char unit[UNIT_SIZE]) {
    size_t n = 0;
    while (n < UNIT_SIZE && unit[n] >= ' ' && unit[n] <= '~') {
        n++;
    }
    size_t end = n;
    while (end < UNIT_SIZE && unit[end] == 0) {
        end++;
    }
    return n > 0 && n < UNIT_SIZE && end == UNIT_SIZE;
}

/* Rules 1 to 5. */
static hpcw_status read_header(struct read_counter *r, hpcw_error *err) {
    const char *name = read_source_name(r->source);
    struct read_counter_info *info = &r->info;
    unsigned char h[VALUES_AT];
    hpcw_status s = read_source_read(r->source, 0, h, sizeof h, "header", err);
    if (s != HPCW_OK) {
        return s;
    }
    if (memcmp(h, MAGIC, MAGIC_SIZE) != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset 0: magic: expected %s, got %02x %02x %02x %02x ...",
                           name, MAGIC, h[0], h[1], h[2], h[3]);
    }
    uint32_t version = hpcw_i_get_u32(h + VERSION_AT, false);
    if (version != 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset 8: version: expected 1, got %" PRIu32, name, version);
    }
    info->ranks = hpcw_i_get_u32(h + RANKS_AT, false);
    if (info->ranks < 1 || info->ranks > MOST_RANKS) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset 12: number of ranks: expected 1 to %" PRIu32 ", got %" PRIu32, name,
                           MOST_RANKS, info->ranks);
    }
    if (!good_unit(h + UNIT_AT)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset 16: unit: expected 1 to 15 printable characters and then zeros, got "
                           "something else",
                           name);
    }
    memcpy(info->unit, h + UNIT_AT, UNIT_SIZE);
    uint64_t expected = at_rank(info->ranks) + 8;
    uint64_t size = read_source_size(r->source);
    if (size != expected) {
        return hpcw_i_fail(err, size < expected ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                           "%s: size: expected %" PRIu64 " bytes for %" PRIu32 " ranks, got %" PRIu64, name,
                           expected, info->ranks, size);
    }
    unsigned char trailer[8];
    s = read_source_read(r->source, at_rank(info->ranks), trailer, sizeof trailer, "trailer", err);
    info->sum = s == HPCW_OK ? hpcw_i_get_u64(trailer, false) : 0;
    return s;
}

/* Takes over the source, even when it fails. */
static hpcw_status open_on(struct read_source *source, struct read_counter **out, hpcw_error *err) {
    struct read_counter *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        hpcw_status s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", read_source_name(source));
        read_source_free(source);
        return s;
    }
    r->source = source;
    hpcw_status s = read_header(r, err);
    if (s != HPCW_OK) {
        read_counter_free(r);
        r = NULL;
    }
    *out = r;
    return s;
}

hpcw_status read_counter_open(const char *path, struct read_counter **out, hpcw_error *err) {
    struct read_source *source;
    *out = NULL;
    hpcw_status s = read_source_open(path, &source, err);
    return s == HPCW_OK ? open_on(source, out, err) : s;
}

hpcw_status read_counter_open_memory(const char *name, const void *data, size_t size, struct read_counter **out,
                                     hpcw_error *err) {
    struct read_source *source;
    *out = NULL;
    hpcw_status s = read_source_open_memory(name, data, size, &source, err);
    return s == HPCW_OK ? open_on(source, out, err) : s;
}

void read_counter_free(struct read_counter *reader) {
    if (reader != NULL) {
        read_source_free(reader->source);
        hpcw_i_free(reader);
    }
}

const struct read_counter_info *read_counter_info(const struct read_counter *reader) {
    return &reader->info;
}

hpcw_status read_counter_values(const struct read_counter *reader, uint32_t first, uint32_t count,
                                uint64_t *value, hpcw_error *err) {
    uint32_t ranks = reader->info.ranks;
    if (first > ranks || count > ranks - first) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected ranks below %" PRIu32 ", got %" PRIu32 " from %" PRIu32 " on",
                           read_source_name(reader->source), ranks, count, first);
    }
    hpcw_status s =
        read_source_read(reader->source, at_rank(first), value, count * sizeof *value, "values", err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        value[i] = hpcw_i_get_u64(&value[i], false);
    }
    return s;
}

hpcw_status read_counter_verify(const struct read_counter *reader, hpcw_error *err) {
    enum { AT_ONCE = 512 };
    uint64_t value[AT_ONCE];
    uint32_t ranks = reader->info.ranks;
    uint64_t sum = 0;
    hpcw_status s = HPCW_OK;
    for (uint32_t first = 0; s == HPCW_OK && first < ranks; first += AT_ONCE) {
        uint32_t count = ranks - first < AT_ONCE ? ranks - first : AT_ONCE;
        s = read_counter_values(reader, first, count, value, err);
        for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
            sum += value[i];
        }
    }
    if (s == HPCW_OK && sum != reader->info.sum) { /* rule 6 */
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": sum: expected %" PRIu64 ", got %" PRIu64,
                        read_source_name(reader->source), at_rank(ranks), sum, reader->info.sum);
    }
    return s;
}

hpcw_status read_counter_probe(const char *path, bool *is, hpcw_error *err) {
    return read_source_begins_with(path, MAGIC, MAGIC_SIZE, is, err);
}
