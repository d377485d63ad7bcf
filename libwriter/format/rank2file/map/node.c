/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/map/map.h"

#include <string.h>

#include "libwriter/base/numfmt.h"
#include "libwriter/format/kvtree/pack.h"

/* Sizes of texts in a node, bytes. KEY: a key with its NUL and its number of children. PAIR: a key with a
 * value, without the bytes of the value. */
#define KEY(text) (sizeof(text) + HPCW_I_KV_COUNT)
#define PAIR(text) (KEY(text) + 1 + HPCW_I_KV_COUNT)
#define PUT_KEY(p, text, count) hpcw_i_kv_put_key(p, text, sizeof(text) - 1, count)

static unsigned decimal_digits(uint64_t v) {
    unsigned n = 1;
    for (; v >= 10000; v /= 10000) {
        n += 4;
    }
    return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* Returns the number of characters that %#x prints for a CRC. Zero has no prefix. */
static unsigned crc_digits(uint32_t crc) {
    return crc == 0 ? 1 : 2 + (35 - (unsigned)__builtin_clz(crc)) / 4;
}

static char *put_crc_text(char *p, uint32_t crc) {
    if (crc != 0) {
        *p++ = '0';
        *p++ = 'x';
    }
    return hpcw_i_fmt_hex(p, crc, 1);
}

uint64_t hpcw_i_r2f_fixed(const struct hpcw_i_r2f_style *style, uint32_t level) {
    return HPCW_I_KV_HEADER + HPCW_I_KV_COUNT + PAIR("LEVEL") + decimal_digits(level) + PAIR("RANKS") +
           decimal_digits(style->ranks) + KEY("RANK") + HPCW_I_KV_CRC;
}

uint64_t hpcw_i_r2f_rank_size(const struct hpcw_i_r2f_style *style, uint32_t rank,
                              const hpcw_rank2file_entry *entry, size_t count) {
    uint64_t size = decimal_digits(rank) + 1 + HPCW_I_KV_COUNT;
    if (count > 0 || style->kind != HPCW_I_R2F_3) {
        size += KEY("FILE");
    }
    for (size_t i = 0; i < count; i++) {
        size += style->before_size + strlen(entry[i].name) + 1 + HPCW_I_KV_COUNT + PAIR("SIZE") +
                decimal_digits(entry[i].size) + (entry[i].has_crc ? PAIR("CRC") + crc_digits(entry[i].crc) : 0);
    }
    return size;
}

uint64_t hpcw_i_r2f_child_size(const struct hpcw_i_r2f_style *style, uint32_t level, uint32_t reader) {
    char value[HPCW_I_R2F_VALUE];
    return decimal_digits(reader) + 1 + HPCW_I_KV_COUNT + PAIR("OFFSET") + 1 + PAIR("FILE") +
           hpcw_i_r2f_value(style->kind, style->id, level, reader, value);
}

static unsigned char *put_number(unsigned char *p, uint64_t v, uint32_t count) {
    char *end = hpcw_i_fmt_u64((char *)p, v);
    *end = '\0';
    return hpcw_i_kv_put_count((unsigned char *)end + 1, count);
}

/* Numbers are formatted directly in the node's memory. After a number, the formatter may overwrite up to
 * HPCW_I_FMT_ROOM bytes. */
unsigned char *hpcw_i_r2f_put_head(const struct hpcw_i_r2f_style *style, unsigned char *p, uint64_t size,
                                   uint32_t level, uint32_t count) {
    p = hpcw_i_kv_put_count(hpcw_i_kv_put_header(p, size), 3);
    p = put_number(PUT_KEY(p, "LEVEL", 1), level, 0);
    p = put_number(PUT_KEY(p, "RANKS", 1), style->ranks, 0);
    return PUT_KEY(p, "RANK", count);
}

unsigned char *hpcw_i_r2f_put_rank(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t rank,
                                   const hpcw_rank2file_entry *entry, size_t count) {
    bool file = count > 0 || style->kind != HPCW_I_R2F_3;
    p = put_number(p, rank, file);
    if (file) {
        p = PUT_KEY(p, "FILE", (uint32_t)count);
    }
    for (size_t i = 0; i < count; i++) {
        const hpcw_rank2file_entry *e = &entry[i];
        memcpy(p, style->before, style->before_size);
        p += style->before_size;
        p = hpcw_i_kv_put_key(p, e->name, strlen(e->name), e->has_crc ? 2 : 1);
        p = put_number(PUT_KEY(p, "SIZE", 1), e->size, 0);
        if (e->has_crc) {
            char *end = put_crc_text((char *)PUT_KEY(p, "CRC", 1), e->crc);
            *end = '\0';
            p = hpcw_i_kv_put_count((unsigned char *)end + 1, 0);
        }
    }
    return p;
}

unsigned char *hpcw_i_r2f_put_child(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t level,
                                    uint32_t reader) {
    char value[HPCW_I_R2F_VALUE];
    p = put_number(p, reader, 2);
    p = put_number(PUT_KEY(p, "OFFSET", 1), 0, 0);
    size_t size = hpcw_i_r2f_value(style->kind, style->id, level, reader, value);
    return hpcw_i_kv_put_value(PUT_KEY(p, "FILE", 1), value, size);
}
