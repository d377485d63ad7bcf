/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/buf.h"

#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"

bool hpcw_i_buf_reserve(struct hpcw_i_buf *b, size_t more) {
    if (more <= b->capacity - b->size) {
        return true;
    }
    size_t least;
    unsigned char *data =
        hpcw_i_add_size(b->size, more, &least) ? hpcw_i_grow(b->data, &b->capacity, least, 1) : NULL;
    if (data == NULL) {
        return false;
    }
    b->data = data;
    return true;
}

bool hpcw_i_buf_append(struct hpcw_i_buf *b, const void *data, size_t size) {
    if (!hpcw_i_buf_reserve(b, size)) {
        return false;
    }
    if (size > 0) {
        memcpy(b->data + b->size, data, size);
        b->size += size;
    }
    return true;
}

bool hpcw_i_buf_append_str(struct hpcw_i_buf *b, const char *text) {
    return hpcw_i_buf_append(b, text, strlen(text));
}

void hpcw_i_buf_free(struct hpcw_i_buf *b) {
    hpcw_i_free(b->data);
    *b = (struct hpcw_i_buf){0};
}
