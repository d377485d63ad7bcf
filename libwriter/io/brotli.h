/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the compressing sink that are not public, in addition to <hpcw/sink.h>. */
#ifndef HPCW_IO_BROTLI_H
#define HPCW_IO_BROTLI_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* Checks the options of a compressing sink. `name` begins the error message. */
hpcw_status hpcw_i_brotli_check(const char *name, const hpcw_brotli_options *options, hpcw_error *err);

/* Ends the compressed stream and passes all of it on to the inner sink, which is neither synced nor published.
 * Called for each of several files before one is published. A second call does nothing. hpcw_sink_publish calls
 * this, too. */
hpcw_status hpcw_i_brotli_finish(hpcw_sink *sink, hpcw_error *err) HPCW_MUST_CHECK;

#endif
