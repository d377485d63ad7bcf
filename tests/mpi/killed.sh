#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One process of a recording dies by SIGKILL in the middle of the run. The recovered log has every record that was
# made.
# Usage: killed.sh MPIEXEC PROCESSES PROGRAM HPCGEN
set -eu
mpiexec=$1 processes=$2 program=$(realpath "$3") hpcgen=$(realpath "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "$*"
    exit 1
}

# The launcher notices the dead process at once and ends the run; if not, timeout ends the run.
if timeout -k 10 60 "$mpiexec" -n "$processes" "$program" "$scratch" >out 2>&1; then
    cat out
    fail "expected a run that fails"
fi
[ ! -e run.clog2 ] || fail "expected no log of a run that died"
[ "$(find . -name 'run.clog2.*.local' | wc -l)" -eq "$processes" ] || fail "expected $processes local files, got: $(ls)"

# Without the local file of the last rank, `hpcgen recover` makes a log only with --partial.
if [ "$processes" -gt 1 ]; then
    last=$((processes - 1))
    mkdir some
    cp run.clog2.*.local some
    rm some/run.clog2.*.*"$last".local
    status=0
    "$hpcgen" recover --output some.clog2 some/*.local 2>said || status=$?
    if [ "$status" -ne 1 ] || [ -e some.clog2 ] || [ "$(wc -l <said)" -ne 1 ]; then
        fail "expected one line, status 1 and no log of some ranks, got status $status: $(cat said)"
    fi
    grep -q "expected the local files of $processes ranks, got $last, without rank $last;" said ||
        fail "expected the missing rank, got: $(cat said)"
    "$hpcgen" recover --quiet --partial --output some.clog2 some/*.local || fail "recover --partial fails"
    "$hpcgen" verify --quiet some.clog2 || fail "the log of some ranks is not sound"
fi

"$hpcgen" recover --quiet --output recovered.clog2 run.clog2.*.local || fail "recover fails"
"$hpcgen" verify --quiet recovered.clog2 || fail "the log is not sound"
"$hpcgen" info --all recovered.clog2 >summary
grep -q "^ranks: $processes\$" summary || fail "expected $processes ranks, got: $(grep ranks summary)"
rank=0
while [ "$rank" -lt "$processes" ]; do
    flushed=$(sed 's/^0*//' "flushed.$rank")
    # Counts the states "Work". Waits for the disk are states of their own.
    count=$(sed -n "/name: Work\$/,/^    state:/s/^ *- rank=$rank count=\([0-9]*\) .*/\1/p" summary)
    [ "${count:-0}" -ge "$flushed" ] || fail "rank $rank: expected $flushed states, got ${count:-none}"
    rank=$((rank + 1))
done
# The file of the dead process also has what it recorded after its last flush.
[ "$count" -eq $((flushed + 500)) ] || fail "rank $((rank - 1)): expected 500 states after the $flushed that were flushed, got $count"
