/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the LinkTest reader: sizes and offsets of doc/formats/linktest.md. */
#ifndef HPCW_LIBREADER_LINKTEST_LAYOUT_H
#define HPCW_LIBREADER_LINKTEST_LAYOUT_H

/* File header. The flags follow the mode string, the numbers follow the flags. */
enum {
    READ_LINKTEST_VERSION_AT = 8,
    READ_LINKTEST_HASH_AT = 20,
    READ_LINKTEST_HASH_SIZE = 41,
    READ_LINKTEST_MODE_SIZE_AT = 61,
    READ_LINKTEST_MODE_AT = 65,
    READ_LINKTEST_END_HEADER_SIZE = 10,
};

/* Numbers of the file header, 8 bytes each. */
enum read_linktest_number {
    READ_LINKTEST_MESSAGES,
    READ_LINKTEST_MESSAGE_SIZE,
    READ_LINKTEST_WARMUP_MESSAGES,
    READ_LINKTEST_RETESTS,
    READ_LINKTEST_MESSAGE_BUFFERS,
    READ_LINKTEST_BUFFER_SEED,
    READ_LINKTEST_RANDOMIZED,
    READ_LINKTEST_TASK_SEED,
    READ_LINKTEST_NUMBERS
};

/* Chunk header, without the host name. */
enum {
    READ_LINKTEST_HOST_AT = 4,
    READ_LINKTEST_CORE_SIZE = 4,
    READ_LINKTEST_HEAD_SIZE = 8,
};

/* Summary: start time, minimum, mean and maximum, the same of the all-to-all times, four arrays, end time. */
enum {
    READ_LINKTEST_TIME_SIZE = 32,
    READ_LINKTEST_FIGURES_SIZE = 24,
    READ_LINKTEST_SUMMARY_SIZE = 88, /* without all-to-all times and slow list */
    READ_LINKTEST_SLOW_SIZE = 32,    /* of a connection in the four arrays */
};

enum { READ_LINKTEST_END_BLOCK_SIZE = 9 };

#endif
