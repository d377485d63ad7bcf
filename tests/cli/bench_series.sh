#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench/series.sh with sweeps that take a moment: all of them run, and none again. $HPCGEN is the benchmark.
# shellcheck disable=SC2034 # of refuse.inc
PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data
export HPCW_BENCH="$HPCGEN" SLOW_WRITES="$SLOW_WRITES" SLOW_PERCENT=1000
# A library in front of that of the sanitizers, which want to be the first.
ldd "$HPCGEN" | grep -q -e asan -e tsan && unset SLOW_WRITES SLOW_PERCENT
export OPTIONS="--layout task-local,shared-posix --mode buffered --record 4K --ranks 2 --per-rank 8K --repeat 1 --least-bytes 1"
"$HERE/../../bench/series.sh" data series 10 >first || bad "the series fails"
for name in quiet-1 quiet-10 load-10 ${SLOW_WRITES:+slow-10}; do
    "$JSON_CHECK" "series/$name/results.json" || bad "no results of $name"
done
# Verdicts of 20 sweeps, and 20 or 30 comparisons.
lines=40
[ -z "${SLOW_WRITES-}" ] || lines=50
[ "$(grep -c '^  [a-z0-9, -]*: .' first)" -eq $lines ] || bad "other lines: $(cat first)"
[ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"

# In pieces: what is missing runs in the next one; none where the time is over.
rm -r series/load-3
"$HERE/../../bench/series.sh" data series 0 >second || bad "the series of no time fails"
[ ! -e series/load-3 ] || bad "a sweep begins after the time is over"
[ "$(grep -c . second)" -eq $(($(grep -c . first) - 1)) ] || bad "other lines: $(cat second)"
exit $failed
