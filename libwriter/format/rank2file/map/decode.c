/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/map/decode.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/kvtree.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/map/records.h"

/* ---- numbers as text: the only form that writers use (doc/formats/rank2file.md, "Texts") ---- */

static bool parse_decimal(const char *text, size_t size, uint64_t most, uint64_t *value) {
    if (size == 0 || size > 20 || (size > 1 && text[0] == '0')) {
        return false;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = 10 * v + digit;
    }
    *value = v;
    return v <= most;
}

/* Parses a CRC as printf writes it with %#x: "0x1f", and "0" for zero. */
static bool parse_crc(const char *text, size_t size, uint32_t *value) {
    *value = 0;
    if (size == 1 && text[0] == '0') {
        return true;
    }
    if (size < 3 || size > 10 || text[0] != '0' || text[1] != 'x' || text[2] == '0') {
        return false;
    }
    for (size_t i = 2; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned digit = c - (unsigned)'0';
        if (digit > 9) {
            digit = c - (unsigned)'a' < 6 ? 10 + c - (unsigned)'a' : 16;
        }
        if (digit > 15) {
            return false;
        }
        *value = *value << 4 | digit;
    }
    return true;
}

static hpcw_status bad_number(const struct hpcw_i_kv_cursor *c, const char *text, const char *what,
                              uint64_t most, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: offset %" PRIu64 ": %s: expected a decimal number of at most %" PRIu64
                       ", got \"%.64s\"",
                       c->name, hpcw_i_kv_at(c, text), what, most, text);
}

/* Reads a value that must be a number of at most `most`. */
static hpcw_status get_number(struct hpcw_i_kv_cursor *c, const char *what, uint64_t most, uint64_t *value,
                              hpcw_error *err) {
    const char *text = NULL;
    size_t size = 0;
    hpcw_status s = hpcw_i_kv_value(c, what, &text, &size, err);
    return s == HPCW_OK && !parse_decimal(text, size, most, value) ? bad_number(c, text, what, most, err) : s;
}

/* Reads a key that must be the number of a rank. */
static hpcw_status get_rank(struct hpcw_i_kv_cursor *c, uint64_t most, uint32_t *rank, hpcw_error *err) {
    const char *text = NULL;
    size_t size = 0;
    uint64_t value = 0;
    hpcw_status s = hpcw_i_kv_key(c, &text, &size, err);
    if (s == HPCW_OK && !parse_decimal(text, size, most, &value)) {
        s = bad_number(c, text, "rank", most, err);
    }
    *rank = (uint32_t)value;
    return s;
}

/* ---- maps of known keys ---- */

struct field {
    const char *key;
    size_t at;            /* offset of a uint64_t in the context, which gets the value if it is a number */
    uint64_t least, most; /* smallest and largest valid number */
    /* reads a value that is not a number; NULL: the value is a number */
    hpcw_status (*get)(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err);
};

struct fields {
    struct field field[4]; /* the list ends at the first element whose key is NULL */
    unsigned needed;       /* bit i is set if field i must exist */
    bool others;           /* whether keys outside the list are allowed; they are skipped */
};

static hpcw_status get_field(struct hpcw_i_kv_cursor *c, const struct field *f, void *context,
                             hpcw_error *err) {
    if (f->get != NULL) {
        return f->get(context, c, err);
    }
    uint64_t *value = (uint64_t *)(void *)((char *)context + f->at);
    uint64_t at = hpcw_i_kv_at(c, c->p);
    hpcw_status s = get_number(c, f->key, f->most, value, err);
    return s == HPCW_OK && *value < f->least
               ? hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: offset %" PRIu64 ": %s: expected at least %" PRIu64 ", got %" PRIu64, c->name,
                             at, f->key, f->least, *value)
               : s;
}

/* Reads keys, each of which may occur once. Bit i of *seen is set if field i was found. */
static hpcw_status get_fields(struct hpcw_i_kv_cursor *c, const struct fields *fields, void *context,
                              unsigned *seen, hpcw_error *err) {
    const struct field *field = fields->field;
    uint64_t at = hpcw_i_kv_at(c, c->p);
    uint32_t count = 0;
    *seen = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const char *key = NULL;
        size_t size = 0;
        unsigned f = 0;
        s = hpcw_i_kv_key(c, &key, &size, err);
        if (s != HPCW_OK) {
            break;
        }
        while (field[f].key != NULL && strcmp(key, field[f].key) != 0) {
            f++;
        }
        if (field[f].key == NULL && !fields->others) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": expected a known key, got \"%.100s\"",
                            c->name, hpcw_i_kv_at(c, key), key);
        } else if (field[f].key == NULL) {
            s = hpcw_i_kv_skip(c, HPCW_KVTREE_MAX_DEPTH, err);
        } else if (*seen >> f & 1) {
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "%s: offset %" PRIu64 ": expected every key once, got \"%s\" twice", c->name,
                            hpcw_i_kv_at(c, key), key);
        } else {
            *seen |= 1u << f;
            s = get_field(c, &field[f], context, err);
        }
    }
    for (unsigned f = 0; s == HPCW_OK && field[f].key != NULL; f++) {
        if ((fields->needed & ~*seen) >> f & 1) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": expected a key %s, got none", c->name,
                            at, field[f].key);
        }
    }
    return s;
}

