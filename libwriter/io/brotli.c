/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/brotli.h"

#include <brotli/encode.h>
#include <inttypes.h>
#include <setjmp.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

#define OUTPUT_SIZE ((size_t)256 << 10)
/* Size of a piece of text, bytes. Stored streams and qualities 0 and 1 write each piece by itself. They gather
 * text for it, so that the stream does not depend on the sizes of the writes. */
#define PIECE_SIZE ((size_t)256 << 10)
/* Size of the text that the encoder is told to expect, bytes. Above 2^20 it takes its larger hash table, which
 * saves 7 % of the bytes on load-balancing data at the same speed. A constant keeps the stream independent of
 * the size of the first write. */
#define SIZE_HINT (1u << 30)
#define PAGE 4096

/* Header of each block of the encoder's memory. */
struct block {
    struct block *next;
    struct block **link; /* the pointer in the list that points to this block */
};

struct brotli_sink {
    hpcw_sink base;
    /* NULL if the stream is stored without compression, or after the encoder ran out of memory */
    BrotliEncoderState *encoder;
    struct block *blocks; /* list of all memory that the encoder allocated */
    /* target of the longjmp in encoder_alloc while `inside` is set */
    jmp_buf no_memory;
    bool inside; /* whether a call of the encoder is running */
    bool stored, by_pieces;
    bool begun;         /* whether the header of a stored stream was written */
    bool broken;        /* whether an earlier call failed */
    bool complete;      /* whether the end of the stream was written */
    int window;         /* window bits in the header of a stored stream */
    uint64_t taken;     /* bytes of text that the caller has written */
    uint64_t written;   /* bytes of the stream that were passed on to the inner sink */
    size_t piece_size;  /* bytes in `piece` */
    size_t output_size; /* bytes in `output` */
    unsigned char *piece;
    unsigned char *output;
};

static struct brotli_sink *brotli_of(hpcw_sink *sink) {
    return (struct brotli_sink *)sink;
}

/* ---- The inner sink, which takes the compressed stream ---------------------------------------------------- */

/* Passes the stream on to the inner sink: whole pages of the file, or everything if `all`. */
static hpcw_status drain(struct brotli_sink *b, bool all, hpcw_error *err) {
    size_t size = all ? b->output_size : b->output_size - (b->written + b->output_size) % PAGE;
    hpcw_status s = hpcw_sink_write_at(b->base.inner, b->written, b->output, size, err);
    if (s == HPCW_OK) {
        memmove(b->output, b->output + size, b->output_size - size);
        b->output_size -= size;
        b->written += size;
    }
    return s;
}

/* ---- The encoder -----------------------------------------------------------------------------------------
 *
 * Debian's build of brotli 1.0.9 ends the process when an allocation fails. So the allocator never returns a
 * failure, but leaves the encoder by longjmp. A list of the encoder's blocks serves to free them. */

static void *encoder_alloc(void *sink, size_t size) {
    struct brotli_sink *b = sink;
    struct block *block = size > SIZE_MAX - sizeof *block ? NULL : hpcw_i_malloc(sizeof *block + size);
    if (block == NULL) {
        if (b->inside) {
            longjmp(b->no_memory, 1);
        }
        return NULL; /* called by BrotliEncoderCreateInstance, which checks the result */
    }
    *block = (struct block){.next = b->blocks, .link = &b->blocks};
    if (b->blocks != NULL) {
        b->blocks->link = &block->next;
    }
    b->blocks = block;
    return block + 1;
}

static void encoder_free(void *sink, void *p) {
    (void)sink;
    if (p != NULL) {
        struct block *block = (struct block *)p - 1;
        *block->link = block->next;
        if (block->next != NULL) {
            block->next->link = block->link;
        }
        hpcw_i_free(block);
    }
}

static void close_encoder(struct brotli_sink *b) {
    if (b->encoder != NULL) {
        BrotliEncoderDestroyInstance(b->encoder);
        b->encoder = NULL;
    }
    while (b->blocks != NULL) {
        encoder_free(b, b->blocks + 1);
    }
}

static bool run_encoder(struct brotli_sink *b, BrotliEncoderOperation operation, size_t *size,
                        const unsigned char **data, size_t *room, unsigned char **next) {
    if (setjmp(b->no_memory) != 0) {
        b->inside = false;
        /* the encoder's state is undefined after the longjmp; its blocks are freed later */
        b->encoder = NULL;
        return false;
    }
    b->inside = true;
    bool good = BrotliEncoderCompressStream(b->encoder, operation, size, data, room, next, NULL);
    b->inside = false;
    return good;
}

static hpcw_status encode(struct brotli_sink *b, const unsigned char *data, size_t size, bool last,
                          hpcw_error *err) {
    BrotliEncoderOperation operation = last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS;
    for (;;) {
        unsigned char *next = b->output + b->output_size;
        size_t room = OUTPUT_SIZE - b->output_size;
        if (!run_encoder(b, operation, &size, &data, &room, &next)) {
            return hpcw_i_fail_memory(err, "brotli sink", 0, "the encoder");
        }
        b->output_size = OUTPUT_SIZE - room;
        if (room == 0) {
            hpcw_status s = drain(b, false, err);
            if (s != HPCW_OK) {
                return s;
            }
        } else if (size == 0 && (!last || BrotliEncoderIsFinished(b->encoder))) {
            return HPCW_OK;
        }
    }
}

