/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of files, as `xxhsum -H2` prints them. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_DIGEST_H
#define HPCW_GEN_DATASET_DIRECTORY_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

/* XXH3-128, high word first. */
struct gen_digest {
    uint64_t high, low;
};

enum { GEN_DIGEST_TEXT = 33 };

struct read_source;

void gen_digest_bytes(const void *data, size_t size, struct gen_digest *digest);

/* Computes the digest of a source in one pass. Holes count as zeros and are not read. */
hpcw_status gen_digest_source(struct read_source *source, struct gen_digest *digest, hpcw_error *err);

/* Computes the digest of a regular file in one pass. Holes count as zeros and are not read. `size` receives the
 * size of the file, and may be NULL. */
hpcw_status gen_digest_file(const char *path, struct gen_digest *digest, uint64_t *size, hpcw_error *err);

/* Converts a digest to 32 hex digits and a NUL, and back. Returns false for any other text. */
void gen_digest_text(const struct gen_digest *digest, char text[GEN_DIGEST_TEXT]);
_Bool gen_digest_parse(const char *text, struct gen_digest *digest);

#endif
