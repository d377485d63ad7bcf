#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# HEAT, the instrumented heat solver, writes complete files. HEAT_PLAIN, the same solver without instrumentation, gives
# the same result under the wrapper, and the wrapper writes a valid log. OTHER, an instrumented solver in another
# language, writes the same plate.sion.
# Usage: heat.sh MPIEXEC PROCESSES WRAPPER HEAT HEAT_PLAIN HPCGEN [OTHER]
set -eu
mpiexec=$1 processes=$2 wrapper=$3 heat=$(realpath "$4") plain=$(realpath "$5") hpcgen=$(realpath "$6")
other=${7+$(realpath "$7")}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Checks that a file is valid and that `hpcgen info` lists no problems.
sound() {
    "$hpcgen" verify "$1"
    "$hpcgen" info --all "$1" >info
    if sed -n '/^problems:/,/^profile:/p' info | sed '1d;$d' | grep .; then
        echo "$1 is not sound"
        exit 1
    fi
}
count() {
    awk -v state="$1" '$1 == "name:" { found = $2 == state } $1 == "count:" && found { print $2; exit }' info
}

echo "== instrumented"
"$mpiexec" -n "$processes" "$heat" out 60 4 | grep '^phase' >heat.out
for file in links.sion plate.sion lb_data ckpt; do
    "$hpcgen" verify "out/$file"
done
sound out/heat.clog2
[ "$(count sweep)" = $((4 * 25 * processes)) ] || { echo "wanted $((100 * processes)) sweeps, got $(count sweep)"; exit 1; }
[ "$(count write)" = $((3 * processes)) ] || { echo "wanted $((3 * processes)) writes, got $(count write)"; exit 1; }

if [ -n "$other" ]; then
    echo "== the same in another language"
    "$mpiexec" -n "$processes" "$other" other 60 4
    cmp out/plate.sion other/plate.sion
    cmp out/ckpt/scr.dataset.2/rank_1.plate other/ckpt/scr.dataset.2/rank_1.plate
fi

echo "== plain, under the wrapper"
"$mpiexec" -n "$processes" "$plain" 60 4 >plain.out
cmp heat.out plain.out
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
    "$mpiexec" -n "$processes" env LD_PRELOAD="$wrapper${LD_PRELOAD:+:$LD_PRELOAD}" "$plain" 60 4 >traced.out
cmp plain.out traced.out
sound "$(basename "$plain").clog2"
[ "$(count MPI_Waitall)" = $((100 * processes)) ] || { echo "another number of waits: $(count MPI_Waitall)"; exit 1; }
