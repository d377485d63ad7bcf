/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets a program add its own records to the log (<hpcw/trace.h>). */
#ifndef HPCW_TRACE_ADDED_H
#define HPCW_TRACE_ADDED_H

#include <stdbool.h>

/* Calls the function that the program gave to hpcw_trace_at_end, if all processes have one. Returns true if it
 * added records to the log. Collective. */
bool hpcw_i_trace_added_end(void);

#endif
