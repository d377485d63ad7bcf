/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/kvtree/pack.h"

#include <hpcw/kvtree.h>
#include <inttypes.h>

#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { AT_TYPE = 4, AT_VERSION = 6, AT_SIZE = 8, AT_FLAGS = 16, TYPE_MAP = 1, VERSION = 1, FLAG_CRC = 1 };

/* Smallest size of a stored child, bytes: the NUL of an empty key, and the number of children. */
enum { LEAST_CHILD = 1 + HPCW_I_KV_COUNT };

unsigned char *hpcw_i_kv_put_header(unsigned char *p, uint64_t size) {
    hpcw_i_put_u32(p, HPCW_I_KV_MAGIC, true);
    hpcw_i_put_u16(p + AT_TYPE, TYPE_MAP, true);
    hpcw_i_put_u16(p + AT_VERSION, VERSION, true);
    hpcw_i_put_u64(p + AT_SIZE, size, true);
    hpcw_i_put_u32(p + AT_FLAGS, FLAG_CRC, true);
    return p + HPCW_I_KV_HEADER;
}

unsigned char *hpcw_i_kv_put_crc(unsigned char *start, unsigned char *p) {
    hpcw_i_put_u32(p, hpcw_i_crc32(0, start, (size_t)(p - start)), true);
    return p + HPCW_I_KV_CRC;
}

static hpcw_status wrong(const char *name, uint64_t offset, const char *field, uint64_t want, uint64_t got,
                         hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": %s: expected %" PRIu64 ", got %" PRIu64,
                       name, offset, field, want, got);
}

hpcw_status hpcw_i_kv_stored_size(const char *name, uint64_t offset, const unsigned char *header, uint64_t left,
                                  uint64_t *stored, hpcw_error *err) {
    uint32_t magic = hpcw_i_get_u32(header, true);
    uint16_t type = hpcw_i_get_u16(header + AT_TYPE, true);
    uint16_t version = hpcw_i_get_u16(header + AT_VERSION, true);
    uint32_t flags = hpcw_i_get_u32(header + AT_FLAGS, true);
    uint64_t least = (uint64_t)HPCW_I_KV_LEAST + (flags == FLAG_CRC ? HPCW_I_KV_CRC : 0);
    *stored = hpcw_i_get_u64(header + AT_SIZE, true);
    if (magic != HPCW_I_KV_MAGIC) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": magic: expected 0x951fc3f5, got 0x%08x",
                           name, offset, magic);
    }
    if (type != TYPE_MAP) {
        return wrong(name, offset + AT_TYPE, "type", TYPE_MAP, type, err);
    }
    if (version != VERSION) {
        return wrong(name, offset + AT_VERSION, "version", VERSION, version, err);
    }
    if ((flags & ~(uint32_t)FLAG_CRC) != 0) {
        return wrong(name, offset + AT_FLAGS, "flags", FLAG_CRC, flags, err);
    }
    if (*stored < least || *stored > HPCW_KVTREE_MAX_SIZE) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": stored size: expected %" PRIu64 " to %u, got %" PRIu64,
                           name, offset + AT_SIZE, least, HPCW_KVTREE_MAX_SIZE, *stored);
    }
    if (*stored > left) {
        return hpcw_i_fail(err, HPCW_ETRUNCATED,
                           "%s: offset %" PRIu64 ": stored size: expected at most the %" PRIu64
                           " bytes that are left, got %" PRIu64,
                           name, offset + AT_SIZE, left, *stored);
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_kv_open(struct hpcw_i_kv_cursor *c, const char *name, uint64_t offset,
                           const unsigned char *data, uint64_t stored, hpcw_error *err) {
    *c = (struct hpcw_i_kv_cursor){
        .name = name, .offset = offset, .start = data, .p = data + HPCW_I_KV_HEADER, .end = data + stored};
    if (hpcw_i_get_u32(data + AT_FLAGS, true) == FLAG_CRC) {
        c->end -= HPCW_I_KV_CRC;
        uint32_t want = hpcw_i_get_u32(c->end, true);
        uint32_t got = hpcw_i_crc32(0, data, (size_t)(c->end - data));
        if (want != got) {
            return hpcw_i_fail(err, HPCW_ECHECKSUM,
                               "%s: offset %" PRIu64 ": CRC-32: expected 0x%08x, got 0x%08x", name,
                               hpcw_i_kv_at(c, c->end), want, got);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_kv_count(struct hpcw_i_kv_cursor *c, uint32_t *count, hpcw_error *err) {
    size_t left = (size_t)(c->end - c->p);
    if (left < HPCW_I_KV_COUNT) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": number of children: expected 4 bytes, got %zu", c->name,
                           hpcw_i_kv_at(c, c->p), left);
    }
    *count = hpcw_i_get_u32(c->p, true);
    size_t most = (left - HPCW_I_KV_COUNT) / LEAST_CHILD;
    if (*count > most) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": number of children: expected at most %zu, got %u", c->name,
                           hpcw_i_kv_at(c, c->p), most, *count);
    }
    c->p += HPCW_I_KV_COUNT;
    return HPCW_OK;
}

