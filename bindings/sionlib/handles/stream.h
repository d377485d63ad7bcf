/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_STREAM_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_STREAM_H

#include "bindings/sionlib/handles/task.h"

/* Returns the stream of a handle, and opens it if necessary. Returns NULL after reporting an error. */
FILE *sionlib_stream(struct sionlib_handle *h);

#endif
