/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites load data call by call: from <hpcw/vom_read.h> to <hpcw/vom.h>. */
#ifndef HPCW_TESTS_SUPPORT_VOM_AGAIN_H
#define HPCW_TESTS_SUPPORT_VOM_AGAIN_H

#include <hpcw/vom.h>

/* Reads all of `from` and writes it to `to`. Metadata before the file's phases are stored in the options. */
hpcw_status vom_again(const char *from, const char *to, hpcw_vom_options *options, hpcw_error *err);

#endif
