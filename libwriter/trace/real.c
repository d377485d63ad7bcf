/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/real.h"

#include <dlfcn.h>
#include <stddef.h>

#include "libwriter/trace/program.h"

struct hpcw_i_trace_real hpcw_i_trace_real;

/* Several threads may run this function at the same time: they store the same values. */
void hpcw_i_trace_real_find(const void *caller) {
    struct hpcw_i_trace_real *r = &hpcw_i_trace_real;
    void *library = hpcw_i_trace_program_other_mpi(caller);
    r->of_another_mpi = library != NULL;
    if (library != NULL && sizeof(MPI_Comm) < sizeof(void *) && dlsym(library, "ompi_mpi_comm_world") != NULL) {
        /* the wrapper's handles are integers, which are too short for Open MPI's handles, which are pointers */
        hpcw_i_trace_program_stop();
    }
    library = library == NULL ? RTLD_NEXT : library;
#define FIND(function) *(void **)&r->function = dlsym(library, "P" #function);
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

const char *hpcw_i_trace_real_hides(const char **library) {
    Dl_info info;
    void *mpi = dladdr(*(void **)&hpcw_i_trace_real.MPI_Init, &info) != 0
                    ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                    : NULL;
    if (mpi == NULL) {
        return NULL;
    }
    const char *found = NULL;
    void *next = NULL;
#define LOOK(function)                                                                                         \
    if (found == NULL && (next = dlsym(RTLD_NEXT, #function)) != dlsym(mpi, #function)) {                      \
        found = #function;                                                                                     \
    }
#define FUNCTION(function, ...) LOOK(function)
#define CLOCK(state, class, colour, function) LOOK(function)
#include "libwriter/trace/calls.h"
    LOOK(MPI_Init)
    LOOK(MPI_Init_thread)
    LOOK(MPI_Finalize)
    (void)dlclose(mpi);
    *library = found != NULL && dladdr(next, &info) != 0 ? info.dli_fname : "another library";
    return found;
}
