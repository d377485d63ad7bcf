/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills particles on any processor. */
#include "gen/model/draw/lanes_scalar.h"

#define FILL_NAME model_particles_fill_scalar

#include "gen/model/particles/lanes.h"
