#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Many default sweeps, to see how far a verdict and a comparison can be trusted. They take hours; what is there is not run
# again, so that the series can be run in pieces.
#
# Usage: bench/series.sh DIR RESULTS [MINUTES]
#
# For MINUTES (20), sweeps DIR into new directories of RESULTS: quiet-1 to quiet-10; load-1 to load-10 beside writes that
# come and go; slow-1 to slow-10 with task-local files whose writes and flushes take SLOW_PERCENT (30) longer, if
# SLOW_WRITES is the library that does so. Then prints what all that are there show: each quiet sweep is compared with the
# slowed one of its number, and with the next two quiet ones.
# Also: HPCW_BENCH (hpcw-bench), OPTIONS of each sweep.
set -u
[ $# -ge 2 ] || { sed -n 's/^# Usage/usage/p' "$0" >&2; exit 2; }
dir=$1 results=$2 minutes=${3-20}
bench=${HPCW_BENCH-hpcw-bench} library=${SLOW_WRITES-}
end=$((SECONDS + 60 * minutes)) loader=
export LC_ALL=C
mkdir -p "$results" || exit
trap 'stop_load; rm -rf "$results"/*.part' EXIT

# A second or five of writes, then as long without.
load() {
    while :; do
        timeout $((1 + RANDOM % 5)) dd if=/dev/zero of="$dir/.series-load" bs=1M count=100000 oflag=dsync status=none
        rm -f "$dir/.series-load"
        sleep $((1 + RANDOM % 5))
    done
}
stop_load() {
    [ -z "$loader" ] || { kill "$loader"; wait "$loader"; } 2>/dev/null
    loader=
    rm -f "$dir/.series-load"
}
# sweep NAME COMMAND...: a sweep by COMMAND, unless it is there or the time is over.
sweep() {
    [ ! -e "$results/$1" ] && [ $SECONDS -lt $end ] || return 0
    rm -rf "$results/$1.part"
    # shellcheck disable=SC2086 # several options
    if ! "${@:2}" "$dir" --out "$results/$1.part" ${OPTIONS-} >"$results/$1.said" 2>"$results/$1.progress"; then
        echo "$1 fails: $(tail -n 1 "$results/$1.progress")" >&2
        exit 1
    fi
    mv "$results/$1.part" "$results/$1"
}
for n in {1..10}; do
    sweep "quiet-$n" "$bench"
    if [ ! -e "$results/load-$n" ] && [ $SECONDS -lt $end ]; then
        load &
        loader=$!
        sweep "load-$n" "$bench"
        stop_load
    fi
    if [ -n "$library" ]; then
        sweep "slow-$n" env LD_PRELOAD="$library" SLOW_PERCENT="${SLOW_PERCENT-30}" "$bench"
    fi
done

# compare FIRST SECOND: the last line of the comparison of two that are there.
compare() {
    [ ! -e "$results/$1" ] || [ ! -e "$results/$2" ] ||
        echo "  $1, $2: $("$bench" compare "$results/$1/results.json" "$results/$2/results.json" | tail -n 1)"
}
for kind in quiet load; do
    echo "Verdicts, $kind:"
    for n in {1..10}; do
        [ ! -e "$results/$kind-$n" ] || echo "  $n: $(tail -n 1 "$results/$kind-$n.said")"
    done
done
echo 'Task-local files slowed:'
for n in {1..10}; do
    compare "quiet-$n" "slow-$n"
done
echo 'Equal sweeps:'
for n in {1..10}; do
    compare "quiet-$n" "quiet-$((n % 10 + 1))"
    compare "quiet-$n" "quiet-$(((n + 1) % 10 + 1))"
done
