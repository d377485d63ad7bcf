/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of a sweep. One struct connects the code that measures (sweep), stores (results.json, results.csv) and
 * reads again (report, compare): each knows this header and not the others.
 *
 * Every time is in ns, every rate in bytes per second, every size in bytes. results.schema.json
 * describes the file field by field.
 */
#ifndef HPCW_BENCH_REPORT_RESULTS_H
#define HPCW_BENCH_REPORT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "bench/measure/environment.h"
#include "bench/measure/machine.h"
#include "bench/measure/processes.h"
#include "bench/measure/stats.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"

enum { BENCH_NAME = 64, BENCH_REASON = HPCW_ERROR_MESSAGE_SIZE, BENCH_DIRECTORY = 4096 };

enum bench_layout {
    BENCH_SION_ALIGNED,      /* chunks of a container start at multiples of the block size */
    BENCH_SION_PACKED,       /* groups of chunks do */
    BENCH_SION_SHIFTED,      /* as sion-aligned, with every offset about two thirds of a block later */
    BENCH_TASK_LOCAL,        /* a file for each rank */
    BENCH_SHARED_POSIX,      /* one file, rank after rank, without a gap */
    BENCH_MPIIO_INDEPENDENT, /* the same file by MPI_File_write_at */
    BENCH_MPIIO_COLLECTIVE,  /* the same file by MPI_File_write_at_all */
    BENCH_HDF5_INDEPENDENT,  /* the same data in a dataset of HDF5, by H5Dwrite */
    BENCH_HDF5_COLLECTIVE,   /* the same by collective H5Dwrite */
    BENCH_LAYOUTS
};

/* Offset of the data in files of the HDF5 layouts: a multiple of the blocks of common file systems. */
#define BENCH_HDF5_START (UINT64_C(16) << 20)

/* Returns the bytes that a layout adds to every offset. sion-shifted: about two thirds of the container's block, an odd
 * number. HDF5: BENCH_HDF5_START. Others: 0. */
uint64_t bench_layout_shift(enum bench_layout layout, uint64_t block);

enum bench_mode {
    BENCH_BUFFERED,     /* page cache only; has no durable rate */
    BENCH_FSYNC,        /* fsync before close */
    BENCH_DIRECT,       /* O_DIRECT from aligned buffers, and fsync */
    BENCH_PREALLOCATED, /* fallocate of the whole file first, and fsync */
    BENCH_MODES
};

/*
 * Steps of a run. BENCH_WRITE ends when the system has the data: for a container after
 * hpcw_sion_close, which writes the last buffers and the tables. BENCH_FLUSH is the fsync of every process, BENCH_CLOSE
 * the close of the files.
 */
enum bench_step { BENCH_OPEN, BENCH_WRITE, BENCH_FLUSH, BENCH_CLOSE, BENCH_STEPS };

/* One run of one point, or of its ceiling. */
struct bench_trial {
    uint32_t repetition; /* from 1 */
    uint32_t order;      /* place in the order of all trials of the sweep, from 1; warm-up runs have none */
    uint64_t bytes;      /* bytes that were written; 0: as many as the point has */
    /* The shortest and the longest time of any process, and the quartiles over all. */
    uint64_t first_ns[BENCH_STEPS], last_ns[BENCH_STEPS];
    uint64_t quartile_ns[BENCH_STEPS][BENCH_QUARTILES];
    int slowest_process;           /* process with the longest total time; -1: unknown, and no quartiles */
    char slowest_host[BENCH_HOST]; /* host of this process; "" if there is one host only */
    uint64_t total_ns;             /* from the common start to the end of the last process, all steps */
    uint64_t written_ns;           /* from the common start until the last process had ended BENCH_WRITE */
    uint64_t read_ns;              /* time of the slowest process to read everything again; 0: not read */
    uint64_t read_bytes;           /* bytes of the reading that came from a disk */
    double others;                 /* processors that other programs kept busy; NaN: unknown */
};

enum bench_fate { BENCH_MEASURED, BENCH_FAILED, BENCH_LEFT_OUT, BENCH_FATES };

/* A rate over the trials of a point. */
struct bench_rate {
    bool there; /* false: not defined for this mode, or nothing was measured */
    struct bench_stats stats;
};

