#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One thread, many threads, or three parts in any order and joined give the same dataset, including the manifest.
set -e
make() { "$HPCGEN" --ranks 64 --files 4 --quiet "$@"; }

make --out one --jobs 1
make --out many --jobs 5
diff -r one many

for part in 3 1 2; do make --out parts --part $part/3; done
"$HPCGEN" join --quiet parts
diff -r one parts
"$HPCGEN" verify --quiet parts

# Another seed gives other bytes.
make --out other --seed 99
if cmp -s one/linktest/pingpong_results_bin.sion other/linktest/pingpong_results_bin.sion; then exit 1; fi
if cmp -s one/sion/particles.sion other/sion/particles.sion; then exit 1; fi

# The files of a format do not depend on the other formats.
make --out alone --formats sion
diff -r one/sion alone/sion

# Files of one simulated run, of parts and of a repair do not depend on the other formats either.
run() { make --ranks 8 --workload wavefront --set load.noise=0.05 --set machine.slow_node_share=0.5 "$@"; }
run --out run --jobs 3
for format in vom clog2 rank2file; do
    run --out only-$format --formats $format
done
diff -r run/vom only-vom/vom
diff -r run/clog2 only-clog2/clog2
diff -r run/scr only-rank2file/scr
for part in 2 1; do run --out run-parts --part $part/2; done
"$HPCGEN" join --quiet run-parts
diff -r run run-parts
grep -q '"kind": "slow_node".*"cost_s": 0\.[0-9]*[1-9].*"wait_s"' run/truth.json
rm run/vom/data.0.json.br run/truth.json
"$HPCGEN" repair --quiet run
cmp run/vom/data.0.json.br only-vom/vom/data.0.json.br
cmp run/truth.json run-parts/truth.json
