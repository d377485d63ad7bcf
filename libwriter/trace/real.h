/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's own functions. The wrapper replaces both MPI_Send and PMPI_Send (see mpi/bindings.c), so it cannot call
 * MPI by either name. REAL(MPI_Send)(...) calls MPI's own function. */
#ifndef HPCW_TRACE_REAL_H
#define HPCW_TRACE_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

/* The functions that mpi.h declares are exported, and nothing else of the wrapper is. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#if !HPCW_I_HAVE_MPI1
#define CALLS_WITHOUT_MPI1
#endif

/* Functions that MPI 3 removed or deprecated. Programs still call them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct hpcw_i_trace_real {
    atomic_bool known;
    /* whether the functions are those of another MPI than the wrapper's, so that nothing can be recorded */
    bool of_another_mpi;
    __typeof__(MPI_Init) *MPI_Init;
    __typeof__(MPI_Init_thread) *MPI_Init_thread;
    __typeof__(MPI_Query_thread) *MPI_Query_thread;
    __typeof__(MPI_Finalize) *MPI_Finalize;
    __typeof__(MPI_Pcontrol) *MPI_Pcontrol;
    __typeof__(MPI_Type_size_x) *MPI_Type_size_x;
#define FUNCTION(function, ...) __typeof__(function) *function;
#define CLOCK(state, class, colour, function) __typeof__(function) *function;
#include "libwriter/trace/calls.h"
};
#pragma GCC diagnostic pop
extern struct hpcw_i_trace_real hpcw_i_trace_real;

/* Finds all functions at the first call of MPI. A constructor could be too late, as constructors of other
 * libraries may call MPI. `caller` is an address in the library that makes the call. */
void hpcw_i_trace_real_find(const void *caller);

/* Always inlined, so that the return address is in the caller of the wrapper's MPI function. */
__attribute__((always_inline)) static inline const struct hpcw_i_trace_real *hpcw_i_trace_real_get(void) {
    if (__builtin_expect(!atomic_load_explicit(&hpcw_i_trace_real.known, memory_order_acquire), false)) {
        hpcw_i_trace_real_find(__builtin_return_address(0));
    }
    return &hpcw_i_trace_real;
}

/* Returns the name of an MPI function that a library of another tool, loaded after the wrapper, also replaces;
 * NULL: none. *library becomes its path. That library gets no calls, as the wrapper calls MPI's own functions. */
const char *hpcw_i_trace_real_hides(const char **library);

#define REAL(function) (hpcw_i_trace_real_get()->function)

#endif