/* ---- inner nodes (doc/formats/rank2file.md, "Map") ---- */

static hpcw_status get_file(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    size_t size = 0;
    return hpcw_i_kv_value(c, "FILE", &((struct hpcw_i_r2f_child *)context)->file, &size, err);
}

static int by_reader(const void *a, const void *b) {
    uint32_t x = ((const struct hpcw_i_r2f_child *)a)->reader;
    uint32_t y = ((const struct hpcw_i_r2f_child *)b)->reader;
    return x < y ? -1 : x > y;
}

static hpcw_status get_children(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    static const struct fields fields = {
        .field = {{"OFFSET", .at = offsetof(struct hpcw_i_r2f_child, offset), .most = INT64_MAX},
                  {"FILE", .get = get_file}},
        .needed = 3,
    };
    struct hpcw_i_r2f_inner *inner = context;
    uint32_t count = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        struct hpcw_i_r2f_child child = {.at = hpcw_i_kv_at(c, c->p)};
        unsigned seen = 0;
        s = get_rank(c, HPCW_RANK2FILE_MAX_RANKS - 1, &child.reader, err);
        if (s == HPCW_OK) {
            s = get_fields(c, &fields, &child, &seen, err);
        }
        if (s == HPCW_OK && !hpcw_i_buf_append(&inner->child, &child, sizeof child)) {
            s = hpcw_i_fail_memory(err, c->name, count, "nodes");
        }
    }
    const struct hpcw_i_r2f_child *child = (const struct hpcw_i_r2f_child *)(const void *)inner->child.data;
    size_t n = inner->child.size / sizeof *child;
    if (s == HPCW_OK && n > 1) {
        qsort(inner->child.data, n, sizeof *child, by_reader);
    }
    for (size_t i = 1; s == HPCW_OK && i < n; i++) {
        if (child[i].reader == child[i - 1].reader) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": expected every rank once, got %u twice",
                            c->name, child[i].at, child[i].reader);
        }
    }
    return s;
}

hpcw_status hpcw_i_r2f_get_inner(struct hpcw_i_kv_cursor *c, struct hpcw_i_r2f_inner *inner, hpcw_error *err) {
    static const struct fields fields = {
        .field = {{"LEVEL", .at = offsetof(struct hpcw_i_r2f_inner, level), .most = HPCW_I_R2F_MOST_LEVELS},
                  {"RANK", .get = get_children},
                  {"RANKS", .at = offsetof(struct hpcw_i_r2f_inner, ranks), 1, HPCW_RANK2FILE_MAX_RANKS}},
        .needed = 3,
    };
    unsigned seen = 0;
    *inner = (struct hpcw_i_r2f_inner){0};
    hpcw_status s = get_fields(c, &fields, inner, &seen, err);
    return s == HPCW_OK ? hpcw_i_kv_end(c, err) : s;
}

/* ---- leaves (doc/formats/rank2file.md#rank2file-10 and rank2file-13) ---- */

struct leaf {
    uint32_t ranks, first, end;
    uint32_t found;
    uint64_t level; /* must be 0 */
    struct hpcw_i_buf *words;
    uint64_t *at;
    struct hpcw_i_r2f_file file;
};

static hpcw_status get_leaf_ranks(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    const struct leaf *leaf = context;
    uint64_t ranks = 0;
    const unsigned char *at = c->p;
    hpcw_status s = get_number(c, "RANKS", UINT64_MAX, &ranks, err);
    if (s == HPCW_OK && ranks != leaf->ranks) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: offset %" PRIu64 ": RANKS: expected those of the root, %u, got %" PRIu64, c->name,
                        hpcw_i_kv_at(c, at), leaf->ranks, ranks);
    }
    return s;
}

