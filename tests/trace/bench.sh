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

# A run sends 2000 messages in each direction, or to the same process. There is one warm-up run, and two runs are timed. The
# kernel makes each run by MPI_ and by PMPI_ functions, and the wrapper sees only the former.
set -- --dir . --only messages --scale 0.1 --repeat 2

"$mpiexec" -n 2 "$kernels" "$@" >without
grep 'preload a tool' without >/dev/null || { echo "expected a hint to preload a tool, got:"; cat without; exit 1; }

# traced PROCESSES FIGURE SENDS OPTION...
traced() {
    processes=$1 figure=$2 expected=$3
    shift 3
    "$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=bench.clog2 "$kernels" "$@" >with
    grep "^  $figure  " with >/dev/null || { echo "expected figures, got:"; cat with; exit 1; }
    "$hpcgen" verify bench.clog2
    "$hpcgen" info --all bench.clog2 >counts
    sends=$(awk '$1 == "name:" { found = $2 == "MPI_Send" } $1 == "count:" && found { print $2; exit }' counts)
    [ "$sends" = "$expected" ] || { echo "expected $expected sends in the log, got '$sends'"; exit 1; }
}
traced 2 'tool, to and fro' 12000 "$@"
traced 1 'tool, to itself' 6000 --dir . --only own-messages --scale 0.2 --repeat 2
