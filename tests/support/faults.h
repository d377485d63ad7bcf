/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes calls fail. The n-th call of the library to the kernel or the heap fails, or transfers less than asked. A
 * suite repeats the same work for n = 1, 2, ... until a run meets no failure. */
#ifndef HPCW_TESTS_SUPPORT_FAULTS_H
#define HPCW_TESTS_SUPPORT_FAULTS_H

#include <stdbool.h>

#include <hpcw/status.h>

enum fault {
    FAULT_EIO, /* the n-th system call fails */
    /* the n-th call that can run out of space fails: create, write, truncate, sync, rename */
    FAULT_ENOSPC,
    FAULT_NOMEM, /* the n-th allocation fails */
    FAULT_EINTR, /* the n-th interruptible call is interrupted; the run must not notice */
    FAULT_SHORT, /* the n-th transfer moves only one byte; the run must not notice */
    FAULTS
};

/* Makes the n-th of the following calls of this process fail. n counts from 1; 0: no call fails. */
void fault_arm(enum fault fault, unsigned long n);

/* Lets all calls succeed again. Returns whether a call has failed since fault_arm. */
bool fault_disarm(void);

/* Returns whether runs must succeed in spite of this fault. */
bool fault_is_harmless(enum fault fault);

/* Returns the status that a failed call must report. */
hpcw_status fault_status(enum fault fault);

const char *fault_name(enum fault fault);

/* Returns whether the file already had its final name and all its data, and only the sync of its directory
 * failed. */
bool is_late_failure(const hpcw_error *err, const char *path);

/* Returns whether the call failed between the first rename of a set and the removal of its intent (the file that
 * lists the renames). The next open of the set then renames the other files. */
bool is_finished_by_next_open(const hpcw_error *err, const char *path);

/* Checks that the message is one line and has the path, and that err->code is the returned status. Reports errors
 * on stderr. */
bool good_message(hpcw_status s, const hpcw_error *err, const char *path);

/* Returns the number of open file descriptors of this process. */
int count_descriptors(void);

#endif
