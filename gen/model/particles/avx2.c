/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills particles with AVX2. */
#include "gen/model/draw/lanes_avx2.h"

#define FILL_NAME model_particles_fill_avx2

#include "gen/model/particles/lanes.h"
