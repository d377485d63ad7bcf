/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are recorded as a state, without messages or other records. */
#include "libwriter/trace/span.h"

/* Functions that MPI 3 removed or deprecated. Programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define CALL(state, shown_on, function, prototype, arguments)                                                  \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, shown_on);                             \
        return hpcw_i_trace_span_end(&span_, REAL(function) arguments);                                        \
    }
/* `...` stands for prototype and arguments, which a row may give as one macro. */
#define AGAIN(state, shown_on, function, ...) CALL(state, shown_on, function, __VA_ARGS__)
#define PLAIN(state, class, colour, shown_on, function, ...) CALL(state, shown_on, function, __VA_ARGS__)
#define CLOCK(state, class, colour, function)                                                                  \
    double function(void) {                                                                                    \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, MPI_COMM_WORLD);                       \
        double seconds_ = REAL(function)();                                                                    \
        (void)hpcw_i_trace_span_end(&span_, MPI_SUCCESS);                                                      \
        return seconds_;                                                                                       \
    }
#include "libwriter/trace/calls.h"
