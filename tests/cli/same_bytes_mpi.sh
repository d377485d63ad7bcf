#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Any number of processes gives the dataset of one process without mpiexec.
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

# More processes than phases: some have no iteration of the log, also the first one, whose records fill more than a segment.
few="--ranks 150 --formats clog2 --set load.phases=3 --set trace.exchanges=40 --quiet"
# shellcheck disable=SC2086 # several options
"$HPCGEN" $few --out short
# shellcheck disable=SC2086
"$MPIEXEC" -n 4 "$HPCGEN" $few --out short-mpi
"$HPCGEN" verify --quiet short-mpi
diff -r short short-mpi

# Where timers show, each process finds when the iterations start.
short="--ranks 8 --set load.mean_first=0.05 --set load.mean_last=0.05 --quiet"
# shellcheck disable=SC2086
"$HPCGEN" $short --out ticking
# shellcheck disable=SC2086
"$MPIEXEC" -n 3 "$HPCGEN" $short --out ticking-mpi
diff -r ticking ticking-mpi

# One process simulates a workload.
run="--ranks 40 --scale tiny --workload farm --formats sion,clog2 --quiet"
# shellcheck disable=SC2086
"$HPCGEN" $run --out farm
for processes in 2 8; do
    # shellcheck disable=SC2086
    "$MPIEXEC" -n $processes "$HPCGEN" $run --out farm-$processes
    diff -r farm farm-$processes
done
