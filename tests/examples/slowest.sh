#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `slowest` reads a LinkTest result. Its output must be what Python computes from the bytes of the file.
# Usage: slowest.sh SLOWEST HPCGEN
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
slowest=$(absolute "$1") hpcgen=$(absolute "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$hpcgen" --ranks 48 --formats linktest --out data --quiet
file=data/linktest/pingpong_results_bin.sion
"$slowest" "$file" >got
# The stream of a rank ends with N - 1 times, N - 1 partners and "END_BLOCK": doc/formats/linktest.md, "Data".
python3 - "$file" >expected <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
n = struct.unpack_from("<i", data, 24)[0]
chunks = struct.unpack_from(f"<{n}q", data, 1076 + 8 * n)
block = struct.unpack_from("<i", data, 20)[0]
meta2 = struct.unpack_from("<q", data, 1076 + 16 * n + 4)[0]
sizes = struct.unpack_from(f"<{n}q", data, meta2 + 8 * n)
at, mean = -(-(1088 + 16 * n) // block) * block, []
for rank in range(n):
    end = data.rindex(b"END_BLOCK", at, at + sizes[rank])
    times = struct.unpack_from(f"<{n - 1}d", data, end - 16 * (n - 1))
    total = 0.0
    for time in times:
        total += time
    mean.append((-total / (n - 1), rank))
    at += chunks[rank]
for time, rank in sorted(mean)[:10]:
    print(f"rank {rank} {-1e6 * time:.3f}")
PYTHON
sed -E 's/^(rank [0-9]+) on [a-z0-9.-]+, core [0-9]+: ([0-9.]+) us$/\1 \2/' got >got_means
diff expected got_means
[ "$(wc -l <got)" = 10 ] || { cat got; exit 1; }

if "$slowest" nothing.sion 2>errors; then
    echo "expected a failure for a file that does not exist"
    exit 1
fi
grep -q '^HPCW_ENOENT: nothing.sion: cannot open for reading' errors || { cat errors; exit 1; }
