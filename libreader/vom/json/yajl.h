/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F4, private to the VOM reader: yajl with bounded memory. yajl uses what its allocator returns without
 * looking and keeps a token that is cut by the end of a piece in a buffer of any size; here the allocator
 * never returns NULL but leaves yajl for good, when memory runs out and when yajl holds more than
 * READ_VOM_YAJL_MEMORY.
 */
#ifndef HPCW_LIBREADER_VOM_JSON_YAJL_H
#define HPCW_LIBREADER_VOM_JSON_YAJL_H

#include <stddef.h>

#include <yajl/yajl_parse.h>

/* Two buffers of one token, which grow by doubling, and the copy while they do: enough for tokens below 1 MiB.
 * yajl looks at a token from its beginning again with every piece, so long ones also cost time. */
#define READ_VOM_YAJL_MEMORY ((size_t)3 << 20)

struct read_vom_yajl;

enum read_vom_yajl_result {
    READ_VOM_YAJL_GOOD,
    READ_VOM_YAJL_STOPPED, /* by a callback */
    READ_VOM_YAJL_BAD,     /* no JSON: ask for the error */
    READ_VOM_YAJL_HUGE,    /* a token or nesting beyond the memory it may use */
    READ_VOM_YAJL_NO_MEMORY,
};

/* NULL without memory. */
struct read_vom_yajl *read_vom_yajl_new(const yajl_callbacks *callbacks, void *context);
void read_vom_yajl_free(struct read_vom_yajl *y);

/* Parses a piece; size 0 says that the text has ended. After anything but GOOD it must not be called again. */
enum read_vom_yajl_result read_vom_yajl_parse(struct read_vom_yajl *y, const unsigned char *piece, size_t size);

/* Bytes of the present piece up to the end of the token of the callback, or of the error. */
size_t read_vom_yajl_consumed(const struct read_vom_yajl *y);

/* After BAD: what is wrong, in yajl's words, as one line. */
void read_vom_yajl_error(struct read_vom_yajl *y, char *text, size_t size);

#endif
