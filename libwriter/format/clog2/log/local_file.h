/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of local files, in the byte order of the machine. A file is a row of windows of one size, which the
 * process maps into its memory. The first window begins with the head of the file. A window contains pieces, each
 * with a head of its own; unused bytes are 0. A piece of records extends to the end of its window. Its records end
 * where the second word of the next one is 0. The tag of a head, and the second word of a record, are stored last.
 * So no half-written piece or record counts if the process dies.
 */
#ifndef HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H
#define HPCW_FORMAT_CLOG2_LOG_LOCAL_FILE_H

#include "libwriter/format/clog2/log/recording.h"

#define HPCW_I_CLOG2_LOCAL_TAG UINT64_C(0x0a324c43574350c8) /* magic number; also shows the byte order */
#define HPCW_I_CLOG2_PIECE_TAG UINT64_C(0x6563656970776350)

enum {
    HPCW_I_CLOG2_PIECE_RECORDS = 1,
    HPCW_I_CLOG2_PIECE_DEFINITIONS = 2,
    HPCW_I_CLOG2_PIECE_COMMS = 3,
    HPCW_I_CLOG2_PIECE_OFFERED =
        4 /* known states that the log defines only if records use them, by ascending number */
};

struct hpcw_i_clog2_local_head {
    uint64_t tag;
    uint64_t run; /* the same in all files of one run */
    uint32_t rank, ranks;
    uint32_t block_size;
    uint32_t window;                 /* bytes of each window; 0: there is only one */
    struct hpcw_i_clog2_ticks ticks; /* clock, without the comparison at the end */
    uint64_t host;                   /* host whose locks show that the process is alive; 0: unknown */
    uint64_t made;                   /* least size of the file, bytes: a shorter one is cut short */
    uint64_t in_memory;              /* 1: a thread continued in memory, as there was no more space */
};

struct hpcw_i_clog2_piece_head {
    uint64_t tag;
    uint32_t kind;
    uint32_t thread;
    uint32_t size;  /* bytes after this head */
    uint32_t order; /* of records: number of this piece among those of its thread */
};

#endif
