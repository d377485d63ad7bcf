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

/* Back to normal; whether the failure was met since it was armed. */
bool comm_fault_disarm(void);

#endif
