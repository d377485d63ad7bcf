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
    void (*withdraw)(hpcw_sink *sink);           /* NULL: nothing to take back */
    bool (*single_pages)(const hpcw_sink *sink); /* NULL: no */
    /* All three or none: see below. */
    uint64_t (*spare)(const hpcw_sink *sink);
    bool (*allocate)(hpcw_sink *sink, uint64_t offset, uint64_t size);
    void (*give_back)(hpcw_sink *sink, uint64_t offset, uint64_t size);
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

/* Whether it does not matter at which page small writes end (hpcw_i_fs_keeps_single_pages). */
bool hpcw_i_sink_single_pages(const hpcw_sink *sink);

/*
 * Storage ahead of writes. The first says how many bytes of storage are free where it pays to allocate a range before it
 * is written, and 0 anywhere else. The second does so, for as many whole blocks as lie in the range,
 * and the file becomes at least that long; whether it did. The third gives back the whole blocks of a range that was
 * never written to. Thread safe.
 */
uint64_t hpcw_i_sink_spare(const hpcw_sink *sink);
bool hpcw_i_sink_allocate(hpcw_sink *sink, uint64_t offset, uint64_t size);
void hpcw_i_sink_give_back(hpcw_sink *sink, uint64_t offset, uint64_t size);

/* hpcw_sink_write_at for a piece beyond what was written so far, whose storage is allocated first, if it is large and that
 * pays. */
hpcw_status hpcw_i_sink_append_at(hpcw_sink *sink, uint64_t offset, const void *data, size_t size,
                                  hpcw_error *err);

/* Takes the name back after a publish, for files that are worth nothing without others that failed. */
void hpcw_i_sink_withdraw(hpcw_sink *sink);

/* A number that no other run draws: names temporary files. */
uint64_t hpcw_i_sink_fresh_tag(void);

/* Whether a file's name (without its directory) is one that file sinks give to what is not finished. */
bool hpcw_i_sink_is_temporary(const char *name);

#endif
