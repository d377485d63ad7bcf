/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/draws.h"

#include <stddef.h>

const struct hpcw_i_lanes *hpcw_i_lanes(enum hpcw_i_simd simd) {
    static const struct hpcw_i_lanes *const lanes[HPCW_I_SIMD_COUNT] = {
        [HPCW_I_SIMD_NONE] = &hpcw_i_lanes_scalar,
#ifdef HPCW_I_SIMD_X86
        [HPCW_I_SIMD_AVX2] = &hpcw_i_lanes_avx2,
#endif
    };
    return hpcw_i_simd_available(simd) ? lanes[simd] : NULL;
}
