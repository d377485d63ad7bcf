/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doc/formats/sion.md, "Rules", beyond those that opening needs. In both modes: endianness word, stride, block
 * counts and sizes, unused sizes, length of the file, mapping, agreement of the files of a set, key-value
 * streams.
 */
#include <inttypes.h>
#include <string.h>

#include "libreader/sion/file.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define NAME(f) read_source_name((f)->source)

/* What the writers of SIONlib 1.7.6 put into the version words: doc/formats/sion.md#sion-3 and #sion-4. */
#define STRICT_FORMAT 5
#define STRICT_VERSION 1007
#define STRICT_PATCH 6

/* ------------------------------------------------------------------------------------------------------------
 *  Header of one file
 * --------------------------------------------------------------------------------------------------------- */

/* Rules 2, 7, 8 and 13. */
static hpcw_status header_rules(const struct read_sion_file *f, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const unsigned char *w = info->endian_word;
    if (w[0] > 1 || w[1] > 1 || w[3] != w[0] || w[2] != w[1]) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: endianness word at offset 4: expected m d d m with 0 or 1, got %02x %02x %02x %02x", NAME(f),
            w[0], w[1], w[2], w[3]);
    }
    if (info->files == 1 && info->file_number > 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: filenumber at offset 32: expected 0 or 1 in a single file, got %" PRIu32,
                           NAME(f), info->file_number);
    }
    if (info->mode == 52 || info->mode == 53) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: mode in flag1 at offset 36: expected 50 or 51, got %" PRIu32
                           ", which is reserved and cannot be read",
                           NAME(f), info->mode);
    }
    if (info->mode != READ_SION_MODE_PLAIN && info->mode != READ_SION_MODE_KEYVAL) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: mode in flag1 at offset 36: expected 50 (plain) or 51 (key-value), got %" PRIu32, NAME(f),
            info->mode);
    }
    if (info->block_stride % info->fs_block_size != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: sum of the chunk sizes: expected a multiple of fsblksize %" PRIu32
                           ", got %" PRIu64,
                           NAME(f), info->fs_block_size, info->block_stride);
    }
    return HPCW_OK;
}

static hpcw_status strict_word(const struct read_sion_file *f, const char *field, uint64_t offset,
                               uint64_t expected, uint64_t got, hpcw_error *err) {
    if (expected == got) {
        return HPCW_OK;
    }
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: %s at offset %" PRIu64 ": expected %" PRIu64 ", got %" PRIu64,
                       NAME(f), field, offset, expected, got);
}

/* Rules 3, 4, 8, 9 and 22. */
static hpcw_status strict_header(const struct read_sion_file *f, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const struct {
        const char *field;
        uint64_t offset, expected, got;
    } words[] = {
        {"library version", 8, STRICT_VERSION, (uint64_t)info->library_version},
        {"library patch level", 12, STRICT_PATCH, (uint64_t)info->library_patch},
        {"file format version", 16, STRICT_FORMAT, (uint64_t)info->format},
        {"flag1", 36, (uint64_t)info->mode << 32, info->flag1},
        {"flag2", 44, 0, info->flag2},
        {"number of buddy collectors", f->ranks_at, 0, info->collectors},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hpcw_status status =
            strict_word(f, words[i].field, words[i].offset, words[i].expected, words[i].got, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    size_t length = strlen(info->prefix);
    for (size_t i = length; i < sizeof info->prefix - 1; i++) {
        if (info->prefix[i] != '\0') {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: file name prefix at offset %zu: expected zeros after the name, got %02x",
                               NAME(f), 52 + i, (unsigned)(unsigned char)info->prefix[i]);
        }
    }
    if (length == 0 || length == sizeof info->prefix - 1 || strchr(info->prefix, '/') != NULL) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: file name prefix at offset 52: expected a base name of 1..1023 bytes and a NUL, got "
            "\"%.64s\" (%zu bytes)",
            NAME(f), info->prefix, length);
    }
    return HPCW_OK;
}

