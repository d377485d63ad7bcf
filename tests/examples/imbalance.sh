#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `imbalance` reads load data, plain and compressed. Its output must be what Python computes from the plain
# files.
# Usage: imbalance.sh IMBALANCE HPCGEN
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
imbalance=$(absolute "$1") hpcgen=$(absolute "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$hpcgen" --ranks 12 --formats vom --set vom.container=plain --out plain --quiet
"$hpcgen" --ranks 12 --formats vom --out small --quiet
"$imbalance" plain/vom/data.*.json >got
"$imbalance" small/vom/data.*.json.br | sed 's:small/\(.*\).br$:plain/\1:' | diff got -
python3 - plain/vom/data.*.json >expected <<'PYTHON'
import json, sys
phases = {}
for name in sys.argv[1:]:
    for phase in json.load(open(name))["phases"]:
        load = 0.0
        for task in phase["tasks"]:
            load += task["time"]
        phases.setdefault(phase["id"], []).append((load, name))
for number, loads in phases.items():
    total = 0.0
    for load, _ in loads:
        total += load
    mean, most = total / len(loads), max(load for load, _ in loads)
    busiest = next(name for load, name in loads if load == most)
    print(f"phase {number}: mean {mean:.6f} s, imbalance {100 * (most / mean - 1):.1f} %, most in {busiest}")
PYTHON
diff expected got
[ "$(wc -l <got)" -ge 2 ] || { cat got; exit 1; }

if "$imbalance" plain/vom/data.0.json nothing.json 2>errors; then
    echo "expected a failure for a file that does not exist"
    exit 1
fi
grep -q '^HPCW_ENOENT: nothing.json: cannot open for reading' errors || { cat errors; exit 1; }
