/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of the data of many ranks in files. A layout is a row of a table: its capabilities, and the function
 * for each step of a run. Layouts read no clock; the timer calls the steps and measures them.
 *
 * The bytes of a rank are contiguous in one file; their begin, a file and an offset, is a *spot*. The spots suffice
 * to make the writes of the ceiling (plain large writes of the same bytes), to read the data back, and to compute
 * the lengths of the files. */
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

/* Description of the data to write; the same on all processes. */
struct bench_shape {
    enum bench_layout layout;
    enum bench_mode mode;
    uint64_t block_size; /* bytes to which the layout aligns data; 0: none */
    uint64_t record_size, rank_size;
    uint32_t ranks;
    uint32_t files;   /* physical files of a container; other layouts ignore it */
    uint32_t writers; /* number of processes that write, the first ones; 0: all */
    uint32_t readers; /* number of processes that read in bench_work_read_side; 0: all */
    uint64_t seed;
    /* no write begins later than this after the begin of the step "write"; 0: no limit */
    uint64_t stonewall_ns;
};

struct bench_spot {
    uint32_t file;
    uint64_t offset;
};

/* Contiguous bytes of one process. */
struct bench_extent {
    uint32_t file;
    uint64_t offset, size;
};

struct bench_work;

struct bench_layout_row {
    bool aligns;       /* data can be aligned to a block size */
    bool offers_files; /* data can be in several physical files */
    /* reason why this build lacks the layout; NULL: it has the layout */
    const char *missing;
    bool needs_mpi;
    /* writes are collective: all processes make the same number, so no process can stop earlier */
    bool together;
    unsigned modes; /* bits of the values of enum bench_mode that are supported */
    /* Prepares the steps; not timed and not collective. NULL: nothing to prepare. */
    hpcw_status (*prepare)(struct bench_work *w, hpcw_error *err);
    /* All steps of a run are called on all processes, even after a failure, since other processes may wait in
     * theirs. */
    hpcw_status (*step[BENCH_STEPS])(struct bench_work *w, hpcw_error *err);
    /* Open, read and close a file when data are read back; not collective. NULL: pread reads the data from the
     * offsets of the spots. */
    hpcw_status (*read_open)(struct bench_work *w, const char *path, hpcw_error *err);
    hpcw_status (*read)(struct bench_work *w, uint32_t rank, uint64_t at, void *data, size_t size,
                        hpcw_error *err);
    hpcw_status (*read_close)(struct bench_work *w, hpcw_error *err);
    /* called after the steps, also if they failed; NULL: nothing to do */
    void (*clear)(struct bench_work *w);
};

/* Returns the row of a layout, never NULL. */
const struct bench_layout_row *bench_layout_row(enum bench_layout layout);

/* A run of a layout or of its ceiling. */
struct bench_work {
    const struct bench_processes *processes;
    const char *directory; /* directory of this run's data */
    const struct bench_layout_row *row;
    struct bench_shape shape;
    struct bench_data *data;
    unsigned steps;   /* number of steps that were run */
    uint64_t written; /* bytes written by this process */
    /* no write begins later than this time of bench_timer_now; 0: no limit */
    uint64_t end_ns;
    /* bytes that this process read from disk when reading data back, if the system reports them */
    uint64_t disk_bytes;
    /* a step failed on this process; its later steps only take part in collective calls */
    bool gone_wrong;

    uint32_t first, count;       /* this process has the ranks [first, first + count) */
    struct bench_spot *spot;     /* [ranks] */
    struct bench_extent *extent; /* [extents], ascending */
    size_t extents;
    uint64_t *file_size;     /* [files] length of each file up to the end of its data */
    uint32_t files;          /* physical files of all processes */
    struct bench_file *file; /* [open_files] files that this process writes to */
    uint32_t open_files, first_file;

    hpcw_sion *sion;
    void *mpi; /* state of the layouts by MPI-IO and HDF5 */
};

/* Returns the first rank of a process if the ranks are divided among the first `writers` processes. Returns `ranks`
 * for process >= writers. */
uint32_t bench_work_first(uint32_t ranks, uint32_t writers, int process);

/* Initialises a run of a layout, or of its ceiling. Not collective. Call bench_work_free also after a failure.
 * data: borrowed; initialised for at least shape->record_size. */
hpcw_status bench_work_init(struct bench_work *w, const struct bench_shape *shape, bool ceiling,
                            const struct bench_processes *processes, const char *directory,
                            struct bench_data *data, hpcw_error *err);
void bench_work_free(struct bench_work *w);

/* The functions by which the timer runs any layout. `work` is a struct bench_work. */
extern const struct bench_side bench_work_side;

/* Reads back the data of the previous process and checks them. The buffer is overwritten before each read. The data
 * come from disk if the system drops them from the page cache. Call it after all processes have finished writing.
 * HPCW_ECHECKSUM: the message names file, rank and offset, and where misplaced bytes belong. */
hpcw_status bench_work_check(struct bench_work *w, hpcw_error *err);

/* The functions by which the timer reads the data of an earlier run, record by record, in the phase "read". The
 * ranks are divided among the first `shape.readers` processes, each of which reads the ranks of the previous one.
 * The files are dropped from the page cache first, if possible. bench_side.size returns the bytes that came from
 * disk. */
extern const struct bench_side bench_work_read_side;

/* ---- shared by the layouts ---- */

/* Writes the name of file `index`: "data", "data.000001", as the members of a container are named. */
hpcw_status bench_work_path(const struct bench_work *w, uint32_t index, char path[BENCH_PATH], hpcw_error *err);

/* Opens file `index`. If the mode preallocates, allocates its blocks before it is written. */
hpcw_status bench_work_open_file(struct bench_work *w, uint32_t index, struct bench_file **file,
                                 hpcw_error *err);

/* Steps of layouts that write plain files. Each step handles all files of this process. */
hpcw_status bench_work_open(struct bench_work *w, hpcw_error *err);
hpcw_status bench_work_flush(struct bench_work *w, hpcw_error *err);
hpcw_status bench_work_close(struct bench_work *w, hpcw_error *err);

/* Returns whether this process must stop writing, because the time limit shape.stonewall_ns has passed. The first
 * write is always allowed, since a run without bytes has no rate. */
bool bench_work_stops(const struct bench_work *w);

/* Passes the data of all ranks of this process to `put`, record by record. */
typedef hpcw_status bench_put_record(struct bench_work *w, uint32_t rank, uint64_t at, const void *data,
                                     size_t size, hpcw_error *err);
hpcw_status bench_work_write(struct bench_work *w, bench_put_record *put, hpcw_error *err);

/* Like bench_work_write, for a collective `put`. Every process calls `put` as often as the process with the most
 * ranks, even after a failure, since the others wait. Additional calls are for rank 0 and 0 bytes. */
hpcw_status bench_work_write_together(struct bench_work *w, bench_put_record *put, hpcw_error *err);

/* Rows of the table of layouts. The comment after each declaration names the file that defines the rows. */
extern const struct bench_layout_row bench_row_sion_aligned, bench_row_sion_packed,
    bench_row_sion_shifted; /* sion.c */
extern const struct bench_layout_row bench_row_task_local, bench_row_shared_posix,
    bench_row_plain;                                                                          /* posix.c */
extern const struct bench_layout_row bench_row_mpiio_independent, bench_row_mpiio_collective; /* mpiio.c */
extern const struct bench_layout_row bench_row_hdf5_independent, bench_row_hdf5_collective;   /* hdf5.c */

#endif
