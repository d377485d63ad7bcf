#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Fortran program prints the same with and without the preloaded wrapper. Its log has exactly the calls and
# messages that the program itself has counted.
# Usage: fortran.sh MPIEXEC PROCESSES LIBRARY PROGRAM HPCGEN
set -eu
mpiexec=$1 processes=$2 library=$(realpath "$3") program=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The sanitizers' library must be loaded first, but here the wrapper is.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

fail() {
    echo "$1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}

"$mpiexec" -n "$processes" "$program" >plain.out 2>plain.err || fail "the program fails without the wrapper:" plain.err
"$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=fortran.clog2 \
    HPCW_TRACE_ALSO=all "$program" >traced.out 2>traced.err || fail "the program fails with the wrapper:" traced.err
cmp plain.out traced.out || fail "expected the output of plain.out, got:" traced.out
[ ! -s traced.err ] || fail "expected no message, got:" traced.err

"$hpcgen" verify fortran.clog2
"$hpcgen" info --all fortran.clog2 >info
awk '$1 == "name:" { state = $2 } $1 == "count:" { print state, $2 } $1 == "messages:" { print "messages", $2 }' info |
    LC_ALL=C sort >logged
LC_ALL=C sort plain.out >counted
[ -s counted ] || fail "expected counts from the program"
diff counted logged || fail "expected what the program has counted (<), got (>)"
