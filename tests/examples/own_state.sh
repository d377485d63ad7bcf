#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example adds its state to the wrapper's log, and runs without the wrapper, too.
# Usage: own_state.sh MPIEXEC HPCW_TRACE WRAPPER PROGRAM HPCGEN
set -eu
mpiexec=$1 trace=$(realpath "$2") wrapper=$(realpath "$3") program=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

"$mpiexec" -n 2 "$program" >alone
"$mpiexec" -n 2 "$trace" --library "$wrapper" --output own_state.clog2 "$program" >traced
diff alone traced
"$hpcgen" verify own_state.clog2
"$hpcgen" info --all own_state.clog2 >info
[ "$(grep -A3 'name: Compute' info | grep 'count:')" = "    count: 20" ] || { cat info; exit 1; }

# While the wrapper is off, states of the program alone make no log.
rm own_state.clog2
HPCW_TRACE=0 "$mpiexec" -n 2 "$trace" --library "$wrapper" --output own_state.clog2 "$program" >traced
if [ -e own_state.clog2 ]; then
    echo "expected no log with HPCW_TRACE=0"
    exit 1
fi
