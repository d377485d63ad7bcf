# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table of powers of ten, by the formula in pow10.h."""

import math
from fractions import Fraction

print('#include "libwriter/base/pow10.h"')
print("const uint64_t hpcw_i_pow10[HPCW_I_POW10_MAX - HPCW_I_POW10_MIN + 1][2] = {")
for k in range(-292, 325):
    log2 = (10**k).bit_length() - 1 if k >= 0 else -((10**-k).bit_length())
    power = math.ceil(Fraction(10) ** k * Fraction(2) ** (127 - log2))
    print(f"{{{power >> 64:#x}, {power % 2**64:#x}}},")
print("};")
