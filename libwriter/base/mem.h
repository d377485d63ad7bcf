/* SPDX-License-Identifier: BSD-3-Clause */
/* The only access to the heap, so that tests can make the n-th allocation fail. All memory is freed with
 * hpcw_i_free. */
#ifndef HPCW_BASE_MEM_H
#define HPCW_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *hpcw_i_malloc(size_t size);
void *hpcw_i_calloc(size_t count, size_t size); /* NULL if count * size overflows */
void *hpcw_i_realloc(void *p, size_t size);
/* `alignment` is a power of two and a multiple of the size of a pointer. */
void *hpcw_i_malloc_aligned(size_t alignment, size_t size);
/* Allocates a buffer that will be used as a whole. It is in large pages if the system has them: with small pages,
 * the first access to a page costs as much as several copies of the page. */
void *hpcw_i_malloc_large(size_t size);
void hpcw_i_free(void *p);
char *hpcw_i_strdup(const char *text);

/* For tests only, which link mem.c compiled with HPCW_I_TEST_GATES. This function is called before each allocation;
 * if it returns false, the allocation fails. NULL, the default: no allocation fails. */
extern bool (*hpcw_i_mem_gate)(size_t size);

/* Prefetches memory into the caches. */
static inline void hpcw_i_fetch(const void *p, size_t size) {
    enum { CACHE_LINE = 64 };
    const char *at = p;
    for (size_t done = 0; done < size; done += CACHE_LINE) {
        __builtin_prefetch(at + done);
    }
}

#endif
