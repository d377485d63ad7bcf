/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction sets that inner loops of the models are built for, chosen at run time. All give the same bits. */
#ifndef HPCW_GEN_MODEL_DRAW_SIMD_H
#define HPCW_GEN_MODEL_DRAW_SIMD_H

#include <stdbool.h>

enum hpcw_i_simd { HPCW_I_SIMD_NONE, HPCW_I_SIMD_AVX2, HPCW_I_SIMD_COUNT };

/* Whether this build and this processor have it; HPCW_I_SIMD_NONE always. */
bool hpcw_i_simd_available(enum hpcw_i_simd simd);

/* The widest one available. */
enum hpcw_i_simd hpcw_i_simd_best(void);

/* "scalar", "avx2". */
const char *hpcw_i_simd_name(enum hpcw_i_simd simd);

#endif
