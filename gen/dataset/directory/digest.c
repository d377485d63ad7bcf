/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

void gen_digest_bytes(const void *data, size_t size, struct gen_digest *digest) {
    const XXH128_hash_t h = XXH3_128bits(data, size);
    *digest = (struct gen_digest){h.high64, h.low64};
}

enum { PIECE = 1 << 20 }; /* bytes read at once: they stay in the second-level cache until they are digested */

static hpcw_status digest_data(struct read_source *source, XXH3_state_t *state, unsigned char *buffer,
                               uint64_t from, uint64_t to, hpcw_error *err) {
    while (from < to) {
        size_t n = to - from < PIECE ? (size_t)(to - from) : PIECE;
        hpcw_status s = read_source_read(source, from, buffer, n, "content", err);
        if (s != HPCW_OK) {
            return s;
        }
        (void)XXH3_128bits_update(state, buffer, n);
        from += n;
    }
    return HPCW_OK;
}

hpcw_status gen_digest_source(struct read_source *source, struct gen_digest *digest, hpcw_error *err) {
    static const unsigned char zeros[4096];
    const uint64_t total = read_source_size(source);
    XXH3_state_t *state = XXH3_createState();
    unsigned char *buffer = hpcw_i_malloc(total < PIECE ? (size_t)total + 1 : PIECE);
    hpcw_status s = HPCW_OK;
    if (state == NULL || buffer == NULL) {
        s = hpcw_i_fail_memory(err, read_source_name(source), 0, "its digest");
        goto done;
    }
    (void)XXH3_128bits_reset(state);
    for (uint64_t at = 0; s == HPCW_OK && at < total;) {
        uint64_t begin = 0;
        uint64_t end = 0;
        s = read_source_data(source, at, &begin, &end, err);
        while (s == HPCW_OK && at < begin) {
            size_t n = begin - at < sizeof zeros ? (size_t)(begin - at) : sizeof zeros;
            (void)XXH3_128bits_update(state, zeros, n);
            at += n;
        }
        if (s == HPCW_OK) {
            s = digest_data(source, state, buffer, begin, end, err);
            at = end;
        }
    }
    if (s == HPCW_OK) {
        XXH128_hash_t h = XXH3_128bits_digest(state);
        *digest = (struct gen_digest){h.high64, h.low64};
    }
done:
    hpcw_i_free(buffer);
    (void)XXH3_freeState(state);
    return s;
}

hpcw_status gen_digest_file(const char *path, struct gen_digest *digest, uint64_t *size, hpcw_error *err) {
    struct read_source *source;
    hpcw_status s = read_source_open(path, &source, err);
    if (s == HPCW_OK) {
        s = gen_digest_source(source, digest, err);
        if (s == HPCW_OK && size != NULL) {
            *size = read_source_size(source);
        }
        read_source_free(source);
    }
    return s;
}

void gen_digest_text(const struct gen_digest *digest, char text[GEN_DIGEST_TEXT]) {
    (void)snprintf(text, GEN_DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, digest->high, digest->low);
}

_Bool gen_digest_parse(const char *text, struct gen_digest *digest) {
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32 &&
           sscanf(text, "%16" SCNx64 "%16" SCNx64, &digest->high, &digest->low) == 2;
}
