/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/faults.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"

void gen_faults_init(struct gen_faults *f) {
    *f = (struct gen_faults){.count = 0};
    (void)pthread_mutex_init(&f->lock, NULL);
}

void gen_faults_free(struct gen_faults *f) {
    for (size_t i = 0; i < f->count; i++) {
        hpcw_i_free(f->fault[i].path);
        hpcw_i_free(f->fault[i].message);
    }
    hpcw_i_free(f->fault);
    (void)pthread_mutex_destroy(&f->lock);
}

void gen_faults_add(struct gen_faults *f, uint64_t order, const char *path, const hpcw_error *e) {
    struct gen_fault fault = {order, e->code, hpcw_i_strdup(path), hpcw_i_strdup(e->message)};
    (void)pthread_mutex_lock(&f->lock);
    struct gen_fault *grown = fault.path == NULL || fault.message == NULL
                                  ? NULL
                                  : hpcw_i_grow(f->fault, &f->capacity, f->count + 1, sizeof *grown);
    if (grown == NULL) {
        f->no_memory = true;
        hpcw_i_free(fault.path);
        hpcw_i_free(fault.message);
    } else {
        f->fault = grown;
        f->fault[f->count++] = fault;
    }
    (void)pthread_mutex_unlock(&f->lock);
}

static int by_order(const void *a, const void *b) {
    const struct gen_fault *x = a;
    const struct gen_fault *y = b;
    return x->order != y->order ? (x->order < y->order ? -1 : 1) : strcmp(x->message, y->message);
}

void gen_faults_sort(struct gen_faults *f) {
    if (f->count > 1) {
        qsort(f->fault, f->count, sizeof *f->fault, by_order);
    }
}
