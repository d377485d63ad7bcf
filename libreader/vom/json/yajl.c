/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/yajl.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"

/* Precedes each block of yajl's, so that all of them can be freed after a longjmp. */
struct yajl_block {
    struct yajl_block *before, *after;
    size_t size; /* without this header */
    size_t pad;  /* so that the block is aligned for any type */
};

struct read_vom_yajl {
    yajl_handle handle;
    struct yajl_block list; /* ends of the ring */
    size_t memory;          /* in all blocks */
    bool huge;              /* the longjmp is due to the limit, not to a lack of memory */
    jmp_buf leave;
};

static void *allocate(void *context, size_t size) {
    struct read_vom_yajl *y = context;
    struct yajl_block *b = NULL;
    y->huge = size > READ_VOM_YAJL_MEMORY - y->memory;
    if (!y->huge) {
        b = hpcw_i_malloc(sizeof *b + size);
    }
    if (b == NULL) {
        longjmp(y->leave, 1); /* NOLINT(cert-err52-cpp): yajl has no other way to fail here */
    }
    y->memory += size;
    b->size = size;
    b->before = &y->list;
    b->after = y->list.after;
    b->after->before = b;
    y->list.after = b;
    return b + 1;
}

static void release(void *context, void *p) {
    struct read_vom_yajl *y = context;
    if (p != NULL) {
        struct yajl_block *b = (struct yajl_block *)p - 1;
        b->before->after = b->after;
        b->after->before = b->before;
        y->memory -= b->size;
        hpcw_i_free(b);
    }
}

static void *reallocate(void *context, void *p, size_t size) {
    void *q = allocate(context, size);
    if (p != NULL) {
        size_t old = ((struct yajl_block *)p - 1)->size;
        memcpy(q, p, old < size ? old : size);
        release(context, p);
    }
    return q;
}

struct read_vom_yajl *read_vom_yajl_new(const yajl_callbacks *callbacks, void *context) {
    struct read_vom_yajl *y = hpcw_i_calloc(1, sizeof *y);
    if (y == NULL) {
        return NULL;
    }
    y->list.before = y->list.after = &y->list;
    yajl_alloc_funcs functions = {allocate, reallocate, release, y};
    if (setjmp(y->leave) != 0) { /* NOLINT(cert-err52-cpp) */
        read_vom_yajl_free(y);
        return NULL;
    }
    y->handle = yajl_alloc(callbacks, &functions, context);
    return y;
}

/* yajl_free must not be called after a longjmp. */
void read_vom_yajl_free(struct read_vom_yajl *y) {
    if (y == NULL) {
        return;
    }
    while (y->list.after != &y->list) {
        release(y, y->list.after + 1);
    }
    hpcw_i_free(y);
}

enum read_vom_yajl_result read_vom_yajl_parse(struct read_vom_yajl *y, const unsigned char *piece,
                                              size_t size) {
    if (setjmp(y->leave) != 0) { /* NOLINT(cert-err52-cpp) */
        return y->huge ? READ_VOM_YAJL_HUGE : READ_VOM_YAJL_NO_MEMORY;
    }
    yajl_status status = size > 0 ? yajl_parse(y->handle, piece, size) : yajl_complete_parse(y->handle);
    switch (status) {
    case yajl_status_ok:
        return READ_VOM_YAJL_GOOD;
    case yajl_status_client_canceled:
        return READ_VOM_YAJL_STOPPED;
    default:
        return READ_VOM_YAJL_BAD;
    }
}

size_t read_vom_yajl_consumed(const struct read_vom_yajl *y) {
    return yajl_get_bytes_consumed(y->handle);
}

void read_vom_yajl_error(struct read_vom_yajl *y, char *text, size_t size) {
    (void)snprintf(text, size, "no JSON");
    if (setjmp(y->leave) != 0) { /* NOLINT(cert-err52-cpp) */
        return;
    }
    unsigned char *message = yajl_get_error(y->handle, 0, NULL, 0);
    if (message != NULL) {
        (void)snprintf(text, size, "%s", (const char *)message);
        text[strcspn(text, "\n")] = '\0';
        yajl_free_error(y->handle, message);
    }
}
