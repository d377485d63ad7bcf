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
if cmp -s one/linktest/pingpong_results_bin.sion other/linktest/pingpong_results_bin.sion; then exit 1; fi
if cmp -s one/sion/particles.sion other/sion/particles.sion; then exit 1; fi

# The files of a format do not depend on the other formats.
make --out alone --formats sion
diff -r one/sion alone/sion

# Nor where timers show, whose times are known by the log: of any part, and of load data alone, which repair makes again.
short() { make --ranks 8 --set load.mean_first=0.05 --set load.mean_last=0.05 "$@"; }
short --out ticking --jobs 3
for format in vom clog2 rank2file; do
    short --out only-$format --formats $format
done
diff -r ticking/vom only-vom/vom
diff -r ticking/clog2 only-clog2/clog2
diff -r ticking/scr only-rank2file/scr
for part in 2 1; do short --out ticking-parts --part $part/2; done
"$HPCGEN" join --quiet ticking-parts
diff -r ticking ticking-parts
short --out other-log --formats vom --set trace.exchanges=9
cp other-log/vom/data.0.json.br before
if cmp -s before ticking/vom/data.0.json.br; then exit 1; fi
rm other-log/vom/data.0.json.br
"$HPCGEN" repair --quiet other-log
cmp before other-log/vom/data.0.json.br

# If there can be no log, load data are made without it.
short --out no-log --formats vom --set trace.loop=nothing
"$HPCGEN" verify --quiet no-log
