#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One thread, many threads, three parts in any order and joined: the same dataset, manifest included.
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
! cmp -s one/linktest/pingpong_results_bin.sion other/linktest/pingpong_results_bin.sion
! cmp -s one/sion/particles.sion other/sion/particles.sion

# The files of a format do not depend on the other formats.
make --out alone --formats sion
diff -r one/sion alone/sion

# Nor where timers show, whose times are known by the log.
short() { make --ranks 8 --set load.mean_first=0.05 --set load.mean_last=0.05 "$@"; }
short --out ticking
for format in vom clog2 rank2file; do
    short --out only-$format --formats $format
done
diff -r ticking/vom only-vom/vom
diff -r ticking/clog2 only-clog2/clog2
diff -r ticking/scr only-rank2file/scr
