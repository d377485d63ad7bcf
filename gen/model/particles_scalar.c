/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles for any processor. */
#include "model/lanes_scalar.h"

#define FILL_NAME hpcw_i_particles_fill_scalar

#include "model/particles_lanes.h"
