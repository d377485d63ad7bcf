#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls within MPI_Finalize are in the log, even if another tool calls MPI_Finalize and bypasses the wrapper.
# Usage: finalize.sh MPIEXEC PROCESSES LIBRARY PROGRAM TOOL HPCGEN
set -eu
mpiexec=$1 processes=$2 library=$(realpath "$3") program=$(realpath "$4") tool=$(realpath "$5") hpcgen=$(realpath "$6")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

for preload in "$library" "$tool:$library"; do
    "$mpiexec" -n "$processes" env LD_PRELOAD="$preload${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=end.clog2 HPCW_TRACE_DIR=. \
        "$program" "$scratch/data" >out 2>&1 || { cat out; echo "the program fails"; exit 1; }
    [ ! -s out ] || { cat out; echo "expected no message"; exit 1; }
    "$hpcgen" verify --quiet end.clog2
    "$hpcgen" info --all end.clog2 >info
    if grep 'problem=' info; then
        echo "expected no problem of the strict reader"
        exit 1
    fi
    for call in Barrier Allreduce Comm_dup Sendrecv Comm_free File_open File_write_at File_close; do
        grep -q "name: MPI_$call$" info || { cat info; echo "expected MPI_$call in the log"; exit 1; }
    done
    rm end.clog2
    [ "$(ls)" = "$(printf 'data\ninfo\nout')" ] || { ls; echo "expected no other file"; exit 1; }
done
