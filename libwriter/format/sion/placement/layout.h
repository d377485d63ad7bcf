/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a SION file (file format version 5). Pure arithmetic, no state, no I/O.
 *
 *   0         data_start          data_start + stride           meta2
 *   | META1 |pad| block 0: chunk of each task | block 1 ... | META2 | mapping |
 */
#ifndef HPCW_FORMAT_SION_PLACEMENT_LAYOUT_H
#define HPCW_FORMAT_SION_PLACEMENT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/sion.h>

#include "libwriter/base/checked.h"

/* META1, fixed part: doc/formats/sion.md, "Header". All integers are in metadata byte order. */
enum {
    HPCW_I_SION_MAGIC_AT = 0,
    HPCW_I_SION_ENDIAN_AT = 4,
    HPCW_I_SION_VERSION_AT = 8,
    HPCW_I_SION_PATCH_AT = 12,
    HPCW_I_SION_FORMAT_AT = 16,
    HPCW_I_SION_FSBLKSIZE_AT = 20,
    HPCW_I_SION_NTASKS_AT = 24,
    HPCW_I_SION_NFILES_AT = 28,
    HPCW_I_SION_FILENUMBER_AT = 32,
    HPCW_I_SION_FLAG1_AT = 36,
    HPCW_I_SION_FLAG2_AT = 44,
    HPCW_I_SION_PREFIX_AT = 52,
    HPCW_I_SION_TABLES_AT = 1076, /* offset of global ranks [n]; chunk sizes [n] follow */
    HPCW_I_SION_TASK_SIZE = 16,   /* bytes of a task in the tables of ranks and chunk sizes */
    /* bytes of the commit mark, which follows the tables: the last two fields of META1 */
    HPCW_I_SION_COMMIT_SIZE = 12,
    HPCW_I_SION_COMMIT_BLOCKS_AT = 0, /* offset of the largest number of blocks of a task (maxchunks) */
    HPCW_I_SION_COMMIT_META2_AT = 4,  /* offset of META2 */
};

/* The mapping: number of entries, then a pair of file number and index in the file for each task. */
enum { HPCW_I_SION_MAPPING_HEADER = 4, HPCW_I_SION_MAPPING_ENTRY = 8 };

/* Stands for no mapping at all. An empty mapping has 0 entries. */
#define HPCW_I_SION_NO_MAPPING UINT64_MAX

static inline uint64_t hpcw_i_sion_commit_at(uint32_t tasks) {
    return HPCW_I_SION_TABLES_AT + HPCW_I_SION_TASK_SIZE * (uint64_t)tasks;
}

/* Bytes of META1. */
static inline uint64_t hpcw_i_sion_meta1_size(uint32_t tasks) {
    return hpcw_i_sion_commit_at(tasks) + HPCW_I_SION_COMMIT_SIZE;
}

/* Offset of block 0 (start0 in doc/formats/sion.md, "Chunks"). */
static inline uint64_t hpcw_i_sion_data_start(uint32_t tasks, uint32_t block_size) {
    return hpcw_i_align_up(hpcw_i_sion_meta1_size(tasks), block_size);
}

/* Offset of the mapping, in a file whose mapping has this number of entries. */
static inline uint64_t hpcw_i_sion_mapping_at(const hpcw_sion_shape *shape, uint64_t entries) {
    return shape->file_size - HPCW_I_SION_MAPPING_HEADER - HPCW_I_SION_MAPPING_ENTRY * entries;
}

/* The division of tasks among files: file k has the next `each` tasks, the last file all remaining ones. */
struct hpcw_i_sion_division {
    uint32_t tasks, files, each;
    const uint32_t *first; /* [files] first task of each file, in place of `each`; or NULL */
};

/* Returns the first task of a file; `tasks` for file == files. */
static inline uint32_t hpcw_i_sion_first_task(const struct hpcw_i_sion_division *d, uint32_t file) {
    return file >= d->files ? d->tasks : d->first != NULL ? d->first[file] : d->each * file;
}

static inline uint32_t hpcw_i_sion_file_of_task(const struct hpcw_i_sion_division *d, uint32_t rank) {
    if (d->first != NULL) {
        uint32_t low = 0;
        for (uint32_t end = d->files; end - low > 1;) {
            uint32_t middle = low + (end - low) / 2;
            *(d->first[middle] <= rank ? &low : &end) = middle;
        }
        return low;
    }
    uint32_t file = rank / d->each;
    return file < d->files ? file : d->files - 1;
}

/* Adds sizes. Impossible sums stay at INT64_MAX instead of wrapping to a small number. */
static inline uint64_t hpcw_i_sion_add_up(uint64_t a, uint64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/*
 * Packing (doc/formats/sion.md, "Chunks"). Inside a group tasks follow each other without padding. A group's last
 * chunk is extended so that the next group starts at a file system block.
 */

/* Returns whether a group ends before a task that requests `next` bytes. `group` is the sum of the requests in it
 * so far. */
static inline bool hpcw_i_sion_ends_group(uint64_t share, uint64_t group, uint64_t next) {
    return group + next > share; /* no overflow: the sums of a block are below 2^62 */
}

#endif
