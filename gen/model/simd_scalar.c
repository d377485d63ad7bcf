/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of the models for any processor. */
#include "model/lanes_scalar.h"

#define ROW_NAME hpcw_i_linktest_row_scalar
#define FILL_NAME hpcw_i_particles_fill_scalar

#include "model/linktest_lanes.h"
#include "model/particles_lanes.h"
