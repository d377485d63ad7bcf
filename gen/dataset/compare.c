/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/source.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

enum { PIECE = 32 << 10 };

/* The bytes begin .. end - 1. */
struct extent {
    uint64_t begin, end;
};

struct compare_sink {
    hpcw_sink base;
    const struct gen_compare *compare;
    struct read_source *source;
    char *path;
    uint64_t order;
    pthread_mutex_t lock;
    /* offset after the last written byte, or the size that set_size gave */
    uint64_t end;
    struct extent *written; /* [count] written ranges, in the order of the calls */
    size_t count, capacity;
    uint64_t wrong; /* lowest offset of a byte that differs; UINT64_MAX: none */
};

static bool add(struct compare_sink *c, uint64_t begin, uint64_t end) {
    if (c->count > 0 && c->written[c->count - 1].end == begin) {
        c->written[c->count - 1].end = end;
        return true;
    }
    struct extent *grown = hpcw_i_grow(c->written, &c->capacity, c->count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    c->written = grown;
    c->written[c->count++] = (struct extent){begin, end};
    return true;
}

/* Compares bytes with the file up to the offset *wrong, which becomes that of the first difference. Bytes beyond
 * the end of the file differ. */
static hpcw_status differ(const struct compare_sink *c, uint64_t at, const unsigned char *data, size_t size,
                          uint64_t *wrong, hpcw_error *err) {
    unsigned char *there = hpcw_i_malloc(PIECE);
    hpcw_status s = there == NULL ? hpcw_i_fail_memory(err, c->path, 0, "a comparison") : HPCW_OK;
    uint64_t total = read_source_size(c->source);
    for (size_t done = 0; s == HPCW_OK && done < size && at + done < *wrong; done += PIECE) {
        uint64_t from = at + done;
        size_t n = size - done < PIECE ? size - done : PIECE;
        size_t readable = from >= total ? 0 : total - from < n ? (size_t)(total - from) : n;
        s = readable > 0 ? read_source_read(c->source, from, there, readable, "content", err) : HPCW_OK;
        if (s == HPCW_OK && (readable < n || memcmp(there, data + done, n) != 0)) {
            size_t k = 0;
            while (k < readable && there[k] == data[done + k]) {
                k++;
            }
            *wrong = from + k < *wrong ? from + k : *wrong;
        }
    }
    hpcw_i_free(there);
    return s;
}

static hpcw_status compare_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                 size_t pieces, size_t size, hpcw_error *err) {
    struct compare_sink *c = (struct compare_sink *)sink;
    uint64_t wrong = UINT64_MAX;
    hpcw_status s = HPCW_OK;
    uint64_t at = offset;
    for (size_t k = 0; s == HPCW_OK && k < pieces; k++) {
        s = differ(c, at, piece[k].data, piece[k].size, &wrong, err);
        at += piece[k].size;
    }
    (void)pthread_mutex_lock(&c->lock);
    const bool ok = add(c, offset, offset + size);
    c->wrong = wrong < c->wrong ? wrong : c->wrong;
    c->end = offset + size > c->end ? offset + size : c->end;
    (void)pthread_mutex_unlock(&c->lock);
    return s != HPCW_OK || ok ? s : hpcw_i_fail_memory(err, c->path, 0, "a comparison");
}

static hpcw_status compare_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    struct compare_sink *c = (struct compare_sink *)sink;
    (void)err;
    (void)pthread_mutex_lock(&c->lock);
    c->end = size;
    (void)pthread_mutex_unlock(&c->lock);
    return HPCW_OK;
}

static int by_begin(const void *a, const void *b) {
    uint64_t x = ((const struct extent *)a)->begin;
    uint64_t y = ((const struct extent *)b)->begin;
    return x < y ? -1 : x > y;
}

/* Compares a range that was never written with zeros. *data is the first part of the file at
 * or after the last gap that is not a hole. It may reach over many gaps, so the system is asked again only after its
 * end. */
