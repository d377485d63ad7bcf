#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the wrapper says about the log at the begin and at the end of a program, and that it says nothing else.
# Usage: ends.sh LIBRARY PROGRAM HPCGEN
set -eu
library=$(realpath "$1") program=$(realpath "$2") hpcgen=$(realpath "$3")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir local
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID HPCW_TRACE_FILE
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
HPCW_TRACE_DIR=$scratch/local
export ASAN_OPTIONS HPCW_TRACE_DIR

fail() {
    echo "$how: $*"
    cat err
    exit 1
}

# Usage: traced [NAME=VALUE...] PROGRAM [ARGUMENT...]
traced() {
    how="$*"
    env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$@" >out 2>err || fail "the program fails"
}

# Usage: says [PATTERN]; one line that starts so, or nothing
says() {
    [ "$(wc -l <err)" -eq $# ] || fail "expected $# lines"
    [ $# -eq 0 ] || grep -q "^hpcw_trace: $1" err || fail "expected: $1"
}

# A log replaces that of the last run, with a word if its name is not the user's choice.
traced "$program"
says
"$hpcgen" verify --quiet ends.clog2
traced "$program"
says 'ends.clog2: the log of this run is going to replace this one; HPCW_TRACE_FILE'
traced HPCW_TRACE_FILE=ends.clog2 "$program"
says
traced HPCW_TRACE=0 "$program"
says
rm ends.clog2
