/* SPDX-License-Identifier: BSD-3-Clause */
/* F1: what a sink is made of. The public face is <hpcw/sink.h>. */
#ifndef HPCW_IO_SINK_H
#define HPCW_IO_SINK_H

#include <stdbool.h>

#include <hpcw/sink.h>

#include "libwriter/io/sys.h"

struct hpcw_i_sink_ops {
    /* Writes all pieces, which follow each other, completely. The last argument but one is the sum of their sizes. */
    hpcw_status (*write)(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                         size_t size, hpcw_error *err);
    hpcw_status (*set_size)(hpcw_sink *sink, uint64_t size, hpcw_error *err);
    hpcw_status (*sync)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*publish)(hpcw_sink *sink, hpcw_error *err);
    hpcw_status (*detach)(hpcw_sink *sink, hpcw_error *err);
    void (*withdraw)(hpcw_sink *sink); /* NULL: nothing to take back */
    void (*discard)(hpcw_sink *sink);
    void (*free)(hpcw_sink *sink);
};

/* First member of every kind of sink. */
struct hpcw_sink {
    const struct hpcw_i_sink_ops *ops;
    bool finished; /* published or discarded */
    bool named;    /* published so far that the final name was given */
};

/* hpcw_sink_write_at for pieces that follow each other in the file and may lie anywhere in memory, also more than once:
 * few system calls, where the destination allows it. */
hpcw_status hpcw_i_sink_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              hpcw_error *err);

/* Takes the name back after a publish, for files that are worth nothing without others that failed. */
void hpcw_i_sink_withdraw(hpcw_sink *sink);

/* A number that no other run draws: names temporary files. */
uint64_t hpcw_i_sink_fresh_tag(void);

/* Whether a file's name (without its directory) is one that file sinks give to what is not finished. */
bool hpcw_i_sink_is_temporary(const char *name);

#endif