/* Blocks of the file system: counted from the layout, not measured. */
struct bench_blocks {
    bool counted;
    uint64_t all, shared;            /* shared: by two or more ranks */
    uint64_t by_processes, by_hosts; /* those that two or more processes or hosts share */
};

/* The logarithms of the rates of a point, without the part that all points of a repetition share. */
struct bench_log {
    double mean;     /* without the lowest and the highest fifth */
    double variance; /* of the mean */
    double band;     /* how far the true mean may be away; infinite: unknown */
};

struct bench_point {
    char id[2 * BENCH_NAME]; /* unique, "sion-aligned/fsync/1M" */
    enum bench_layout layout;
    enum bench_mode mode;
    uint64_t block_size;  /* what the layout aligns to; 0: it does not (real formats) */
    uint64_t record_size; /* bytes of one write */
    uint64_t rank_size;   /* bytes of one rank */
    uint32_t ranks, files;
    uint64_t bytes; /* data of all ranks together */

    struct bench_blocks blocks;

    size_t twin; /* index of the aligned or shifted twin; SIZE_MAX: none */
    enum bench_fate fate;
    char reason[BENCH_REASON]; /* of a failure or an omission, one line */
    int failed_errno;          /* 0: none */
    int failed_process;        /* -1: none */

    size_t trials; /* number of trials, without the warm-up run */
    struct bench_trial *trial;
    /* The plain loop of large pwrites with the same bytes, offsets, files and mode, in the same repetitions. */
    size_t ceiling_trials;
    struct bench_trial *ceiling;

    double seconds; /* median time of a run: total, of mode buffered until the page cache has the data */
    struct bench_rate durable; /* bytes / total; of modes that flush. The headline */
    /* bytes / written; of modes that go through the page cache. Never mixed with durable */
    struct bench_rate cached;
    struct bench_rate ceiling_durable, ceiling_cached;
    /* rate / rate of the ceiling in the same repetition: durable rates if the mode has them, otherwise cached ones */
    struct bench_rate ratio;
    struct bench_rate read; /* bytes / read, where the runs were read again */
    bool read_cached;       /* less than BENCH_COLD of the bytes of a run came from a disk */
    struct bench_log log;   /* set by bench_results_spread */
    bool noisy;             /* bench_log_is_noisy, of BENCH_FEWEST_REPEAT runs or more */
    bool verified;          /* read back and compared, every byte */
};

/* With fewer runs of a point, neither differences nor noise are reported. */
enum { BENCH_FEWEST_REPEAT = 5 };

/* A point is noisy if no difference below this would be seen. 0.25 is 25 %. */
#define BENCH_NOISY_SPREAD 0.25

/* Probability that a point is called faster or slower than others that equal it, for all comparisons with it
 * together. */
#define BENCH_RULE_LEVEL 0.05

/* Share of the bytes that must come from a disk in every run. With less, the rate of reading is called cached. */
#define BENCH_COLD 0.95

/* Operations on the files of all tasks, or on one container for all. */
enum bench_operation { BENCH_CREATE, BENCH_REOPEN, BENCH_STAT, BENCH_UNLINK, BENCH_OPERATIONS };

struct bench_metadata_trial {
    uint32_t repetition;           /* from 1 */
    uint64_t ns[BENCH_OPERATIONS]; /* time of the slowest process */
    double others;                 /* as in struct bench_trial */
};

/* A layout with a number of tasks: BENCH_TASK_LOCAL, followed by BENCH_SION_ALIGNED with the same number. */
struct bench_metadata {
    enum bench_layout layout;
    uint32_t tasks;
    size_t trials; /* 0: it failed, or the budget was too small */
    struct bench_metadata_trial *trial;
    char reason[BENCH_REASON];                /* of a failure, one line; "" without */
    struct bench_rate rate[BENCH_OPERATIONS]; /* tasks a second */
};

