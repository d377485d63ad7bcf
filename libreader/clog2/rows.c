/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts the rows of a profile. */
#include <stdlib.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/mem.h"

int read_clog2_by_key(const void *a_, const void *b_) {
    const struct read_clog2_row *a = a_, *b = b_;
    int first = (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
    return first != 0 ? first : (a->key[1] > b->key[1]) - (a->key[1] < b->key[1]);
}

struct read_clog2_row *read_clog2_rows(const struct hpcw_i_table *map,
                                       int (*order)(const void *, const void *)) {
    struct read_clog2_row *row = hpcw_i_calloc(map->count + 1, sizeof *row);
    uint64_t key[HPCW_I_TABLE_KEY];
    const struct read_clog2_amount *amount;
    size_t n = 0;
    for (size_t at = 0; row != NULL && (amount = hpcw_i_table_next(map, &at, key)) != NULL; n++) {
        row[n] = (struct read_clog2_row){.key = {key[0], key[1]}, .amount = *amount};
    }
    if (row != NULL) {
        qsort(row, n, sizeof *row, order);
    }
    return row;
}
