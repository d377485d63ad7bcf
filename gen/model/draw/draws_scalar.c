/* SPDX-License-Identifier: BSD-3-Clause */
/* Instance of draws_lanes.h for any processor. */
#include "gen/model/draw/lanes_scalar.h"

#define LANES_TABLE model_lanes_scalar

#include "gen/model/draw/draws_lanes.h"
