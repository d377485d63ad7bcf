/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/draw/draws.h"

#include <stddef.h>

const struct model_lanes *model_lanes(enum model_simd simd) {
    static const struct model_lanes *const lanes[MODEL_SIMD_COUNT] = {
        [MODEL_SIMD_NONE] = &model_lanes_scalar,
#ifdef MODEL_SIMD_X86
        [MODEL_SIMD_AVX2] = &model_lanes_avx2,
#endif
    };
    return model_simd_available(simd) ? lanes[simd] : NULL;
}
