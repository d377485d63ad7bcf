/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the public reader from a result that is open already. */
#ifndef HPCW_LIBREADER_LINKTEST_PUBLIC_H
#define HPCW_LIBREADER_LINKTEST_PUBLIC_H

#include <hpcw/linktest_read.h>

#include "libreader/linktest/linktest.h"

/* Makes a public handle of the reader `r`, and takes ownership of `r`, also on failure. */
hpcw_status read_linktest_publish(struct read_linktest *r, hpcw_linktest_reader **out, hpcw_error *err);

#endif
