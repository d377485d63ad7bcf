/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that figures were measured on, and resources of this process. */
#ifndef HPCW_BENCH_MEASURE_MACHINE_H
#define HPCW_BENCH_MEASURE_MACHINE_H

#include <stdint.h>

#include <hpcw/status.h>

/* Machine data for readers of a report. It has no names of hosts, users or directories. "unknown": the system
 * does not say. */
struct bench_machine {
    char system[96];     /* kernel and its release */
    char processor[96];  /* model */
    unsigned processors; /* online */
    uint64_t memory;     /* bytes */
    char compiler[96];
    char build[64]; /* optimisation and assertions */
    char file_system[32];
    uint32_t block_size; /* block size of the file system */
    uint64_t space;      /* free bytes on it */
};

/* Describes this machine and the file system of `directory`. */
hpcw_status bench_machine_describe(struct bench_machine *m, const char *directory, hpcw_error *err);

/* Number of online processors of the machine. */
unsigned bench_machine_processors(void);

/* Processor time so far, microseconds: of the whole machine (0: unknown), and of this process with its children. */
struct bench_cpu {
    uint64_t at_us; /* time of the query */
    uint64_t busy_us;
    uint64_t own_us;
};
struct bench_cpu bench_machine_cpu(void);

/* Returns the bytes that this process has read from disk so far, as the kernel counts them; 0: unknown. */
uint64_t bench_machine_read_bytes(void);

/* A sample counts as disturbed if other programs keep this many processors busy. */
#define BENCH_NOISE 0.1

/* Resets the peak of resident memory. If the system cannot reset it, bench_machine_peak returns the peak since the
 * start of the process. */
void bench_machine_reset_peak(void);

/* Peak of resident memory since the reset, bytes. */
uint64_t bench_machine_peak(void);

/* Releases unused heap pages, so that every run starts with the same memory. */
void bench_machine_trim(void);

/* Touches `bytes` of memory and releases them. Some hypervisors reclaim memory that a guest frees, and then the
 * first use of a page takes ten times as long as later uses. After this call, the next run does not lose this
 * time. The amount is limited to half of the free memory divided by `processes`, the number of processes on the
 * machine. */
void bench_machine_warm(uint64_t bytes, unsigned processes);

#endif
