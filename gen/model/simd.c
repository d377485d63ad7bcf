/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/simd.h"

/* HPCW_I_SIMD_X86 is defined where simd_avx2.c and simd_avx512.c are built. */

bool hpcw_i_simd_available(enum hpcw_i_simd simd) {
    switch (simd) {
    case HPCW_I_SIMD_NONE:
        return true;
#ifdef HPCW_I_SIMD_X86
    case HPCW_I_SIMD_AVX2:
        return __builtin_cpu_supports("avx2") != 0;
    case HPCW_I_SIMD_AVX512:
        return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
#endif
    default:
        return false;
    }
}

enum hpcw_i_simd hpcw_i_simd_best(void) {
    enum hpcw_i_simd best = HPCW_I_SIMD_NONE;
    for (int s = HPCW_I_SIMD_NONE + 1; s < HPCW_I_SIMD_COUNT; s++) {
        if (hpcw_i_simd_available((enum hpcw_i_simd)s)) {
            best = (enum hpcw_i_simd)s;
        }
    }
    return best;
}

const char *hpcw_i_simd_name(enum hpcw_i_simd simd) {
    switch (simd) {
    case HPCW_I_SIMD_AVX2:
        return "avx2";
    case HPCW_I_SIMD_AVX512:
        return "avx512";
    default:
        return "scalar";
    }
}
