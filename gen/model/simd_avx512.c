/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of the models for AVX-512. */
#include "model/lanes_avx512.h"

#define ROW_NAME hpcw_i_linktest_row_avx512
#define FILL_NAME hpcw_i_particles_fill_avx512
#define LANES_TABLE hpcw_i_lanes_avx512

#include "model/draws_lanes.h"
#include "model/linktest_lanes.h"
#include "model/particles_lanes.h"
