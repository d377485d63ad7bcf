/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures on order: the n-th call through the library's seams to the kernel and the heap fails, or transfers
 * less than asked. A suite runs the same work for n = 1, 2, ... until a run goes through without meeting its
 * failure.
 */
#ifndef HPCW_TESTS_SUPPORT_FAULTS_H
#define HPCW_TESTS_SUPPORT_FAULTS_H

#include <stdbool.h>

#include <hpcw/status.h>

enum fault {
    FAULT_EIO,    /* the n-th system call fails */
    FAULT_ENOSPC, /* the n-th call that can need space fails: create, write, truncate, sync, rename */
    FAULT_NOMEM,  /* the n-th allocation fails */
    FAULT_EINTR,  /* the n-th call that may be interrupted is; the run must not notice */
    FAULT_SHORT,  /* the n-th transfer moves one byte only; the run must not notice */
    FAULTS
};

/* Arms the seams of this process; n counts from 1, 0 arms nothing. */
void fault_arm(enum fault fault, unsigned long n);

/* Back to normal; whether the failure was met since it was armed. */
bool fault_disarm(void);

/* Whether runs succeed in spite of it. */
bool fault_is_harmless(enum fault fault);

/* What a failed call reports. */
hpcw_status fault_status(enum fault fault);

const char *fault_name(enum fault fault);

/* Whether a failure came so late that the file is complete under its name: its directory could not be synced. */
bool is_late_failure(const hpcw_error *err, const char *path);

/* Whether a failure came between the first rename of a set and the end of its intent, and the next open of it gives all files their names. */
bool is_finished_by_next_open(const hpcw_error *err, const char *path);

/* One line that names the file, and the record says what the call returned. Says on stderr what is wrong. */
bool good_message(hpcw_status s, const hpcw_error *err, const char *path);

/* Open file descriptors of this process. */
int count_descriptors(void);

#endif
