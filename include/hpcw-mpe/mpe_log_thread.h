/* SPDX-License-Identifier: BSD-3-Clause */
/** For programs that include MPE2's header of this name. Threads need no calls before they log. */
#ifndef HPCW_MPE_LOG_THREAD_H
#define HPCW_MPE_LOG_THREAD_H

#include <mpe_log.h>

typedef struct CLOG_CommSet CLOG_CommSet_t; /**< MPE2's table of communicators; this library has none */

#endif
