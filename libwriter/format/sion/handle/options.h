/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the arguments of an open, as far as one process can check them alone. */
#ifndef HPCW_FORMAT_SION_HANDLE_OPTIONS_H
#define HPCW_FORMAT_SION_HANDLE_OPTIONS_H

#include "libwriter/format/sion/handle/handle.h"

/* Checks `path` and `o`, and copies into the handle what the caller lends for the call only. After a failure
 * `h->options.count` fits what was copied. */
hpcw_status hpcw_i_sion_prepare(struct hpcw_sion *h, const char *path, const hpcw_sion_options *o,
                                hpcw_error *err);

#endif
