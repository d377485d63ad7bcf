/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to the VOM reader: yajl with limited memory. yajl does not check what its allocator returns, and it
 * keeps a token that continues in the next piece in a buffer of any size. So this allocator never returns NULL. If
 * memory runs out, or if yajl asks for more than READ_VOM_YAJL_MEMORY, it leaves yajl by longjmp.
 */
#ifndef HPCW_LIBREADER_VOM_JSON_YAJL_H
#define HPCW_LIBREADER_VOM_JSON_YAJL_H

#include <stddef.h>

#include <yajl/yajl_parse.h>

/* Enough for tokens below 1 MiB: yajl has two buffers of a token, which double, and a copy while they do. Longer tokens
 * would also cost time, because yajl scans a token from its start again with every piece. */
#define READ_VOM_YAJL_MEMORY ((size_t)3 << 20)

struct read_vom_yajl;

enum read_vom_yajl_result {
    READ_VOM_YAJL_GOOD,
    READ_VOM_YAJL_STOPPED, /* by a callback */
    READ_VOM_YAJL_BAD,     /* not JSON: see read_vom_yajl_error */
    READ_VOM_YAJL_HUGE,    /* a token or nesting needs more memory than the limit */
    READ_VOM_YAJL_NO_MEMORY,
};

/* NULL if memory runs out. */
struct read_vom_yajl *read_vom_yajl_new(const yajl_callbacks *callbacks, void *context);
void read_vom_yajl_free(struct read_vom_yajl *y);

/* Parses a piece. Size 0 is the end of the text. Only after GOOD may it be called again. */
enum read_vom_yajl_result read_vom_yajl_parse(struct read_vom_yajl *y, const unsigned char *piece, size_t size);

/* Bytes of the current piece up to the end of the callback's token, or up to the error. */
size_t read_vom_yajl_consumed(const struct read_vom_yajl *y);

/* After BAD: yajl's message in one line. */
void read_vom_yajl_error(struct read_vom_yajl *y, char *text, size_t size);

#endif
