/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes a brotli stream with the original library's decoder. */
#ifndef HPCW_TESTS_SUPPORT_BROTLI_TEXT_H
#define HPCW_TESTS_SUPPORT_BROTLI_TEXT_H

#include <stddef.h>

/* Returns the text, to be freed by the caller. NULL: the bytes are not exactly one stream. */
unsigned char *brotli_text(const unsigned char *stream, size_t stream_size, size_t *size);

#endif
