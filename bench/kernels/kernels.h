/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `hpcw-kernels` measures. A kernel prepares one piece of work, and offers it to the timer as a
 * subject: what this library does, and beside it the plain loop that writes the same bytes to the same offsets.
 */
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

/* How much work one run is. */
struct bench_amount {
    uint64_t bytes; /* written by all processes together; 0: a rate says nothing */
    uint64_t items; /* that one processor handles: records, timings */
};

enum bench_figure_kind {
    BENCH_RATIO,    /* of / against */
    BENCH_SECONDS,  /* of */
    BENCH_PER_ITEM, /* of, nanoseconds per item */
    BENCH_CPU,      /* of, which names a phase: nanoseconds of processor time of all threads per item */
    BENCH_MEMORY,   /* of.side - less.side, peak bytes */
    BENCH_SIZES,    /* of.side / against.side, bytes of what came out */
    BENCH_RATE,     /* bench_amount.bytes / of, bytes per second; the one kind of which more is better */
};

/* A time of one sample. */
struct bench_time {
    unsigned side;  /* index from 1, 0: none */
    unsigned phase; /* index from 1, 0: all timed phases */
};

/* A comparison of samples that counts. */
struct bench_figure {
    const char *name;
    enum bench_figure_kind kind;
    struct bench_time of, less;              /* of - less */
    struct bench_time against, against_less; /* BENCH_RATIO: against - against_less */
    double reach;                            /* at most, BENCH_RATE: at least; 0: nothing is asked for */
    bool or_spread;                          /* BENCH_RATIO: or no worse than `against` itself varies */
};

/* Where and how kernels work. */
struct bench_site {
    const struct bench_processes *processes;
    struct bench_machine machine; /* and the file system of the directory */
    const char *directory;        /* empty, theirs alone */
    const char *hpcgen;           /* path of the program, NULL: not found */
    size_t repeat;
    double scale; /* 0 < scale <= 1: share of the full size */
    bool warm;    /* touch the memory that a run will need before it starts */
};

enum bench_needs { BENCH_ONE_PROCESS, BENCH_SEVERAL_PROCESSES };

enum { BENCH_FILES = 3 };

/* First member of what a kernel works on: the functions of sides below take that for it. */
struct bench_common {
    const struct bench_site *place;
    char path[BENCH_FILES][BENCH_PATH]; /* of bench_kernel.file */
    int fd;                             /* of the plain loop; -1: not open */
};

struct bench_kernel {
    const char *name;
    const char *what; /* at full size */
    enum bench_needs needs;
    const char *item;              /* what bench_amount.items counts, "record"; NULL: nothing */
    const char *file[BENCH_FILES]; /* files or directories that it makes, the second by the plain loop */
    size_t size;                   /* of what it works on, zeroed but for struct bench_common at its start */
    const void *parameter;         /* for `setup`: lets kernels share their functions */
    /* Collective. HPCW_ENOTSUP: cannot be measured here, the message says why. */
    hpcw_status (*setup)(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err);
    /* Frees what the other functions have allocated; after a failed setup, too. NULL: nothing. */
    void (*teardown)(void *work);
    struct bench_subject subject;
    const struct bench_figure *figure; /* [figures] */
    size_t figures;
};

/* Phases: timed; those of `UNTIMED` count in no figure, before those of `TOGETHER` the processes wait for each other.
 * A macro that lists them ends a side: it has no `peak` and no `size`. */
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

/* The kernels, each defined in the file that is named. */

/* sion_data.c: records into chunks */
extern const struct bench_kernel bench_large_records, bench_small_records, bench_task_after_task,
    bench_round_robin;

/* sion_meta.c: open and close */
extern const struct bench_kernel bench_million_tasks, bench_open_close;

/* sion_read.c: records from chunks */
extern const struct bench_kernel bench_read_large, bench_read_small, bench_read_in_turn,
    bench_read_task_after_task;

/* linktest.c: from the model to the file */
extern const struct bench_kernel bench_linktest_parts, bench_linktest_run;

/* particles.c: the model of particle data */
extern const struct bench_kernel bench_particles;

/* numbers.c: numbers as text */
extern const struct bench_kernel bench_doubles, bench_integers;

/* json.c: records of JSON */
extern const struct bench_kernel bench_json_records;

