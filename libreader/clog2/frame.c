/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a CLOG-2 log: the table of communicators and the chain of blocks. */
#include <inttypes.h>
#include <string.h>

#include "libreader/clog2/private.h"
#include "libreader/source.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* [kind] bytes of a record, header included */
static const uint32_t record_size[READ_CLOG2_KINDS] = {24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32};

struct read_clog2 {
    struct read_source *source;
    bool borrows; /* source and entries belong to another reader */
    struct read_clog2_info info;
    struct read_clog2_entry *entry; /* [comms] */
    unsigned char *block;
    uint64_t next_block;
    uint32_t at; /* offset of the next record in the block */
    bool first;  /* the next record is the first of its block */
    bool ended;
    const uint32_t *ranks;                          /* ranks whose records matter: see read_clog2_pass_over */
    struct read_clog2_item batch[READ_CLOG2_BATCH]; /* decoded records */
    /* number of records in `batch`, and how many of them the caller has got */
    uint32_t batched, taken;
    /*
     * time in the last record of the previous block; the first record of the current block must have the same time
     */
    double announced;
    struct read_clog2_frame frame;
    hpcw_error failure; /* the first failure since the rewind; every later read fails in the same way */
};

/* ------------------------------------------------------------------------------------------------------------
 *  Table of communicators (doc/formats/clog2.md, "Communicators")
 * --------------------------------------------------------------------------------------------------------- */

/* Finds size and number of entries of the table: doc/formats/clog2.md#clog2-4 and clog2-5. */
static hpcw_status measure(struct read_clog2 *r, hpcw_error *err) {
    struct read_clog2_info *info = &r->info;
    uint64_t size = read_source_size(r->source);
    if (info->table_at == 0) {
        return read_clog2_wrong(
            read_clog2_name(r), 0, err,
            "preamble: expected the offset of the table of communicators, got 0: the writer died");
    }
    if (info->table_at < READ_CLOG2_PREAMBLE_SIZE + (uint64_t)info->block_size ||
        (info->table_at - READ_CLOG2_PREAMBLE_SIZE) % info->block_size != 0) {
        return read_clog2_wrong(read_clog2_name(r), 0, err,
                                "preamble: expected a table of communicators after whole blocks of %" PRIu32
                                " bytes, got offset %" PRIu64,
                                info->block_size, info->table_at);
    }
    info->blocks = (info->table_at - READ_CLOG2_PREAMBLE_SIZE) / info->block_size;
    unsigned char count[READ_CLOG2_TABLE_HEAD];
    hpcw_status s =
        read_source_read(r->source, info->table_at, count, sizeof count, "number of communicators", err);
    if (s != HPCW_OK) {
        return s;
    }
    info->comms = hpcw_i_get_u32(count, true);
    uint64_t expected = read_clog2_entry_at(info, info->comms);
    if (info->comms == 0 || info->comms > INT32_MAX) {
        return read_clog2_wrong(read_clog2_name(r), info->table_at, err,
                                "number of communicators: expected 1 to 2^31 - 1, got %" PRIu32, info->comms);
    }
    if (size < expected) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: table of %" PRIu32 " communicators: expected a file of %" PRIu64
                           " bytes, got %" PRIu64,
                           read_source_name(r->source), info->comms, expected, size);
    }
    return size == expected ? HPCW_OK
                            : read_clog2_wrong(read_clog2_name(r), expected, err,
                                               "expected the end of the file after the table of %" PRIu32
                                               " communicators, got %" PRIu64 " more bytes",
                                               info->comms, size - expected);
}

