/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's own functions. The wrapper replaces PMPI_... as well as MPI_..., for the sake of Fortran (mpi/bindings.c),
 * so it calls neither by name: REAL(MPI_Send)(...) calls MPI.
 */
#ifndef HPCW_TRACE_REAL_H
#define HPCW_TRACE_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

/* Exports the functions that mpi.h declares. The wrapper exports nothing else. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#if !HPCW_I_HAVE_MPI1
#define CALLS_WITHOUT_MPI1
#endif

/* MPI 3 removed some of these functions and deprecated others; programs still call them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct hpcw_i_trace_real {
    atomic_bool known;
    bool
        /* the functions are those of another MPI than the wrapper's, so nothing can be recorded */
        of_another_mpi;
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

/* Finds all functions. This is no constructor, as constructors of other libraries may call MPI earlier. `caller`:
 * an address in the library that makes the first call. */
void hpcw_i_trace_real_find(const void *caller);

/* This is inlined, so that the return address is that of MPI's function. */
__attribute__((always_inline)) static inline const struct hpcw_i_trace_real *hpcw_i_trace_real_get(void) {
    if (__builtin_expect(!atomic_load_explicit(&hpcw_i_trace_real.known, memory_order_acquire), false)) {
        hpcw_i_trace_real_find(__builtin_return_address(0));
    }
    return &hpcw_i_trace_real;
}

/* Returns the name of an MPI function that a library behind the wrapper replaces, and that library; NULL if there
 * is none. The wrapper calls MPI directly, so that such a library misses the call. */
const char *hpcw_i_trace_real_hides(const char **library);

#define REAL(function) (hpcw_i_trace_real_get()->function)

#endif
