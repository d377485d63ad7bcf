/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of the streams of LinkTest 2.1.17, computed from the parameters. */
#ifndef HPCW_FORMAT_LINKTEST_PARAMS_H
#define HPCW_FORMAT_LINKTEST_PARAMS_H

#include "libwriter/fields/linktest.h"

/* Sizes of the parts (doc/formats/linktest.md, "Container"). The size of the data follows from the number of
 * tasks. */
enum {
    HPCW_I_LINKTEST_MODE_AT = 65,    /* offset of the mode string, which the fields follow */
    HPCW_I_LINKTEST_HEADER_END = 10, /* "END_HEADER" */
    HPCW_I_LINKTEST_MOST_HEADER =    /* upper limit for buffers, as the mode string has at most 16 bytes */
    HPCW_I_LINKTEST_MODE_AT + 16 + HPCW_I_LINKTEST_MOST_FIELDS_SIZE + HPCW_I_LINKTEST_HEADER_END,
    HPCW_I_LINKTEST_CHUNK = 8,    /* bytes of the chunk header, without the host name and its NUL */
    HPCW_I_LINKTEST_SUMMARY = 88, /* bytes of a summary, + 24 with all-to-all tests, + 32 per retest */
    HPCW_I_LINKTEST_END = 9,      /* "END_BLOCK" */
};

/* Returns the number of retested connections in the file, d in doc/formats/linktest.md. */
static inline uint64_t hpcw_i_linktest_retests(const hpcw_linktest_params *p) {
    return p->retests < p->tasks ? p->retests : p->tasks;
}

/* Returns a mode of LinkTest with this name, or NULL. */
const char *hpcw_i_linktest_mode(const char *name);

/* Return sizes in bytes: of the file header, of one summary, of the data of one task in one permutation. */
uint64_t hpcw_i_linktest_header_size(const hpcw_linktest_params *p);
uint64_t hpcw_i_linktest_summary_size(const hpcw_linktest_params *p);
uint64_t hpcw_i_linktest_data_size(const hpcw_linktest_params *p);

/* Writes the file header, hpcw_i_linktest_header_size bytes. */
void hpcw_i_linktest_encode_header(const hpcw_linktest_params *p, unsigned char *out);

#endif
