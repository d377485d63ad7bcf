/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the LinkTest reader: sizes and offsets of doc/formats/linktest.md. */
#ifndef HPCW_LIBREADER_LINKTEST_LAYOUT_H
#define HPCW_LIBREADER_LINKTEST_LAYOUT_H

/* File header before the mode string. */
enum {
    READ_LINKTEST_VERSION_AT = 8,
    READ_LINKTEST_HASH_AT = 20,
    READ_LINKTEST_HASH_SIZE = 41,
    READ_LINKTEST_MODE_SIZE_AT = 61,
    READ_LINKTEST_MODE_AT = 65,
};

/* Chunk header, without the host name. */
enum {
    READ_LINKTEST_HOST_AT = 4,
    READ_LINKTEST_HEAD_SIZE = 8,
};

/* Summary: start time; minimum, mean and maximum of the timings; minimum, mean and maximum of the all-to-all times;
 * four arrays of the slow list; end time. */
enum {
    READ_LINKTEST_TIME_SIZE = 32,
    READ_LINKTEST_FIGURES_SIZE = 24,
    READ_LINKTEST_SUMMARY_SIZE = 88, /* without all-to-all times and the list of slow connections */
    READ_LINKTEST_SLOW_SIZE = 32,    /* bytes of one slow connection: 8 in each of the four arrays */
};

enum { READ_LINKTEST_END_BLOCK_SIZE = 9 };

#endif
