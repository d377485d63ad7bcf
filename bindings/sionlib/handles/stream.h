/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_STREAM_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_STREAM_H

#include "bindings/sionlib/handles/task.h"

/* The stream of a handle, opened if necessary. NULL: reported. */
FILE *sionlib_stream(struct sionlib_handle *h);

#endif
