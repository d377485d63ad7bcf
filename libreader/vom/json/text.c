/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/text.h"

#include <inttypes.h>
#include <string.h>

#include <brotli/decode.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* largest ratio of the size of a text to that of its compressed stream, for texts above READ_VOM_FREE_TEXT */
#define MOST_TIMES UINT64_C(1000)

/* First byte of a stream with a window of more than 24 bits, an extension of brotli that no reader of these files
 * accepts. */
#define LARGE_WINDOW 0x11u
#define LARGE_WINDOW_MASK 0x7fu

struct read_vom_text {
    const struct read_source *source;
    BrotliDecoderState *decoder; /* NULL: the text is plain */
    uint64_t source_next;        /* offset of the next byte to read */
    uint64_t offset;             /* offset in the text where the next piece begins */
    const uint8_t *input;        /* unused rest of `in` */
    size_t input_size;
    /* after a skip into the middle of the piece in `out`: the rest of this piece, which is returned next */
    const uint8_t *again;
    size_t again_size;
    bool finished;          /* the stream has ended */
    unsigned char start[3]; /* first bytes of the file, for messages */
    unsigned char in[READ_VOM_PIECE + READ_VOM_PAD];
    unsigned char out[READ_VOM_PIECE + READ_VOM_PAD];
};

static void *allocate(void *context, size_t size) {
    (void)context;
    return hpcw_i_malloc(size);
}

static void release(void *context, void *p) {
    (void)context;
    hpcw_i_free(p);
}

static hpcw_status fill(struct read_vom_text *t, hpcw_error *err) {
    uint64_t left = read_source_size(t->source) - t->source_next;
    size_t size = left < READ_VOM_PIECE ? (size_t)left : READ_VOM_PIECE;
    hpcw_status status = read_source_read(t->source, t->source_next, t->in, size,
                                          t->decoder != NULL ? "the brotli stream" : "the text", err);
    if (status == HPCW_OK) {
        memset(t->in + size, 0, READ_VOM_PAD);
        t->source_next += size;
        t->input = t->in;
        t->input_size = size;
    }
    return status;
}

/* Returns the first byte that is not a blank, tab or newline; 0: the whole piece has none. */
static unsigned char first_byte(const struct read_vom_text *t) {
    for (size_t i = 0; i < t->input_size; i++) {
        if (t->in[i] != ' ' && t->in[i] != '\t' && t->in[i] != '\n') {
            return t->in[i];
        }
    }
    return 0;
}

static hpcw_status check_start(const struct read_vom_text *t, hpcw_error *err) {
    const char *name = read_source_name(t->source);
    if (t->input_size == 0) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: expected a JSON text or a brotli stream, got an empty file", name);
    }
    if ((t->in[0] & LARGE_WINDOW_MASK) == LARGE_WINDOW) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: brotli stream: expected a window of 10 to 24 bits, got a large-window stream",
                           name);
    }
    return HPCW_OK;
}

hpcw_status read_vom_text_new(const struct read_source *source, struct read_vom_text **out, hpcw_error *err) {
    *out = NULL;
    struct read_vom_text *t = hpcw_i_malloc(sizeof *t);
    if (t == NULL) {
        return hpcw_i_fail_memory(err, read_source_name(source), 0, NULL);
    }
    t->source = source;
    t->decoder = NULL;
    t->source_next = t->offset = 0;
    t->again = NULL;
    t->again_size = 0;
    t->finished = false;
    hpcw_status status = fill(t, err);
    if (status == HPCW_OK && first_byte(t) != '{') {
        memset(t->start, 0, sizeof t->start);
        memcpy(t->start, t->in, t->input_size < sizeof t->start ? t->input_size : sizeof t->start);
        status = check_start(t, err);
        if (status == HPCW_OK) {
            t->decoder = BrotliDecoderCreateInstance(allocate, release, NULL);
            if (t->decoder == NULL) {
                status = hpcw_i_fail_memory(err, read_source_name(source), 0, "the brotli decoder");
            }
        }
    }
    if (status != HPCW_OK) {
        read_vom_text_free(t);
        t = NULL;
    }
    *out = t;
    return status;
}

void read_vom_text_free(struct read_vom_text *text) {
    if (text != NULL && text->decoder != NULL) {
        BrotliDecoderDestroyInstance(text->decoder);
    }
    hpcw_i_free(text);
}

bool read_vom_text_compressed(const struct read_vom_text *text) {
    return text->decoder != NULL;
}

uint64_t read_vom_text_offset(const struct read_vom_text *text) {
    return text->offset;
}

