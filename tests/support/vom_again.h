/* SPDX-License-Identifier: BSD-3-Clause */
/* Load data written again: from <hpcw/vom_read.h> to <hpcw/vom.h>, call by call. */
#ifndef HPCW_TESTS_SUPPORT_VOM_AGAIN_H
#define HPCW_TESTS_SUPPORT_VOM_AGAIN_H

#include <hpcw/vom.h>

/* Reads all of `from` and writes it into `to`. What the file says about itself before its phases is put into the options. */
hpcw_status vom_again(const char *from, const char *to, hpcw_vom_options *options, hpcw_error *err);

#endif
