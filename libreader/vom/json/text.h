/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: reads the JSON text of a file from front to back, and decompresses it if necessary
 * (doc/formats/vom.md, "Container"). */
#ifndef HPCW_LIBREADER_VOM_JSON_TEXT_H
#define HPCW_LIBREADER_VOM_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libreader/source.h"

/* Bytes of text in a piece. Fuzzing sets this and READ_VOM_FREE_TEXT to small values, so that short inputs have
 * many pieces and take little time. */
#ifndef READ_VOM_PIECE
#define READ_VOM_PIECE ((size_t)65536)
#endif

/* Number of zeros after a piece, so that several bytes can be compared at a time. At least the length of any text
 * that is compared with the piece. */
#define READ_VOM_PAD 32u

/* Texts up to this many bytes are always accepted. A larger text is accepted only up to a thousand times the size
 * of its compressed stream. For comparison: the most regular load data, those of idle objects, shrink by a factor
 * of a hundred. */
#ifndef READ_VOM_FREE_TEXT
#define READ_VOM_FREE_TEXT (UINT64_C(64) << 20)
#endif

struct read_vom_text;

/* Opens the text of a source, which is borrowed. The first byte that is not blank decides whether the file is
 * compressed. */
hpcw_status read_vom_text_new(const struct read_source *source, struct read_vom_text **out, hpcw_error *err);
void read_vom_text_free(struct read_vom_text *text);

bool read_vom_text_compressed(const struct read_vom_text *text);

/* Skips to an offset. HPCW_ETRUNCATED if the text ends before it. */
hpcw_status read_vom_text_skip(struct read_vom_text *text, uint64_t offset, hpcw_error *err);

/*
 * Gets the next piece: *size bytes, followed by READ_VOM_PAD zeros, valid until the next call. *size is 0 at the
 * end. A compressed file reaches the end only if its stream is complete and nothing follows it. HPCW_EFORMAT,
 * HPCW_ETRUNCATED, HPCW_ERANGE (decompresses to more than is plausible), HPCW_EIO.
 */
hpcw_status read_vom_text_next(struct read_vom_text *text, const unsigned char **piece, size_t *size,
                               hpcw_error *err);

/* Returns the offset in the text where the next piece begins. */
uint64_t read_vom_text_offset(const struct read_vom_text *text);

#endif
