/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F3: where things are in a SION file (file format version 5). Pure arithmetic, no state, no I/O.
 *
 *   0         data_start          data_start + stride           meta2
 *   | META1 |pad| block 0: chunk of each task | block 1 ... | META2 | mapping |
 */
#ifndef HPCW_FORMAT_SION_LAYOUT_H
#define HPCW_FORMAT_SION_LAYOUT_H

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
    HPCW_I_SION_PREFIX_SIZE = 1024,
    HPCW_I_SION_TABLES_AT = 1076, /* global ranks [n], then chunk sizes [n] */
    HPCW_I_SION_COMMIT_SIZE = 12, /* behind the tables: maxchunks (4), start of META2 (8) */
};

/* Bytes of META1, and where its two last fields are, the commit mark. */
static inline uint64_t hpcw_i_sion_meta1_size(uint32_t tasks) {
    return 1088 + 16 * (uint64_t)tasks;
}
/* Offset of block 0 (start0 in doc/formats/sion.md, "Chunks"). */
static inline uint64_t hpcw_i_sion_data_start(uint32_t tasks, uint32_t block_size) {
    return hpcw_i_align_up(hpcw_i_sion_meta1_size(tasks), block_size);
}
static inline uint64_t hpcw_i_sion_commit_at(uint32_t tasks) {
    return HPCW_I_SION_TABLES_AT + 16 * (uint64_t)tasks;
}

/* File that task `rank` of `tasks` belongs to when they are split over `files` by count. */
uint32_t hpcw_i_sion_file_of_task(uint32_t tasks, uint32_t files, uint32_t rank);

/*
 * Packing: doc/formats/sion.md, "Chunks".
 * Tasks follow each other without padding inside a group; a group's last chunk is widened so that the
 * next group starts at a file system block. The group of a task is decided by the bytes requested before it in
 * its file: floor(before / share). So it can be told from a prefix sum alone, wherever the tasks are.
 */
struct hpcw_i_sion_packing {
    uint64_t share;      /* bytes of requests per group, a multiple of the file system block */
    uint32_t block_size; /* of the file system */
};

/* `requested`: all bytes requested in a file of `tasks` tasks; `per_group` as in hpcw_sion_options. */
struct hpcw_i_sion_packing hpcw_i_sion_packing_of(uint64_t requested, uint32_t tasks, uint32_t per_group,
                                                  uint32_t block_size);

/* Whether a task that requests `size` bytes behind `before` requested ones ends its group. */
bool hpcw_i_sion_ends_group(const struct hpcw_i_sion_packing *packing, uint64_t before, uint64_t size);

/*
 * What a run of consecutive tasks does to the position in the block: without the end of a group in it
 * x -> x + head; with one x -> round_up(x + head) + tail. Such maps compose to such maps, so the
 * positions of all runs follow from an ordered combination of one small record per process.
 */
struct hpcw_i_sion_advance {
    uint64_t ended; /* 0 or 1: a group ends in this run */
    uint64_t head;
    uint64_t tail;
};

/* Appends a task to a run. */
void hpcw_i_sion_advance_task(struct hpcw_i_sion_advance *run, uint64_t size, bool ends_group,
                              uint32_t block_size);

/* Position behind the run that starts at `x`. */
uint64_t hpcw_i_sion_advance_apply(const struct hpcw_i_sion_advance *run, uint64_t x, uint32_t block_size);

#endif
