/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are recorded as a state and nothing else. */
#include "libwriter/trace/span.h"

/* MPI 3 removed some of these functions and deprecated others; programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#if !HPCW_I_HAVE_MPI1
#define CALLS_WITHOUT_MPI1
#endif

#define CALL(state, shown_on, function, prototype, arguments)                                                  \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, shown_on);                             \
        return hpcw_i_trace_span_end(&span_, P##function arguments);                                           \
    }
/* `...`, so that prototype and arguments may be one macro. */
#define AGAIN(state, shown_on, function, ...) CALL(state, shown_on, function, __VA_ARGS__)
#define PLAIN(state, class, colour, shown_on, function, ...) CALL(state, shown_on, function, __VA_ARGS__)
#include "libwriter/trace/calls.h"

/* They return no code. */

double MPI_Wtime(void) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Wtime, MPI_COMM_WORLD);
    double seconds = PMPI_Wtime();
    (void)hpcw_i_trace_span_end(&s, MPI_SUCCESS);
    return seconds;
}

double MPI_Wtick(void) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_Wtick, MPI_COMM_WORLD);
    double seconds = PMPI_Wtick();
    (void)hpcw_i_trace_span_end(&s, MPI_SUCCESS);
    return seconds;
}
