#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# For `make bench-check`, on an otherwise idle machine. One of two sweeps has a layout that writes a hundred times
# slower, and compare must name it. Data go to the page cache, so the disk does not matter. $HPCGEN is the
# benchmark, $SLOW_WRITES the library that delays.
# shellcheck disable=SC2034 # of refuse.inc
PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data
# sweep OUTPUT
sweep() {
    "$HPCGEN" data --out "$1" --budget 100s --repeat 7 --ranks 8 --per-rank 40000 --record 4000 --blocksize 4K --files 1 \
        --layout sion-aligned,sion-packed,task-local,shared-posix --mode buffered --least-bytes 1 --least-time 1us \
        --quiet || bad "sweep $1 fails"
}
# Skipped with sanitizers: their library and $SLOW_WRITES both have to be loaded first.
ldd "$HPCGEN" | grep -q -e asan -e tsan && { echo 'a build with sanitizers measures nothing' >&2; exit 77; }
sweep first
export LD_PRELOAD="$SLOW_WRITES" SLOW_PERCENT=10000 SLOW_MOST=4000
sweep slow
unset LD_PRELOAD
"$HPCGEN" compare first/results.json slow/results.json >said || bad "compare fails"
grep -q '^task-local  *1  *-.* slower$' said || bad "the slow layout is not found: $(cat said)"
tail -n 1 said | grep -q 'slower relative to plain writes: task-local (-[0-9]* %, between .*); ' || bad "last line: $(tail -n 1 said)"
exit $failed
