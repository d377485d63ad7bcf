/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of the models for any processor. */
#include "model/lanes_scalar.h"

#define ROW_NAME hpcw_i_linktest_row_scalar
#define FILL_NAME hpcw_i_particles_fill_scalar
#define LANES_TABLE hpcw_i_lanes_scalar

#include "model/draws_lanes.h"
#include "model/linktest_lanes.h"
#include "model/particles_lanes.h"
