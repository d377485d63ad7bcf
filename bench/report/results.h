/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of a sweep. One struct connects the code that measures (sweep), stores (results.json,
 * results.csv) and reads the results (report, compare).
 *
 * Every time is in ns, every rate in bytes per second, every size in bytes. results.schema.json
 * describes the file field by field.
 */
#ifndef HPCW_BENCH_REPORT_RESULTS_H
#define HPCW_BENCH_REPORT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/sink.h>
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
    BENCH_SION_PACKED,       /* groups of chunks of a container start at multiples of the block size */
    BENCH_SION_SHIFTED,      /* as BENCH_SION_ALIGNED, with every offset about two thirds of a block later */
    BENCH_TASK_LOCAL,        /* a file for each rank */
    BENCH_SHARED_POSIX,      /* one file with the data of rank after rank, without gaps, by pwrite */
    BENCH_MPIIO_INDEPENDENT, /* the file of BENCH_SHARED_POSIX, by MPI_File_write_at */
    BENCH_MPIIO_COLLECTIVE,  /* the file of BENCH_SHARED_POSIX, by MPI_File_write_at_all */
    BENCH_HDF5_INDEPENDENT,  /* an HDF5 dataset with the data of rank after rank, by H5Dwrite */
    BENCH_HDF5_COLLECTIVE,   /* the dataset of BENCH_HDF5_INDEPENDENT, by collective H5Dwrite */
    BENCH_LAYOUTS
};

/* Offset of the data in files of the HDF5 layouts: a multiple of the blocks of common file systems. */
#define BENCH_HDF5_START (UINT64_C(16) << 20)

/* Returns the bytes that a layout adds to every offset. sion-shifted: about two thirds of the container's block,
 * an odd number. HDF5: BENCH_HDF5_START. Others: 0. */
uint64_t bench_layout_shift(enum bench_layout layout, uint64_t block);

enum bench_mode {
    BENCH_BUFFERED,     /* page cache only; has no durable rate */
    BENCH_FSYNC,        /* fsync before close */
    BENCH_DIRECT,       /* O_DIRECT from aligned buffers, and fsync */
    BENCH_PREALLOCATED, /* fallocate of the whole file first, and fsync */
    BENCH_MODES
};

/*
 * Steps of a run. BENCH_WRITE ends when the system has all data. For a container it includes hpcw_sion_close, which
 * writes the last buffers and the tables. In BENCH_FLUSH every process calls fsync. BENCH_CLOSE closes the files.
 */
enum bench_step { BENCH_OPEN, BENCH_WRITE, BENCH_FLUSH, BENCH_CLOSE, BENCH_STEPS };

/* One run of a point, or of its ceiling (see bench_point.ceiling). */
struct bench_trial {
    uint32_t repetition; /* from 1 */
    uint32_t order;      /* place in the order of all trials of the sweep, from 1; warm-up runs have none */
    uint64_t bytes;      /* bytes that were written; 0: as many as the point has */
    /* Times of each step: of the quickest and of the slowest process, and the quartiles over all processes. */
    uint64_t first_ns[BENCH_STEPS], last_ns[BENCH_STEPS];
    uint64_t quartile_ns[BENCH_STEPS][BENCH_QUARTILES];
    int slowest_process;           /* process with the longest total time; -1: unknown, and no quartiles */
    char slowest_host[BENCH_HOST]; /* host of the slowest process; "" if there is only one host */
    uint64_t total_ns;             /* time of all steps, from the common start until the last process ends */
    uint64_t written_ns;           /* time from the common start until the last process has ended BENCH_WRITE */
    uint64_t read_ns;              /* time of the slowest process to read everything again; 0: not read */
    uint64_t read_bytes;           /* bytes that came from a disk when everything was read again */
    double others;                 /* processors that other programs kept busy; NaN: unknown */
};

enum bench_fate { BENCH_MEASURED, BENCH_FAILED, BENCH_LEFT_OUT, BENCH_FATES };

