#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Any number of MPI processes writes the same dataset as one process without mpiexec.
set -e
"$HPCGEN" --ranks 64 --out serial --quiet
for processes in 1 2 3 4; do
    "$MPIEXEC" -n $processes "$HPCGEN" --ranks 64 --out mpi-$processes --quiet
    diff -r serial mpi-$processes
done

# More processes than ranks: some have no ranks.
"$HPCGEN" --ranks 2 --out few --quiet
"$MPIEXEC" -n 4 "$HPCGEN" --ranks 2 --out few-mpi --quiet
diff -r few few-mpi

# Only one process simulates a workload.
run="--ranks 40 --scale tiny --workload farm --formats sion,clog2 --quiet --set load.noise=0.05 --set machine.slow_node_share=0.2"
# shellcheck disable=SC2086
"$HPCGEN" $run --out farm
grep -q '"cost_s": 0\.[0-9]*[1-9]' farm/truth.json
for processes in 2 4 8; do
    # shellcheck disable=SC2086
    "$MPIEXEC" -n $processes "$HPCGEN" $run --out farm-$processes
    diff -r farm farm-$processes
done
