/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the file system blocks that two or more ranks touch, from the layout alone. The count is exact, needs
 * no file, and works for any machine. On GPFS and Lustre, the lock of such a block moves between nodes.
 *
 * It counts the ranks whose bytes a block holds, not the processes that write them. With collective MPI-IO a few
 * processes may write for all, and then share fewer blocks. */
#ifndef HPCW_BENCH_COUNT_SHARING_H
#define HPCW_BENCH_COUNT_SHARING_H

#include <hpcw/status.h>

#include "bench/report/results.h"

/* Description of a layout. Sizes are bytes. Every rank writes `rank_bytes` in records of `record_bytes`; the last
 * record may be shorter. Fields marked SION count only for layouts that are SION containers. */
struct bench_geometry {
    enum bench_layout layout; /* a layout up to BENCH_HDF5_COLLECTIVE */
    uint32_t ranks;
    uint64_t fs_block; /* block size of the real file system */
    uint64_t rank_bytes;
    /* SION: bytes of a record, which stays in one chunk (HPCW_SION_RECORDS); 0: a byte stream (HPCW_SION_STREAM) */
    uint64_t record_bytes;
    /* SION: fs_block_size of hpcw_sion_options; may differ from fs_block */
    uint64_t container_block;
    /* SION: requested chunk size, the same for every rank; 0: rank_bytes, so that one chunk suffices */
    uint64_t chunk_bytes;
    uint32_t files; /* SION: physical files, as in hpcw_sion_options; 0: 1 */
    /* [ranks] index of the process or host that owns each rank; NULL: owner_blocks are not counted */
    const uint32_t *owner;
};

/* Results. A block is fs_block bytes of a file that hold bytes of a rank or metadata. Blocks that are never
 * written are holes and do not count. Two ranks share a block that holds bytes of both. */
struct bench_sharing {
    uint64_t blocks;        /* all blocks with data or metadata */
    uint64_t data_blocks;   /* blocks with bytes of a rank */
    uint64_t shared_blocks; /* blocks with bytes of two or more ranks */
    uint64_t owner_blocks;  /* blocks with bytes of two or more owners */
    uint32_t largest;       /* largest number of ranks with bytes in one block */
    uint32_t ranks;         /* ranks that share at least one block */
    uint32_t pairs;         /* pairs (r, r + 1) that share at least one block */
    uint64_t bytes;         /* bytes of all ranks */
    uint64_t shared_bytes;  /* bytes of ranks in shared blocks */
    /* blocks with metadata of a container; those of HDF5 are not counted */
    uint64_t meta_blocks;
    uint64_t mixed_blocks; /* blocks with metadata and bytes of a rank */
    uint64_t meta_bytes;
    /* bytes in blocks that hold neither data nor metadata */
    uint64_t unused_bytes;
};

/* Counts the blocks and shared blocks of a layout. Memory: two bits per rank. Time: some ns per chunk.
 *
 * HPCW_EINVAL: a size of 0, a record larger than the chunk, or an invalid layout. HPCW_ERANGE: offsets beyond
 * 2^63 - 1. HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status bench_sharing_count(const struct bench_geometry *g, struct bench_sharing *out,
                                                hpcw_error *err);

#endif
