#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A build without MPI refuses to run under a launcher, since every process would write the whole dataset.
. "$HERE/refuse.inc"
for mark in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 PMI_RANK=0 PMIX_RANK=1 SLURM_STEP_NUM_TASKS=2; do
    refuse 2 "${mark%=*}: a launcher started this process, but hpcgen was built without MPI: *" \
        env $mark "$HPCGEN" --ranks 8 --out out
done
[ ! -e out ] || bad "a refused run left its directory"
env SLURM_STEP_NUM_TASKS=1 SLURM_JOB_ID=7 "$HPCGEN" --ranks 8 --out out --quiet || bad "a batch script cannot run it"
exit $failed
