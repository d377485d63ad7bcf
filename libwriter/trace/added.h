/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets programs add to the log (<hpcw/trace.h>). */
#ifndef HPCW_TRACE_ADDED_H
#define HPCW_TRACE_ADDED_H

#include <stdbool.h>

/* Calls the function of the program, if all processes have one. Collective. Returns true if it added something to
 * the log. */
bool hpcw_i_trace_added_end(void);

#endif
