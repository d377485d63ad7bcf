/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest rows with AVX2. */
#include "model/lanes_avx2.h"

#define ROW_NAME hpcw_i_linktest_row_avx2

#include "model/linktest_lanes.h"