/* The file ends where its last table ends: rules 20 and 21. */
static hpcw_status tail_rules(const struct read_sion_file *f, bool strict, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    uint64_t tail = 0;
    if (info->mapping == READ_SION_MAPPING_EMPTY) {
        tail = 4;
    } else if (info->mapping == READ_SION_MAPPING_FULL) {
        tail = 4 + 8 * (uint64_t)info->mapping_tasks;
    }
    if (info->file_size - info->meta2_end != tail) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: end of the file: expected %" PRIu64 " after META2 and a mapping of %" PRIu64
                           " bytes, got %" PRIu64,
                           NAME(f), info->meta2_end + tail, tail, info->file_size);
    }
    bool serial = info->files == 1 && info->file_number == 1;
    if (strict && serial != (info->mapping == READ_SION_MAPPING_EMPTY)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: mapping at offset %" PRIu64 ": expected %s with filenumber %" PRIu32
                           ", got %" PRIu64 " bytes",
                           NAME(f), info->meta2_end, serial ? "an empty one (4 bytes)" : "none or a full one",
                           info->file_number, tail);
    }
    return HPCW_OK;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Tables of one file
 * --------------------------------------------------------------------------------------------------------- */

/* What the rows of a window tell about each of its tasks. */
struct tally {
    uint32_t filled; /* used blocks that hold a byte */
    uint32_t full;   /* used blocks but the last that are full */
};

struct table_check {
    struct read_sion_file *base; /* has the mapping, if there is one */
    struct read_sion_file *f;
    uint32_t file; /* number of f */
    bool strict;
    int64_t last_rank; /* of the task before */
    int64_t most;      /* largest block count so far */
    struct tally tally[READ_SION_WINDOW];
};

/*
 * Rule 24. Every task with a rank >= 0 must be where the mapping says. The mapping gives one place per rank, so no two
 * tasks can share a rank; the number of such tasks is compared with the number of entries, so no entry is left
 * over. Together that is a bijection, without a table in memory.
 */
static hpcw_status mapping_rule(const struct table_check *c, uint32_t index, int64_t rank, hpcw_error *err) {
    struct read_sion_file *base = c->base, *f = c->f;
    int64_t g = rank < 0 ? -(rank + 1) : rank;
    if (g >= (int64_t)base->info.mapping_tasks) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                           ": expected one of the %" PRIu32 " of the mapping, got %" PRId64,
                           NAME(f), index, f->ranks_at + 8 * (uint64_t)index, base->info.mapping_tasks, rank);
    }
    if (rank < 0) {
        return HPCW_OK;
    }
    int32_t in_file, at_index;
    hpcw_status status = read_sion_file_mapping(base, (uint32_t)rank, &in_file, &at_index, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (in_file != (int32_t)c->file || at_index != (int32_t)index) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: mapping of global rank %" PRId64 " at offset %" PRIu64 ": expected file %" PRIu32
            ", task %" PRIu32 ", which has this rank, got file %" PRId32 ", task %" PRId32,
            NAME(base), rank, base->info.meta2_end + 4 + 8 * (uint64_t)rank, c->file, index, in_file, at_index);
    }
    return HPCW_OK;
}

/* Rules that need one entry of each table, not the rows: 17, 22 and 23. */
static hpcw_status entry_rules(struct table_check *c, uint32_t i, hpcw_error *err) {
    const struct read_sion_file *f = c->f;
    uint32_t index = f->window.first + i;
    int64_t rank = f->window.rank[i];
    uint64_t rank_at = f->ranks_at + 8 * (uint64_t)index;
    bool free_ranks = f->info.files == 1 && f->info.mapping != READ_SION_MAPPING_FULL;
    if (rank < 0 && !free_ranks && f->window.chunk[i] != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                           ": expected >= 0, or a chunk of 0 bytes, got %" PRId64 " and %" PRIu64 " bytes",
                           NAME(f), index, rank_at, rank, f->window.chunk[i]);
    }
    if (c->strict && f->info.files == 1 && rank != (int64_t)index) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64 ": expected %" PRIu32
                           ", got %" PRId64,
                           NAME(f), index, rank_at, index, rank);
    }
    if (c->strict && index > 0 && rank <= c->last_rank) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                           ": expected more than %" PRId64 " of the task before, got %" PRId64,
                           NAME(f), index, rank_at, c->last_rank, rank);
    }
    c->last_rank = rank;
    if (c->base->info.mapping == READ_SION_MAPPING_FULL) {
        hpcw_status status = mapping_rule(c, index, rank, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    int64_t blocks = f->window.blocks[i];
    if (blocks < 1 || blocks > (int64_t)f->info.blocks) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: block count of task %" PRIu32 " at offset %" PRIu64 ": expected 1..%" PRIu32
                           ", got %" PRId64,
                           NAME(f), index, read_sion_file_count_at(f, index), f->info.blocks, blocks);
    }
    if (blocks > c->most) {
        c->most = blocks;
    }
    return HPCW_OK;
}

