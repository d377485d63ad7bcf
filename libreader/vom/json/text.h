/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: the JSON text of a file from front to back, inflated where it is
 * compressed (doc/formats/vom.md, "Container"). */
#ifndef HPCW_LIBREADER_VOM_JSON_TEXT_H
#define HPCW_LIBREADER_VOM_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libreader/source.h"

/* How much text comes at a time. */
#define READ_VOM_PIECE ((size_t)65536)

struct read_vom_text;

/* The source is borrowed. Looks for the first byte that is no blank to tell which kind it is. */
hpcw_status read_vom_text_new(const struct read_source *source, struct read_vom_text **out, hpcw_error *err);
void read_vom_text_free(struct read_vom_text *text);

bool read_vom_text_compressed(const struct read_vom_text *text);

/* Goes forward to an offset. HPCW_ETRUNCATED if the text ends before. */
hpcw_status read_vom_text_skip(struct read_vom_text *text, uint64_t offset, hpcw_error *err);

/*
 * The next piece, *size bytes, valid until the next call; 0 bytes at the end, which for compressed files is
 * only reached if the stream is complete and nothing follows it. HPCW_EFORMAT, HPCW_ETRUNCATED, HPCW_ERANGE
 * (inflates beyond all reason), HPCW_EIO.
 */
hpcw_status read_vom_text_next(struct read_vom_text *text, const unsigned char **piece, size_t *size,
                               hpcw_error *err);

/* Offset behind the last piece. */
uint64_t read_vom_text_offset(const struct read_vom_text *text);

#endif
