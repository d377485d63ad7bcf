/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of stored trees (doc/formats/rank2file.md, "Stored tree").
 *
 * Writing: each function returns the end of its bytes. The caller allocates the memory by the sizes below.
 * Reading: each function checks that a cursor stays inside its tree.
 */
#ifndef HPCW_FORMAT_KVTREE_PACK_H
#define HPCW_FORMAT_KVTREE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hpcw/kvtree.h>
#include <hpcw/status.h>

#include "libwriter/base/bytes.h"

#define HPCW_I_KV_MAGIC 0x951fc3f5u
enum {
    HPCW_I_KV_HEADER = 20,
    HPCW_I_KV_CRC = 4,
    HPCW_I_KV_COUNT = 4,
    /* smallest size of a stored tree without a CRC, bytes */
    HPCW_I_KV_LEAST = HPCW_I_KV_HEADER + HPCW_I_KV_COUNT,
};

/* ---- writing ---- */

static inline unsigned char *hpcw_i_kv_put_count(unsigned char *p, uint32_t count) {
    hpcw_i_put_u32(p, count, true);
    return p + HPCW_I_KV_COUNT;
}

/* Writes a key and the number of its children. */
static inline unsigned char *hpcw_i_kv_put_key(unsigned char *p, const char *key, size_t size, uint32_t count) {
    memcpy(p, key, size);
    p[size] = 0;
    return hpcw_i_kv_put_count(p + size + 1, count);
}

/* Writes a value, which is the only child of the key before it. */
static inline unsigned char *hpcw_i_kv_put_value(unsigned char *p, const char *value, size_t size) {
    return hpcw_i_kv_put_key(p, value, size, 0);
}

/* Writes the header of a tree of `size` stored bytes. */
unsigned char *hpcw_i_kv_put_header(unsigned char *p, uint64_t size);

/* Writes the CRC after a stored tree. `start` is the address of the header, `p` the end of the tree's keys. */
unsigned char *hpcw_i_kv_put_crc(unsigned char *start, unsigned char *p);

/* ---- reading ---- */

struct hpcw_i_kv_cursor {
    const char *name;             /* name of the file, for messages */
    uint64_t offset;              /* offset of the tree in the file */
    const unsigned char *start;   /* start of the tree */
    const unsigned char *p, *end; /* unread keys of the tree */
};

/* Gets the length of a stored tree from its header, the first HPCW_I_KV_HEADER bytes. `left` is the number of
 * bytes from the header to the end of the file. */
hpcw_status hpcw_i_kv_stored_size(const char *name, uint64_t offset, const unsigned char *header, uint64_t left,
                                  uint64_t *stored, hpcw_error *err);

/* Checks header and CRC of the tree in `data` [stored]. The cursor then points to the number of children of the
 * root. */
hpcw_status hpcw_i_kv_open(struct hpcw_i_kv_cursor *c, const char *name, uint64_t offset,
                           const unsigned char *data, uint64_t stored, hpcw_error *err);

/* Reads a number of children. Fails if the rest of the tree is too short for them. */
hpcw_status hpcw_i_kv_count(struct hpcw_i_kv_cursor *c, uint32_t *count, hpcw_error *err);

/* Reads the next key. *key points into the tree, and the key ends in a NUL. */
hpcw_status hpcw_i_kv_key(struct hpcw_i_kv_cursor *c, const char **key, size_t *size, hpcw_error *err);

/* Reads a value: the only child of a key, without children itself. `what` is the key, for messages. */
hpcw_status hpcw_i_kv_value(struct hpcw_i_kv_cursor *c, const char *what, const char **value, size_t *size,
                            hpcw_error *err);

/* Skips all children of a key. Fails if they have more than `depth` levels. */
hpcw_status hpcw_i_kv_skip(struct hpcw_i_kv_cursor *c, uint32_t depth, hpcw_error *err);

/* Fails if bytes are left after the tree's last key. */
hpcw_status hpcw_i_kv_end(const struct hpcw_i_kv_cursor *c, hpcw_error *err);

/* Returns the offset in the file of a byte of the tree. */
static inline uint64_t hpcw_i_kv_at(const struct hpcw_i_kv_cursor *c, const void *p) {
    uint64_t at = c->offset + (uint64_t)((const unsigned char *)p - c->start);
    return at;
}

/* ---- files ---- */

/* Loads the whole tree at `offset` of file `name` in directory `at`. *data is to be freed with hpcw_i_free.
 * *left becomes the number of bytes after the tree. `path` is for messages. */
hpcw_status hpcw_i_kv_load_at(int at, const char *name, const char *path, uint64_t offset, unsigned char **data,
                              uint64_t *stored, uint64_t *left, hpcw_error *err);

/* Records the failure of hpcw_i_sys_open_file_at. The code is HPCW_EFORMAT if `path` is no regular file. */
hpcw_status hpcw_i_kv_fail_open(hpcw_error *err, int e, const char *path);

/* Reads the tree in file `name` of directory `at`, as hpcw_kvtree_read_file does. `path` is for messages. */
hpcw_status hpcw_i_kv_read_at(int at, const char *name, const char *path, hpcw_kvtree **out, hpcw_error *err);

#endif
