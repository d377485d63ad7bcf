/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/real.h"

#include <dlfcn.h>

struct hpcw_i_trace_real hpcw_i_trace_real;

/* Threads may do this at the same time: all of them store the same. */
void hpcw_i_trace_real_find(void) {
    struct hpcw_i_trace_real *r = &hpcw_i_trace_real;
#define FIND(function) *(void **)&r->function = dlsym(RTLD_NEXT, "P" #function);
#define FUNCTION(function, ...) FIND(function)
#define CLOCK(state, class, colour, function) FIND(function)
#include "libwriter/trace/calls.h"
    FIND(MPI_Init)
    FIND(MPI_Init_thread)
    FIND(MPI_Query_thread)
    FIND(MPI_Finalize)
    FIND(MPI_Pcontrol)
    FIND(MPI_Type_size_x)
    atomic_store_explicit(&r->known, true, memory_order_release);
}
