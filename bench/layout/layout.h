/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to lay the data of many ranks out in files. A layout is a row of a table: what it can do, and what each
 * step of a run calls. It knows no clock, and the timer knows no layout.
 *
 * Data lie in *spots*: a rank's bytes are one run in one file. From the spots alone follow what the plain loop of
 * large writes has to write (the ceiling), where to look when the data are read back, and how long the files are.
 */
#ifndef HPCW_BENCH_LAYOUT_LAYOUT_H
#define HPCW_BENCH_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/sion.h>
#include <hpcw/status.h>

#include "bench/layout/data.h"
#include "bench/layout/file.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"
#include "bench/report/results.h"

/* What is to be written; the same on all processes. */
struct bench_shape {
    enum bench_layout layout;
    enum bench_mode mode;
    uint64_t block_size; /* 0: the layout aligns to nothing */
    uint64_t record_size, rank_size;
    uint32_t ranks;
    uint32_t files;   /* containers: physical files; others: as their layout says */
    uint32_t writers; /* the first processes; 0: all */
    uint32_t readers; /* of bench_work_read_side; 0: all processes */
    uint64_t seed;
    uint64_t stonewall_ns; /* from the begin of the step "write" on: then no more writes; 0: never */
};

struct bench_spot {
    uint32_t file;
    uint64_t offset;
};

/* Bytes that one process writes without a gap. */
struct bench_extent {
    uint32_t file;
    uint64_t offset, size;
};

struct bench_work;

struct bench_layout_row {
    bool aligns;         /* to a block size */
    bool offers_files;   /* can be spread over several physical files */
    const char *missing; /* why this build does not have it; NULL: it has */
    bool needs_mpi;
    bool together;  /* every process makes as many writes: none can stop before the others */
    unsigned modes; /* bit of each enum bench_mode that makes sense */
    /* Not timed: what the steps need. NULL: nothing. Not collective. */
    hpcw_status (*prepare)(struct bench_work *w, hpcw_error *err);
    /* All steps of a run are called on all processes, also after a failure: other processes may wait in theirs. */
    hpcw_status (*step[BENCH_STEPS])(struct bench_work *w, hpcw_error *err);
    /* Reading again, file by file and not collective; NULL: by pread where the data lie. */
    hpcw_status (*read_open)(struct bench_work *w, const char *path, hpcw_error *err);
    hpcw_status (*read)(struct bench_work *w, uint32_t rank, uint64_t at, void *data, size_t size,
                        hpcw_error *err);
    hpcw_status (*read_close)(struct bench_work *w, hpcw_error *err);
    void (*clear)(struct bench_work *w); /* after the steps, however they ended; NULL: nothing to do */
};

/* Row of a layout; never NULL. The plain loop is no layout of its own but the ceiling of each. */
const struct bench_layout_row *bench_layout_row(enum bench_layout layout);

/* One run of a layout or of its ceiling. */
struct bench_work {
    const struct bench_processes *processes;
    const char *directory; /* of all data, of this run alone */
    const struct bench_layout_row *row;
    struct bench_shape shape;
    struct bench_data *data;
    unsigned steps;      /* that were run */
    uint64_t written;    /* bytes, by this process */
    uint64_t end_ns;     /* when no more writes begin, by the clock; 0: never */
    uint64_t disk_bytes; /* that this process read from the disk, if the system says so; of reading */
    bool gone_wrong;     /* a step of this process failed: the others do nothing that is not collective */

    uint32_t first, count;       /* ranks of this process */
    struct bench_spot *spot;     /* [ranks] */
    struct bench_extent *extent; /* [extents], ascending */
    size_t extents;
    uint64_t *file_size;     /* [files] bytes from the start to the last one of the data */
    uint32_t files;          /* physical ones, of all processes */
    struct bench_file *file; /* [open_files] that this process writes to */
    uint32_t open_files, first_file;

    hpcw_sion *sion;
    void *mpi; /* of the layouts by MPI-IO and HDF5 */
};

/*
 * Number of files of a shape, and their spots: `spot` [ranks], `file_size` [files]. Pure
 * arithmetic. HPCW_ERANGE if an offset passes 2^63 - 1.
 */
