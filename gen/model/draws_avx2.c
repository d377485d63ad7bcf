/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws with AVX2. */
#include "model/lanes_avx2.h"

#define LANES_TABLE hpcw_i_lanes_avx2

#include "model/draws_lanes.h"
