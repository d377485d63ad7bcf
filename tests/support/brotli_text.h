/* SPDX-License-Identifier: BSD-3-Clause */
/* What a brotli stream holds, by the decoder of the original library. */
#ifndef HPCW_TESTS_SUPPORT_BROTLI_TEXT_H
#define HPCW_TESTS_SUPPORT_BROTLI_TEXT_H

#include <stddef.h>

/* The text, to be freed by the caller; NULL unless the bytes are one stream and nothing else. */
unsigned char *brotli_text(const unsigned char *stream, size_t stream_size, size_t *size);

#endif