hpcw_status hpcw_i_kv_key(struct hpcw_i_kv_cursor *c, const char **key, size_t *size, hpcw_error *err) {
    const unsigned char *nul = memchr(c->p, 0, (size_t)(c->end - c->p));
    if (nul == NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: offset %" PRIu64 ": key: expected a NUL after it, got the end", c->name,
                           hpcw_i_kv_at(c, c->p));
    }
    *key = (const char *)c->p;
    *size = (size_t)(nul - c->p);
    c->p = nul + 1;
    return HPCW_OK;
}

hpcw_status hpcw_i_kv_value(struct hpcw_i_kv_cursor *c, const char *what, const char **value, size_t *size,
                            hpcw_error *err) {
    const unsigned char *at = c->p;
    uint32_t one = 0;
    uint32_t none = 0;
    hpcw_status s = hpcw_i_kv_count(c, &one, err);
    if (s == HPCW_OK && one == 1) {
        s = hpcw_i_kv_key(c, value, size, err);
        s = s == HPCW_OK ? hpcw_i_kv_count(c, &none, err) : s;
    }
    if (s == HPCW_OK && (one != 1 || none != 0)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: offset %" PRIu64 ": %s: expected one value, got %u with %u children", c->name,
                        hpcw_i_kv_at(c, at), what, one, none);
    }
    return s;
}

hpcw_status hpcw_i_kv_skip(struct hpcw_i_kv_cursor *c, uint32_t depth, hpcw_error *err) {
    const unsigned char *at = c->p;
    uint32_t count = 0;
    hpcw_status s = hpcw_i_kv_count(c, &count, err);
    if (s == HPCW_OK && count > 0 && depth == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: offset %" PRIu64 ": expected at most %u levels of keys, got more", c->name,
                        hpcw_i_kv_at(c, at), HPCW_KVTREE_MAX_DEPTH);
    }
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        const char *key = NULL;
        size_t size = 0;
        s = hpcw_i_kv_key(c, &key, &size, err);
        s = s == HPCW_OK ? hpcw_i_kv_skip(c, depth - 1, err) : s;
    }
    return s;
}

hpcw_status hpcw_i_kv_end(const struct hpcw_i_kv_cursor *c, hpcw_error *err) {
    return c->p == c->end
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: offset %" PRIu64 ": expected the end of the tree, got %zu more bytes",
                             c->name, hpcw_i_kv_at(c, c->p), (size_t)(c->end - c->p));
}

static hpcw_status read_exactly(const char *path, int fd, uint64_t offset, void *data, size_t size,
                                hpcw_error *err) {
    size_t got = 0;
    int e = hpcw_i_sys_pread(fd, data, size, offset, &got);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read %zu bytes at offset %" PRIu64, path, size, offset);
    }
    return got == size
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: offset %" PRIu64 ": tree: expected %zu bytes, got %zu",
                             path, offset, size, got);
}

hpcw_status hpcw_i_kv_fail_open(hpcw_error *err, int e, const char *path) {
    const char *other = hpcw_i_sys_no_file(e);
    return other == NULL ? hpcw_i_fail_sys(err, e, "%s: cannot open for reading", path)
                         : hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a regular file, got %s", path, other);
}

hpcw_status hpcw_i_kv_load_at(int at, const char *name, const char *path, uint64_t offset, unsigned char **data,
                              uint64_t *stored, uint64_t *left, hpcw_error *err) {
    *data = NULL;
    int fd;
    uint64_t size = 0;
    unsigned char header[HPCW_I_KV_HEADER];
    unsigned char *made = NULL;
    int e = hpcw_i_sys_open_file_at(at, name, &fd, &size);
    if (e != 0) {
        return hpcw_i_kv_fail_open(err, e, path);
    }
    hpcw_status s = HPCW_OK;
    if (offset > size || size - offset < HPCW_I_KV_LEAST) {
        s = hpcw_i_fail(err, HPCW_ETRUNCATED,
                        "%s: offset %" PRIu64 ": tree: expected at least %d bytes, got %" PRIu64, path, offset,
                        HPCW_I_KV_LEAST, offset > size ? 0 : size - offset);
        goto done;
    }
    s = read_exactly(path, fd, offset, header, sizeof header, err);
    if (s == HPCW_OK) {
        s = hpcw_i_kv_stored_size(path, offset, header, size - offset, stored, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    made = hpcw_i_malloc((size_t)*stored);
    if (made == NULL) {
        s = hpcw_i_fail_memory(err, path, *stored, "bytes");
        goto done;
    }
    s = read_exactly(path, fd, offset, made, (size_t)*stored, err);
    /* Somebody may have replaced the file since its header was read. The memory has the size that this header
     * gave. */
    if (s == HPCW_OK && memcmp(made, header, sizeof header) != 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": header: it changed while it was read", path,
                        offset);
    }
    *left = size - offset - *stored;
done:
    (void)hpcw_i_sys_close(fd);
    if (s != HPCW_OK) {
        hpcw_i_free(made);
        made = NULL;
    }
    *data = made;
    return s;
}
