/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/buf.h"

#include <stdint.h>
#include <string.h>

#include "libwriter/base/mem.h"

bool hpcw_i_buf_reserve(struct hpcw_i_buf *b, size_t more) {
    if (more <= b->capacity - b->size) {
        return true;
    }
    if (more > SIZE_MAX - b->size) {
        return false;
    }
    size_t need = b->size + more;
    size_t grown = b->capacity + b->capacity / 2;
    size_t capacity = grown > need ? grown : need;
    if (capacity < 256) {
        capacity = 256;
    }
    unsigned char *data = hpcw_i_realloc(b->data, capacity);
    if (data == NULL) {
        return false;
    }
    b->data = data;
    b->capacity = capacity;
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