/* Rules 18 and 19. */
static hpcw_status size_rules(struct table_check *c, uint32_t i, uint32_t block, int64_t size,
                              hpcw_error *err) {
    const struct read_sion_file *f = c->f;
    uint32_t index = f->window.first + i;
    if (block >= f->window.blocks[i]) {
        if (size == 0 || (size == -1 && !c->strict)) {
            return HPCW_OK;
        }
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: size of task %" PRIu32 " in unused block %" PRIu32 " at offset %" PRIu64
                           ": expected %s, got %" PRId64,
                           NAME(f), index, block, read_sion_file_size_at(f, index, block),
                           c->strict ? "0" : "0 or -1", size);
    }
    if (size < 0 || (uint64_t)size > f->window.chunk[i]) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: size of task %" PRIu32 " in block %" PRIu32 " at offset %" PRIu64
                           ": expected 0..%" PRIu64 ", got %" PRId64,
                           NAME(f), index, block, read_sion_file_size_at(f, index, block), f->window.chunk[i],
                           size);
    }
    c->tally[i].filled += size > 0;
    c->tally[i].full += size > 0 && (uint64_t)size == f->window.chunk[i] && block + 1 < f->window.blocks[i];
    return HPCW_OK;
}

static hpcw_status window_rules(struct table_check *c, hpcw_error *err) {
    struct read_sion_file *f = c->f;
    hpcw_status status;
    for (uint32_t i = 0; i < f->window.count; i++) {
        if ((status = entry_rules(c, i, err)) != HPCW_OK) {
            return status;
        }
    }
    memset(c->tally, 0, sizeof c->tally);
    struct read_sion_rows rows;
    read_sion_rows_begin(&rows, f, f->window.first, f->window.count, f->info.blocks);
    for (;;) {
        uint32_t block;
        const unsigned char *row;
        if ((status = read_sion_rows_next(&rows, &block, &row, err)) != HPCW_OK) {
            return status;
        }
        if (row == NULL) {
            break;
        }
        for (uint32_t i = 0; i < f->window.count; i++) {
            int64_t size = (int64_t)hpcw_i_get_u64(row + 8 * (size_t)i, f->info.meta_big);
            if ((status = size_rules(c, i, block, size, err)) != HPCW_OK) {
                return status;
            }
        }
    }
    bool keyval = f->info.mode == READ_SION_MODE_KEYVAL;
    for (uint32_t i = 0; i < f->window.count; i++) {
        /* Rule 16: the first byte that needs a block opens it, so only a stream of one block can have none. */
        if (c->strict && f->window.blocks[i] > 1 && c->tally[i].filled != f->window.blocks[i]) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: task %" PRIu32 ": expected a byte in each of its %" PRId64
                               " blocks, got %" PRIu32 " blocks with any",
                               NAME(f), f->window.first + i, f->window.blocks[i], c->tally[i].filled);
        }
        /* Rule 28. */
        if (keyval && c->tally[i].full + 1 != f->window.blocks[i]) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: key-value stream of task %" PRIu32 ": expected all of its %" PRId64
                               " chunks but the last full, got %" PRIu32,
                               NAME(f), f->window.first + i, f->window.blocks[i], c->tally[i].full);
        }
    }
    return HPCW_OK;
}

