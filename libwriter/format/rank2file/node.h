/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: leaves and inner nodes as bytes (doc/formats/rank2file.md, "Map"), and the cuts between them ("Cuts").
 * Arithmetic and memory only. */
#ifndef HPCW_FORMAT_RANK2FILE_NODE_H
#define HPCW_FORMAT_RANK2FILE_NODE_H

#include "libwriter/format/rank2file/names.h"

/* The same for all nodes of a map. */
struct hpcw_i_r2f_style {
    enum hpcw_i_r2f_kind kind;
    uint64_t id;
    uint32_t ranks; /* of the job */
    size_t before_size;
    char before[HPCW_RANK2FILE_MAX_DATASET + 2]; /* before the names of data files */
};

/* Bytes of a stored node without its ranks or children. */
uint64_t hpcw_i_r2f_fixed(const struct hpcw_i_r2f_style *style, uint32_t level);

/* Bytes that a rank adds to a leaf, and a child to an inner node. */
uint64_t hpcw_i_r2f_rank_size(const struct hpcw_i_r2f_style *style, uint32_t rank,
                              const hpcw_rank2file_entry *entry, size_t count);
uint64_t hpcw_i_r2f_child_size(const struct hpcw_i_r2f_style *style, uint32_t level, uint32_t reader);

/* Start of a node of `size` bytes with `count` ranks or children; hpcw_i_kv_put_crc follows them. */
unsigned char *hpcw_i_r2f_put_head(const struct hpcw_i_r2f_style *style, unsigned char *p, uint64_t size,
                                   uint32_t level, uint32_t count);
unsigned char *hpcw_i_r2f_put_rank(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t rank,
                                   const hpcw_rank2file_entry *entry, size_t count);
unsigned char *hpcw_i_r2f_put_child(const struct hpcw_i_r2f_style *style, unsigned char *p, uint32_t level,
                                    uint32_t reader);

/* The cuts of nodes. */
struct hpcw_i_r2f_cutter {
    uint64_t most_bytes, fixed;
    uint32_t most, least; /* items of a node: ranks or children */
    uint64_t bytes;       /* of the current node; 0: no node yet */
    uint32_t items;
};

/* Takes the next item. Whether a new node begins with it. */
static inline bool hpcw_i_r2f_cut(struct hpcw_i_r2f_cutter *c, uint64_t size) {
    bool fits =
        c->items > 0 && c->items < c->most &&
        (c->items < c->least || size <= c->most_bytes - (c->bytes < c->most_bytes ? c->bytes : c->most_bytes));
    if (!fits) {
        c->bytes = c->fixed;
        c->items = 0;
    }
    c->bytes += size;
    c->items++;
    return !fits;
}

#endif