static hpcw_status decoder_failed(const struct read_vom_text *t, uint64_t at, hpcw_error *err) {
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(t->decoder);
    /* The codes of failed allocations form a range. The API names both ends. */
    bool memory =
        code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
    if (memory) {
        return hpcw_i_fail_memory(err, read_source_name(t->source), 0, NULL);
    }
    const char *name = read_source_name(t->source);
    if (t->offset > 0 || t->source_next > READ_VOM_PIECE) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: the brotli stream is corrupt near offset %" PRIu64 " (text offset %" PRIu64
                           "): %s",
                           name, at, t->offset, BrotliDecoderErrorString(code));
    }
    /* The decoder failed in the first piece, so the file may not be compressed at all. Any byte can begin a brotli
     * stream, so the first byte could not show this. */
    bool mark = memcmp(t->start, "\xef\xbb\xbf", 3) == 0;
    return hpcw_i_fail(
        err, HPCW_EFORMAT,
        "%s: expected '{' or a brotli stream at the start, got byte %02x%s, which is none (%s near "
        "offset %" PRIu64 ")",
        name, t->start[0], mark ? " of a byte order mark" : "", BrotliDecoderErrorString(code), at);
}

static hpcw_status inflate_piece(struct read_vom_text *t, const unsigned char **piece, size_t *size,
                                 hpcw_error *err) {
    const char *name = read_source_name(t->source);
    size_t left = READ_VOM_PIECE;
    uint8_t *to = t->out;
    while (left > 0 && !t->finished) {
        bool at_end = t->input_size == 0 && t->source_next == read_source_size(t->source);
        BrotliDecoderResult result =
            BrotliDecoderDecompressStream(t->decoder, &t->input_size, &t->input, &left, &to, NULL);
        if (result == BROTLI_DECODER_RESULT_ERROR) {
            return decoder_failed(t, t->source_next - t->input_size, err);
        }
        if (result == BROTLI_DECODER_RESULT_SUCCESS) {
            t->finished = true;
        } else if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
            if (at_end) {
                return hpcw_i_fail(err, HPCW_ETRUNCATED,
                                   "%s: the brotli stream is cut: it needs more than the %" PRIu64
                                   " bytes of the file (text offset %" PRIu64 ")",
                                   name, t->source_next, t->offset + (READ_VOM_PIECE - left));
            }
            hpcw_status status = fill(t, err);
            if (status != HPCW_OK) {
                return status;
            }
        }
    }
    *piece = t->out;
    *size = READ_VOM_PIECE - left;
    memset(t->out + *size, 0, READ_VOM_PAD);
    t->offset += *size;
    uint64_t used = t->source_next - t->input_size;
    if (t->offset > READ_VOM_FREE_TEXT && t->offset / MOST_TIMES > used) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: expected a text of at most %" PRIu64 " times its brotli stream, got %" PRIu64
                           " bytes from %" PRIu64,
                           name, MOST_TIMES, t->offset, used);
    }
    uint64_t after = read_source_size(t->source) - used;
    if (t->finished && after > 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected nothing after the brotli stream, which ends at offset %" PRIu64
                           ", got %" PRIu64 " bytes",
                           name, used, after);
    }
    return HPCW_OK;
}

hpcw_status read_vom_text_next(struct read_vom_text *text, const unsigned char **piece, size_t *size,
                               hpcw_error *err) {
    struct read_vom_text *t = text;
    if (t->again_size > 0) {
        *piece = t->again;
        *size = t->again_size;
        t->offset += t->again_size;
        t->again_size = 0;
        return HPCW_OK;
    }
    if (t->decoder != NULL) {
        return inflate_piece(t, piece, size, err);
    }
    hpcw_status status = HPCW_OK;
    if (t->input_size == 0) {
        status = fill(t, err);
    }
    *piece = t->input;
    *size = t->input_size;
    t->offset += t->input_size;
    t->input_size = 0;
    return status;
}

hpcw_status read_vom_text_skip(struct read_vom_text *text, uint64_t offset, hpcw_error *err) {
    struct read_vom_text *t = text;
    const unsigned char *piece = NULL;
    size_t size = 1;
    hpcw_status status = HPCW_OK;
    if (t->decoder == NULL) {
        uint64_t end = read_source_size(t->source);
        t->source_next = t->offset = offset < end ? offset : end;
        t->input_size = 0;
    }
    while (t->offset < offset && size > 0 && status == HPCW_OK) {
        status = read_vom_text_next(t, &piece, &size, err);
    }
    if (status == HPCW_OK && t->offset > offset) {
        t->again_size = (size_t)(t->offset - offset);
        t->again = piece + (size - t->again_size);
        t->offset = offset;
    }
    if (status == HPCW_OK && t->offset < offset) {
        status = hpcw_i_fail(err, HPCW_ETRUNCATED,
                             "%s: the text ends at offset %" PRIu64 ", before offset %" PRIu64
                             ", which an earlier reader reached",
                             read_source_name(t->source), t->offset, offset);
    }
    return status;
}
