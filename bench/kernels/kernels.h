/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of `hpcw-kernels`. A kernel does the same work in several ways, its sides. One side is our library.
 * Another one is usually the baseline loop, which writes the same bytes to the same offsets by plain pwrite. */
#ifndef HPCW_BENCH_KERNELS_KERNELS_H
#define HPCW_BENCH_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/sink.h>
#include <hpcw/status.h>

#include "bench/measure/machine.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"

/* Amount of work of a run. */
struct bench_amount {
    uint64_t bytes; /* bytes written by all processes together; 0: a rate is meaningless */
    uint64_t items; /* number of items, as records or timings, that one processor handles */
};

enum bench_figure_kind {
    BENCH_RATIO,    /* ratio of two times, bench_figure.of / against */
    BENCH_SECONDS,  /* time that bench_figure.of selects, seconds */
    BENCH_PER_ITEM, /* time that bench_figure.of selects, nanoseconds per item */
    /* processor time of all threads in the phase that `of` selects, nanoseconds per item */
    BENCH_CPU,
    BENCH_MEMORY, /* of.side - less.side: difference of the peak memory, bytes */
    BENCH_SIZES,  /* of.side / against.side: ratio of the output bytes */
    /* bench_amount.bytes / the time that `of` selects, bytes per second; only in this kind, larger is better */
    BENCH_RATE,
};

/* Selects a time of a sample: that of one phase or of all phases of a side. */
struct bench_time {
    unsigned side;  /* number of the side, from 1; 0: none */
    unsigned phase; /* number of the phase, from 1; 0: all timed phases */
};

/* A figure computed from samples. */
struct bench_figure {
    const char *name;
    enum bench_figure_kind kind;
    struct bench_time of, less;              /* time or numerator: of - less */
    struct bench_time against, against_less; /* BENCH_RATIO, denominator: against - against_less */
    /* target: lower limit of a BENCH_RATE, upper limit of other figures; 0: no target */
    double reach;
    /* a BENCH_RATIO above its target passes, too, if the median time of the side `of` is at most the upper quartile
     * of the side `against` */
    bool or_spread;
};

/* Where and how kernels run. */
struct bench_site {
    const struct bench_processes *processes;
    struct bench_machine machine; /* the machine, and the file system of the directory */
    const char *directory;        /* empty directory for the files of the kernels */
    const char *hpcgen;           /* path of the program hpcgen; NULL: not found */
    size_t repeat;
    double scale; /* 0 < scale <= 1: share of the full size */
    bool warm;    /* touch the memory of a run before it starts */
};

enum bench_needs { BENCH_ONE_PROCESS, BENCH_SEVERAL_PROCESSES };

enum { BENCH_FILES = 3 };

/* First member of the struct that each kernel passes as `work`. The functions below that take `void *work` expect
 * it there. */
struct bench_common {
    const struct bench_site *place;
    char path[BENCH_FILES][BENCH_PATH]; /* full paths of bench_kernel.file */
    int fd;                             /* file of the baseline loop; -1: not open */
};

struct bench_kernel {
    const char *name;
    const char *what; /* description of the work at full size */
    enum bench_needs needs;
    /* names of files or directories that the kernel creates; file[1] is for the baseline loop */
    const char *file[BENCH_FILES];
    /* size of the struct `work` of the kernel; its first member is a struct bench_common, the others begin as 0 */
    size_t size;
    const void *parameter; /* argument of `setup`, so that kernels can share functions */
    /* Collective. HPCW_ENOTSUP: cannot be measured here; the message says why. */
    hpcw_status (*setup)(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err);
    /* Frees what the other functions allocated, also after a failed setup. NULL: nothing to free. */
    void (*teardown)(void *work);
    struct bench_subject subject;
    const struct bench_figure *figure; /* [figures] */
    size_t figures;
};

/* Phases of a side. BENCH_PHASE: the phase is timed. UNTIMED: the phase counts in no figure. TOGETHER: the
 * processes wait for each other before the phase. */
#define BENCH_PHASE(name, run)                                                                                 \
    { name, run, false, false }
#define BENCH_UNTIMED(name, run)                                                                               \
    { name, run, true, false }
#define BENCH_TOGETHER(name, run)                                                                              \
    { name, run, false, true }
#define BENCH_UNTIMED_TOGETHER(name, run)                                                                      \
    { name, run, true, true }

#define BENCH_ROWS(rows) rows, sizeof rows / sizeof rows[0]
#define BENCH_FIGURES(rows) .figure = rows, .figures = sizeof rows / sizeof rows[0]

/* The kernels. The comments name the files that define them. */

/* sion_data.c: writing records into the chunks of a container */
extern const struct bench_kernel bench_large_records, bench_small_records, bench_task_after_task,
    bench_round_robin;

/* sion_meta.c: opening and closing a container */
extern const struct bench_kernel bench_million_tasks, bench_open_close;

/* sion_read.c: reading records from the chunks of a container */
extern const struct bench_kernel bench_read_large, bench_read_small, bench_read_in_turn;

