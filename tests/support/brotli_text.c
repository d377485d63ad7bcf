/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/brotli_text.h"

#include <brotli/decode.h>
#include <stdlib.h>

unsigned char *brotli_text(const unsigned char *stream, size_t stream_size, size_t *size) {
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    size_t capacity = (size_t)1 << 16;
    unsigned char *text = malloc(capacity);
    size_t used = 0;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_ERROR;
    while (state != NULL && text != NULL) {
        size_t room = capacity - used;
        unsigned char *out = text + used;
        result = BrotliDecoderDecompressStream(state, &stream_size, &stream, &room, &out, NULL);
        used = (size_t)(out - text);
        if (result != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
            break;
        }
        capacity *= 2;
        unsigned char *larger = realloc(text, capacity);
        if (larger == NULL) {
            break;
        }
        text = larger;
    }
    if (result != BROTLI_DECODER_RESULT_SUCCESS || stream_size != 0) {
        free(text);
        text = NULL;
    }
    if (state != NULL) {
        BrotliDecoderDestroyInstance(state);
    }
    *size = used;
    return text;
}
