#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel for messages runs with the wrapper, and without it reports that a tool is missing.
# Usage: bench.sh MPIEXEC LIBRARY HPCW-KERNELS HPCGEN
set -eu
mpiexec=$1 library=$(realpath "$2") kernels=$(realpath "$3") hpcgen=$(realpath "$4")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

# A run has 2000 messages each way. One run warms up, two are timed; the wrapper sees one of the two sides.
set -- --dir . --only messages --scale 0.01 --repeat 2 --quiet

"$mpiexec" -n 2 "$kernels" "$@" --json without.json
grep 'preload a tool' without.json >/dev/null || { echo "expected a hint to preload a tool, got:"; cat without.json; exit 1; }

"$mpiexec" -n 2 env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=bench.clog2 "$kernels" "$@" --json with.json
grep '"tool, to itself"' with.json >/dev/null || { echo "expected figures, got:"; cat with.json; exit 1; }

"$hpcgen" verify bench.clog2
"$hpcgen" info bench.clog2 >info
sends=$(awk '$1 == "name:" { found = $2 == "MPI_Send" } $1 == "count:" && found { print $2; exit }' info)
[ "$sends" = 24000 ] || { echo "expected 3 x 8000 sends in the log, got '$sends'"; exit 1; }
