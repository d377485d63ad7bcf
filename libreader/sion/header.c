/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens one physical SION file: a header with per-task tables (META1), chunks, and the table of block sizes
 * (META2). Numbers in the header determine all offsets, so they are checked first and completely. In an open file,
 * every chunk and every table entry is inside the file.
 */
#include "libreader/sion/file.h"

#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Most bytes of tables that are read at a time. */
#define RAW_MOST ((size_t)128 * 1024)

static hpcw_status wrong(const struct read_sion_file *f, const char *field, uint64_t offset,
                         const char *expected, int64_t got, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: %s at offset %" PRIu64 ": expected %s, got %" PRId64,
                       read_sion_file_name(f), field, offset, expected, got);
}

/* Reads the fields that all versions have: rules 1, 3, 5 to 7 of doc/formats/sion.md, "Rules". */
static hpcw_status read_common(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    unsigned char head[READ_SION_COMMON_SIZE];
    hpcw_status status = read_source_read(f->source, 0, head, sizeof head, "the SION header", err);
    if (status != HPCW_OK) {
        return status;
    }
    if (memcmp(head + READ_SION_MAGIC_AT, "sion", 4) != 0) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: magic at offset 0: expected 73 69 6f 6e, got %02x %02x %02x %02x: not a SION file",
            read_sion_file_name(f), head[0], head[1], head[2], head[3]);
    }
    /* The word reads the same in both byte orders. So on any host, the lowest bit of the word is the lowest bit of
     * its first byte. */
    memcpy(info->endian_word, head + READ_SION_ENDIAN_AT, sizeof info->endian_word);
    info->meta_big = (info->endian_word[0] & 1) != 0;
    info->data_big = (info->endian_word[1] & 1) != 0;
    bool big = info->meta_big;

    info->library_version = read_sion_i32(head + READ_SION_VERSION_AT, big);
    info->library_patch = read_sion_i32(head + READ_SION_PATCH_AT, big);
    info->format = read_sion_i32(head + READ_SION_FORMAT_AT, big);
    /* Later versions are read as version 5. A huge number is a version 2 to 5 in the other byte order. */
    if (info->format < 2 || info->format > 0xffff) {
        return wrong(f, "file format version", READ_SION_FORMAT_AT,
                     big ? "2..65535 (big-endian)" : "2..65535 (little-endian)", info->format, err);
    }
    int32_t fs_block_size = read_sion_i32(head + READ_SION_FSBLKSIZE_AT, big);
    if (fs_block_size < 1) {
        return wrong(f, "fsblksize", READ_SION_FSBLKSIZE_AT, ">= 1", fs_block_size, err);
    }
    int32_t tasks = read_sion_i32(head + READ_SION_NTASKS_AT, big);
    if (tasks < 1 || (uint32_t)tasks > READ_SION_MOST_TASKS) {
        return wrong(f, "ntasks", READ_SION_NTASKS_AT, "1..134217659", tasks, err);
    }
    int32_t files = read_sion_i32(head + READ_SION_NFILES_AT, big);
    if (files < 1) {
        return wrong(f, "nfiles", READ_SION_NFILES_AT, ">= 1", files, err);
    }
    info->fs_block_size = (uint32_t)fs_block_size;
    info->tasks = (uint32_t)tasks;
    info->files = (uint32_t)files;
    return HPCW_OK;
}

