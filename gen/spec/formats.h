/* SPDX-License-Identifier: BSD-3-Clause */
/* List of formats. All other lists of formats in C are made from it: the numbers of formats, which are bits of
 * a dataset's `formats`; the table of rows; and the names. */
#ifndef HPCW_GEN_SPEC_FORMATS_H
#define HPCW_GEN_SPEC_FORMATS_H

/* X(NUMBER, name): GEN_FORMAT_NUMBER is a member of enum gen_format_id. The row of the format is the variable
 * gen_format_name, and its name is "name". A file belongs to the first format that recognises it. LinkTest
 * results are also SION containers, so LinkTest comes first. */
#define GEN_FORMAT_LIST(X)                                                                                     \
    X(LINKTEST, linktest)                                                                                      \
    X(SION, sion)                                                                                              \
    X(VOM, vom)                                                                                                \
    X(CLOG2, clog2)                                                                                            \
    X(RANK2FILE, rank2file)                                                                                    \
    /* Add a new format here. */

#define GEN_FORMAT_NUMBER(number, name) GEN_FORMAT_##number,
enum gen_format_id { GEN_FORMAT_LIST(GEN_FORMAT_NUMBER) GEN_FORMATS };

/* Largest number of formats in any table gen_format: a program may have more than those above. A set of formats is a
 * number of 64 bits. */
enum { GEN_MOST_FORMATS = 64 };

#endif
