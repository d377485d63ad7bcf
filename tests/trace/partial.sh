#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# If only some processes of a job have the wrapper, the program behaves as without the wrapper. One line names the processes
# without it, and `hpcgen recover` makes a log of the local files.
# Usage: partial.sh MPIEXEC LIBRARY PROGRAM HPCGEN
set -eu
mpiexec=$1 library=$(realpath "$2") program=$(realpath "$3") hpcgen=$(realpath "$4")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
HPCW_TRACE_FILE=some.clog2 HPCW_TRACE_DIR=$scratch/local
export ASAN_OPTIONS HPCW_TRACE_FILE HPCW_TRACE_DIR
with="env LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}"
mkdir local

# Usage: job MISSING RECORDED ARGUMENT...
# MISSING: processes without the wrapper, as the message names them; empty: none. RECORDED: number of processes with the
# wrapper. ARGUMENT: arguments of mpiexec.
job() {
    missing=$1 recorded=$2
    shift 2
    timeout 100 "$mpiexec" "$@" >out 2>&1 || { cat out; echo "$*: the program fails or hangs"; exit 1; }
    if [ -z "$missing" ]; then
        [ ! -s out ] || { cat out; echo "$*: expected no message"; exit 1; }
        "$hpcgen" verify --quiet some.clog2
        rm some.clog2
    else
        [ "$(wc -l <out)" -eq 1 ] || { cat out; echo "$*: expected one line"; exit 1; }
        grep -q "^hpcw_trace: no log: expected the wrapper .* got none in $missing; .*: hpcgen recover --partial " out ||
            { cat out; echo "$*: expected the missing $missing"; exit 1; }
        # shellcheck disable=SC2046 # the command as it was printed
        "$hpcgen" $(sed 's/.*: hpcgen //' out) 2>said || { cat out said; echo "$*: recover fails"; exit 1; }
        "$hpcgen" verify --quiet some.clog2
        "$hpcgen" info --all some.clog2 >info
        for call in Bcast Comm_dup Sendrecv Allreduce; do
            [ "$(sed -n "/name: MPI_$call\$/,/seconds:/s/ *count: //p" info)" = "$recorded" ] ||
                { cat info; echo "$*: expected MPI_$call of $recorded processes"; exit 1; }
        done
        if grep 'problem=' info | grep -v 'problem=message without partner'; then
            echo "$*: expected no other problem of the strict reader"
            exit 1
        fi
        grep -q '^ranks: 3$' info || { echo "$*: expected 3 ranks"; exit 1; }
        rm some.clog2 said info local/*
    fi
    [ "$(ls -A)" = "$(printf 'local\nout')" ] || { ls -A; echo "$*: expected no other file"; exit 1; }
}

# shellcheck disable=SC2086 # several words
{
    job '' 3 -n 3 $with "$program"
    job '' 3 -n 3 env OMPI_COMM_WORLD_LOCAL_SIZE=1 MPI_LOCALNRANKS=1 $with "$program"
    # The wrapper waits only 1 s for the processes that have no wrapper.
    HPCW_TRACE_WAIT=1
    export HPCW_TRACE_WAIT
    job 'rank 2' 2 -n 2 $with "$program" : -n 1 "$program"
    job 'ranks 0-1' 1 -n 2 "$program" : -n 1 $with "$program"
    # By these variables of the launcher, each process seems to be alone on its host.
    with="env OMPI_COMM_WORLD_LOCAL_SIZE=1 MPI_LOCALNRANKS=1 ${with#env }"
    job 'ranks 0, 2' 1 -n 1 "$program" : -n 1 $with "$program" : -n 1 "$program"
}