/* Reads the fields after the common ones, up to the tables. Files of version 2 only have the prefix there. */
static hpcw_status read_rest(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    unsigned char head[READ_SION_TABLES_AT];
    bool old = info->format == 2, big = info->meta_big;
    uint64_t tables_at = old ? READ_SION_TABLES_AT_2 : READ_SION_TABLES_AT;
    f->ranks_at = tables_at;
    f->chunks_at = tables_at + 8 * (uint64_t)info->tasks;
    info->meta1_size = tables_at + READ_SION_TASK_SIZE * (uint64_t)info->tasks + READ_SION_COMMIT_SIZE;
    if (info->meta1_size > info->file_size) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: META1 of %" PRIu32 " tasks needs %" PRIu64
                           " bytes, but the file ends at %" PRIu64,
                           read_sion_file_name(f), info->tasks, info->meta1_size, info->file_size);
    }
    hpcw_status status = read_source_read(f->source, READ_SION_COMMON_SIZE, head + READ_SION_COMMON_SIZE,
                                          (size_t)tables_at - READ_SION_COMMON_SIZE, "the SION header", err);
    if (status != HPCW_OK) {
        return status;
    }
    info->mode = READ_SION_MODE_PLAIN;
    if (old && info->files > 1) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: nfiles at offset %d: expected 1, got %" PRIu32
                           ": format version 2 does not store which file of a set this is",
                           read_sion_file_name(f), READ_SION_NFILES_AT, info->files);
    }
    if (!old) {
        int32_t number = read_sion_i32(head + READ_SION_FILENUMBER_AT, big);
        if (number < 0 || (info->files > 1 && (uint32_t)number >= info->files)) {
            return wrong(f, "filenumber", READ_SION_FILENUMBER_AT, "0..nfiles-1", number, err);
        }
        info->file_number = (uint32_t)number;
        info->flag1 = hpcw_i_get_u64(head + READ_SION_FLAG1_AT, big);
        info->flag2 = hpcw_i_get_u64(head + READ_SION_FLAG2_AT, big);
        /* The mode is stored since format 5. In files without a mode, the high half of flag1 is 0. */
        if (info->format >= 5 && info->flag1 >> 32 != 0) {
            info->mode = (uint32_t)(info->flag1 >> 32);
        }
    }
    memcpy(info->prefix, head + (old ? READ_SION_PREFIX_AT_2 : READ_SION_PREFIX_AT), READ_SION_PREFIX_SIZE);
    info->prefix[READ_SION_PREFIX_SIZE] = '\0';
    return HPCW_OK;
}

/* Reads the last two fields of META1, which a writer fills in at the close: doc/formats/sion.md#sion-10. */
static hpcw_status read_commit_mark(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    unsigned char mark[READ_SION_COMMIT_SIZE];
    uint64_t at = read_sion_commit_at(info);
    hpcw_status status = read_source_read(f->source, at, mark, sizeof mark, "the end of META1", err);
    if (status != HPCW_OK) {
        return status;
    }
    int32_t blocks = read_sion_i32(mark + READ_SION_COMMIT_BLOCKS_AT, info->meta_big);
    int64_t meta2_start = read_sion_i64(mark + READ_SION_COMMIT_META2_AT, info->meta_big);
    if (meta2_start == 0) {
        return hpcw_i_fail(
            err, HPCW_ETRUNCATED,
            "%s: start_of_varheader at offset %" PRIu64
            ": expected the offset of META2, got 0: the file was never closed by its writer, which "
            "has to write it again",
            read_sion_file_name(f), at + READ_SION_COMMIT_META2_AT);
    }
    if (blocks < 1) {
        return wrong(f, "maxchunks", at, ">= 1", blocks, err);
    }
    if (meta2_start < 0) {
        return wrong(f, "start_of_varheader", at + READ_SION_COMMIT_META2_AT, ">= 1", meta2_start, err);
    }
    info->blocks = (uint32_t)blocks;
    info->meta2_start = (uint64_t)meta2_start;
    return HPCW_OK;
}

/* Adds up the chunk sizes (doc/formats/sion.md#sion-12), records where the chunks of each window start, and
 * counts tasks with negative ranks: in a buddy copy of SIONlib, they have no data of their own. */