/* A rate over the trials of a point. */
struct bench_rate {
    bool there; /* false: not defined for this mode, or nothing was measured */
    struct bench_stats stats;
};

/* Numbers of blocks of the file system. They are computed from the layout, not measured. */
struct bench_blocks {
    bool counted;
    uint64_t all, shared;            /* all: blocks with data; shared: blocks with data of two or more ranks */
    uint64_t by_processes, by_hosts; /* blocks that two or more processes, or hosts, share */
};

/* Statistics of ln of the rates of a point. In each repetition, the mean over all points is subtracted first. */
struct bench_log {
    double mean;     /* mean without the lowest and the highest fifth of the values */
    double variance; /* variance of `mean` */
    double band;     /* half width of the confidence interval of `mean`; infinite: unknown */
};

struct bench_point {
    char id[2 * BENCH_NAME]; /* unique, "sion-aligned/fsync/1M" */
    enum bench_layout layout;
    enum bench_mode mode;
    uint64_t block_size;  /* bytes to which the layout aligns data; 0: it aligns none */
    uint64_t record_size; /* bytes of one write */
    uint64_t rank_size;   /* bytes of one rank */
    uint32_t ranks, files;
    uint64_t bytes; /* data of all ranks together */

    struct bench_blocks blocks;

    /* index of the point that is the same except for the shift of sion-shifted; SIZE_MAX: none */
    size_t twin;
    enum bench_fate fate;
    char reason[BENCH_REASON]; /* reason of a failure or an omission, one line */
    int failed_errno;          /* 0: none */
    int failed_process;        /* -1: none */

    size_t trials; /* number of trials, without the warm-up run */
    struct bench_trial *trial;
    /* Runs of the ceiling: large plain writes of the same bytes to the same offsets and files, in the same mode and
     * repetitions. */
    size_t ceiling_trials;
    struct bench_trial *ceiling;

    double seconds;            /* median time of a run: total_ns, or written_ns in mode buffered */
    struct bench_rate durable; /* bytes / total_ns, for modes that flush; the main result */
    /* bytes / written_ns, for modes that use the page cache; never compared with `durable` */
    struct bench_rate cached;
    struct bench_rate ceiling_durable, ceiling_cached;
    /* rate / rate of the ceiling in the same repetition; durable rates, or cached rates if the mode never
     * flushes */
    struct bench_rate ratio;
    struct bench_rate read; /* bytes / read_ns, if the data were read again */
    bool read_cached;       /* less than BENCH_COLD of the bytes of a run came from a disk */
    struct bench_log log;   /* set by bench_results_spread */
    bool noisy;             /* bench_log_is_noisy(&log), for BENCH_FEWEST_REPEAT runs or more */
    bool verified;          /* every byte was read back and compared */
};

/* With fewer runs of a point, neither differences nor noise are reported. */
enum { BENCH_FEWEST_REPEAT = 5 };

/* A point is noisy if a difference of this size from another point would not be seen. 0.25 is 25 %. */
#define BENCH_NOISY_SPREAD 0.25

/* Probability of a false alarm, for all comparisons of one point with others together: an equal point is called
 * faster or slower. */
#define BENCH_RULE_LEVEL 0.05

/* Share of the bytes that must come from a disk in every run. Below this share, the rate of reading is called
 * cached. */
#define BENCH_COLD 0.95

/* Operations on the files of all tasks, or on one container for all. */
enum bench_operation { BENCH_CREATE, BENCH_REOPEN, BENCH_STAT, BENCH_UNLINK, BENCH_OPERATIONS };

struct bench_metadata_trial {
    uint32_t repetition;           /* from 1 */
    uint64_t ns[BENCH_OPERATIONS]; /* time of the slowest process */
    double others;                 /* processors that other programs kept busy; NaN: unknown */
};

/* Metadata rates of one layout with one number of tasks. In bench_results, a row for BENCH_TASK_LOCAL precedes
 * the row for BENCH_SION_ALIGNED with the same number of tasks. */
