/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/simd.h"

/* The build defines MODEL_SIMD_X86 if it has the *_avx2.c files. */

bool model_simd_available(enum model_simd simd) {
#ifdef MODEL_SIMD_X86
    if (simd == MODEL_SIMD_AVX2) {
        return __builtin_cpu_supports("avx2") != 0;
    }
#endif
    return simd == MODEL_SIMD_NONE;
}

enum model_simd model_simd_best(void) {
    return model_simd_available(MODEL_SIMD_AVX2) ? MODEL_SIMD_AVX2 : MODEL_SIMD_NONE;
}

const char *model_simd_name(enum model_simd simd) {
    return simd == MODEL_SIMD_AVX2 ? "avx2" : "scalar";
}
