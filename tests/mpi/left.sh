#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process of a run that writes a set of shared files dies by SIGKILL. The next run of the same path removes what it left.
# Usage: left.sh MPIEXEC PROCESSES PROGRAM
set -eu
mpiexec=$1 processes=$2 program=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "$*"
    exit 1
}

culprit=0
while [ "$culprit" -lt "$processes" ]; do
    if timeout -k 10 60 "$mpiexec" -n "$processes" "$program" x.sion "$culprit" >out 2>&1; then
        fail "process $culprit: expected a run that fails"
    fi
    left=$(find . -name '.hpcw-*-x.sion*.tmp' | wc -l)
    [ "$left" -eq 2 ] || fail "process $culprit: expected 2 temporary files with the name in them, got: $(ls -A)"
    sleep 1 # the launcher ends before the last of its processes
    "$mpiexec" -n "$processes" "$program" x.sion || fail "the next run fails"
    names=$(find . -type f ! -name out | sort | tr '\n' ' ')
    [ "$names" = "./x.sion ./x.sion.000001 " ] || fail "process $culprit: expected a set of two files, got: $names"
    rm x.sion x.sion.000001
    culprit=$((culprit + 1))
done
