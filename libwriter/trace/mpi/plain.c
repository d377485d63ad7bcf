/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are recorded as a state and nothing else. */
#include "libwriter/trace/span.h"

/* MPI 3 removed some of these functions and deprecated others; programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define CALL(state, shown_on, function, prototype, arguments)                                                  \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, shown_on);                             \
        return hpcw_i_trace_span_end(&span_, REAL(function) arguments);                                        \
    }
/* `...` lets one macro stand for both prototype and arguments. */
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
