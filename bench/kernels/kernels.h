/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F6: what `hpcw-kernels` measures. A kernel prepares one piece of work, and offers it to the timer as a
 * subject: what this library does, and beside it the plain loop that writes the same bytes to the same offsets.
 */
#ifndef HPCW_BENCH_KERNELS_KERNELS_H
#define HPCW_BENCH_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/kernels/figures.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"

/* Where kernels work. */
struct bench_site {
    const struct bench_processes *processes;
    const char *directory; /* empty, theirs alone */
    uint32_t block_size;   /* of its file system */
    const char *hpcgen;    /* path of the program, NULL: not found */
    double scale;          /* 0 < scale <= 1: share of the full size */
    bool warm;             /* touch the memory that a run will need before it starts */
};

enum bench_needs { BENCH_ONE_PROCESS, BENCH_SEVERAL_PROCESSES };

struct bench_kernel {
    const char *name;
    const char *what; /* at full size */
    enum bench_needs needs;
    const char *item;      /* what bench_amount.items counts, "record"; NULL: nothing */
    const void *parameter; /* for `setup`: lets kernels share their functions */
    /* Collective. HPCW_ENOTSUP: cannot be measured here, the message says why. */
    hpcw_status (*setup)(const struct bench_site *place, const void *parameter, void **work,
                         struct bench_amount *amount, hpcw_error *err);
    void (*teardown)(void *work); /* after a failed setup, too */
    struct bench_subject subject;
    const struct bench_figure *figure; /* [figures] */
    size_t figures;
};

/* ---- shared by the kernels -------------------------------------------------------------------------------- */

hpcw_status bench_path(char path[BENCH_PATH], const struct bench_site *place, const char *name,
                       hpcw_error *err);

/*
 * Before a run: process 0 removes the files, and waits until the file system has written the data of earlier
 * runs; every process starts from a trimmed heap and, if asked for, memory that was touched: `bytes` is the memory that the
 * run uses in this process, with its page cache.
 */
hpcw_status bench_fresh(const struct bench_site *place, const char *const *paths, size_t count, uint64_t bytes,
                        hpcw_error *err);

/* After the last run: process 0 removes a file, if it exists. */
void bench_remove(const struct bench_site *place, const char *path);

/* A plain file for the loops; created if it does not exist. */
hpcw_status bench_plain_open(const char *path, int *fd, hpcw_error *err);
hpcw_status bench_plain_write(int fd, const void *data, size_t size, uint64_t offset, hpcw_error *err);
hpcw_status bench_plain_close(int *fd, hpcw_error *err);

/* HPCW_ECHECKSUM unless two files have the same `size` bytes at `offset`. */
hpcw_status bench_same_bytes(const char *a, const char *b, uint64_t offset, uint64_t size, hpcw_error *err);

/* [size] bytes that differ from place to place and from process to process; NULL: out of memory. */
unsigned char *bench_source(size_t size, int process);

#endif
