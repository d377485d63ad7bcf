/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the caller's error record. */
#ifndef HPCW_BASE_STATUS_H
#define HPCW_BASE_STATUS_H

#include <stdint.h>

#include <hpcw/status.h>

/* Records a failure and returns its code: `return hpcw_i_fail(err, ...)`. */
hpcw_status hpcw_i_fail(hpcw_error *err, hpcw_status code, const char *fmt, ...) HPCW_PRINTF(3, 4);

/* Records a failed system call: appends the text of `sys_errno`, and derives the code from it. */
hpcw_status hpcw_i_fail_sys(hpcw_error *err, int sys_errno, const char *fmt, ...) HPCW_PRINTF(3, 4);

/*
 * Records HPCW_ENOMEM with the message "WHERE: out of memory for COUNT WHAT". `where` is a path or a part of the
 * library; NULL: the message has no WHERE. If `count` is 0, the message has no COUNT; if `what` is NULL, no WHAT.
 */
hpcw_status hpcw_i_fail_memory(hpcw_error *err, const char *where, uint64_t count, const char *what);

/* Copies the failure `why` to `err`, and returns its code. */
hpcw_status hpcw_i_fail_as(hpcw_error *err, const hpcw_error *why);

/* Puts "NAME: " before a message that does not begin with the name, for failures of helpers that do not know the
 * name of their file. */
void hpcw_i_fail_about(hpcw_error *err, const char *name);

/* Returns the reason for which a program abandons a file. If the program gives none, or one with the code of success,
 * the result still has a code and a message, since an abandoned file must not be finished. */
hpcw_error hpcw_i_reason_to_abandon(const hpcw_error *reason);

hpcw_status hpcw_i_status_of_errno(int sys_errno);

#endif
