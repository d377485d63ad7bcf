/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as a node of a map (a file of its tree). The first byte gives the number of ranks of the
 * job and the range of ranks of a leaf. */
#include <stdlib.h>

#include "libwriter/base/mem.h"
#include "libwriter/format/rank2file/map/decode.h"
#include "libwriter/format/rank2file/map/records.h"
#include "tests/fuzz/images.h"
#include "tests/fuzz/repaired.h"

static void as_inner(const uint8_t *data, size_t size) {
    struct hpcw_i_kv_cursor c;
    struct hpcw_i_r2f_inner inner;
    hpcw_error err = {.message = ""};
    demand(hpcw_i_kv_open(&c, "input", 0, data, size, &err) == HPCW_OK);
    hpcw_status s = hpcw_i_r2f_get_inner(&c, &inner, &err);
    const struct hpcw_i_r2f_child *child = (const struct hpcw_i_r2f_child *)(const void *)inner.child.data;
    size_t n = inner.child.size / sizeof *child;
    for (size_t i = 0; s == HPCW_OK && i < n; i++) {
        demand(child[i].file != NULL && (i == 0 || child[i].reader > child[i - 1].reader));
    }
    demand(s == HPCW_OK || (err.code == s && err.message[0] != '\0'));
    hpcw_i_buf_free(&inner.child);
}

static void as_leaf(const uint8_t *data, size_t size, uint32_t ranks, uint32_t first) {
    struct hpcw_i_kv_cursor c;
    struct hpcw_i_buf words = {0};
    uint64_t at[16];
    hpcw_error err = {.message = ""};
    demand(hpcw_i_kv_open(&c, "input", 0, data, size, &err) == HPCW_OK);
    hpcw_status s = hpcw_i_r2f_get_leaf(&c, ranks, first, ranks, &words, at, &err);
    for (uint32_t rank = first; s == HPCW_OK && rank < ranks; rank++) {
        const uint64_t *record = (const uint64_t *)(const void *)words.data + at[rank - first];
        const uint64_t *p = record + 1;
        demand(hpcw_i_r2f_record_rank(record) == rank);
        for (uint32_t k = hpcw_i_r2f_record_files(record); k > 0; k--) {
            struct hpcw_i_r2f_file f;
            p = hpcw_i_r2f_get_file(p, &f);
            demand(strlen(f.name) == f.name_size && f.name[0] != '/' && f.name_size > 0);
        }
        demand(p == hpcw_i_r2f_record_end(record));
    }
    if (s == HPCW_OK) {
        (void)hpcw_i_r2f_find_twins((const uint64_t *)(const void *)words.data, words.size / 8, HPCW_EFORMAT,
                                    &err);
    }
    demand(s == HPCW_OK || (err.code == s && err.message[0] != '\0'));
    hpcw_i_buf_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 + 28) {
        return 0;
    }
    uint32_t ranks = 1 + (data[0] + 2u) % 16;
    uint8_t *copy = repaired(data + 1, size - 1);
    as_inner(copy, size - 1);
    as_leaf(copy, size - 1, ranks, data[0] / 16u % ranks);
    free(copy);
    return 0;
}
