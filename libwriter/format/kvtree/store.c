/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts trees to bytes and back (doc/formats/rank2file.md, "Stored tree"). */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/kvtree/node.h"
#include "libwriter/format/kvtree/pack.h"

/* ---- writing ---- */

static uint64_t map_size(const hpcw_kvtree *node) {
    uint64_t size = HPCW_I_KV_COUNT;
    for (const hpcw_kvtree *c = node->first; c != NULL; c = c->next) {
        size += c->key_size + 1 + map_size(c);
    }
    return size;
}

uint64_t hpcw_kvtree_size(const hpcw_kvtree *root) {
    return root == NULL ? 0 : HPCW_I_KV_HEADER + map_size(root) + HPCW_I_KV_CRC;
}

static unsigned char *put_map(unsigned char *p, const hpcw_kvtree *node) {
    for (const hpcw_kvtree *c = node->first; c != NULL; c = c->next) {
        p = put_map(hpcw_i_kv_put_key(p, c->key, c->key_size, c->count), c);
    }
    return p;
}

hpcw_status hpcw_kvtree_write(const hpcw_kvtree *root, hpcw_sink *sink, uint64_t offset, hpcw_error *err) {
    if (root == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a tree, got NULL");
    }
    uint64_t size = hpcw_kvtree_size(root);
    if (size > HPCW_KVTREE_MAX_SIZE) {
        return hpcw_i_fail(err, HPCW_ERANGE, "kvtree: expected a tree of at most %u bytes, got %" PRIu64,
                           HPCW_KVTREE_MAX_SIZE, size);
    }
    unsigned char *data = hpcw_i_malloc((size_t)size);
    if (data == NULL) {
        return hpcw_i_fail_memory(err, "kvtree", size, "bytes");
    }
    unsigned char *p = hpcw_i_kv_put_count(hpcw_i_kv_put_header(data, size), root->count);
    (void)hpcw_i_kv_put_crc(data, put_map(p, root));
    hpcw_status s = hpcw_sink_write_at(sink, offset, data, (size_t)size, err);
    hpcw_i_free(data);
    return s;
}

hpcw_status hpcw_kvtree_write_file(const hpcw_kvtree *root, const char *path, hpcw_durability durability,
                                   hpcw_error *err) {
    hpcw_sink *sink;
    hpcw_status s = hpcw_sink_open_file(path, durability, &sink, err);
    if (s == HPCW_OK) {
        s = hpcw_kvtree_write(root, sink, 0, err);
        if (s == HPCW_OK) {
            s = hpcw_sink_publish(sink, err);
        } else {
            hpcw_i_fail_about(err, path);
        }
        hpcw_sink_free(sink);
    }
    return s;
}

/* ---- reading ---- */

static hpcw_status get_map(struct hpcw_i_kv_cursor *c, hpcw_kvtree *node, hpcw_error *err) {
    const unsigned char *at = c->p;
    uint32_t count = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const char *key = NULL;
        size_t size = 0;
        hpcw_kvtree *child = NULL;
        if (node->depth >= HPCW_KVTREE_MAX_DEPTH) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: offset %" PRIu64 ": expected at most %u levels of keys, got more", c->name,
                               hpcw_i_kv_at(c, at), HPCW_KVTREE_MAX_DEPTH);
        }
        s = hpcw_i_kv_key(c, &key, &size, err);
        if (s == HPCW_OK &&
            hpcw_i_kvtree_find(node, key, size) != NULL) { /* doc/formats/rank2file.md#rank2file-5 */
            s = hpcw_i_fail(err, HPCW_EFORMAT,
                            "%s: offset %" PRIu64 ": expected every key once, got \"%.100s\" twice", c->name,
                            hpcw_i_kv_at(c, at), key);
        }
        if (s == HPCW_OK) {
            s = hpcw_i_kvtree_append(node, key, size, &child, err);
        }
        if (s == HPCW_OK) {
            s = get_map(c, child, err);
        }
    }
    return s;
}

static hpcw_status decode(const char *name, const unsigned char *data, uint64_t stored, hpcw_kvtree **out,
                          hpcw_error *err) {
    struct hpcw_i_kv_cursor c;
    hpcw_kvtree *root = NULL;
    hpcw_status s = hpcw_i_kv_open(&c, name, 0, data, stored, err);
    if (s == HPCW_OK) {
        s = hpcw_kvtree_new(&root, err);
    }
    if (s == HPCW_OK) {
        s = get_map(&c, root, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_kv_end(&c, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, name);
        hpcw_kvtree_free(root);
        root = NULL;
    }
    *out = root;
    return s;
}

static hpcw_status more_bytes(const char *name, uint64_t stored, uint64_t left, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT,
                       "%s: offset %" PRIu64 ": expected the end of the file, got %" PRIu64 " more bytes", name,
                       stored, left);
}

hpcw_status hpcw_kvtree_decode(const char *name, const void *data, size_t size, size_t *stored,
                               hpcw_kvtree **out, hpcw_error *err) {
    if (out != NULL) {
        *out = NULL;
    }
    if (name == NULL || out == NULL || (data == NULL && size > 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "kvtree: expected a name, bytes and a pointer for the tree, got NULL");
    }
    if (size < HPCW_I_KV_LEAST) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: offset 0: tree: expected at least %d bytes, got %zu",
                           name, HPCW_I_KV_LEAST, size);
    }
    uint64_t n = 0;
    hpcw_status s = hpcw_i_kv_stored_size(name, 0, data, size, &n, err);
    if (s == HPCW_OK && stored == NULL && n != size) {
        s = more_bytes(name, n, size - n, err);
    }
    if (s == HPCW_OK) {
        s = decode(name, data, n, out, err);
    }
    if (s == HPCW_OK && stored != NULL) {
        *stored = (size_t)n;
    }
    return s;
}

hpcw_status hpcw_kvtree_read_file(const char *path, hpcw_kvtree **out, hpcw_error *err) {
    if (out != NULL) {
        *out = NULL;
    }
    if (path == NULL || out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a path and a pointer for the tree, got NULL");
    }
    return hpcw_i_kv_read_at(AT_FDCWD, path, path, out, err);
}

hpcw_status hpcw_i_kv_read_at(int at, const char *name, const char *path, hpcw_kvtree **out, hpcw_error *err) {
    unsigned char *data;
    uint64_t stored = 0;
    uint64_t left = 0;
    *out = NULL;
    hpcw_status s = hpcw_i_kv_load_at(at, name, path, 0, &data, &stored, &left, err);
    if (s == HPCW_OK && left > 0) {
        s = more_bytes(path, stored, left, err);
    }
    if (s == HPCW_OK) {
        s = decode(path, data, stored, out, err);
    }
    hpcw_i_free(data);
    return s;
}
