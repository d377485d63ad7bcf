/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites load data: reads records by <hpcw/vom_read.h> and writes each by a call of <hpcw/vom.h>. */
#ifndef HPCW_TESTS_SUPPORT_VOM_AGAIN_H
#define HPCW_TESTS_SUPPORT_VOM_AGAIN_H

#include <hpcw/vom.h>

/* Reads the file `from` and writes its records to the file `to`. Metadata that the file has before its phases are
 * stored in `options`. */
hpcw_status vom_again(const char *from, const char *to, hpcw_vom_options *options, hpcw_error *err);

#endif
