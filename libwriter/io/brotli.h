/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a compressing sink that writers need beyond <hpcw/sink.h>. */
#ifndef HPCW_IO_BROTLI_H
#define HPCW_IO_BROTLI_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* Checks options before anything is opened. `name` begins the message. */
hpcw_status hpcw_i_brotli_check(const char *name, const hpcw_brotli_options *options, hpcw_error *err);

/*
 * Ends the stream and passes all of it to the inner sink, which is neither synced nor published. Writers call it
 * if every byte must be written before any of several files gets its name. A second call does nothing.
 * hpcw_sink_publish does this by itself.
 */
hpcw_status hpcw_i_brotli_finish(hpcw_sink *sink, hpcw_error *err) HPCW_MUST_CHECK;

#endif
