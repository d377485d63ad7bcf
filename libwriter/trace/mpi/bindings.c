/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls from Fortran. MPI's own Fortran bindings (mpif.h, the modules mpi and mpi_f08) convert handles,
 * constants, statuses, strings and indices, and then call a C function. Depending on library and call, that is
 * MPI_Send or PMPI_Send. So the wrapper also replaces the functions PMPI_...
 *
 * A call of PMPI_Send that comes from a binding of MPI_Send is one of the program, and is recorded like a call
 * of MPI_Send. A call from elsewhere goes to MPI's own PMPI_Send: it comes from a tool, from MPI itself, or
 * from a binding of another function that, for instance, asks for the size of a communicator.
 */
#include <dlfcn.h>
#include <string.h>

#include "libwriter/trace/span.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* A cache of return addresses from which PMPI_... was called. An entry is twice the address, plus 1 if it is in
 * a binding of the called function. */
enum { CALLERS_BITS = 12 };
static _Atomic(uint64_t) callers[1u << CALLERS_BITS];

/* Returns whether the code at `caller` is a Fortran binding of the MPI function `function`. Names of bindings
 * of MPI_Send are mpi_send_, ompi_send_f, pmpi_send_, mpi_send_f08_ and the like. */
static bool is_binding(const char *function, const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_sname != NULL &&
           strcasestr(info.dli_sname, function) != NULL && strcmp(info.dli_sname, function) != 0;
}

static bool called_by_binding(const char *function, const void *caller) {
    if (hpcw_i_trace_thread.depth > 0) {
        return false;
    }
    uint64_t address = 2 * (uint64_t)(uintptr_t)caller;
    _Atomic(uint64_t) *known = &callers[(address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CALLERS_BITS)];
    uint64_t what = atomic_load_explicit(known, memory_order_relaxed);
    if ((what & ~UINT64_C(1)) != address) {
        what = address | (is_binding(function, caller) ? 1u : 0u);
        atomic_store_explicit(known, what, memory_order_relaxed);
    }
    return (what & 1) != 0;
}

#define BINDING(function, prototype, arguments)                                                                \
    int P##function prototype {                                                                                \
        if (!called_by_binding(#function, __builtin_return_address(0))) {                                      \
            return REAL(function) arguments;                                                                   \
        }                                                                                                      \
        hpcw_i_trace_thread.binding = true;                                                                    \
        int code_ = function arguments;                                                                        \
        hpcw_i_trace_thread.binding = false;                                                                   \
        return code_;                                                                                          \
    }
#define FUNCTION(function, prototype, arguments) BINDING(function, prototype, arguments)
#include "libwriter/trace/calls.h"
BINDING(MPI_Init, (int *argc, char ***argv), (argc, argv))
BINDING(MPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
        (argc, argv, required, provided))
BINDING(MPI_Finalize, (void), ())

/* A binding may jump here instead of calling, so that the return address is in the program. That is no problem,
 * as every caller wants MPI_Pcontrol of the wrapper. */
int PMPI_Pcontrol(const int level, ...) {
    return MPI_Pcontrol(level);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Bindings
 * --------------------------------------------------------------------------------------------------------- */

/* A Fortran binding that does not call C. Its arguments are addresses, the first one that of a communicator or
 * a count. No binding has more than six; undefined values are passed on for the rest. */
typedef void binding(void *a, void *b, void *c, void *d, void *e, void *f);

#define OF_COMM MPI_Comm_f2c(*(const MPI_Fint *)a)
#define NO_REQUEST (*(const MPI_Fint *)a == 0)

/* MPI's own bindings, found at their first calls: in the libraries after this one or, if the program opened MPI
 * by dlopen, through the caller's library. */
enum index {
#define FORTRAN(state, shown_on, when, name) INDEX_##name##_, INDEX_##name##_f08_,
#include "libwriter/trace/calls.h"
    INDICES
};
static _Atomic(binding *) bindings[INDICES];

static binding *find(enum index index, const char *name, const void *caller) {
    binding *found = atomic_load_explicit(&bindings[index], memory_order_relaxed);
    if (found == NULL) {
        *(void **)&found = dlsym(RTLD_NEXT, name);
        Dl_info info;
        if (found == NULL && dladdr(caller, &info) != 0) {
            *(void **)&found = dlsym(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name);
        }
        atomic_store_explicit(&bindings[index], found, memory_order_relaxed);
    }
    return found;
}

#pragma GCC visibility push(default)
#define ENTRY(state, shown_on, when, name)                                                                     \
    binding name;                                                                                              \
    void name(void *a, void *b, void *c, void *d, void *e, void *f) {                                          \
        binding *call = find(INDEX_##name, #name, __builtin_return_address(0));                                \
        if (!(when)) {                                                                                         \
            call(a, b, c, d, e, f);                                                                            \
            return;                                                                                            \
        }                                                                                                      \
        struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(state, shown_on);                                 \
        call(a, b, c, d, e, f);                                                                                \
        (void)hpcw_i_trace_span_end(&s, MPI_SUCCESS);                                                          \
    }
#define FORTRAN(state, shown_on, when, name)                                                                   \
    ENTRY(state, shown_on, when, name##_) ENTRY(state, shown_on, when, name##_f08_)
#include "libwriter/trace/calls.h"

/* A binding may jump to PMPI_Wtime, so that the return address is in the program. So the bindings are replaced,
 * too. */
#define SECONDS(name, function)                                                                                \
    double name(void);                                                                                         \
    double name(void) {                                                                                        \
        return function();                                                                                     \
    }
SECONDS(mpi_wtime_, MPI_Wtime)
SECONDS(mpi_wtick_, MPI_Wtick)
SECONDS(mpi_wtime_f08_, MPI_Wtime)
SECONDS(mpi_wtick_f08_, MPI_Wtick)
#pragma GCC visibility pop