static hpcw_status get_crc(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    struct hpcw_i_r2f_file *file = context;
    const char *text = NULL;
    size_t size = 0;
    hpcw_status s = hpcw_i_kv_value(c, "CRC", &text, &size, err);
    if (s == HPCW_OK && !parse_crc(text, size, &file->crc)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: offset %" PRIu64
                        ": CRC: expected a hexadecimal number as 0x1f, or 0, got \"%.64s\"",
                        c->name, hpcw_i_kv_at(c, text), text);
    }
    return s;
}

static hpcw_status get_files(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    /* The keys have the order of the bits in HPCW_I_R2F_HAS_CRC and HPCW_I_R2F_HAS_SIZE. So the bits of the
     * found keys are the flags of the file. */
    static const struct fields fields = {
        .field = {{"CRC", .get = get_crc},
                  {"SIZE", .at = offsetof(struct hpcw_i_r2f_file, size), .most = UINT64_MAX}},
        .others = true,
    };
    struct leaf *leaf = context;
    uint32_t count = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    /* The last word so far begins the record of this rank. It gets the number of files. */
    uint64_t *rank = (uint64_t *)(void *)(leaf->words->data + leaf->words->size) - 1;
    *rank = hpcw_i_r2f_record_rank(rank) | (uint64_t)count << 32;
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        struct hpcw_i_r2f_file file = {.flags = 0};
        size_t size = 0;
        s = hpcw_i_kv_key(c, &file.name, &size, err);
        const char *bad = s == HPCW_OK ? hpcw_i_r2f_bad_name(file.name, size, HPCW_RANK2FILE_MAX_NAME) : NULL;
        if (bad != NULL) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": name of a file \"%.200s\": %s", c->name,
                            hpcw_i_kv_at(c, file.name), file.name, bad);
        }
        if (s == HPCW_OK) {
            file.name_size = (uint32_t)size;
            s = get_fields(c, &fields, &file, &file.flags, err);
        }
        if (s == HPCW_OK && !hpcw_i_r2f_put_file_words(leaf->words, &file)) {
            s = hpcw_i_fail_memory(err, c->name, 0, "its files");
        }
    }
    return s;
}

static hpcw_status get_entries(void *context, struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    static const struct fields fields = {.field = {{"FILE", .get = get_files}}};
    struct leaf *leaf = context;
    uint32_t count = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const unsigned char *at = c->p;
        uint32_t rank = 0;
        unsigned seen = 0;
        s = get_rank(c, UINT32_MAX, &rank, err);
        if (s == HPCW_OK && (rank < leaf->first || rank >= leaf->end)) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": rank: expected one of %u to %u, got %u",
                            c->name, hpcw_i_kv_at(c, at), leaf->first, leaf->end - 1, rank);
        } else if (s == HPCW_OK && leaf->at[rank - leaf->first] != UINT64_MAX) {
            s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": expected every rank once, got %u twice",
                            c->name, hpcw_i_kv_at(c, at), rank);
        } else if (s == HPCW_OK) {
            leaf->at[rank - leaf->first] = leaf->words->size / sizeof(uint64_t);
            leaf->found++;
            s = hpcw_i_r2f_put_rank_word(leaf->words, rank, 0)
                    ? get_fields(c, &fields, leaf, &seen, err)
                    : hpcw_i_fail_memory(err, c->name, 0, "its ranks");
        }
    }
    return s;
}

hpcw_status hpcw_i_r2f_get_leaf(struct hpcw_i_kv_cursor *c, uint32_t ranks, uint32_t first, uint32_t end,
                                struct hpcw_i_buf *words, uint64_t *at, hpcw_error *err) {
    static const struct fields fields = {
        .field = {{"LEVEL", .at = offsetof(struct leaf, level)},
                  {"RANKS", .get = get_leaf_ranks},
                  {"RANK", .get = get_entries}},
        .needed = 7,
    };
    struct leaf leaf = {.ranks = ranks, .first = first, .end = end, .words = words, .at = at};
    unsigned seen = 0;
    memset(at, 0xff, (size_t)(end - first) * sizeof *at);
    hpcw_status s = get_fields(c, &fields, &leaf, &seen, err);
    if (s == HPCW_OK) {
        s = hpcw_i_kv_end(c, err);
    }
    for (uint32_t i = 0; s == HPCW_OK && leaf.found < end - first && i < end - first; i++) {
        if (at[i] == UINT64_MAX) {
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "%s: offset %" PRIu64 ": RANK: expected an entry of rank %u, got none", c->name,
                            c->offset, first + i);
        }
    }
    return s;
}
