/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the nodes of a map from bytes. Reading is strict: all rules of doc/formats/rank2file.md, "Rules", are
 * checked. */
#ifndef HPCW_FORMAT_RANK2FILE_DECODE_H
#define HPCW_FORMAT_RANK2FILE_DECODE_H

#include "libwriter/base/buf.h"
#include "libwriter/format/kvtree/pack.h"
#include "libwriter/format/rank2file/map/names.h"

/* Most levels of a map; more than any number of ranks needs. */
enum { HPCW_I_R2F_MOST_LEVELS = 32 };

/* An inner node's entry for one child. `file` points into the bytes of the inner node. */
struct hpcw_i_r2f_child {
    uint32_t reader;
    uint64_t offset;
    const char *file;
    uint64_t at; /* offset of this entry in the inner node's file, for messages */
};

struct hpcw_i_r2f_inner {
    uint64_t level;
    uint64_t ranks; /* number of ranks of the job; 0: unknown */
    /* array of struct hpcw_i_r2f_child, by ascending reader; to be freed, also after a failure */
    struct hpcw_i_buf child;
};

/* Reads an inner node. `c` points to the node's number of children. */
hpcw_status hpcw_i_r2f_get_inner(struct hpcw_i_kv_cursor *c, struct hpcw_i_r2f_inner *inner, hpcw_error *err);

/* Reads a leaf that must have exactly the ranks first .. end - 1 of a job of `ranks` ranks. Appends their
 * records to `words`, in the order of the leaf. at[rank - first] becomes the index of a record's first word. */
hpcw_status hpcw_i_r2f_get_leaf(struct hpcw_i_kv_cursor *c, uint32_t ranks, uint32_t first, uint32_t end,
                                struct hpcw_i_buf *words, uint64_t *at, hpcw_error *err);

#endif
