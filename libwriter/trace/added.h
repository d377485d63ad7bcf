/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs add to the log (<hpcw/trace.h>). */
#ifndef HPCW_TRACE_ADDED_H
#define HPCW_TRACE_ADDED_H

#include <stdbool.h>

/* Collective: calls the function of the program, if all processes have one. True: the log has something of it. */
bool hpcw_i_trace_added_end(void);

#endif
