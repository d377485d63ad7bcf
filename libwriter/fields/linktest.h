/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields after the mode string in the file header of a LinkTest result (doc/formats/linktest.md, "File
 * header"). The writer, `hpcgen info`, `hpcgen fit` and the test of the page take names and places from here. The
 * strict reader has a list of its own, as it checks the writer.
 */
#ifndef HPCW_FIELDS_LINKTEST_H
#define HPCW_FIELDS_LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/linktest.h>
#include <hpcw/linktest_read.h>

/* Type of a field's members. In the file a bool is a u8. */
enum hpcw_i_linktest_type { HPCW_I_LINKTEST_BOOL, HPCW_I_LINKTEST_U8, HPCW_I_LINKTEST_U64 };

enum hpcw_i_linktest_use {
    HPCW_I_LINKTEST_SHOWN,
    HPCW_I_LINKTEST_HIDDEN, /* follows from other fields or is always 0; `hpcgen info` does not show it */
    HPCW_I_LINKTEST_SEED,   /* hpcgen gives the twin of a result other seeds */
};

/* Used in place of a parameter's offset: the writer derives the field from other parameters. */
#define HPCW_I_LINKTEST_DERIVED SIZE_MAX

struct hpcw_i_linktest_field {
    const char *name; /* name of the members, and the key in `hpcgen info` */
    size_t params;    /* offset of the member in hpcw_linktest_params, or HPCW_I_LINKTEST_DERIVED */
    size_t info;      /* offset of the member in hpcw_linktest_info */
    enum hpcw_i_linktest_type type;
    size_t at; /* offset in the file, after the mode string */
    enum hpcw_i_linktest_use use;
};

/* Returns whether a field has one byte; otherwise it has eight. */
static inline bool hpcw_i_linktest_is_byte(const struct hpcw_i_linktest_field *field) {
    return field->type != HPCW_I_LINKTEST_U64;
}

/* All fields, in the order of `hpcgen info`. */
extern const struct hpcw_i_linktest_field hpcw_i_linktest_fields[];
extern const size_t hpcw_i_linktest_field_count;
extern const size_t hpcw_i_linktest_fields_size; /* bytes of all of them */

/* Upper limits for the number of fields, and for their bytes. */
enum { HPCW_I_LINKTEST_MOST_FIELDS = 32, HPCW_I_LINKTEST_MOST_FIELDS_SIZE = 128 };

/* Return the value of a field from parameters, and from a header that was read. */
uint64_t hpcw_i_linktest_given(const struct hpcw_i_linktest_field *field, const hpcw_linktest_params *params);
uint64_t hpcw_i_linktest_read(const struct hpcw_i_linktest_field *field, const hpcw_linktest_info *info);

/* Lists that end in NULL: the modes of LinkTest, and the kernels by hpcw_linktest_kernel. */
extern const char *const hpcw_i_linktest_modes[];
extern const char *const hpcw_i_linktest_kernels[];

/* Returns the name of the kernel for the two flags of a result. */
const char *hpcw_i_linktest_kernel_of(const hpcw_linktest_info *info);

#endif