/* vom.c: load-balancing files */
extern const struct bench_kernel bench_vom_plain, bench_vom_compressed, bench_vom_settings, bench_vom_verify;

/* clog2.c: event logs, recorded, known and read */
extern const struct bench_kernel bench_clog2_event, bench_clog2_threads, bench_clog2_processes,
    bench_clog2_finish, bench_clog2_file, bench_clog2_run, bench_clog2_read;

/* messages.c: what a tool like the wrapper of MPI's calls adds to them */
extern const struct bench_kernel bench_messages, bench_own_messages;

/* rank2file.c: checkpoints and their maps */
extern const struct bench_kernel bench_map_4096, bench_map_8192, bench_map_million, bench_checkpoint;

/* simulate.c: workloads, without recording */
extern const struct bench_kernel bench_simulate_stencil, bench_simulate_requests, bench_simulate_wavefront,
    bench_simulate_farm;

/* ---- shared by the kernels -------------------------------------------------------------------------------- */

/* Share of a full size, at least `least`. */
uint64_t bench_scaled(const struct bench_site *place, uint64_t full, uint64_t least);

/*
 * Before a run: process 0 removes the files whose bits are set in `files`, and waits until the file system has written
 * the data of earlier runs; every process starts from a trimmed heap and, if asked for, memory that was touched: `bytes`
 * is the memory that the run uses in this process, with its page cache.
 */
hpcw_status bench_fresh(const struct bench_common *common, unsigned files, uint64_t bytes, hpcw_error *err);

/* Process 0 removes a file or a directory, if it exists. */
void bench_remove(const struct bench_site *place, const char *path);

/* Opens a plain file for the loops; created if it does not exist. */
hpcw_status bench_plain_open_path(struct bench_common *common, const char *path, hpcw_error *err);

/* `bench_plain_pieces` writes `size` bytes in pieces, all of the same source. */
hpcw_status bench_plain_write(int fd, const void *data, size_t size, uint64_t offset, hpcw_error *err);
hpcw_status bench_plain_pieces(int fd, const void *piece, uint64_t piece_size, uint64_t offset, uint64_t size,
                               hpcw_error *err);

/* Phases of the loops: open the second file of the kernel, close what is open. */
hpcw_status bench_plain_open(void *work, hpcw_error *err);
hpcw_status bench_plain_close(void *work, hpcw_error *err);

#define BENCH_LOOP(write)                                                                                      \
    {BENCH_PHASE("open", bench_plain_open), BENCH_PHASE("write", write),                                       \
     BENCH_PHASE("close", bench_plain_close)},                                                                 \
        NULL, NULL

/* Opens a sink that drops all. */
hpcw_status bench_null_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                            hpcw_error *err);

/* HPCW_ECHECKSUM unless two files have the same `size` bytes at `offset`. */
hpcw_status bench_same_bytes(const char *a, const char *b, uint64_t offset, uint64_t size, hpcw_error *err);

/* [size] bytes that differ from place to place and from process to process; NULL: out of memory. */
unsigned char *bench_source(size_t size, int process);

/* ---- hpcgen as a side: the program from its start to its end, beside plain writes of as many bytes ------------ */

/* First member of what such a kernel works on. Its first file is the dataset. */
struct bench_generator {
    struct bench_common common;
    /* Of hpcgen, besides the directory, and without checksums; NULL after the last one. */
    const char *argument[8];
    uint64_t bytes; /* that the plain side writes */
    uint64_t peak;  /* bytes of memory that hpcgen had in use at most */
};

/* Removes the files of both sides. */
hpcw_status bench_generator_prepare(void *generator, uint64_t parameter, hpcw_error *err);

/* The side of hpcgen, all of it, and its memory. Also for the setup, so that it can read what is in the dataset.
 * HPCW_ENOTSUP: hpcgen was not found, see bench_site; HPCW_EIO: it failed. */
hpcw_status bench_generator_run(void *generator, hpcw_error *err);
uint64_t bench_generator_peak(const void *generator);

#define BENCH_HPCGEN(prepare)                                                                                  \
    {                                                                                                          \
        "hpcgen", "the program, all processors, from start to end", 0, prepare,                                \
            {BENCH_PHASE("run", bench_generator_run)}, bench_generator_peak, NULL                              \
    }

#endif
