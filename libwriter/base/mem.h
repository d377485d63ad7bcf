/* SPDX-License-Identifier: BSD-3-Clause */
/* F0: the one seam to the heap, so that tests can make the n-th allocation fail. */
#ifndef HPCW_BASE_MEM_H
#define HPCW_BASE_MEM_H

#include <stddef.h>

void *hpcw_i_malloc(size_t size);
void *hpcw_i_calloc(size_t count, size_t size); /* overflow of count*size: NULL */
void *hpcw_i_realloc(void *p, size_t size);
/* For buffers that are used as a whole: in large pages where the system has them, because the first touch of a small page
 * costs as much as several copies of it. */
void *hpcw_i_malloc_large(size_t size);
void hpcw_i_free(void *p);
char *hpcw_i_strdup(const char *text);

/* Asked before every allocation; false makes it fail. NULL (the default) allows all. Set by tests only. */
extern _Bool (*hpcw_i_mem_gate)(size_t size);

#endif