static hpcw_status scan_tables(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    if (!hpcw_i_round_up_u64(info->meta1_size, info->fs_block_size, &info->data_start)) {
        return wrong(f, "fsblksize", READ_SION_FSBLKSIZE_AT, "a smaller one", info->fs_block_size, err);
    }
    uint64_t start = info->data_start;
    for (uint32_t first = 0; first < info->tasks; first += READ_SION_WINDOW) {
        uint32_t count = info->tasks - first < READ_SION_WINDOW ? info->tasks - first : READ_SION_WINDOW;
        f->marks[first / READ_SION_WINDOW] = start;
        hpcw_status status = read_sion_file_words(f, f->ranks_at, first, count, "ranks", f->window.rank, err);
        if (status == HPCW_OK) {
            status = read_sion_file_words(f, f->chunks_at, first, count, "chunk sizes", f->window.chunk, err);
        }
        if (status != HPCW_OK) {
            return status;
        }
        for (uint32_t i = 0; i < count; i++) {
            int64_t stored = (int64_t)f->window.chunk[i];
            uint64_t chunk;
            info->collectors += f->window.rank[i] < 0;
            if (!read_sion_chunk_size(info, stored, &chunk) || !hpcw_i_add_u64(start, chunk, &start) ||
                start > info->file_size) {
                return hpcw_i_fail(err, HPCW_EFORMAT,
                                   "%s: chunk size of task %" PRIu32 " at offset %" PRIu64
                                   ": expected >= 0 and a block 0 that ends inside the %" PRIu64
                                   " bytes of the file, got %" PRId64,
                                   read_sion_file_name(f), first + i, f->chunks_at + 8 * (uint64_t)(first + i),
                                   info->file_size, stored);
            }
        }
    }
    info->block_stride = start - info->data_start;
    return HPCW_OK;
}

/* Checks that META2 starts where the chunks end (doc/formats/sion.md#sion-14), and ends in the file (#sion-20). */
static hpcw_status locate_meta2(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    uint64_t expected, rows;
    uint64_t meta2_at = read_sion_commit_at(info) + READ_SION_COMMIT_META2_AT;
    if (!hpcw_i_mul_u64(info->blocks, info->block_stride, &expected) ||
        !hpcw_i_add_u64(expected, info->data_start, &expected)) {
        return wrong(f, "maxchunks", read_sion_commit_at(info) + READ_SION_COMMIT_BLOCKS_AT,
                     "a number of blocks that fits the file", info->blocks, err);
    }
    if (expected != info->meta2_start) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: start_of_varheader at offset %" PRIu64 ": expected %" PRIu64 " = %" PRIu64
                           " + %" PRIu32 " blocks of %" PRIu64 ", got %" PRIu64,
                           read_sion_file_name(f), meta2_at, expected, info->data_start, info->blocks,
                           info->block_stride, info->meta2_start);
    }
    if (!hpcw_i_mul_u64(8 * (uint64_t)info->tasks, 1 + (uint64_t)info->blocks, &rows) ||
        !hpcw_i_add_u64(info->meta2_start, rows, &info->meta2_end) || info->meta2_end > info->file_size) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: META2 at offset %" PRIu64 " of %" PRIu32 " tasks and %" PRIu32
                           " blocks does not fit, because the file ends at %" PRIu64,
                           read_sion_file_name(f), info->meta2_start, info->tasks, info->blocks,
                           info->file_size);
    }
    return HPCW_OK;
}

/* Finds out which mapping the file has: doc/formats/sion.md, "Mapping". */
static hpcw_status find_mapping(struct read_sion_file *f, hpcw_error *err) {
    struct read_sion_info *info = &f->info;
    uint64_t rest = info->file_size - info->meta2_end;
    bool needed = info->files > 1 && info->file_number == 0;
    if (!needed && (info->files > 1 || rest < READ_SION_MAPPING_HEADER)) {
        return HPCW_OK;
    }
    unsigned char word[READ_SION_MAPPING_HEADER];
    hpcw_status status = read_source_read(f->source, info->meta2_end, word, sizeof word, "the mapping", err);
    if (status != HPCW_OK) {
        return status;
    }
    int32_t entries = read_sion_i32(word, info->meta_big);
    if (!needed) {
        /* Other bytes after the block sizes of a single file are left to read_sion_verify, which refuses them. */
        if (entries == 0) {
            info->mapping = READ_SION_MAPPING_EMPTY;
        } else if (entries > 0 && (uint32_t)entries == info->tasks &&
                   (rest - READ_SION_MAPPING_HEADER) / READ_SION_MAPPING_ENTRY >= info->tasks) {
            info->mapping = READ_SION_MAPPING_FULL;
            info->mapping_tasks = info->tasks;
        }
        return HPCW_OK;
    }
    /* Every file of a set has a task. */
    if (entries < 1 || (uint32_t)entries < info->files) {
        return wrong(f, "size of the mapping", info->meta2_end, "at least one task per file of the set",
                     entries, err);
    }
    if ((rest - READ_SION_MAPPING_HEADER) / READ_SION_MAPPING_ENTRY < (uint32_t)entries) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: mapping of %" PRId32 " tasks at offset %" PRIu64
                           " does not fit, because the file ends at %" PRIu64,
                           read_sion_file_name(f), entries, info->meta2_end, info->file_size);
    }
    info->mapping = READ_SION_MAPPING_FULL;
    info->mapping_tasks = (uint32_t)entries;
    return HPCW_OK;
}

