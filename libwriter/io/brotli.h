/* SPDX-License-Identifier: BSD-3-Clause */
/* What writers need of a compressing sink beyond <hpcw/sink.h>. */
#ifndef HPCW_IO_BROTLI_H
#define HPCW_IO_BROTLI_H

#include <stdbool.h>

#include <hpcw/sink.h>

/* Whether options can be had, before anything is opened; `name` begins the message. */
hpcw_status hpcw_i_brotli_check(const char *name, const hpcw_brotli_options *options, hpcw_error *err);

/*
 * Ends the stream and passes all of it to the inner sink, which is neither synced nor published: for writers
 * that must know that every byte is down before any of several files gets its name. Does nothing the second
 * time. hpcw_sink_publish does it by itself.
 */
hpcw_status hpcw_i_brotli_finish(hpcw_sink *sink, hpcw_error *err) HPCW_MUST_CHECK;

#endif
