/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields after the mode string in the file header of a LinkTest result (doc/formats/linktest.md, "File
 * header"). All parts but one take the names and offsets from here: the strict reader has a list of its own,
 * because it checks the writer. */
#ifndef HPCW_FIELDS_LINKTEST_H
#define HPCW_FIELDS_LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/linktest.h>
#include <hpcw/linktest_read.h>

/* Type of a field in hpcw_linktest_params and hpcw_linktest_info. In the file, a bool is a byte. */
enum hpcw_i_linktest_type { HPCW_I_LINKTEST_BOOL, HPCW_I_LINKTEST_U8, HPCW_I_LINKTEST_U64 };

enum hpcw_i_linktest_use {
    HPCW_I_LINKTEST_SHOWN,
    /* the field follows from other fields or is always 0; `hpcgen info` does not show it */
    HPCW_I_LINKTEST_HIDDEN,
    HPCW_I_LINKTEST_SEED, /* the field is a seed, which `hpcgen fit` does not learn from a result */
};

/* Stands for the offset of a parameter if the writer derives the field from other parameters. */
#define HPCW_I_LINKTEST_DERIVED SIZE_MAX

struct hpcw_i_linktest_field {
    const char *name; /* name in hpcw_linktest_params, hpcw_linktest_info and `hpcgen info` */
    size_t params;    /* offset of the field in hpcw_linktest_params, or HPCW_I_LINKTEST_DERIVED */
    size_t info;      /* offset of the field in hpcw_linktest_info */
    enum hpcw_i_linktest_type type;
    size_t at; /* offset in the file, from the end of the mode string */
    enum hpcw_i_linktest_use use;
};

/* Returns whether a field has one byte; otherwise it has eight. */
static inline bool hpcw_i_linktest_is_byte(const struct hpcw_i_linktest_field *field) {
    return field->type != HPCW_I_LINKTEST_U64;
}

/* All fields, in the order of `hpcgen info`. */
extern const struct hpcw_i_linktest_field hpcw_i_linktest_fields[];
extern const size_t hpcw_i_linktest_field_count;
extern const size_t hpcw_i_linktest_fields_size; /* bytes of all fields in the file */

/* Upper limits for the number of all fields, and for their bytes in the file. */
enum { HPCW_I_LINKTEST_MOST_FIELDS = 32, HPCW_I_LINKTEST_MOST_FIELDS_SIZE = 128 };

/* Return the value of a field: hpcw_i_linktest_given from parameters, hpcw_i_linktest_read from a header that was
 * read. */
uint64_t hpcw_i_linktest_given(const struct hpcw_i_linktest_field *field, const hpcw_linktest_params *params);
uint64_t hpcw_i_linktest_read(const struct hpcw_i_linktest_field *field, const hpcw_linktest_info *info);

/* hpcw_i_linktest_modes: names of the modes of LinkTest.
 * hpcw_i_linktest_kernels: names of the kernels, with the index of enum hpcw_linktest_kernel.
 * Both lists end in NULL. */
extern const char *const hpcw_i_linktest_modes[];
extern const char *const hpcw_i_linktest_kernels[];

/* Returns the name of the kernel that the two kernel flags of a result mean. */
const char *hpcw_i_linktest_kernel_of(const hpcw_linktest_info *info);

#endif
