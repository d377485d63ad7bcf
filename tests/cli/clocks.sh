#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong clocks. One host has none, with any seed; this one gave the only clock an error below zero.
. "$HERE/refuse.inc"

"$HPCGEN" --quiet --ranks 1 --seed 8523 --formats clog2 --set trace.skew=2 --out one || bad "one host fails"
"$HPCGEN" verify --quiet one || bad "one host is not as it should be"

# Clocks that drift too far before the log ends: the reason is said, and no file looks finished.

refuse 2 'trace.skew and trace.drift: expected clocks that differ by less than *, got * after * s' \
    "$HPCGEN" --quiet --ranks 64 --formats clog2 --set trace.drift=0.8 --out out
unfinished out
[ -z "$(ls -A out/clog2)" ] || bad "left in out/clog2: $(ls -A out/clog2)"

exit $failed
