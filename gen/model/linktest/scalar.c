/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest rows for any processor. */
#include "gen/model/draw/lanes_scalar.h"

#define ROW_NAME model_linktest_row_scalar

#include "gen/model/linktest/lanes.h"
