/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles with AVX2. */
#include "model/lanes_avx2.h"

#define FILL_NAME hpcw_i_particles_fill_avx2

#include "model/particles_lanes.h"