static hpcw_status table_rules(struct read_sion_file *base, struct read_sion_file *f, uint32_t file,
                               bool strict, hpcw_error *err) {
    struct table_check *c = hpcw_i_calloc(1, sizeof *c);
    if (c == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: no memory to check its tables", NAME(f));
    }
    c->base = base;
    c->f = f;
    c->file = file;
    c->strict = strict;
    hpcw_status status = HPCW_OK;
    for (uint32_t first = 0; first < f->info.tasks && status == HPCW_OK; first += READ_SION_WINDOW) {
        status = read_sion_file_load(f, first, err);
        if (status == HPCW_OK) {
            status = window_rules(c, err);
        }
    }
    if (status == HPCW_OK && c->most != (int64_t)f->info.blocks) {
        status = hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: maxchunks at offset %" PRIu64 ": expected the largest block count %" PRId64
                             ", got %" PRIu32,
                             NAME(f), f->info.meta1_size - 12, c->most, f->info.blocks);
    }
    hpcw_i_free(c);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Bytes of one file
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status key_rules(struct read_sion *reader, struct read_sion_file *f, uint32_t file, bool strict,
                             hpcw_error *err) {
    struct read_sion_keys keys;
    for (uint32_t index = 0; index < f->info.tasks; index++) {
        struct read_sion_task task;
        hpcw_status status = read_sion_file_task(f, index, &task, err);
        if (status != HPCW_OK) {
            return status;
        }
        task.file = file;
        read_sion_keys_begin(&keys, &task);
        struct read_sion_record record = {0};
        bool more = true;
        while (more) {
            if ((status = read_sion_keys_next(reader, &keys, &record, &more, err)) != HPCW_OK) {
                return status;
            }
        }
        /* Rule 29: SIONlib's reader silently loses a last record without a value if its header lies in one chunk. */
        if (strict && task.size > 0 && record.size == 0 &&
            (record.offset - 16) / task.chunk_size == (record.offset - 1) / task.chunk_size) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: key-value stream of task %" PRIu32
                               ": expected a value after the last key, got none for key %" PRIu64,
                               NAME(f), index, record.key);
        }
    }
    return HPCW_OK;
}

struct gap_check {
    struct read_sion_file *f;
    uint64_t data_from, data_to; /* stretch last found */
    uint64_t known_from;         /* no data in [known_from, data_from) */
};

static hpcw_status zero_range(struct gap_check *g, uint64_t from, uint64_t to, hpcw_error *err) {
    static const unsigned char zeros[16384];
    unsigned char bytes[sizeof zeros];
    while (from < to) {
        if (from < g->known_from || from >= g->data_to) {
            hpcw_status status = read_source_data(g->f->source, from, &g->data_from, &g->data_to, err);
            if (status != HPCW_OK) {
                return status;
            }
            g->known_from = from;
        }
        if (from < g->data_from) {
            from = g->data_from;
            continue;
        }
        uint64_t end = to < g->data_to ? to : g->data_to;
        size_t part = end - from < sizeof bytes ? (size_t)(end - from) : sizeof bytes;
        hpcw_status status = read_source_read(g->f->source, from, bytes, part, "a gap", err);
        if (status != HPCW_OK) {
            return status;
        }
        if (memcmp(bytes, zeros, part) != 0) {
            size_t i = 0;
            while (bytes[i] == 0) {
                i++;
            }
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: byte at offset %" PRIu64 ", which no stream uses: expected 0, got %02x",
                               NAME(g->f), from + i, bytes[i]);
        }
        from += part;
    }
    return HPCW_OK;
}

/* The slack of one row of chunks. */
static hpcw_status gap_row(struct gap_check *g, uint32_t block, const unsigned char *row, hpcw_error *err) {
    const struct read_sion_file *f = g->f;
    hpcw_status status = HPCW_OK;
    for (uint32_t i = 0; i < f->window.count && status == HPCW_OK; i++) {
        bool used = block < f->window.blocks[i];
        uint64_t size = used ? hpcw_i_get_u64(row + 8 * (size_t)i, f->info.meta_big) : 0;
        uint64_t start = f->window.start[i] + block * f->info.block_stride;
        status = zero_range(g, start + size, start + f->window.chunk[i], err);
    }
    return status;
}

/* Rows that the walk left out stand for empty blocks, whose chunks are gaps from end to end. */
static hpcw_status gap_blocks(struct gap_check *g, uint32_t block, uint32_t end, hpcw_error *err) {
    const struct read_sion_info *info = &g->f->info;
    uint32_t last = g->f->window.count - 1;
    uint64_t from = g->f->window.start[0], to = g->f->window.start[last] + g->f->window.chunk[last];
    if (from == to) {
        return HPCW_OK;
    }
    while (block < end) {
        uint64_t shift = block * info->block_stride;
        hpcw_status status = zero_range(g, from + shift, to + shift, err);
        if (status != HPCW_OK) {
            return status;
        }
        /* Such files are sparse as a rule: on to the block in which data begins. */
        block++;
        uint64_t data = g->data_from > info->data_start ? g->data_from - info->data_start : 0;
        if (data / info->block_stride > block) {
            block = data / info->block_stride < end ? (uint32_t)(data / info->block_stride) : end;
        }
    }
    return HPCW_OK;
}

