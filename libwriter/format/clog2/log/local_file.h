/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of local files, in the byte order of the machine. A file is a row of windows of equal size, which the
 * process maps into its memory. The first window begins with the head of the file. A window contains pieces. Each
 * piece has a head, and unused bytes are 0. A piece of records extends to the end of its window.
 *
 * Half-written data do not count if the process dies. The tag of a head is stored after the rest of the head, and
 * the second word of a record after the rest of the record. So the records of a piece end before the first one
 * whose second word is 0.
 */
#ifndef HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H
#define HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H

#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/log/recording.h"

#define HPCW_I_CLOG2_PIECE_TAG UINT64_C(0x6563656970776350)

enum {
    HPCW_I_CLOG2_PIECE_RECORDS = 1,
    HPCW_I_CLOG2_PIECE_DEFINITIONS = 2,
    HPCW_I_CLOG2_PIECE_COMMS = 3,
    HPCW_I_CLOG2_PIECE_OFFERED =
        4 /* states for possible use, ascending; the log defines those that records use */
};

struct hpcw_i_clog2_local_head {
    uint64_t tag; /* HPCW_I_CLOG2_LOCAL_TAG */
    uint64_t run; /* number of the run, equal in all of its files */
    uint32_t rank, ranks;
    uint32_t block_size;
    uint32_t window;                 /* bytes of each window; 0: the file is one window */
    struct hpcw_i_clog2_ticks ticks; /* clock of the process, with the comparison of clocks at the begin only */
    uint64_t host;      /* host on which a lock of the file shows that the process is alive; 0: unknown */
    uint64_t made;      /* allocated bytes of the file; if the file is shorter, its end is lost */
    uint64_t in_memory; /* 1: some records are only in memory, as the file got no more space */
};

struct hpcw_i_clog2_piece_head {
    uint64_t tag;
    uint32_t kind;
    uint32_t thread;
    uint32_t size;  /* bytes of the piece after this head */
    uint32_t order; /* for a piece of records: its number among those of the thread, from 0 */
};

#endif
