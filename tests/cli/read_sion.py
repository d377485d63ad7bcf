# SPDX-License-Identifier: BSD-3-Clause
"""Reads little-endian SION containers, from doc/formats/sion.md alone."""
import struct


def streams(name):
    """Returns the streams of all tasks by rank."""
    out, files = {}, 1
    k = 0
    while k < files:
        b = open(name + (f".{k:06}" if k else ""), "rb").read()
        assert b[:8] == b"sion\0\0\0\0"
        block, n, files = struct.unpack_from("<iii", b, 20)
        ranks = struct.unpack_from(f"<{n}q", b, 1076)
        chunk = struct.unpack_from(f"<{n}q", b, 1076 + 8 * n)
        blocks, table = struct.unpack_from("<iq", b, 1076 + 16 * n)
        used = struct.unpack_from(f"<{n * blocks}q", b, table + 8 * n)
        start = -(-(1088 + 16 * n) // block) * block
        for t in range(n):
            at = [start + sum(chunk[:t]) + i * sum(chunk) for i in range(blocks)]
            out[ranks[t]] = b"".join(b[at[i]:at[i] + used[i * n + t]] for i in range(blocks))
        k += 1
    return out
