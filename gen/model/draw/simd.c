/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/simd.h"

/* HPCW_I_SIMD_X86 is defined where the *_avx2.c files are built. */

bool hpcw_i_simd_available(enum hpcw_i_simd simd) {
#ifdef HPCW_I_SIMD_X86
    if (simd == HPCW_I_SIMD_AVX2) {
        return __builtin_cpu_supports("avx2") != 0;
    }
#endif
    return simd == HPCW_I_SIMD_NONE;
}

enum hpcw_i_simd hpcw_i_simd_best(void) {
    return hpcw_i_simd_available(HPCW_I_SIMD_AVX2) ? HPCW_I_SIMD_AVX2 : HPCW_I_SIMD_NONE;
}

const char *hpcw_i_simd_name(enum hpcw_i_simd simd) {
    return simd == HPCW_I_SIMD_AVX2 ? "avx2" : "scalar";
}
