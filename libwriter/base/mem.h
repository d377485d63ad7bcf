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
/* Allocates a buffer that will be used as a whole, in large pages if the system has them: the first access to a
 * small page costs as much as several copies of it. */
void *hpcw_i_malloc_large(size_t size);
void hpcw_i_free(void *p);
char *hpcw_i_strdup(const char *text);

/* Called before each allocation, which fails if it returns false. NULL, the default, allows all. Only tests have
 * it: they link mem.c compiled with HPCW_I_TEST_GATES. */
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