struct bench_fs {
    char type[32]; /* "ext4", "unknown (0x...)" */
    uint64_t magic;
    uint64_t block_size;   /* block size that the sweep relies on */
    char block_source[48]; /* "stat", "GPFS", "Lustre stripe", "given" */
    uint64_t free_bytes;
    bool direct_known;
    uint32_t direct_memory, direct_offset; /* alignment for O_DIRECT */
    char direct_source[48];
    bool stripe_known; /* on Lustre: the stripes of a new file are known */
    uint32_t stripe_count;
    uint64_t stripe_size;
    char stripe_source[48];
    bool stripes_asked;
    uint32_t stripe_count_asked; /* 0: not asked */
    uint64_t stripe_size_asked;
};

/* A sentence of the recommendation and the points whose figures it rests on. */
struct bench_advice {
    char text[1024];
    size_t evidence[8]; /* indices of points */
    size_t evidences;
    /* Of a verdict: the point that may exceed the fastest one by most. Its rate divided by that of the fastest is
     * between `low` and `high`. */
    struct {
        bool there;
        size_t point;
        double low, high;
    } rival;
};

struct bench_results {
    char time[32]; /* of the start, UTC */
    char version[32];
    struct bench_machine machine;
    struct bench_fs fs;
    char directory[BENCH_DIRECTORY]; /* directory of the data, absolute; "": unknown */
    char host[4 * BENCH_HOST]; /* host of process 0; several if the sweep went on elsewhere. "": unknown */
    int processes;
    int hosts;
    uint64_t stonewall_ns;  /* after this time a process begins no write but its first; 0: never */
    uint32_t writers;       /* processes that write */
    uint32_t readers;       /* processes that read, where runs are read again */
    char mpi[128];          /* "" without */
    char left_out_mpi[128]; /* why MPI-IO layouts are not there, "" if they are */
    uint64_t seed;          /* below 2^53, so that every JSON parser reads it back */
    uint32_t repeat;
    struct {
        uint64_t budget_ns, max_bytes;
        uint64_t least_bytes, least_ns; /* of a run that counts */
    } limits;
    uint64_t elapsed_ns;
    bool complete;    /* all planned points were measured or have a reason */
    char stopped[64]; /* "interrupted (signal 2)", "" if not */
    bool verify;
    size_t variables; /* variables of Slurm and MPI in the environment */
    char variable[BENCH_VARIABLES][BENCH_VARIABLE];
    char command[512]; /* options as given, without the directory */

    size_t points;
    struct bench_point *point;
    size_t metadatas; /* of hpcw-bench metadata, which has no points */
    struct bench_metadata *metadata;
    struct bench_advice
        verdict; /* one sentence: where, and what to choose; or why nothing can be said, and what to do */
    size_t advices;
    struct bench_advice advice[8];
};

/* Words of files, options and reports: "sion-aligned", "fsync", "open". */
extern const char *const bench_layout_name[BENCH_LAYOUTS];
extern const char *const bench_mode_name[BENCH_MODES];
extern const char *const bench_step_name[BENCH_STEPS];
extern const char *const bench_fate_name[BENCH_FATES];

/* Returns whether the file system is memory, as tmpfs. It has no disk, a flush does nothing, and no rate is called
 * durable. */
bool bench_fs_is_memory(const struct bench_fs *fs);

/* Return the bytes that a trial wrote, and the fewest bytes of all trials of a point. */
uint64_t bench_results_bytes_of(const struct bench_point *p, const struct bench_trial *t);
uint64_t bench_results_bytes(const struct bench_point *p);

/* Returns whether the rate has an interval: one run has none. */
static inline bool bench_rate_is_spread(const struct bench_rate *rate) {
    return rate->there && rate->stats.count > 1;
}

/* Returns the bytes per second of one trial, until they are durable or until the page cache has them. */
double bench_results_rate_of(const struct bench_point *p, const struct bench_trial *t, bool durable);

/* Fills in the rates of a point from its trials. HPCW_ENOMEM. */
hpcw_status bench_results_rate(struct bench_point *p, hpcw_error *err);

/*
 * The rule for differences. It takes the logarithms of rates, without the part that all points of a repetition
 * share, and compares their trimmed means by Student's t. x[i * runs + k]: logarithm of the rate of point i in
 * repetition k; the shared part is subtracted from it. log[points] is filled in. HPCW_ENOMEM.
 */
hpcw_status bench_log_spread(double *x, size_t points, size_t runs, struct bench_log *log, hpcw_error *err);