/* Rule 31. */
static hpcw_status gap_rules(struct read_sion_file *f, hpcw_error *err) {
    struct gap_check g = {.f = f, .known_from = UINT64_MAX};
    hpcw_status status = zero_range(&g, f->info.meta1_size, f->info.data_start, err);
    for (uint32_t first = 0; first < f->info.tasks && status == HPCW_OK; first += READ_SION_WINDOW) {
        status = read_sion_file_load(f, first, err);
        struct read_sion_rows rows;
        read_sion_rows_begin(&rows, f, first, f->window.count, f->info.blocks);
        for (uint32_t next = 0; next < f->info.blocks && status == HPCW_OK;) {
            uint32_t block = f->info.blocks;
            const unsigned char *row = NULL;
            status = read_sion_rows_next(&rows, &block, &row, err);
            if (status == HPCW_OK) {
                status = gap_blocks(&g, next, block, err);
            }
            if (status == HPCW_OK && row != NULL) {
                status = gap_row(&g, block, row, err);
            }
            next = block < f->info.blocks ? block + 1 : block;
        }
    }
    return status;
}

static hpcw_status file_rules(struct read_sion *reader, struct read_sion_file *base, struct read_sion_file *f,
                              uint32_t file, unsigned flags, hpcw_error *err) {
    bool strict = (flags & READ_SION_STRICT) != 0;
    hpcw_status status = header_rules(f, err);
    if (status == HPCW_OK && strict) {
        status = strict_header(f, err);
    }
    if (status == HPCW_OK) {
        status = tail_rules(f, strict, err);
    }
    if (status == HPCW_OK) {
        status = table_rules(base, f, file, strict, err);
    }
    if (status == HPCW_OK && f->info.mode == READ_SION_MODE_KEYVAL) {
        status = key_rules(reader, f, file, strict, err);
    }
    if (status == HPCW_OK && (flags & READ_SION_GAPS) != 0) {
        status = gap_rules(f, err);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The set
 * --------------------------------------------------------------------------------------------------------- */

/* What all files of a set have in common: rule 25. */
static hpcw_status member_rules(const struct read_sion_info *base, const struct read_sion_file *f,
                                hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const struct {
        const char *field;
        uint64_t offset, expected, got;
    } words[] = {
        {"byte order of metadata", 4, base->meta_big, info->meta_big},
        {"byte order of user data", 5, base->data_big, info->data_big},
        {"library version", 8, (uint64_t)base->library_version, (uint64_t)info->library_version},
        {"library patch level", 12, (uint64_t)base->library_patch, (uint64_t)info->library_patch},
        {"file format version", 16, (uint64_t)base->format, (uint64_t)info->format},
        {"fsblksize", 20, base->fs_block_size, info->fs_block_size},
        {"flag1", 36, base->flag1, info->flag1},
        {"flag2", 44, base->flag2, info->flag2},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].expected != words[i].got) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: %s at offset %" PRIu64 ": expected %" PRIu64 " as in file 0, got %" PRIu64,
                               NAME(f), words[i].field, words[i].offset, words[i].expected, words[i].got);
        }
    }
    if (memcmp(base->prefix, info->prefix, sizeof base->prefix) != 0) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: file name prefix at offset 52: expected \"%.128s\" as in file 0, got \"%.128s\"", NAME(f),
            base->prefix, info->prefix);
    }
    return HPCW_OK;
}

hpcw_status read_sion_verify(struct read_sion *reader, unsigned flags, hpcw_error *err) {
    struct read_sion_file *base;
    hpcw_status status = read_sion_physical(reader, 0, &base, err);
    uint32_t files = read_sion_files(reader);
    uint64_t ranks = 0;
    for (uint32_t k = 0; k < files && status == HPCW_OK; k++) {
        struct read_sion_file *f;
        status = read_sion_physical(reader, k, &f, err);
        if (status != HPCW_OK) {
            break;
        }
        if ((status = member_rules(&base->info, f, err)) == HPCW_OK) {
            status = file_rules(reader, base, f, k, flags, err);
        }
        ranks += f->info.tasks - f->info.collectors;
    }
    if (status == HPCW_OK && base->info.mapping == READ_SION_MAPPING_FULL &&
        ranks != base->info.mapping_tasks) {
        status = hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: size of the mapping at offset %" PRIu64 ": expected %" PRIu64
                             ", the tasks in all files, got %" PRIu32,
                             NAME(base), base->info.meta2_end, ranks, base->info.mapping_tasks);
    }
    return status;
}