static hpcw_status read_table(struct read_clog2 *r, hpcw_error *err) {
    enum { AT_ONCE = 256 };
    unsigned char bytes[AT_ONCE * READ_CLOG2_ENTRY_SIZE];
    const struct read_clog2_info *info = &r->info;
    r->entry = hpcw_i_calloc(info->comms, sizeof *r->entry);
    if (r->entry == NULL) {
        return hpcw_i_fail_memory(err, read_source_name(r->source), info->comms, "communicators");
    }
    for (uint32_t i = 0; i < info->comms; i += AT_ONCE) {
        uint32_t n = info->comms - i < AT_ONCE ? info->comms - i : AT_ONCE;
        hpcw_status s = read_source_read(r->source, read_clog2_entry_at(info, i), bytes,
                                         (size_t)n * READ_CLOG2_ENTRY_SIZE, "table of communicators", err);
        if (s != HPCW_OK) {
            return s;
        }
        for (uint32_t k = 0; k < n; k++) {
            const unsigned char *p = bytes + (size_t)k * READ_CLOG2_ENTRY_SIZE;
            struct read_clog2_entry *e = &r->entry[i + k];
            memcpy(e->id, p, sizeof e->id);
            e->index = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_ENTRY_INDEX_AT, true);
            e->kind = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_ENTRY_KIND_AT, true);
            /* Other readers use the index without a check: doc/formats/clog2.md#clog2-6. */
            if (e->index < 0 || (uint32_t)e->index >= info->comms || e->kind < -1 || e->kind > 3) {
                return read_clog2_wrong(read_clog2_name(r),
                                        read_clog2_entry_at(info, i + k) + READ_CLOG2_ENTRY_INDEX_AT, err,
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
        hpcw_status s = hpcw_i_fail_memory(err, read_source_name(source), 0, NULL);
        read_source_free(source);
        return s;
    }
    r->source = source;
    hpcw_status s = read_clog2_preamble(source, &r->info, err);
    if (s == HPCW_OK) {
        s = measure(r, err);
    }
    if (s == HPCW_OK) {
        s = read_table(r, err);
    }
    if (s == HPCW_OK) {
        r->block = hpcw_i_malloc(r->info.block_size);
        if (r->block == NULL) {
            s = hpcw_i_fail_memory(err, read_source_name(source), r->info.block_size, "bytes");
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

hpcw_status read_clog2_open_rest(const struct read_clog2 *reader, struct read_clog2 **out, hpcw_error *err) {
    *out = hpcw_i_calloc(1, sizeof **out);
    if (*out == NULL) {
        return hpcw_i_fail_memory(err, read_clog2_name(reader), 0, NULL);
    }
    (*out)->source = reader->source;
    (*out)->borrows = true;
    (*out)->info = reader->info;
    (*out)->entry = reader->entry;
    (*out)->block = hpcw_i_malloc(reader->info.block_size);
    if ((*out)->block == NULL) {
        read_clog2_free(*out);
        *out = NULL;
        return hpcw_i_fail_memory(err, read_clog2_name(reader), reader->info.block_size, "bytes");
    }
    read_clog2_rewind(*out);
    (*out)->next_block = reader->next_block - 1;
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
        if (!r->borrows) {
            read_source_free(r->source);
            hpcw_i_free(r->entry);
        }
        hpcw_i_free(r->block);
        hpcw_i_free(r);
    }
}

hpcw_status read_clog2_probe(const char *path, bool *is, hpcw_error *err) {
    return read_source_begins_with(path, "CLOG-02.", 8, is, err);
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

hpcw_status read_clog2_bound_ranks(const struct read_clog2 *r, hpcw_error *err) {
    const uint64_t size = read_source_size(r->source);
    return r->info.ranks <= size ? HPCW_OK
                                 : read_clog2_wrong(read_clog2_name(r), 0, err,
                                                    "ranks: expected records of most of them, got %" PRIu32
                                                    " ranks in a file of %" PRIu64 " bytes",
                                                    r->info.ranks, size);
}

const char *read_clog2_name(const struct read_clog2 *r) {
    return read_source_name(r->source);
}

hpcw_status read_clog2_stopped(const struct read_clog2 *r, hpcw_status status, hpcw_error *err) {
    return status == HPCW_OK ? HPCW_OK
                             : hpcw_i_fail(err, status, "%s: callback: expected HPCW_OK, got %s",
                                           read_clog2_name(r), hpcw_status_name(status));
}

/* ------------------------------------------------------------------------------------------------------------
 *  Blocks and record headers (doc/formats/clog2.md, "Blocks" and "Record header")
 * --------------------------------------------------------------------------------------------------------- */

void read_clog2_rewind(struct read_clog2 *r) {
    r->next_block = 0;
    r->at = 0;
    r->ended = false;
    r->batched = 0;
    r->taken = 0;
    r->ranks = NULL;
    r->frame = (struct read_clog2_frame){0};
    r->failure.code = HPCW_OK;
}

static uint64_t offset_of(const struct read_clog2 *r) {
    return READ_CLOG2_PREAMBLE_SIZE + (r->next_block - 1) * r->info.block_size + r->at;
}

static hpcw_status next_block(struct read_clog2 *r, hpcw_error *err) {
    hpcw_status s = read_source_read(r->source, READ_CLOG2_PREAMBLE_SIZE + r->next_block * r->info.block_size,
                                     r->block, r->info.block_size, "block", err);
    r->next_block++;
    r->at = 0;
    r->first = true;
    return s;
}

/* Checks the record that ends a block or the log, and the bytes after it: doc/formats/clog2.md#clog2-7. */
static hpcw_status end_block(struct read_clog2 *r, const struct read_clog2_item *head, hpcw_error *err) {
    bool last = r->next_block == r->info.blocks;
    if (last != (head->kind == READ_CLOG2_IS_END_LOG)) {
        return read_clog2_wrong(read_clog2_name(r), head->offset, err,
                                "block %" PRIu64 " of %" PRIu64
                                ": expected it to end with record type %d, got %" PRId32,
                                r->next_block - 1, r->info.blocks,
                                last ? READ_CLOG2_IS_END_LOG : READ_CLOG2_IS_END_BLOCK, head->kind);
    }
    struct read_clog2_frame *f = &r->frame;
    r->announced = head->time;
    uint32_t end = r->at + READ_CLOG2_HEAD_SIZE;
    if (f->slack_at == 0 && (head->comm | head->rank | head->thread) != 0) {
        f->slack_at = head->offset + READ_CLOG2_HEAD_COMM_AT;
    }
    for (uint32_t i = end; f->slack_at == 0 && i < r->info.block_size; i++) {
        f->slack_at = r->block[i] != 0 ? head->offset + (i - r->at) : 0;
    }
    if (last) {
        r->ended = true;
        if (head->time != READ_CLOG2_LAST && f->chain_at == 0) {
            f->chain_at = head->offset;
        }
    }
    return HPCW_OK;
}

void read_clog2_pass_over(struct read_clog2 *r, const uint32_t *ranks) {
    r->ranks = ranks;
}

static void decode_head(const unsigned char *p, uint64_t offset, struct read_clog2_item *item) {
    item->offset = offset;
    item->payload = p + READ_CLOG2_HEAD_SIZE;
    item->time = hpcw_i_get_f64(p + READ_CLOG2_HEAD_TIME_AT, true);
    item->comm = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_HEAD_COMM_AT, true);
    item->rank = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_HEAD_RANK_AT, true);
    item->thread = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_HEAD_THREAD_AT, true);
    item->kind = (int32_t)hpcw_i_get_u32(p + READ_CLOG2_HEAD_KIND_AT, true);
}

/* Decodes whole records inside a block, and skips events and messages of ranks outside r->ranks. Leaves the
 * first and the last record of a block, and damaged records, to decode(). */
static void decode_inner(struct read_clog2 *r) {
    const uint32_t end = r->info.block_size;
    const uint64_t start = offset_of(r) - r->at;
    uint32_t at = r->at, n = r->batched;
    while (n < READ_CLOG2_BATCH && end - at >= 2 * READ_CLOG2_HEAD_SIZE) {
        const unsigned char *p = r->block + at;
        const uint32_t kind = hpcw_i_get_u32(p + READ_CLOG2_HEAD_KIND_AT, true);
        if (kind <= READ_CLOG2_IS_END_BLOCK || kind >= READ_CLOG2_KINDS ||
            end - at < record_size[kind] + READ_CLOG2_HEAD_SIZE) {
            break;
        }
        struct read_clog2_item *item = &r->batch[n];
        decode_head(p, start + at, item);
        item->size = record_size[kind] - READ_CLOG2_HEAD_SIZE;
        at += record_size[kind];
        n += r->ranks == NULL || kind < READ_CLOG2_IS_BARE || kind > READ_CLOG2_IS_MESSAGE || item->comm != 0 ||
             (uint32_t)item->rank - r->ranks[0] <= r->ranks[1] - r->ranks[0];
    }
    r->at = at;
    r->batched = n;
}

/*
 * Decodes the record at offset `at` of the block. The record that ends the block sets `at` to 0 and gives no item.
 */
static hpcw_status decode(struct read_clog2 *r, struct read_clog2_item *item, hpcw_error *err) {
    const unsigned char *p = r->block + r->at;
    uint32_t left = r->info.block_size - r->at;
    if (left < READ_CLOG2_HEAD_SIZE) {
        return read_clog2_wrong(read_clog2_name(r), offset_of(r), err,
                                "block %" PRIu64 ": expected a record that ends it, got only %" PRIu32
                                " bytes left",
                                r->next_block - 1, left);
    }
    decode_head(p, offset_of(r), item);
    if (item->kind < 0 || item->kind >= READ_CLOG2_KINDS) {
        return read_clog2_wrong(read_clog2_name(r), item->offset + READ_CLOG2_HEAD_KIND_AT, err,
                                "record type: expected 0 to 11, got %" PRId32, item->kind);
    }
    if (item->kind <= READ_CLOG2_IS_END_BLOCK) {
        hpcw_status s = end_block(r, item, err);
        r->at = 0;
        return s;
    }
    uint32_t size = record_size[item->kind];
    if (size > left || left - size < READ_CLOG2_HEAD_SIZE) {
        return read_clog2_wrong(read_clog2_name(r), item->offset, err,
                                "record type %" PRId32 " of %" PRIu32
                                " bytes: expected it and the end of the block in the %" PRIu32 " bytes left",
                                item->kind, size, left);
    }
    if (r->first && r->next_block > 1 && r->frame.chain_at == 0 && item->time != r->announced) {
        r->frame.chain_at = item->offset;
    }
    item->size = size - READ_CLOG2_HEAD_SIZE;
    r->first = false;
    r->at += size;
    return HPCW_OK;
}

/* Decodes the next records of one block. If decoding fails after some records, the caller gets these records first,
 * and then the failure. */
static void fill(struct read_clog2 *r) {
    r->batched = 0;
    r->taken = 0;
    while (r->batched == 0 && !r->ended && r->failure.code == HPCW_OK) {
        if (r->at == 0 && next_block(r, &r->failure) != HPCW_OK) {
            return;
        }
        do {
            if (!r->first) {
                decode_inner(r);
            }
        } while (r->batched < READ_CLOG2_BATCH && decode(r, &r->batch[r->batched], &r->failure) == HPCW_OK &&
                 r->at != 0 && ++r->batched < READ_CLOG2_BATCH);
    }
}

hpcw_status read_clog2_next_batch(struct read_clog2 *r, const struct read_clog2_item **items, uint32_t *count,
                                  hpcw_error *err) {
    if (r->taken == r->batched) {
        fill(r);
    }
    *items = r->batch + r->taken;
    *count = r->batched - r->taken;
    r->taken = r->batched;
    if (*count > 0 || r->failure.code == HPCW_OK) {
        return HPCW_OK;
    }
    if (err != NULL) {
        *err = r->failure;
    }
    return r->failure.code;
}

void read_clog2_give_back(struct read_clog2 *r, uint32_t count) {
    r->taken -= count;
}

hpcw_status read_clog2_next(struct read_clog2 *r, struct read_clog2_item *item, bool *more, hpcw_error *err) {
    const struct read_clog2_item *items;
    uint32_t count;
    *more = false;
    if (r->taken == r->batched) {
        hpcw_status s = read_clog2_next_batch(r, &items, &count, err);
        r->taken = 0;
        if (s != HPCW_OK || count == 0) {
            return s;
        }
    }
    *item = r->batch[r->taken++];
    *more = true;
    return HPCW_OK;
}
