/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that a check found. Threads may add faults at the same time. */
#ifndef HPCW_GEN_DATASET_FAULTS_H
#define HPCW_GEN_DATASET_FAULTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct gen_fault {
    uint64_t order;
    hpcw_status code;
    char *path;    /* path of the file, relative to the dataset's directory */
    char *message; /* one line */
};

struct gen_faults {
    pthread_mutex_t lock;
    struct gen_fault *fault;
    size_t count, capacity;
    bool no_memory; /* memory ran out, so some faults were lost */
};

void gen_faults_init(struct gen_faults *f);
void gen_faults_free(struct gen_faults *f);

/* Stores a copy of the path and of the error. order: sort key of the fault. */
void gen_faults_add(struct gen_faults *f, uint64_t order, const char *path, const hpcw_error *e);

/* Sorts them. */
void gen_faults_sort(struct gen_faults *f);

#endif
