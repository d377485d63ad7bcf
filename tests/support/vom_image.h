/* SPDX-License-Identifier: BSD-3-Clause */
/* Small VOM files, assembled by hand from doc/formats/vom.md. */
#ifndef HPCW_TESTS_SUPPORT_VOM_IMAGE_H
#define HPCW_TESTS_SUPPORT_VOM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A valid set of two ranks with phases 0 and 4. The metadata list phase 1 as identical, and phases 2 and 3 as
 * skipped. The set has elements, handlers, groups and id 0, every category that occurs in files, and attributes and
 * values of users. */
extern const char *const vom_rank[2];

/* The smallest file that vt, LBAF and vt-tv all accept. */
extern const char vom_smallest[];

/* An old-form file of rank 0: without metadata, with a seq_id, and with phases before the type. */
extern const char vom_old[];

/* Returns the text of a statistics file with two phases, the second without "post-LB". The caller frees it. */
char *vom_statistics(void);

/* Returns a copy of `text`, in which `to` replaces the first `from`. `text` must contain `from`. The caller frees
 * it. */
char *vom_edit(const char *text, const char *from, const char *to);

/* Compresses `size` bytes of `text` into a brotli stream. The caller frees it. */
unsigned char *vom_compress(const void *text, size_t size, int quality, int window, bool large,
                            size_t *out_size);

/* Makes a brotli stream of at most 65536 bytes that are stored without compression. The stream is assembled bit by
 * bit, so it does not depend on the version of brotli's library. The caller frees it. */
unsigned char *vom_store(const char *text, size_t *out_size);

/* Writes a text to the file of a rank: DIRECTORY/data.RANK.json, or compressed to DIRECTORY/data.RANK.json.br. */
void vom_put(const char *directory, unsigned rank, const char *text, bool compressed);

#endif
