/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes MPI fail. After it is armed, the n-th collective call of the library returns an error and does nothing.
 * Arm it on all processes, since real failures of MPI (a broken network) also affect all. */
#ifndef HPCW_TESTS_SUPPORT_COMM_FAULTS_H
#define HPCW_TESTS_SUPPORT_COMM_FAULTS_H

#include <stdbool.h>

/* n counts from 1. */
void comm_fault_arm(unsigned long n);

/* Makes the n-th MPI_Send or MPI_Recv of this process with at most `words` values return an error. The message is
 * still transferred. So the other side need not be armed and does not wait for it. */
void comm_fault_arm_message(unsigned long n, int words);

/* Disarms. Returns whether the failure has occurred since it was armed. */
bool comm_fault_disarm(void);

#endif
