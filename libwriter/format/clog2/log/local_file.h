/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of local files, in the byte order of the machine: a head, then pieces, each with a head of its
 * own. A local file only grows, so after a crash at most its last piece is cut short. */
#ifndef HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H
#define HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H

#include "libwriter/format/clog2/log/recording.h"

#define HPCW_I_CLOG2_LOCAL_TAG UINT64_C(0x0a314c43574350c8) /* also shows the byte order */
#define HPCW_I_CLOG2_PIECE_TAG UINT64_C(0x6563656970776350)

enum { HPCW_I_CLOG2_PIECE_RECORDS = 1, HPCW_I_CLOG2_PIECE_DEFINITIONS = 2, HPCW_I_CLOG2_PIECE_COMMS = 3 };

struct hpcw_i_clog2_local_head {
    uint64_t tag;
    uint64_t run; /* the same in all files of one run */
    uint32_t rank, ranks;
    uint32_t block_size;
    uint32_t zero;
    struct hpcw_i_clog2_ticks ticks; /* without the comparison of clocks at the end */
};

struct hpcw_i_clog2_piece_head {
    uint64_t tag;
    uint32_t kind;
    uint32_t thread;
    uint64_t size; /* bytes after this head */
};

#endif