struct bench_metadata {
    enum bench_layout layout;
    uint32_t tasks;
    size_t trials; /* 0: the measurement failed, or the budget was too small */
    struct bench_metadata_trial *trial;
    char reason[BENCH_REASON];                /* reason of a failure, one line; "": none */
    struct bench_rate rate[BENCH_OPERATIONS]; /* tasks per second */
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
    /* In a verdict: the point that may still be faster than the fastest point. The rate of `point` divided by the
     * rate of the fastest point is between `low` and `high`. */
    struct {
        bool there;
        size_t point;
        double low, high;
    } rival;
};

struct bench_results {
    char time[32]; /* time of the start, UTC */
    char version[32];
    struct bench_machine machine;
    struct bench_fs fs;
    char directory[BENCH_DIRECTORY]; /* directory of the data, absolute; "": unknown */
    /* host of process 0; several names if the sweep was resumed on other hosts; "": unknown */
    char host[4 * BENCH_HOST];
    int processes;
    int hosts;
    uint64_t stonewall_ns;  /* time after which a process begins no write except its first; 0: no limit */
    uint32_t writers;       /* processes that write */
    uint32_t readers;       /* processes that read, if the data of runs are read again */
    char mpi[128];          /* "" without */
    char left_out_mpi[128]; /* reason why layouts by MPI-IO were left out; "": none */
    uint64_t seed;          /* below 2^53, so that every JSON parser reads it back */
    uint32_t repeat;
    struct {
        uint64_t budget_ns, max_bytes;
        uint64_t least_bytes, least_ns; /* limits of a run that counts */
    } limits;
    uint64_t elapsed_ns;
    bool complete;    /* all planned points were measured or have a reason */
    char stopped[64]; /* reason why the sweep ended early, as "interrupted (signal 2)"; "": none */
    bool verify;
    size_t variables; /* variables of Slurm and MPI in the environment */
    char variable[BENCH_VARIABLES][BENCH_VARIABLE];
    char command[512]; /* options of the command line, without the directory */

    size_t points;
    struct bench_point *point;
    size_t metadatas; /* rows of hpcw-bench metadata; such results have no points */
    struct bench_metadata *metadata;
    /* one sentence: which layout to choose where, or why this is unknown and what to do */
    struct bench_advice verdict;
    size_t advices;
    struct bench_advice advice[8];
};

/* Names for files, options and reports, as "sion-aligned", "fsync", "open". */
extern const char *const bench_layout_name[BENCH_LAYOUTS];
extern const char *const bench_mode_name[BENCH_MODES];
extern const char *const bench_step_name[BENCH_STEPS];
extern const char *const bench_fate_name[BENCH_FATES];

/* Returns whether the file system is in memory, as tmpfs. On such file systems a flush does nothing, and no rate is
 * called durable. */
bool bench_fs_is_memory(const struct bench_fs *fs);

/* bench_results_bytes_of returns the bytes that a trial wrote. bench_results_bytes returns the smallest number over
 * all trials of a point. */
uint64_t bench_results_bytes_of(const struct bench_point *p, const struct bench_trial *t);
uint64_t bench_results_bytes(const struct bench_point *p);

/* Returns whether the rate has an interval: one run has none. */
static inline bool bench_rate_is_spread(const struct bench_rate *rate) {
    return rate->there && rate->stats.count > 1;
}

/* Returns the bytes per second of one trial. The time ends when the data are durable, or if `durable` is false,
 * when the page cache has them. */
double bench_results_rate_of(const struct bench_point *p, const struct bench_trial *t, bool durable);

/* Fills in the rates of a point from its trials. HPCW_ENOMEM. */
hpcw_status bench_results_rate(struct bench_point *p, hpcw_error *err);

/*
 * The rule for differences. It compares points by the trimmed means of ln of their rates, with Student's t. In each
 * repetition, it first subtracts the mean over all points. x[i * runs + k]: ln of the rate of point i in repetition
 * k; overwritten. Sets log[points]. HPCW_ENOMEM.
 */
