#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clocks that drift too far before the log ends: the reason is said, and no file looks finished.
. "$HERE/refuse.inc"

refuse 2 'trace.skew and trace.drift: expected clocks that differ by less than *, got * after * s' \
    "$HPCGEN" --quiet --ranks 64 --formats clog2 --set trace.drift=0.8 --out out
unfinished out
[ -z "$(ls -A out/clog2)" ] || bad "left in out/clog2: $(ls -A out/clog2)"

exit $failed
