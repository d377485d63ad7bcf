/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/lines.h"

#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

enum { PIECE = 64 << 10, LONGEST = 256 << 20 };

hpcw_status gen_lines_open(struct gen_lines *l, const char *path, hpcw_error *err) {
    *l = (struct gen_lines){0};
    return read_source_open(path, &l->source, err);
}

void gen_lines_close(struct gen_lines *l) {
    read_source_free(l->source);
    hpcw_i_buf_free(&l->buf);
    *l = (struct gen_lines){0};
}

/* Drops the lines that were read, and reads more of the file. */
static hpcw_status read_on(struct gen_lines *l, hpcw_error *err) {
    uint64_t left = read_source_size(l->source) - l->at;
    size_t n = left < PIECE ? (size_t)left : PIECE;
    if (l->begin > 0) {
        l->buf.size -= l->begin;
        memmove(l->buf.data, l->buf.data + l->begin, l->buf.size);
        l->begin = 0;
    }
    if (!hpcw_i_buf_reserve(&l->buf, n)) {
        return hpcw_i_fail_memory(err, read_source_name(l->source), 0, "a line");
    }
    hpcw_status s = read_source_read(l->source, l->at, l->buf.data + l->buf.size, n, "text", err);
    if (s == HPCW_OK) {
        l->buf.size += n;
        l->at += n;
    }
    return s;
}

hpcw_status gen_lines_next(struct gen_lines *l, char **line, hpcw_error *err) {
    size_t looked = 0; /* bytes of the line already searched for its end */
    *line = NULL;
    l->number++;
    for (;;) {
        char *text = l->buf.size == 0 ? NULL : (char *)l->buf.data + l->begin;
        size_t there = l->buf.size - l->begin;
        char *end = there == looked ? NULL : memchr(text + looked, '\n', there - looked);
        if (end != NULL) {
            *end = '\0';
            l->begin += (size_t)(end - text) + 1;
            if (strlen(text) != (size_t)(end - text)) {
                break;
            }
            *line = text;
            return HPCW_OK;
        }
        looked = there;
        if (l->at == read_source_size(l->source)) {
            if (there == 0) {
                return HPCW_OK;
            }
            break;
        }
        if (looked >= LONGEST) {
            break;
        }
        hpcw_status s = read_on(l, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: line %" PRIu64
                       ": expected at most 256 MiB of text and a newline, got something else",
                       read_source_name(l->source), l->number);
}
