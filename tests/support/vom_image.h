/* SPDX-License-Identifier: BSD-3-Clause */
/* Small VOM files, assembled by hand from doc/formats/vom.md. */
#ifndef HPCW_TESTS_SUPPORT_VOM_IMAGE_H
#define HPCW_TESTS_SUPPORT_VOM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A valid set of two ranks with phases 0 and 4; 1 is identical, 2 and 3 are skipped. It has elements, handlers,
 * groups and id 0, every category that occurs in files, and attributes and values of users. */
extern const char *const vom_rank[2];

/* The smallest file that vt, LBAF and vt-tv all accept. */
extern const char vom_smallest[];

/* An old-form file of rank 0: without metadata, with a seq_id, and with phases before the type. */
extern const char vom_old[];

/* A statistics file: two phases, the second without "post-LB". To be freed. */
char *vom_statistics(void);

/* Returns a copy with the first `from` replaced; it must exist. To be freed. */
char *vom_edit(const char *text, const char *from, const char *to);

/* Brotli streams of `size` bytes. To be freed. */
unsigned char *vom_compress(const void *text, size_t size, int quality, int window, bool large,
                            size_t *out_size);

/* Makes a stream of at most 65536 stored, not compressed, bytes. It is assembled bit by bit, so it does not depend
 * on the library's version. To be freed. */
unsigned char *vom_store(const char *text, size_t *out_size);

/* Writes text number r as DIRECTORY/data.r.json, or compressed as data.r.json.br. */
void vom_put(const char *directory, unsigned rank, const char *text, bool compressed);

#endif
