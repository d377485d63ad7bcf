/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable byte buffer. A zeroed struct is an empty buffer; free with hpcw_i_buf_free. */
#ifndef HPCW_BASE_BUF_H
#define HPCW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct hpcw_i_buf {
    unsigned char *data; /* NULL until bytes are reserved */
    size_t size;         /* bytes in use */
    size_t capacity;
};

/* Makes sure that `more` bytes can be appended. Growth is geometric. False when memory or size_t runs out. */
bool hpcw_i_buf_reserve(struct hpcw_i_buf *b, size_t more);

/* Appends bytes. If memory runs out, returns false and leaves the buffer as it was. */
bool hpcw_i_buf_append(struct hpcw_i_buf *b, const void *data, size_t size);

/* Appends a NUL-terminated string without its NUL. */
bool hpcw_i_buf_append_str(struct hpcw_i_buf *b, const char *text);

void hpcw_i_buf_free(struct hpcw_i_buf *b);

#endif
