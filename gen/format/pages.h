/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that a file with holes occupies in most file systems: whole pages of 4096 bytes, each counted once. */
#ifndef HPCW_GEN_FORMAT_PAGES_H
#define HPCW_GEN_FORMAT_PAGES_H

#include <stdint.h>

struct gen_pages {
    uint64_t bytes; /* bytes of the pages so far */
    uint64_t next;  /* first page that is not counted yet */
};

/* Adds `size` bytes at offset `at`. Offsets must ascend. */
static inline void gen_pages_add(struct gen_pages *pages, uint64_t at, uint64_t size) {
    enum { PAGE = 4096 };
    uint64_t begin = at / PAGE;
    uint64_t end = (at + size + PAGE - 1) / PAGE;
    begin = begin > pages->next ? begin : pages->next;
    if (size > 0 && end > begin) {
        pages->bytes += (end - begin) * PAGE;
        pages->next = end;
    }
}

#endif
