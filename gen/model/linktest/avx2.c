/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the timings of a rank (LinkTest rows) with AVX2. */
#include "gen/model/draw/lanes_avx2.h"

#define ROW_NAME model_linktest_row_avx2

#include "gen/model/linktest/lanes.h"
