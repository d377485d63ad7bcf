/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which blocks of the file system two or more ranks touch, counted from the layout alone: exactly, without any
 * file, for any machine. On GPFS and Lustre the lock of such a block moves between nodes.
 *
 * The count is of the ranks whose bytes a block holds, not of the processes that write them: with collective MPI-IO a
 * few processes may write for all, and then share less.
 */
#ifndef HPCW_BENCH_COUNT_SHARING_H
#define HPCW_BENCH_COUNT_SHARING_H

#include <hpcw/status.h>

#include "bench/report/results.h"

/*
 * A layout in numbers. Sizes are bytes. Every rank writes `rank_bytes` in records of `record_bytes`, the last of which
 * may be shorter. Other layouts ignore the fields marked SION.
 */
struct bench_geometry {
    enum bench_layout layout; /* up to BENCH_HDF5_COLLECTIVE */
    uint32_t ranks;
    uint64_t fs_block; /* of the real file system */
    uint64_t rank_bytes;
    /* SION: a record stays in one chunk (HPCW_SION_RECORDS); 0: bytes (HPCW_SION_STREAM) */
    uint64_t record_bytes;
    uint64_t container_block; /* SION: fs_block_size of hpcw_sion_options; need not be fs_block */
    /* SION: as requested, the same for every rank; 0: rank_bytes, so that one is enough */
    uint64_t chunk_bytes;
    uint32_t tasks_per_group; /* SION, packed: as in hpcw_sion_options */
    uint32_t files;           /* SION: physical files, as in hpcw_sion_options; 0: 1 */
    const uint32_t *owner;    /* [ranks] whose each rank is: a process, a host; NULL: not counted */
};

/*
 * What was counted. A block is one of fs_block bytes of one file that holds bytes of a rank or metadata; blocks that
 * are not written are holes and do not count. Ranks share a block if it holds bytes of both.
 */
struct bench_sharing {
    uint64_t blocks;        /* in all */
    uint64_t data_blocks;   /* that hold bytes of a rank */
    uint64_t shared_blocks; /* that hold bytes of two or more */
    uint64_t owner_blocks;  /* that hold bytes of two or more owners */
    uint32_t largest;       /* most ranks in one block */
    uint32_t ranks;         /* that share at least one of their blocks */
    uint32_t pairs;         /* (r, r + 1) that share at least one block */
    uint64_t bytes;         /* of all ranks */
    uint64_t shared_bytes;  /* of them in shared blocks */
    uint64_t meta_blocks;   /* that hold metadata of a container; those of HDF5 are not counted */
    uint64_t mixed_blocks;  /* that hold metadata and bytes of a rank */
    uint64_t meta_bytes;
    uint64_t unused_bytes; /* of all blocks, neither data nor metadata: allocated for nothing */
};

/*
 * Counts. Takes two bits of memory a rank, and time in proportion to the ranks times the chunks a rank fills until
 * the pattern of chunks on blocks repeats: for one chunk a rank some ns a rank.
 *
 * HPCW_EINVAL: a size of 0, a record larger than the chunk, a layout without a geometry; HPCW_ERANGE: offsets beyond
 * 2^63 - 1; HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status bench_sharing_count(const struct bench_geometry *g, struct bench_sharing *out,
                                                hpcw_error *err);

#endif
