#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program continues from its newest checkpoint with another number of processes. If this checkpoint is damaged, the
# program continues from the previous one.
# Usage: restart.sh MPIEXEC PROGRAM HPCGEN
set -eu
mpiexec=$1 program=$(realpath "$2") hpcgen=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

step=0
run() { # PROCESSES
    step=$((step + 10))
    "$mpiexec" -n "$1" "$program" >out
    expected="step $step, $1 processes, sum $((499500 + 1000 * step))"
    grep -qx "$expected" out || {
        echo "expected $expected, got: $(cat out)"
        exit 1
    }
}
run 4
run 3
run 1
"$hpcgen" verify --quiet state
[ "$("$hpcgen" scr list state | grep -c 'name=')" -eq 2 ] || exit 1

# The newest checkpoint is damaged: the run continues from the previous checkpoint, and writes the newest one again.
run 4
truncate -s 100 state/scr.dataset.40/rank_2
step=30
"$mpiexec" -n 2 "$program" >out
grep -q 'skipped .*state/scr.dataset.40/rank_2: rank 2: size: expected 2000 bytes, got 100' out
grep -qx 'step 40, 2 processes, sum 539500' out
step=40
run 5
"$hpcgen" verify --quiet state