/* linktest.c: LinkTest results: the model of times, the encoder, and a whole run of hpcgen */
extern const struct bench_kernel bench_linktest_parts, bench_linktest_run;

/* particles.c: the model of particle data */

/* numbers.c: conversion of numbers to text */
extern const struct bench_kernel bench_doubles, bench_integers;

/* json.c: records of JSON */
extern const struct bench_kernel bench_json_records;

/* vom.c: load-balancing files */
extern const struct bench_kernel bench_vom_plain, bench_vom_compressed, bench_vom_settings, bench_vom_verify;

/* clog2.c: event logs: recording, writing given records, and reading */
extern const struct bench_kernel bench_clog2_event, bench_clog2_threads, bench_clog2_processes,
    bench_clog2_finish, bench_clog2_file, bench_clog2_run, bench_clog2_read;

/* messages.c: time that a tool such as the MPI wrapper adds to calls of MPI */
extern const struct bench_kernel bench_messages, bench_own_messages;

/* rank2file.c: checkpoints and their maps */
extern const struct bench_kernel bench_map_4096, bench_map_8192, bench_map_million, bench_checkpoint;

/* simulate.c: the simulator with workloads in Lua, without recording */
extern const struct bench_kernel bench_simulate_stencil, bench_simulate_requests, bench_simulate_wavefront,
    bench_simulate_farm;

/* ---- shared by the kernels -------------------------------------------------------------------------------- */

/* Returns full * place->scale, but at least `least`. */
uint64_t bench_scaled(const struct bench_site *place, uint64_t full, uint64_t least);

/* Prepares a run. Process 0 removes the files whose bits are set in `files`, and waits until the file system has
 * written the data of earlier runs. Every process then trims its heap and touches memory, if place->warm is set.
 * bytes: memory that the run uses in this process, including its page cache. */
hpcw_status bench_fresh(const struct bench_common *common, unsigned files, uint64_t bytes, hpcw_error *err);

/* Process 0 removes a file or a directory, if it exists. */
void bench_remove(const struct bench_site *place, const char *path);

/* Opens a file for the baseline loop, and creates it if needed. Sets common->fd. */
hpcw_status bench_plain_open_path(struct bench_common *common, const char *path, hpcw_error *err);

/* Writes `size` bytes at `offset` by pwrite. bench_plain_pieces repeats the `piece_size` bytes of `piece` until it
 * has written `size` bytes. */
hpcw_status bench_plain_write(int fd, const void *data, size_t size, uint64_t offset, hpcw_error *err);
hpcw_status bench_plain_pieces(int fd, const void *piece, uint64_t piece_size, uint64_t offset, uint64_t size,
                               hpcw_error *err);

/* Phases of the baseline loop. The first function opens file[1] of the kernel, the second one closes common->fd. */
hpcw_status bench_plain_open(void *work, hpcw_error *err);
hpcw_status bench_plain_close(void *work, hpcw_error *err);

#define BENCH_LOOP(write)                                                                                      \
    {BENCH_PHASE("open", bench_plain_open), BENCH_PHASE("write", write),                                       \
     BENCH_PHASE("close", bench_plain_close)},                                                                 \
        NULL, NULL

/* Opens a sink that discards everything. */
hpcw_status bench_null_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                            hpcw_error *err);

/* Compares `size` bytes at `offset` of two files. HPCW_ECHECKSUM: they differ. */
hpcw_status bench_same_bytes(const char *a, const char *b, uint64_t offset, uint64_t size, hpcw_error *err);

/* Returns [size] bytes that differ between positions and processes. NULL: out of memory. */
unsigned char *bench_source(size_t size, int process);

/* ---- a whole run of hpcgen, compared with plain writes of as many bytes ----------------------------------- */

/* First member of the struct `work` of a kernel that runs hpcgen. hpcgen writes its dataset to file[0] of the
 * kernel. */
struct bench_generator {
    struct bench_common common;
    /* Arguments of hpcgen without the directory and --no-checksums; NULL-terminated. */
    const char *argument[8];
    uint64_t bytes; /* bytes that the baseline loop writes */
    uint64_t peak;  /* peak memory of hpcgen, bytes */
};

/* Removes the files of hpcgen and of the baseline loop. */
hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err);

/* Runs hpcgen. The function is a timed phase. The setup of a kernel calls it, too, to get a dataset. HPCW_ENOTSUP:
 * hpcgen was not found, see bench_site. HPCW_EIO: hpcgen failed. bench_generator_peak returns the peak memory of
 * hpcgen, bytes. */
hpcw_status bench_generator_run(void *generator, hpcw_error *err);
uint64_t bench_generator_peak(const void *generator);

#define BENCH_HPCGEN(prepare)                                                                                  \
    {                                                                                                          \
        "hpcgen", "the program, all processors, from start to end", 0, prepare,                                \
            {BENCH_PHASE("run", bench_generator_run)}, bench_generator_peak, NULL                              \
    }

#endif
