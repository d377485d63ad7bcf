/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest rows for any processor. */
#include "model/lanes_scalar.h"

#define ROW_NAME hpcw_i_linktest_row_scalar

#include "model/linktest_lanes.h"
