/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction sets of the models' inner loops, chosen at run time. All give the same bits. */
#ifndef HPCW_GEN_MODEL_DRAW_SIMD_H
#define HPCW_GEN_MODEL_DRAW_SIMD_H

#include <stdbool.h>

enum model_simd { MODEL_SIMD_NONE, MODEL_SIMD_AVX2, MODEL_SIMD_COUNT };

/* Returns whether this build and this processor support an instruction set. MODEL_SIMD_NONE is always
 * supported. */
bool model_simd_available(enum model_simd simd);

/* Returns the fastest instruction set that is available. */
enum model_simd model_simd_best(void);

/* "scalar", "avx2". */
const char *model_simd_name(enum model_simd simd);

#endif