/* ---- Stored text ----------------------------------------------------------------------------------------- */

/* Returns the bits of the field WBITS for a window (RFC 7932, section 9.1). *count is the number of bits. */
static unsigned window_bits(int window, unsigned *count) {
    if (window == 16) {
        *count = 1;
        return 0;
    }
    *count = window >= 18 ? 4 : 7;
    return window >= 18 ? (unsigned)(window - 17) << 1 | 1 : window == 17 ? 1 : (unsigned)(window - 8) << 4 | 1;
}

/* Writes the header of a meta-block of stored text: the window bits if it is the first one, the length, and the
 * flags "not last" and "not compressed". Returns its size, at most 5 bytes. */
static size_t stored_header(struct brotli_sink *b, size_t size, unsigned char *out) {
    unsigned count = 0;
    uint64_t bits = b->begun ? 0 : window_bits(b->window, &count);
    b->begun = true;
    unsigned nibbles = size > 1u << 16 ? 5 : 4;
    count++; /* ISLAST = 0 */
    bits |= (uint64_t)(nibbles - 4) << count;
    count += 2;
    bits |= (uint64_t)(size - 1) << count;
    count += 4 * nibbles;
    bits |= (uint64_t)1 << count; /* ISUNCOMPRESSED */
    count++;
    unsigned char bytes[8];
    hpcw_i_put_u64(bytes, bits, false);
    memcpy(out, bytes, (count + 7) / 8);
    return (count + 7) / 8;
}

static hpcw_status append(struct brotli_sink *b, const unsigned char *data, size_t size, hpcw_error *err) {
    while (size > 0) {
        size_t n = OUTPUT_SIZE - b->output_size < size ? OUTPUT_SIZE - b->output_size : size;
        memcpy(b->output + b->output_size, data, n);
        b->output_size += n;
        data += n;
        size -= n;
        if (b->output_size == OUTPUT_SIZE) {
            hpcw_status s = drain(b, false, err);
            if (s != HPCW_OK) {
                return s;
            }
        }
    }
    return HPCW_OK;
}

static hpcw_status store(struct brotli_sink *b, const unsigned char *data, size_t size, bool last,
                         hpcw_error *err) {
    unsigned char header[8];
    hpcw_status s = HPCW_OK;
    if (size > 0) {
        s = append(b, header, stored_header(b, size, header), err);
        s = s == HPCW_OK ? append(b, data, size, err) : s;
    }
    if (s == HPCW_OK && last) {
        /* An empty last meta-block: the window bits if it is the first one, then ISLAST and ISLASTEMPTY. */
        unsigned count = 0;
        unsigned bits = b->begun ? 0 : window_bits(b->window, &count);
        hpcw_i_put_u16(header, (uint16_t)(bits | 3u << count), false);
        s = append(b, header, (count + 2 + 7) / 8, err);
    }
    return s;
}

/* ---- The outer sink, which takes the text ------------------------------------------------------------------ */

static hpcw_status take(struct brotli_sink *b, const unsigned char *data, size_t size, bool last,
                        hpcw_error *err) {
    return b->stored ? store(b, data, size, last, err) : encode(b, data, size, last, err);
}

static hpcw_status take_by_pieces(struct brotli_sink *b, const unsigned char *data, size_t size,
                                  hpcw_error *err) {
    while (size > 0) {
        size_t n = PIECE_SIZE - b->piece_size < size ? PIECE_SIZE - b->piece_size : size;
        memcpy(b->piece + b->piece_size, data, n);
        b->piece_size += n;
        data += n;
        size -= n;
        if (b->piece_size == PIECE_SIZE) {
            hpcw_status s = take(b, b->piece, PIECE_SIZE, false, err);
            if (s != HPCW_OK) {
                return s;
            }
            b->piece_size = 0;
        }
    }
    return HPCW_OK;
}

static hpcw_status usable(const struct brotli_sink *b, hpcw_error *err) {
    return b->broken ? hpcw_i_fail(err, HPCW_ESTATE, "brotli sink: an earlier call failed") : HPCW_OK;
}

static hpcw_status brotli_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                size_t pieces, size_t size, hpcw_error *err) {
    struct brotli_sink *b = brotli_of(sink);
    hpcw_status s = usable(b, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (offset != b->taken || b->complete) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "brotli sink: expected text at offset %" PRIu64 ", got some at %" PRIu64 "%s",
                           b->taken, offset, b->complete ? " after the end" : "");
    }
    for (size_t k = 0; s == HPCW_OK && k < pieces; k++) {
        if (piece[k].size > 0) {
            s = b->by_pieces ? take_by_pieces(b, piece[k].data, piece[k].size, err)
                             : take(b, piece[k].data, piece[k].size, false, err);
        }
    }
    b->broken = s != HPCW_OK;
    b->taken += size;
    return s;
}

