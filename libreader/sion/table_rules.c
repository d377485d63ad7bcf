/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the rules of the tables of one file: doc/formats/sion.md, "Rules". */
#include <inttypes.h>
#include <string.h>

#include "libreader/sion/rules.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Counts of the blocks that a task uses, taken from the rows of block sizes. */
struct tally {
    uint32_t filled; /* number of used blocks that hold a byte */
    uint32_t full;   /* number of full blocks before the last used block */
};

struct table_check {
    struct read_sion_file *base; /* the file with the mapping, NULL if there is none */
    struct read_sion_file *f;
    uint32_t file; /* number of the file `f` in the set */
    bool strict;
    int64_t last_rank;
    int64_t most; /* largest block count so far */
    struct tally tally[READ_SION_WINDOW];
};

/* Checks that a task is where the mapping says. This must hold for every task with a rank >= 0. The mapping has one
 * entry for each rank, so no two tasks have the same rank. The caller compares the number of tasks with the number
 * of entries, so that no entry is left over. Both together prove a bijection, without a table in memory. */
hpcw_status read_sion_mapping_rule(struct read_sion_file *base, const struct read_sion_file *f, uint32_t file,
                                   uint32_t index, int64_t rank, hpcw_error *err) {
    int64_t g = rank < 0 ? -(rank + 1) : rank;
    if (g >= (int64_t)base->info.mapping_tasks) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                           ": expected one of the %" PRIu32 " of the mapping, got %" PRId64,
                           read_sion_file_name(f), index, f->ranks_at + 8 * (uint64_t)index,
                           base->info.mapping_tasks, rank);
    }
    if (rank < 0) {
        return HPCW_OK;
    }
    int32_t in_file, at_index;
    hpcw_status status = read_sion_file_mapping(base, (uint32_t)rank, &in_file, &at_index, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (in_file != (int32_t)file || at_index != (int32_t)index) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: mapping of global rank %" PRId64 " at offset %" PRIu64 ": expected file %" PRIu32
            ", task %" PRIu32 ", which has this rank, got file %" PRId32 ", task %" PRId32,
            read_sion_file_name(base), rank, base->info.meta2_end + read_sion_mapping_entry_at((uint64_t)rank),
            file, index, in_file, at_index);
    }
    return HPCW_OK;
}

/* Checks rules 17, 22 and 23, which do not need the rows of block sizes. */
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
                           read_sion_file_name(f), index, rank_at, rank, f->window.chunk[i]);
    }
    if (c->strict && f->info.files == 1 && rank != (int64_t)index) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64 ": expected %" PRIu32
                           ", got %" PRId64,
                           read_sion_file_name(f), index, rank_at, index, rank);
    }
    if (c->strict && index > 0 && rank <= c->last_rank) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRIu32 " at offset %" PRIu64
                           ": expected more than %" PRId64 " of the task before, got %" PRId64,
                           read_sion_file_name(f), index, rank_at, c->last_rank, rank);
    }
    c->last_rank = rank;
    if (c->base->info.mapping == READ_SION_MAPPING_FULL) {
        hpcw_status status = read_sion_mapping_rule(c->base, c->f, c->file, index, rank, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    int64_t blocks = f->window.blocks[i];
    if (blocks < 1 || blocks > (int64_t)f->info.blocks) {
        return read_sion_file_explain(c->f, index, err);
    }
    if (blocks > c->most) {
        c->most = blocks;
    }
    return HPCW_OK;
}

/* Checks rules 18 and 19. */
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
                           read_sion_file_name(f), index, block, read_sion_file_size_at(f, index, block),
                           c->strict ? "0" : "0 or -1", size);
    }
    if (size < 0 || (uint64_t)size > f->window.chunk[i]) {
        return read_sion_file_explain(c->f, index, err);
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
    struct read_sion_rows rows = read_sion_rows_begin(f, f->window.first, f->window.count, f->info.blocks, err);
    const unsigned char *row;
    uint32_t block;
    while ((row = read_sion_rows_next(&rows, &block)) != NULL) {
        for (uint32_t i = 0; i < f->window.count; i++) {
            int64_t size = read_sion_i64(row + 8 * (size_t)i, f->info.meta_big);
            if ((status = size_rules(c, i, block, size, err)) != HPCW_OK) {
                return status;
            }
        }
    }
    if (rows.status != HPCW_OK) {
        return rows.status;
    }
    bool keyval = f->info.mode == READ_SION_MODE_KEYVAL;
    for (uint32_t i = 0; i < f->window.count; i++) {
        /* Rule 16: a block is opened by its first byte, so only a stream of one block can be empty. */
        if (c->strict && f->window.blocks[i] > 1 && c->tally[i].filled != f->window.blocks[i]) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: task %" PRIu32 ": expected a byte in each of its %" PRId64
                               " blocks, got %" PRIu32 " blocks with any",
                               read_sion_file_name(f), f->window.first + i, f->window.blocks[i],
                               c->tally[i].filled);
        }
        /* Rule 28: hpcgen fills every chunk but the last one of a stream. SIONlib does not always do so. */
        if (c->strict && keyval && c->tally[i].full + 1 != f->window.blocks[i]) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: key-value stream of task %" PRIu32 ": expected all of its %" PRId64
                               " chunks but the last full, got %" PRIu32,
                               read_sion_file_name(f), f->window.first + i, f->window.blocks[i],
                               c->tally[i].full);
        }
    }
    return HPCW_OK;
}

hpcw_status read_sion_table_rules(struct read_sion_file *base, struct read_sion_file *f, uint32_t file,
                                  bool strict, hpcw_error *err) {
    struct table_check *c = hpcw_i_calloc(1, sizeof *c);
    if (c == NULL) {
        return hpcw_i_fail_memory(err, read_sion_file_name(f), 0, NULL);
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
                             read_sion_file_name(f), read_sion_commit_at(&f->info) + READ_SION_COMMIT_BLOCKS_AT,
                             c->most, f->info.blocks);
    }
    hpcw_i_free(c);
    return status;
}
