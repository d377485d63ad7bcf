/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest 2.1.17, the layout of the streams. Pure arithmetic on parameters. */
#ifndef HPCW_FORMAT_LINKTEST_PARAMS_H
#define HPCW_FORMAT_LINKTEST_PARAMS_H

#include "libwriter/fields/linktest.h"

/* Sizes of the parts, doc/formats/linktest.md, "Container"; the data follow from the number of tasks. */
enum {
    HPCW_I_LINKTEST_MODE_AT = 65,    /* the mode string and the fields follow */
    HPCW_I_LINKTEST_HEADER_END = 10, /* "END_HEADER" */
    HPCW_I_LINKTEST_MOST_HEADER =    /* for buffers: no mode has more than 16 bytes */
    HPCW_I_LINKTEST_MODE_AT + 16 + HPCW_I_LINKTEST_MOST_FIELDS_SIZE + HPCW_I_LINKTEST_HEADER_END,
    HPCW_I_LINKTEST_CHUNK = 8,    /* + host name with NUL */
    HPCW_I_LINKTEST_SUMMARY = 88, /* + 24 with all-to-all + 32 per retest */
    HPCW_I_LINKTEST_END = 9,      /* "END_BLOCK" */
};

/* d: number of retested connections that are written. */
static inline uint64_t hpcw_i_linktest_retests(const hpcw_linktest_params *p) {
    return p->retests < p->tasks ? p->retests : p->tasks;
}

/* One of the modes that LinkTest has, or NULL. */
const char *hpcw_i_linktest_mode(const char *name);

/* Bytes of the file header, of a summary, and of one task's data of one permutation. */
uint64_t hpcw_i_linktest_header_size(const hpcw_linktest_params *p);
uint64_t hpcw_i_linktest_summary_size(const hpcw_linktest_params *p);
uint64_t hpcw_i_linktest_data_size(const hpcw_linktest_params *p);

/* Writes the file header, hpcw_i_linktest_header_size bytes. */
void hpcw_i_linktest_encode_header(const hpcw_linktest_params *p, unsigned char *out);

#endif
