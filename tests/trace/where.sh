#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The state of a call has the call's communicator and the bytes that the call moves. One-sided calls are arrows in the log.
# Usage: where.sh MPIEXEC LIBRARY PROGRAM WHERE-LOG HPCGEN
set -eu
mpiexec=$1 library=$(realpath "$2") program=$(realpath "$3") where_log=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The sanitizers' library must be loaded first, but here the wrapper is.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

fields=1- # fields of the lines that are compared
# Usage: record [WORD]
record() {
    rm -f lines.*
    "$mpiexec" -n 2 env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=where.clog2 \
        HPCW_TRACE_DIR=. HPCW_TRACE_ALSO=info \
        "$program" "$scratch/data" "$scratch" "$@" >out 2>&1 || { cat out; exit 1; }
    [ ! -s out ] || { echo "expected no message, got:"; cat out; exit 1; }
    "$hpcgen" verify where.clog2
    "$hpcgen" info --all where.clog2 >info
    "$where_log" where.clog2 | cut -d ' ' -f "$fields" | LC_ALL=C sort >logged
    cat lines.* | cut -d ' ' -f "$fields" | LC_ALL=C sort >expected
    diff expected logged || { echo "expected what the program says (<), got (>)"; exit 1; }
}

record
if grep 'problem=' info; then
    echo "expected no problem of the strict reader"
    exit 1
fi

record wildcards
if grep 'problem=' info | grep -v 'problem=message without partner'; then
    echo "expected no other problem of the strict reader"
    exit 1
fi

# MPI libraries differ in the size of a message that was too long for the buffer.
fields=1-3
record errors
if grep 'problem=' info | grep -v 'problem=receive of another size than its send'; then
    echo "expected no other problem of the strict reader"
    exit 1
fi
