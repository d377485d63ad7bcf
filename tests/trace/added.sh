#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program adds a state to the wrapper's log. Usage: added.sh MPIEXEC PROCESSES LIBRARY PROGRAM HPCGEN
set -eu
mpiexec=$1 processes=$2 library=$(realpath "$3") program=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

fail() {
    echo "$1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}

"$mpiexec" -n "$processes" "$program" >out || fail "the program fails without the wrapper"
[ "$(cat out)" = alone ] || fail "expected to be alone, got:" out
# The state is in the log even if the wrapper itself records no calls (HPCW_TRACE=0).
for on in 1 0; do
    "$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=added.clog2 \
        HPCW_TRACE=$on "$program" >out 2>err || fail "the program fails with the wrapper:" err
    [ "$(cat out)" = wrapped ] || fail "expected to be wrapped, got:" out
    [ ! -s err ] || fail "expected no message, got:" err
    "$hpcgen" verify added.clog2
    "$hpcgen" info --all added.clog2 >info
    [ "$(grep -A3 'name: Compute' info | grep 'count:')" = "    count: $processes" ] || fail "expected $processes states, got:" info
    if grep MPI_Allreduce info; then
        fail "expected no call of MPI_Finalize's"
    fi
    [ "$(grep -c 'name: MPI_Comm_split' info)" = "$on" ] || fail "expected $on of MPI_Comm_split, got:" info
    rm added.clog2
done
"$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=added.clog2 "$program" some \
    >out 2>err || fail "the program fails if process 0 has no function:" err
