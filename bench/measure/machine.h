/* SPDX-License-Identifier: BSD-3-Clause */
/* What the figures were measured on, and what the system says of this process. */
#ifndef HPCW_BENCH_MEASURE_MACHINE_H
#define HPCW_BENCH_MEASURE_MACHINE_H

#include <stdint.h>

#include <hpcw/status.h>

/* What a reader must know; no names of hosts, users or directories. "unknown" where the system does not say. */
struct bench_machine {
    char system[96];     /* kernel and its release */
    char processor[96];  /* model */
    unsigned processors; /* online */
    uint64_t memory;     /* bytes */
    char compiler[96];
    char build[64]; /* optimisation and assertions */
    char file_system[32];
    uint32_t block_size; /* of the file system */
    uint64_t space;      /* free bytes there */
};

/* About this machine and the file system of `directory`. */
hpcw_status bench_machine_describe(struct bench_machine *m, const char *directory, hpcw_error *err);

/* Processors of the machine that are online, and those of them that this process may run on. */
unsigned bench_machine_processors(void);
unsigned bench_machine_usable(void);

/* Processor time so far, microseconds: of the whole machine (0: unknown), and of this process and its children. */
struct bench_cpu {
    uint64_t at_us; /* when */
    uint64_t busy_us;
    uint64_t own_us;
};
struct bench_cpu bench_machine_cpu(void);

/* Bytes that this process read from a disk so far, as the kernel counts them; 0: unknown. */
uint64_t bench_machine_read_bytes(void);

/* Busy others, in processors, from which on a sample counts as disturbed. */
#define BENCH_NOISE 0.1

/* Forgets the peak of resident memory. Where the system cannot, the peak stays that of the whole life. */
void bench_machine_reset_peak(void);

/* Peak since then, bytes. */
uint64_t bench_machine_peak(void);

/* Drops the pages that the heap holds back, so that every run starts from the same memory. */
void bench_machine_trim(void);

/*
 * Touches `bytes` of memory and gives it back, within half of what this process's share of the free memory is; `processes`
 * share the machine. Under a hypervisor that takes back what its guest leaves free, a page costs ten times as much at its
 * first use than later; this keeps that out of the run that follows.
 */
void bench_machine_warm(uint64_t bytes, unsigned processes);

#endif
