/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: one task of this process, from its request to its last block. */
#ifndef HPCW_FORMAT_SION_PLACEMENT_TASK_H
#define HPCW_FORMAT_SION_PLACEMENT_TASK_H

#include <stdint.h>

/* Bytes used in the blocks of a task before the current one. */
struct hpcw_i_sion_blocks {
    uint64_t alike; /* this many of the last ones used the same, so that a close need not look at each */
    uint64_t used[];
};

/* One task of this process. */
struct hpcw_i_sion_task {
    uint64_t start; /* of its chunk: first within the block, later (open) in the file, block 0 */
    uint64_t chunk; /* bytes: first as requested, then as in the file */
    uint64_t used;  /* bytes of the current block without those in a buffer */
    struct hpcw_i_sion_blocks *earlier; /* of `block` blocks; NULL: none */
    uint32_t block;                     /* current block */
};

#endif
