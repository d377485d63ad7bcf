#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# If the wrapper can record nothing, the program behaves as without it, and one line says why there is no log.
# Usage: no_log.sh LIBRARY PROGRAM PROGRAM_OF_ANOTHER_MPI OPENS PLUGIN_OF_ANOTHER_MPI
set -eu
library=$(realpath "$1") program=$(realpath "$2") other=$(realpath "$3") opens=$(realpath "$4") plugin=$(realpath "$5")
others=${LD_PRELOAD-}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

# Usage: run [NAME=VALUE...] PROGRAM [ARGUMENT...]; expects the behaviour without the wrapper.
run() {
    expected=0 got=0
    env "$@" >plain.out 2>plain.err || expected=$?
    env LD_PRELOAD="$library${others:+:$others}" "$@" >out 2>err || got=$?
    [ "$got" = "$expected" ] || { echo "$*: expected exit status $expected, got $got"; cat err; exit 1; }
    diff plain.out out || { echo "$*: expected the output without the wrapper (<), got (>)"; exit 1; }
    [ -z "$(find . -name '*.clog2*')" ] || { echo "$*: expected no log"; exit 1; }
}
says() {
    printf '%s' "$1" | diff - err || { echo "expected the message (<), got (>)"; exit 1; }
}

echo "== no MPI_Init"
run "$program"
says "hpcw_trace: $(basename "$program"): no log: no call of MPI_Init came to the wrapper
"
run PMI_RANK=1 "$program"
says ''

echo "== another MPI"
run "$other" with arguments
grep 'begin of another MPI' out >/dev/null
[ "$(wc -l <err)" -eq 1 ] || { echo "expected one line, got:"; cat err; exit 1; }
grep "^hpcw_trace: $(basename "$other"): nothing is recorded: expected a program of /.*, got one of /.*libother_mpi.so" err ||
    { cat err; exit 1; }
run PMIX_RANK=1 "$other" with arguments
says ''

echo "== another MPI that the program opens"
run "$opens" "$plugin" handle
grep 'end of another MPI' out >/dev/null
[ "$(wc -l <err)" -eq 1 ] || { echo "expected one line, got:"; cat err; exit 1; }
grep "^hpcw_trace: opens: nothing is recorded: expected calls of /.*, got those of $plugin, .* with /.*libother_mpi.so" err ||
    { cat err; exit 1; }

echo "== no MPI"
run sh -c 'exit 5'
says ''
