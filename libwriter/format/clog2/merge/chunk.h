/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as a recording thread stores them: 64-bit words in chunks. A chunk is in memory, or in a window (part) of
 * the local file, which may be mapped or not. */
#ifndef HPCW_FORMAT_CLOG2_MERGE_CHUNK_H
#define HPCW_FORMAT_CLOG2_MERGE_CHUNK_H

#include <hpcw/clog2_log.h>

#define HPCW_I_CLOG2_CHUNK_BYTES (HPCW_I_CLOG2_CHUNK * sizeof(uint64_t))

enum {
    HPCW_I_CLOG2_CHUNK = 262144, /* words of a chunk: a large page of 2 MiB */
    HPCW_I_CLOG2_MOST_WORDS = HPCW_CLOG2_WORDS_CARGO
};

struct hpcw_i_clog2_chunk {
    struct hpcw_i_clog2_chunk *next;   /* next chunk of the timeline */
    struct hpcw_i_clog2_chunk *queued; /* next chunk in the queue of full windows */
    uint64_t *data;                    /* words of the chunk; NULL: the chunk is only in the local file */
    uint64_t offset; /* offset of the words in the local file, bytes; 0: the chunk is not in the file */
    uint32_t words;  /* number of words in use; set once the chunk is full */
    uint32_t order;  /* number of the chunk in its timeline, from 0 */
};

/* Returns the number of words of the record at `p`. */
static inline uint32_t hpcw_i_clog2_words_of(const uint64_t *p) {
    uint64_t kind = p[1] >> 56;
    return kind == HPCW_CLOG2_MESSAGE      ? HPCW_CLOG2_WORDS_MESSAGE
           : kind == HPCW_CLOG2_WITH_CARGO ? HPCW_CLOG2_WORDS_CARGO
                                           : HPCW_CLOG2_WORDS_BARE;
}

#endif
