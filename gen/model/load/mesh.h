/* SPDX-License-Identifier: BSD-3-Clause */
/* The mesh of an application whose neighbours exchange the cells at their borders: MODEL_COMM_MESH. */
#ifndef HPCW_GEN_MODEL_LOAD_MESH_H
#define HPCW_GEN_MODEL_LOAD_MESH_H

#include "gen/model/load/load.h"

/* Lays the mesh over the objects and draws the number of layers of each phase, which scales the times.
 * HPCW_ERANGE. */
hpcw_status model_load_fill_mesh(struct model_load *m, hpcw_error *err);

/* Returns the number of cells at an object's border in a dimension. */
double model_load_face(const struct model_load *m, uint32_t object, uint32_t dimension);

#endif
