/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of the public reader, and a function that makes it from an open log. */
#ifndef HPCW_LIBREADER_CLOG2_PUBLIC_H
#define HPCW_LIBREADER_CLOG2_PUBLIC_H

#include <hpcw/clog2_read.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/status.h"

struct read_clog2_selection;

struct hpcw_clog2_reader {
    struct read_clog2 *r;
    hpcw_clog2_info info;
    /* callbacks of the caller are running, so other calls must not move the position in the log */
    bool calls_back;
    struct read_clog2_selection *selection;
    /* Memory for the texts and the identity of the record that the caller got last. */
    char colour[READ_CLOG2_COLOUR_SIZE + 1], name[READ_CLOG2_NAME_SIZE + 1], format[READ_CLOG2_FORMAT_SIZE + 1];
    hpcw_clog2_comm_id id;
};

/* Makes a public handle of the reader `r`, and takes ownership of `r`, also on failure. */
hpcw_status read_clog2_publish(struct read_clog2 *r, hpcw_clog2_reader **out, hpcw_error *err);

static inline hpcw_status read_clog2_missing(const char *what, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL, "clog2: %s: expected a pointer, got NULL", what);
}
static inline hpcw_status read_clog2_in_callback(const hpcw_clog2_reader *reader, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ESTATE, "%s: expected a call outside of callbacks, got one of a callback",
                       read_clog2_name(reader->r));
}

/* columns.c: ends the current selection of rows, if there is one. */
void read_clog2_deselect(hpcw_clog2_reader *reader);

#endif
