/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as the layout of a Lustre file. An accepted layout is valid for Lustre; a plain one gives
 * the same result when it is made again. The first byte of the input is ignored. */

#include "libwriter/io/lov.h"
#include "tests/fuzz/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hpcw_i_lov lov;
    if (size < 1) {
        return 0;
    }
    if (!hpcw_i_lov_decode(data + 1, size - 1, &lov)) {
        demand(lov.stripes == 0 && lov.stripe_bytes == 0);
        return 0;
    }
    demand(lov.stripes <= HPCW_I_LOV_MOST_STRIPES || lov.stripes == HPCW_I_LOV_ALL);
    demand(lov.stripe_bytes % HPCW_I_LOV_STRIPE_UNIT == 0 && lov.stripe_bytes <= UINT32_MAX);
    unsigned char again[HPCW_I_LOV_SET_SIZE];
    struct hpcw_i_lov plain;
    hpcw_i_lov_encode(lov.stripes, lov.stripe_bytes, again);
    demand(hpcw_i_lov_decode(again, sizeof again, &plain));
    demand(plain.stripes == lov.stripes && plain.stripe_bytes == lov.stripe_bytes);
    return 0;
}