/* Apply the rule. The first function returns 1 if `a` is faster, -1 if `b` is, 0 if neither is shown. The second
 * returns how much faster `a` may be at most, as a logarithm. The third returns whether no difference below
 * BENCH_NOISY_SPREAD would be seen from a point that scatters as much. */
int bench_log_differ(const struct bench_log *a, const struct bench_log *b);
double bench_log_most(const struct bench_log *a, const struct bench_log *b);
bool bench_log_is_noisy(const struct bench_log *log);

/* Fills in `log` and `noisy` of all points that have rates, by this rule. HPCW_ENOMEM. */
hpcw_status bench_results_spread(struct bench_results *r, hpcw_error *err);

/* Apply this rule to two points that count. */
int bench_results_differ(const struct bench_point *a, const struct bench_point *b);
double bench_results_most(const struct bench_point *a, const struct bench_point *b);

/* Returns whether a point was measured in runs that are long and large enough. Only such points are compared. */
bool bench_results_counts(const struct bench_results *r, const struct bench_point *p);

/* A limit of the size of a run: at most 1 / `parts` of `there` bytes. */
struct bench_limit {
    const char *what; /* "free space" */
    const char *more; /* what to use instead, "a directory with more free space" */
    uint64_t there, parts;
};

/* Returns the narrowest limit of a sweep. Memory of 0 is unknown, and no limit. */
struct bench_limit bench_results_limit(const struct bench_results *r);

/* Reason of a point that was not measured before the sweep ended. */
extern const char bench_results_ended[];

/* Begin of the reason of a point that the budget is too small for, and whether a point has such a reason. */
extern const char bench_results_budget[];
bool bench_results_lacks_time(const struct bench_point *p);

/* Returns the budget to try next, in minutes. */
double bench_results_larger_budget(const struct bench_results *r);

/* Counts the runs of points that were made and that are planned, without warm-up runs and ceilings. Points that are
 * left out or failed do not count. */
struct bench_runs {
    size_t made, planned;
};
struct bench_runs bench_results_runs(const struct bench_results *r);

/* Says how to go on with an interrupted sweep: "to go on with 4 processes: hpcw-bench --budget 20m /scratch --out sweep
 * --resume". It names no launcher, as nobody knows which one started the sweep. `output`: directory of the results.
 * Returns `text`. */
enum { BENCH_RESUME = BENCH_DIRECTORY + BENCH_PATH + 632 };
char *bench_results_resume(const struct bench_results *r, const char *output, char text[BENCH_RESUME]);

/* Returns the point with this id, or NULL if there is none. */
const struct bench_point *bench_results_find(const struct bench_results *r, const char *id);

/* Appends to the text, as far as it fits. */
HPCW_PRINTF(2, 3) void bench_advice_say(struct bench_advice *a, const char *fmt, ...);

/* Begins a verdict: "On /scratch (ext4, host node1, 2026-11-29) ". */
void bench_advice_where(struct bench_advice *a, const struct bench_results *r);

/* Fills in verdict and advice from the points. HPCW_ENOMEM. */
hpcw_status bench_results_advise(struct bench_results *r, hpcw_error *err);

/* Write results.json and results.csv. A file gets its name when it is complete. JSON goes to standard output if
 * `path` is NULL. */
hpcw_status bench_results_write_json(const struct bench_results *r, const char *path, hpcw_error *err);
hpcw_status bench_results_write_csv(const struct bench_results *r, const char *path, hpcw_error *err);

/*
 * Reads results.json, strictly: HPCW_EFORMAT names the field. What can be computed from the trials is computed again
 * and compared, so that figures and raw samples agree.
 */
hpcw_status bench_results_read(struct bench_results *r, const char *path, hpcw_error *err);
/* The same from memory; `path` is for messages. */
hpcw_status bench_results_parse(struct bench_results *r, const char *path, const char *text, size_t size,
                                hpcw_error *err);

/* Writes a page with charts. It computes no figures of its own. `output`: directory of the results. HPCW_ENOTSUP: this
 * build makes no reports. */
hpcw_status bench_report_page(const struct bench_results *r, const char *output, const char *path,
                              hpcw_error *err);

/* Frees the memory of *r, not *r itself. */
void bench_results_free(struct bench_results *r);

#endif