static hpcw_status brotli_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    struct brotli_sink *b = brotli_of(sink);
    if (size != b->taken) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "brotli sink: expected the size %" PRIu64 " of what was written, got %" PRIu64,
                           b->taken, size);
    }
    return HPCW_OK;
}

static hpcw_status finish(struct brotli_sink *b, hpcw_error *err) {
    hpcw_status s = usable(b, err);
    if (s != HPCW_OK || b->complete) {
        return s;
    }
    s = take(b, b->piece, b->piece_size, true, err);
    if (s == HPCW_OK) {
        s = drain(b, true, err);
    }
    b->broken = s != HPCW_OK;
    b->complete = true;
    return s;
}

static hpcw_status brotli_sync(hpcw_sink *sink, hpcw_error *err) {
    struct brotli_sink *b = brotli_of(sink);
    hpcw_status s = usable(b, err);
    return s == HPCW_OK ? hpcw_sink_sync(b->base.inner, err) : s;
}

static hpcw_status brotli_publish(hpcw_sink *sink, hpcw_error *err) {
    struct brotli_sink *b = brotli_of(sink);
    hpcw_status s = finish(b, err);
    if (s != HPCW_OK) {
        hpcw_sink_discard(b->base.inner);
        return s;
    }
    return hpcw_sink_publish(b->base.inner, err);
}

static hpcw_status brotli_detach(hpcw_sink *sink, hpcw_error *err) {
    struct brotli_sink *b = brotli_of(sink);
    hpcw_status s = finish(b, err);
    return s == HPCW_OK ? hpcw_sink_detach(b->base.inner, err) : s;
}

static void brotli_free(hpcw_sink *sink) {
    struct brotli_sink *b = brotli_of(sink);
    close_encoder(b);
    hpcw_i_free(b->piece);
    hpcw_i_free(b->output);
    hpcw_i_free(b);
}

static const struct hpcw_i_sink_ops brotli_ops = {
    .write = brotli_write,
    .set_size = brotli_set_size,
    .sync = brotli_sync,
    .publish = brotli_publish,
    .detach = brotli_detach,
    .free = brotli_free,
};

hpcw_status hpcw_i_brotli_finish(hpcw_sink *sink, hpcw_error *err) {
    return finish(brotli_of(sink), err);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

void hpcw_brotli_options_init(hpcw_brotli_options *options) {
    *options = (hpcw_brotli_options){.quality = 4, .window = 18};
}

hpcw_status hpcw_i_brotli_check(const char *name, const hpcw_brotli_options *o, hpcw_error *err) {
    if (o->quality < 0 || o->quality > 9) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: brotli quality: expected 0 to 9, got %d", name, o->quality);
    }
    if (o->window < BROTLI_MIN_WINDOW_BITS || o->window > BROTLI_MAX_WINDOW_BITS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: brotli window: expected %d to %d bits, got %d", name,
                           BROTLI_MIN_WINDOW_BITS, BROTLI_MAX_WINDOW_BITS, o->window);
    }
    return HPCW_OK;
}

static bool make_encoder(struct brotli_sink *b, const hpcw_brotli_options *o) {
    b->encoder = BrotliEncoderCreateInstance(encoder_alloc, encoder_free, b);
    return b->encoder != NULL &&
           BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_QUALITY, (uint32_t)o->quality) &&
           BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_LGWIN, (uint32_t)o->window) &&
           BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_SIZE_HINT, SIZE_HINT);
}

hpcw_status hpcw_sink_open_brotli(hpcw_sink *inner, const hpcw_brotli_options *options, hpcw_sink **out,
                                  hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "brotli sink: handle: expected a pointer, got NULL");
    }
    *out = NULL;
    if (inner == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "brotli sink: inner sink: expected a sink, got NULL");
    }
    hpcw_brotli_options o;
    hpcw_brotli_options_init(&o);
    o = options != NULL ? *options : o;
    hpcw_status s = hpcw_i_brotli_check("brotli sink", &o, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct brotli_sink *b = hpcw_i_calloc(1, sizeof *b);
    if (b == NULL) {
        return hpcw_i_fail_memory(err, "brotli sink", 0, NULL);
    }
    b->base.ops = &brotli_ops;
    b->stored = o.stored;
    b->window = o.window;
    /* Qualities 0 and 1 compress each piece separately. */
    b->by_pieces = o.stored || o.quality < 2;
    b->output = hpcw_i_malloc(OUTPUT_SIZE);
    b->piece = b->by_pieces ? hpcw_i_malloc(PIECE_SIZE) : NULL;
    if (b->output == NULL || (b->by_pieces && b->piece == NULL) || (!b->stored && !make_encoder(b, &o))) {
        brotli_free(&b->base);
        return hpcw_i_fail_memory(err, "brotli sink", 0, NULL);
    }
    b->base.inner = inner;
    *out = &b->base;
    return HPCW_OK;
}
