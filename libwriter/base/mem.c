/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libwriter/base/checked.h"

#ifdef HPCW_I_TEST_GATES
bool (*hpcw_i_mem_gate)(size_t size);

static bool refused(size_t size) {
    return hpcw_i_mem_gate != NULL && !hpcw_i_mem_gate(size);
}
#else
static bool refused(size_t size) {
    (void)size;
    return false;
}
#endif

/* A large block that malloc maps begins 16 bytes after a page boundary. On AMD's Zen 3, the kernel copies file
 * data, which begin at page boundaries, up to seven times slower to such an address. So align large blocks. */
void *hpcw_i_malloc(size_t size) {
    enum { CACHE_LINE = 64, MAPPED = 128 << 10 };
    return size >= MAPPED  ? hpcw_i_malloc_aligned(CACHE_LINE, size)
           : refused(size) ? NULL
                           : malloc(size == 0 ? 1 : size);
}

void *hpcw_i_calloc(size_t count, size_t size) {
    size_t total;
    if (!hpcw_i_mul_size(count, size, &total) || refused(total)) {
        return NULL;
    }
    return count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);
}

void *hpcw_i_realloc(void *p, size_t size) {
    return refused(size) ? NULL : realloc(p, size == 0 ? 1 : size);
}

void *hpcw_i_malloc_aligned(size_t alignment, size_t size) {
    void *p = NULL;
    return refused(size) || posix_memalign(&p, alignment, size == 0 ? 1 : size) != 0 ? NULL : p;
}

void *hpcw_i_malloc_large(size_t size) {
    enum { LARGE_PAGE = 2 << 20 };
    if (size < LARGE_PAGE || size > SIZE_MAX - LARGE_PAGE) {
        return hpcw_i_malloc(size);
    }
    size_t rounded = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *p = hpcw_i_malloc_aligned(LARGE_PAGE, rounded);
    if (p != NULL) {
        (void)madvise(p, rounded, MADV_HUGEPAGE); /* without large pages, access is only slower */
    }
    return p;
}

void hpcw_i_free(void *p) {
    free(p);
}

char *hpcw_i_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = hpcw_i_malloc(size);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}
