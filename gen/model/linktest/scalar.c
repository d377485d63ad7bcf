/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the timings of a rank (LinkTest rows) on any processor. */
#include "gen/model/draw/lanes_scalar.h"

#define ROW_NAME model_linktest_row_scalar

#include "gen/model/linktest/lanes.h"
