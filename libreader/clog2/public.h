/* SPDX-License-Identifier: BSD-3-Clause */
/* The public reader of a log that is open already. */
#ifndef HPCW_LIBREADER_CLOG2_PUBLIC_H
#define HPCW_LIBREADER_CLOG2_PUBLIC_H

#include <hpcw/clog2_read.h>

#include "libreader/clog2/clog2.h"

/* Takes the reader, which is freed even on failure. */
hpcw_status read_clog2_publish(struct read_clog2 *r, hpcw_clog2_reader **out, hpcw_error *err);

#endif
