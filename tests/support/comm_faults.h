/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI fails on order: the n-th collective call that the library makes after it was armed returns an error and does
 * nothing. To be armed on all processes alike, as MPI's own failures (a network that is gone) are met by all.
 */
#ifndef HPCW_TESTS_SUPPORT_COMM_FAULTS_H
#define HPCW_TESTS_SUPPORT_COMM_FAULTS_H

#include <stdbool.h>

/* n counts from 1. */
void comm_fault_arm(unsigned long n);

/* The n-th MPI_Send or MPI_Recv of this process, of those with at most `words` values, returns an error, though the message goes its way: the other side, which
 * need not be armed, does not wait for it. */
void comm_fault_arm_message(unsigned long n, int words);

/* Back to normal; whether the failure was met since it was armed. */
bool comm_fault_disarm(void);

#endif
