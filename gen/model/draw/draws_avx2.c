/* SPDX-License-Identifier: BSD-3-Clause */
/* Instance of draws_lanes.h for AVX2. */
#include "gen/model/draw/lanes_avx2.h"

#define LANES_TABLE model_lanes_avx2

#include "gen/model/draw/draws_lanes.h"
