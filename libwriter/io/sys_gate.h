/* SPDX-License-Identifier: BSD-3-Clause */
/* For the source files that make system calls: a gate before each call, by which tests make the call fail. */
#ifndef HPCW_IO_SYS_GATE_H
#define HPCW_IO_SYS_GATE_H

#include "libwriter/io/sys.h"

static inline int gate(enum hpcw_i_sys_call call, size_t *size) {
#ifdef HPCW_I_TEST_GATES
    return hpcw_i_sys_gate == NULL ? 0 : hpcw_i_sys_gate(call, size);
#else
    (void)call;
    (void)size;
    return 0;
#endif
}

#endif