hpcw_status bench_log_spread(double *x, size_t points, size_t runs, struct bench_log *log, hpcw_error *err);

/* Apply the rule for differences. bench_log_differ returns 1 if `a` is faster, -1 if `b` is faster, 0 if no
 * difference is shown. bench_log_most returns ln of the largest factor by which `a` may be faster.
 * bench_log_is_noisy returns whether a difference of BENCH_NOISY_SPREAD between two points with this spread
 * would not be seen. */
int bench_log_differ(const struct bench_log *a, const struct bench_log *b);
double bench_log_most(const struct bench_log *a, const struct bench_log *b);
bool bench_log_is_noisy(const struct bench_log *log);

/* Sets `log` and `noisy` of all points with rates, by the rule for differences. HPCW_ENOMEM. */
hpcw_status bench_results_spread(struct bench_results *r, hpcw_error *err);

/* Return bench_log_differ and bench_log_most for the rates of two points. bench_results_counts must hold for
 * both. */
int bench_results_differ(const struct bench_point *a, const struct bench_point *b);
double bench_results_most(const struct bench_point *a, const struct bench_point *b);

/* Returns whether a point was measured in runs that are long and large enough. Only such points are compared. */
bool bench_results_counts(const struct bench_results *r, const struct bench_point *p);

/* A limit of the bytes of a run: at most `there` / `parts`. */
struct bench_limit {
    const char *what; /* "free space" */
    const char *more; /* advice, as "a directory with more free space" */
    uint64_t there, parts;
};

/* Returns the smallest limit of a sweep. A value of 0, for instance unknown memory, is no limit. */
struct bench_limit bench_results_limit(const struct bench_results *r);

/* Reason of a point that was not measured before the sweep ended. */
extern const char bench_results_ended[];

/* bench_results_budget is the begin of bench_point.reason if the budget was too small for the point.
 * bench_results_lacks_time returns whether the reason of a point begins so. */
extern const char bench_results_budget[];
bool bench_results_lacks_time(const struct bench_point *p);

/* Returns the budget to try next, minutes: four times the last one, at least 20. */
double bench_results_larger_budget(const struct bench_results *r);

/* Counts the runs of points that were made and that are planned, without warm-up runs and ceilings. Points that are
 * left out or failed do not count. */
struct bench_runs {
    size_t made, planned;
};
struct bench_runs bench_results_runs(const struct bench_results *r);

/* Writes how to resume an interrupted sweep: "to go on with 4 processes: hpcw-bench --budget 20m /scratch --out
 * sweep --resume". The text names no launcher, since the one that started the sweep is unknown. output:
 * directory of the results. Returns `text`. */
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

/* Write results.json and results.csv. A file gets its name when it is complete. source: what opens its sink; NULL:
 * a file by its path. JSON goes to standard output if `path` is NULL. */
hpcw_status bench_results_write_json(const struct bench_results *r, const hpcw_sink_source *source,
                                     const char *path, hpcw_error *err);
hpcw_status bench_results_write_csv(const struct bench_results *r, const hpcw_sink_source *source,
                                    const char *path, hpcw_error *err);

/*
 * Reads results.json, strictly: HPCW_EFORMAT names the field. What can be computed from the trials is computed
 * again and compared, so that figures and raw samples agree.
 */
hpcw_status bench_results_read(struct bench_results *r, const char *path, hpcw_error *err);
/* Like bench_results_read, with results.json in memory. path: name of the file for messages. */
hpcw_status bench_results_parse(struct bench_results *r, const char *path, const char *text, size_t size,
                                hpcw_error *err);

/* Writes a page with charts. It computes no figures of its own. `output`: directory of the results. source: what
 * opens the sink of the page; NULL: a file by its path. HPCW_ENOTSUP: this build makes no reports. */
hpcw_status bench_report_page(const struct bench_results *r, const char *output, const hpcw_sink_source *source,
                              const char *path, hpcw_error *err);

/* Frees the memory of *r, not *r itself. */
void bench_results_free(struct bench_results *r);

#endif