static bool allocate(struct read_sion_file *f) {
    size_t width = f->info.tasks < READ_SION_WINDOW ? f->info.tasks : READ_SION_WINDOW;
    uint64_t rows = 8 * (uint64_t)f->info.tasks;
    /* The buffer has room for all sizes of a small file, for whole rows of a medium file, or for the part of a row
     * that a window needs. */
    if (!hpcw_i_mul_u64(rows, f->info.blocks, &rows) || rows > RAW_MOST) {
        rows = RAW_MOST;
    }
    f->raw_size = (size_t)rows;
    f->raw = hpcw_i_malloc(f->raw_size);
    f->marks = hpcw_i_calloc((size_t)(f->info.tasks - 1) / READ_SION_WINDOW + 1, sizeof *f->marks);
    f->window.rank = hpcw_i_calloc(5 * width, sizeof *f->window.rank);
    if (f->raw == NULL || f->marks == NULL || f->window.rank == NULL) {
        return false;
    }
    f->window.blocks = f->window.rank + width;
    f->window.chunk = (uint64_t *)(f->window.blocks + width);
    f->window.start = f->window.chunk + width;
    f->window.size = f->window.start + width;
    return true;
}

/* Makes a physical file of a source. Takes ownership of the source, also on failure. */
static hpcw_status new_file(struct read_source *source, struct read_sion_file **out, hpcw_error *err) {
    struct read_sion_file *f = hpcw_i_calloc(1, sizeof *f);
    *out = f;
    if (f == NULL) {
        hpcw_status status = hpcw_i_fail_memory(err, read_source_name(source), 0, NULL);
        read_source_free(source);
        return status;
    }
    f->source = source;
    f->info.file_size = read_source_size(source);
    f->cursor_task = UINT32_MAX;
    return HPCW_OK;
}

hpcw_status read_sion_file_open_checked(struct read_source *source, const struct read_sion_info *info,
                                        struct read_sion_file **out, hpcw_error *err) {
    hpcw_status status = new_file(source, out, err);
    if (status != HPCW_OK) {
        return status;
    }
    if ((*out)->info.file_size != info->file_size) {
        status = hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: size: expected %" PRIu64 " bytes, which another process sees, got %" PRIu64,
                             read_sion_file_name(*out), info->file_size, (*out)->info.file_size);
        read_sion_file_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->info = *info;
    return HPCW_OK;
}

hpcw_status read_sion_file_open(struct read_source *source, struct read_sion_file **out, hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = new_file(source, &f, err);
    *out = NULL;
    if (status != HPCW_OK) {
        return status;
    }
    if ((status = read_common(f, err)) != HPCW_OK || (status = read_rest(f, err)) != HPCW_OK ||
        (status = read_commit_mark(f, err)) != HPCW_OK) {
        goto done;
    }
    if (!allocate(f)) {
        status = hpcw_i_fail_memory(err, read_sion_file_name(f), f->info.tasks, "tasks");
        goto done;
    }
    if ((status = scan_tables(f, err)) != HPCW_OK || (status = locate_meta2(f, err)) != HPCW_OK) {
        goto done;
    }
    status = find_mapping(f, err);
done:
    if ((status == HPCW_EFORMAT || status == HPCW_ETRUNCATED) &&
        read_source_is_unfinished(read_sion_file_name(f))) {
        status =
            hpcw_i_fail(err, HPCW_ETRUNCATED,
                        "%s: expected a finished file, got one whose writer still runs, or died and has to "
                        "write it again",
                        read_sion_file_name(f));
    }
    if (status != HPCW_OK) {
        read_sion_file_free(f);
        f = NULL;
    }
    *out = f;
    return status;
}