static hpcw_status check_gap(struct compare_sink *c, uint64_t begin, uint64_t end, struct extent *data,
                             hpcw_error *err) {
    static const unsigned char zeros[PIECE];
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && begin < end && begin < c->wrong) {
        if (begin >= data->end) {
            s = read_source_data(c->source, begin, &data->begin, &data->end, err);
        }
        uint64_t from = data->begin < begin ? begin : data->begin;
        uint64_t to = data->end < end ? data->end : end;
        for (; s == HPCW_OK && from < to; from += PIECE) {
            size_t n = to - from < PIECE ? (size_t)(to - from) : PIECE;
            s = differ(c, from, zeros, n, &c->wrong, err);
        }
        begin = to > begin ? to : end;
    }
    return s;
}

static hpcw_status check_gaps(struct compare_sink *c, hpcw_error *err) {
    struct extent data = {0, 0};
    hpcw_status s = HPCW_OK;
    uint64_t at = 0;
    if (c->count > 1) {
        qsort(c->written, c->count, sizeof *c->written, by_begin);
    }
    for (size_t i = 0; s == HPCW_OK && i <= c->count; i++) {
        uint64_t begin = i < c->count ? c->written[i].begin : c->end;
        if (begin > at) {
            s = check_gap(c, at, begin, &data, err);
        }
        at = i < c->count && c->written[i].end > at ? c->written[i].end : at;
    }
    return s;
}

static hpcw_status compare_publish(hpcw_sink *sink, hpcw_error *err) {
    struct compare_sink *c = (struct compare_sink *)sink;
    const char *name = c->path + strlen(c->compare->directory) + 1;
    hpcw_error e = {.code = HPCW_OK};
    uint64_t size = read_source_size(c->source);
    hpcw_status s = size == c->end ? check_gaps(c, err) : HPCW_OK;
    if (size != c->end) {
        (void)hpcw_i_fail(&e, HPCW_ECHECKSUM, "%s: size: expected %" PRIu64 " bytes, got %" PRIu64, c->path,
                          c->end, size);
    } else if (c->wrong < c->end) {
        unsigned char byte;
        s = read_source_read(c->source, c->wrong, &byte, 1, "a byte", err);
        if (s == HPCW_OK) {
            (void)hpcw_i_fail(&e, HPCW_ECHECKSUM,
                              "%s: offset %" PRIu64 ": expected the byte that the parameters give, got 0x%02x",
                              c->path, c->wrong, byte);
        }
    }
    if (s == HPCW_OK && e.code != HPCW_OK) {
        gen_faults_add(c->compare->faults, c->order, name, &e);
    }
    return s;
}

static void compare_free(hpcw_sink *sink) {
    struct compare_sink *c = (struct compare_sink *)sink;
    read_source_free(c->source);
    hpcw_i_free(c->written);
    hpcw_i_free(c->path);
    (void)pthread_mutex_destroy(&c->lock);
    hpcw_i_free(c);
}

static const struct hpcw_i_sink_ops compare_ops = {
    .write = compare_write,
    .set_size = compare_set_size,
    .publish = compare_publish,
    .free = compare_free,
};

static hpcw_status open_compare(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                                hpcw_error *err) {
    const struct gen_compare *compare = context;
    const char *name = path + strlen(compare->directory) + 1;
    uint64_t order = 0;
    struct read_source *source;
    hpcw_error e = {.message = ""};
    (void)tag;
    (void)creates;
    *out = NULL;
    if (!compare->order(compare->context, name, &order)) {
        return hpcw_sink_open_null(out, err);
    }
    if (read_source_open(path, &source, &e) != HPCW_OK) {
        gen_faults_add(compare->faults, order, name, &e);
        return hpcw_sink_open_null(out, err);
    }
    struct compare_sink *c = hpcw_i_calloc(1, sizeof *c);
    if (c != NULL) {
        c->path = hpcw_i_strdup(path);
    }
    if (c == NULL || c->path == NULL) {
        hpcw_i_free(c);
        read_source_free(source);
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    c->base.ops = &compare_ops;
    c->compare = compare;
    c->source = source;
    c->order = order;
    c->wrong = UINT64_MAX;
    (void)pthread_mutex_init(&c->lock, NULL);
    *out = &c->base;
    return HPCW_OK;
}

hpcw_sink_source gen_compare_source(const struct gen_compare *compare) {
    return (hpcw_sink_source){.open = open_compare, .context = (void *)(uintptr_t)compare};
}
