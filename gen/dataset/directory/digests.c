/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/digests.h"

#include <string.h>
#include <xxhash.h>

#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

struct digest_sink {
    hpcw_sink base;
    struct gen_digests *digests;
    char *path;
};

enum { KEY_WORDS = 2 };

static void key_of(const char *path, uint64_t key[KEY_WORDS]) {
    XXH128_hash_t h = XXH3_128bits(path, strlen(path));
    key[0] = h.high64;
    key[1] = h.low64;
}

static hpcw_status keep(struct gen_digests *digests, const char *path, const struct gen_stored *file,
                        hpcw_error *err) {
    uint64_t key[KEY_WORDS];
    key_of(path, key);
    (void)pthread_mutex_lock(&digests->lock);
    struct gen_stored *kept = hpcw_i_table_add(&digests->table, key, NULL);
    if (kept != NULL) {
        *kept = *file;
    }
    (void)pthread_mutex_unlock(&digests->lock);
    return kept != NULL ? HPCW_OK : hpcw_i_fail_memory(err, path, 0, "its digest");
}

static hpcw_status digest_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                size_t pieces, size_t size, hpcw_error *err) {
    (void)size;
    return hpcw_i_sink_write(sink->inner, offset, piece, pieces, err);
}

static hpcw_status digest_publish(hpcw_sink *sink, hpcw_error *err) {
    struct digest_sink *d = (struct digest_sink *)sink;
    struct read_source *source;
    struct gen_stored file;
    hpcw_status s = read_source_open_descriptor(d->path, hpcw_i_sink_descriptor(sink->inner), &source, err);
    if (s == HPCW_OK) {
        s = gen_digest_source(source, &file.digest, err);
        file.size = read_source_size(source);
        read_source_free(source);
    }
    if (s == HPCW_OK) {
        s = keep(d->digests, d->path, &file, err);
    }
    return s == HPCW_OK ? hpcw_sink_publish(sink->inner, err) : s;
}

static void digest_free(hpcw_sink *sink) {
    struct digest_sink *d = (struct digest_sink *)sink;
    hpcw_i_free(d->path);
    hpcw_i_free(d);
}

static const struct hpcw_i_sink_ops digest_ops = {
    .write = digest_write,
    .publish = digest_publish,
    .free = digest_free,
};

static hpcw_status open_digested(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                                 hpcw_error *err) {
    struct gen_digests *digests = context;
    hpcw_status s = digests->files.open(digests->files.context, path, tag, creates, out, err);
    if (s != HPCW_OK || !creates) {
        return s; /* a process that does not create the file does not publish it */
    }
    struct digest_sink *d = hpcw_i_calloc(1, sizeof *d);
    char *copy = hpcw_i_strdup(path);
    if (d == NULL || copy == NULL) {
        hpcw_i_free(d);
        hpcw_i_free(copy);
        hpcw_sink_free(*out);
        *out = NULL;
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    *d = (struct digest_sink){.base = {.ops = &digest_ops, .inner = *out}, .digests = digests, .path = copy};
    *out = &d->base;
    return HPCW_OK;
}

void gen_digests_begin(struct gen_digests *digests, hpcw_sink_source files) {
    *digests = (struct gen_digests){
        .files = files,
        .table = {.key_words = KEY_WORDS, .value_size = sizeof(struct gen_stored)},
    };
    (void)pthread_mutex_init(&digests->lock, NULL);
}

void gen_digests_end(struct gen_digests *digests) {
    hpcw_i_table_free(&digests->table);
    (void)pthread_mutex_destroy(&digests->lock);
}

hpcw_sink_source gen_digests_source(struct gen_digests *digests) {
    return (hpcw_sink_source){.open = open_digested, .context = digests};
}

const struct gen_stored *gen_digests_find(const struct gen_digests *digests, const char *path) {
    uint64_t key[KEY_WORDS];
    key_of(path, key);
    return hpcw_i_table_find(&digests->table, key);
}
