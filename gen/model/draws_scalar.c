/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws for any processor. */
#include "model/lanes_scalar.h"

#define LANES_TABLE hpcw_i_lanes_scalar

#include "model/draws_lanes.h"