uint32_t bench_layout_files(const struct bench_shape *shape);
hpcw_status bench_layout_spots(const struct bench_shape *shape, struct bench_spot *spot, uint64_t *file_size,
                               hpcw_error *err);

/* The first rank of a process, where the first `writers` processes have all ranks; from process = writers on, the number of
 * ranks. */
uint32_t bench_work_first(uint32_t ranks, uint32_t writers, int process);

/* Sets up a run. Not collective. Free it in any case. `data` is borrowed and must be large enough. */
hpcw_status bench_work_init(struct bench_work *w, const struct bench_shape *shape, bool ceiling,
                            const struct bench_processes *processes, const char *directory,
                            struct bench_data *data, hpcw_error *err);
void bench_work_free(struct bench_work *w);

/* What the timer calls for any run: `work` is a struct bench_work. */
extern const struct bench_side bench_work_side;

/*
 * Reads back what the process before this one has written, through buffers that hold other bytes first, and from the
 * disk if the system drops its page cache. Call it after all processes have finished writing.
 * HPCW_ECHECKSUM names file, rank and offset, and the origin of bytes that belong elsewhere.
 */
hpcw_status bench_work_check(struct bench_work *w, hpcw_error *err);

/*
 * What the timer calls to read, record by record, the data of a run after it: the phase "read". The first shape.readers
 * processes read a share each: if those are all, what the process before has written. The page cache drops the files first,
 * if it can; size() is the number of bytes that came from the disk.
 */
extern const struct bench_side bench_work_read_side;

/* Whether `needed` bytes fit into the free `space` and into `max_bytes`, if that is not 0. HPCW_ENOTSUP says why not. */
hpcw_status bench_work_room(uint64_t needed, uint64_t space, uint64_t max_bytes, hpcw_error *err);

/* ---- shared by the layouts ---- */

/* Name of file `index`: "data", "data.000001", as the members of a container are named. */
hpcw_status bench_work_path(const struct bench_work *w, uint32_t index, char path[BENCH_PATH], hpcw_error *err);

/* Opens file `index`, and allocates its blocks before it is written if the mode says so. */
hpcw_status bench_work_open_file(struct bench_work *w, uint32_t index, struct bench_file **file,
                                 hpcw_error *err);

/* Steps of layouts that write to plain files: all files of this process. */
hpcw_status bench_work_open(struct bench_work *w, hpcw_error *err);
hpcw_status bench_work_flush(struct bench_work *w, hpcw_error *err);
hpcw_status bench_work_close(struct bench_work *w, hpcw_error *err);

/* Whether this process begins no more writes. At the stonewall it has begun one: a run without a byte has no rate. */
bool bench_work_stops(const struct bench_work *w);

/* Hands the data of rank `first` + `index` to `put`, record after record; and those of all ranks of this process. */
typedef hpcw_status bench_put_record(struct bench_work *w, uint32_t rank, uint64_t at, const void *data,
                                     size_t size, hpcw_error *err);
hpcw_status bench_work_records(struct bench_work *w, uint32_t index, bench_put_record *put, hpcw_error *err);
hpcw_status bench_work_write(struct bench_work *w, bench_put_record *put, hpcw_error *err);

/* The same where `put` is collective: every process calls it as often as the one with the most ranks, also after a failure,
 * since the others wait for it. The calls in excess are of rank 0 and no bytes. */
hpcw_status bench_work_write_together(struct bench_work *w, bench_put_record *put, hpcw_error *err);

/* Rows, each in the file that is named. */
extern const struct bench_layout_row bench_row_sion_aligned, bench_row_sion_packed,
    bench_row_sion_shifted; /* sion.c */
extern const struct bench_layout_row bench_row_task_local, bench_row_shared_posix,
    bench_row_plain;                                                                          /* posix.c */
extern const struct bench_layout_row bench_row_mpiio_independent, bench_row_mpiio_collective; /* mpiio.c */
extern const struct bench_layout_row bench_row_hdf5_independent, bench_row_hdf5_collective;   /* hdf5.c */

#endif
