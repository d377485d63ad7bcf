/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * KVTree files (KVTree 1.x, in SCR 1.x named scr_hash): a tree of strings. A node is a map from keys to child
 * nodes. To give a key a value, the child node of the key gets the value as its only key, with an empty node below
 * it.
 *
 *     hpcw_kvtree *root, *dset;
 *     hpcw_kvtree_new(&root, &err);
 *     hpcw_kvtree_set(root, "VERSION", "6", &err);
 *     hpcw_kvtree_add(root, "DSET", &dset, &err);
 *     hpcw_kvtree_set_u64(dset, "ID", 1, &err);
 *     hpcw_kvtree_write_file(root, "summary.scr", HPCW_SYNC_FILE, &err);
 *     hpcw_kvtree_free(root);
 *
 * These trees are small: the metadata of a dataset. The maps of many ranks (<hpcw/rank2file.h>) are written and
 * read as streams, not as trees.
 *
 * The format to the byte: doc/formats/rank2file.md, "Stored tree".
 */
#ifndef HPCW_KVTREE_H
#define HPCW_KVTREE_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Deepest nesting of keys that is read or written. KVTree's print tools overflow at slightly deeper trees. */
#define HPCW_KVTREE_MAX_DEPTH 500u
/** Largest stored tree, bytes. Larger trees cannot be sent between the processes of a restart. */
#define HPCW_KVTREE_MAX_SIZE 0x7fffffffu

/** A node of a tree. The root is freed with hpcw_kvtree_free; all other nodes belong to the root. */
typedef struct hpcw_kvtree hpcw_kvtree;

/* ------------------------------------------------------------------------------------------------------------
 *  Building
 * --------------------------------------------------------------------------------------------------------- */

/** Makes an empty tree. @return HPCW_OK, HPCW_EINVAL (out is NULL) or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_new(hpcw_kvtree **out, hpcw_error *err);

/** Frees a tree with all its nodes. `root` must be the root of a tree; NULL is allowed. */
HPCW_API void hpcw_kvtree_free(hpcw_kvtree *root);

/**
 * Finds the child of `node` with a key. If there is no such child, adds one after the other children.
 *
 * @param key    any bytes, copied; it may be empty
 * @param child  out: the child; may be NULL
 * @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (deeper than HPCW_KVTREE_MAX_DEPTH) or HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_add(hpcw_kvtree *node, const char *key, hpcw_kvtree **child,
                                                     hpcw_error *err);

/** Makes `value` the only child of the child `key`. Results as hpcw_kvtree_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_set(hpcw_kvtree *node, const char *key, const char *value,
                                                     hpcw_error *err);

/** Sets a number as hpcw_kvtree_set does, in decimal. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_set_u64(hpcw_kvtree *node, const char *key, uint64_t value,
                                                         hpcw_error *err);

/** Copies everything below `from` to `node`. Children with the same key are merged. Results as hpcw_kvtree_add. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_merge(hpcw_kvtree *node, const hpcw_kvtree *from,
                                                       hpcw_error *err);

/** Removes the child with a key, and everything below the child, if the child exists. */
HPCW_API void hpcw_kvtree_remove(hpcw_kvtree *node, const char *key);

/* ------------------------------------------------------------------------------------------------------------
 *  Looking
 * --------------------------------------------------------------------------------------------------------- */

/** Returns the child of `node` with a key, or NULL if there is no such child or `node` is NULL. So calls can be
 * nested. The time does not grow with the number of children. */
HPCW_API hpcw_kvtree *hpcw_kvtree_get(const hpcw_kvtree *node, const char *key);

/** Returns the value of `key`: the key in its child node, if this is the only one and has an empty node below it.
 * Otherwise returns NULL. */
HPCW_API const char *hpcw_kvtree_value(const hpcw_kvtree *node, const char *key);

/** Gets the value of `key` as a decimal number. @return HPCW_OK; HPCW_EFORMAT if there is no value, or it is no
 * number */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_value_u64(const hpcw_kvtree *node, const char *key,
                                                           uint64_t *value, hpcw_error *err);

/** Returns the number of children; 0 if `node` is NULL. */
HPCW_API size_t hpcw_kvtree_count(const hpcw_kvtree *node);

/** Returns the first child in the order of the file, or NULL. */
HPCW_API hpcw_kvtree *hpcw_kvtree_first(const hpcw_kvtree *node);
/** Returns the child after `child` in the order of the file, or NULL. */
HPCW_API hpcw_kvtree *hpcw_kvtree_next(const hpcw_kvtree *child);

/** Returns the key of a child, or "" for the root. Valid until the child is removed. */
HPCW_API const char *hpcw_kvtree_key(const hpcw_kvtree *child);

/* ------------------------------------------------------------------------------------------------------------
 *  Storing
 * --------------------------------------------------------------------------------------------------------- */

/** Returns the size of the stored tree, bytes, at least 28; 0 if `root` is NULL. */
HPCW_API uint64_t hpcw_kvtree_size(const hpcw_kvtree *root);

/**
 * Stores the tree at byte `offset` of a sink, in the order of its children.
 *
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE (the tree is larger than HPCW_KVTREE_MAX_SIZE); HPCW_ENOMEM; and as
 *         hpcw_sink_write_at
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_write(const hpcw_kvtree *root, hpcw_sink *sink,
                                                       uint64_t offset, hpcw_error *err);

/** Stores the tree as a file, which gets its name when it is complete. Results as hpcw_kvtree_write and
 * hpcw_sink_publish. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_write_file(const hpcw_kvtree *root, const char *path,
                                                            hpcw_durability durability, hpcw_error *err);

/**
 * Reads a stored tree. Fails also for damage that KVTree's own reader overlooks: wrong counts, bytes after the map,
 * unknown flags, equal keys below one parent. A tree without a CRC is accepted.
 *
 * @param name    name of the data in error messages
 * @param data    [size] bytes
 * @param stored  out: size of the stored tree, bytes; NULL: the tree must fill all of `data`
 * @param out     the tree; NULL on failure
 * @return HPCW_OK; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM with offset, field, expected and actual value;
 *         HPCW_EINVAL; HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_decode(const char *name, const void *data, size_t size,
                                                        size_t *stored, hpcw_kvtree **out, hpcw_error *err);

/** Reads a file that holds one stored tree and nothing else. @return as hpcw_kvtree_decode, and errors of the
 * system */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_read_file(const char *path, hpcw_kvtree **out,
                                                           hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Printing
 * --------------------------------------------------------------------------------------------------------- */

/** How a tree is printed. */
typedef enum hpcw_kvtree_form {
    HPCW_KVTREE_TREE = 0, /**< one key a line, two blanks per level (kvtree_print) */
    /** as HPCW_KVTREE_TREE, with values after their keys: "LEVEL = 0" (kvtree_print -m keyval) */
    HPCW_KVTREE_KEYVAL = 1,
    /** nested JSON objects, with values as strings; bytes that are not UTF-8 become U+FFFD */
    HPCW_KVTREE_JSON = 2
} hpcw_kvtree_form;

/** Prints a tree to a sink, from offset 0. @return HPCW_OK, HPCW_EINVAL, HPCW_ERANGE (JSON: deeper than 62 levels),
 * HPCW_ENOMEM, and as hpcw_sink_write_at */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_kvtree_print(const hpcw_kvtree *root, hpcw_kvtree_form form,
                                                       hpcw_sink *sink, hpcw_error *err);

#ifdef __cplusplus
}
#endif

#endif
