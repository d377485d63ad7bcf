#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs names.c alone, with the wrapper, and with misuse; checks its logs. Usage: names.sh MPIEXEC PROCESSES WRAPPER PROGRAM
# HPCGEN
set -eu
mpiexec=$1 processes=$2 wrapper=$(realpath "$3") program=$(realpath "$4") hpcgen=$(realpath "$5")
check=$(dirname "$(realpath "$0")")/check.py

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir local
MPE_TMPDIR=$scratch/local
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export MPE_TMPDIR ASAN_OPTIONS
unset MPE_LOGFILE_PREFIX MPE_CLOCKS_SYNC MPE_SYNC_ALGORITHM MPE_SYNC_FREQUENCY MPE_SAME_TMPDIR CLOG_BLOCK_SIZE

fail() {
    echo "$1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}

echo "== alone"
"$mpiexec" -n "$processes" "$program" 2>err || fail "the program fails:" err
[ ! -s err ] || fail "expected no message, got:" err
"$hpcgen" verify names.clog2
"$hpcgen" verify second.clog2
"$check" "$processes" names.clog2 second.clog2
[ -z "$(ls local)" ] || fail "expected no local file, got $(ls local)"
rm names.clog2 second.clog2

echo "== the environment"
for way in DEFAULT SEQ BITREE ALTNGBR; do
    MPE_SYNC_ALGORITHM=$way MPE_SYNC_FREQUENCY=2 MPE_SAME_TMPDIR=no CLOG_BLOCK_SIZE=1024 "$mpiexec" -n "$processes" \
        "$program" 2>err || fail "the program fails with $way:" err
    "$check" "$processes" names.clog2 second.clog2
    [ "$(head -c 1024 names.clog2 | tr '\0' ' ' | grep -c 'block_size= 1024 ')" = 1 ] || fail "expected blocks of 1024 bytes"
done
MPE_SYNC_ALGORITHM=FAST MPE_CLOCKS_SYNC=no "$mpiexec" -n "$processes" "$program" 2>err || fail "the program fails:" err
"$check" "$processes" names.clog2 second.clog2
MPE_SYNC_ALGORITHM=FAST "$mpiexec" -n "$processes" "$program" 2>err || fail "the program fails:" err
grep -qx "hpcw_mpe: using the default: MPE_SYNC_ALGORITHM: expected DEFAULT, SEQ, BITREE or ALTNGBR, got 'FAST'" err ||
    fail "expected a message on MPE_SYNC_ALGORITHM, got:" err
rm names.clog2 second.clog2

echo "== misuse"
"$mpiexec" -n 1 "$program" misuse 2>err || fail "the program fails:" err
for text in 'Odd: not described: expected two numbers of MPE_Log_get_state_eventIDs, got 601 and 603' \
    'Low: not described: expected a number of MPE_Log_get_solo_eventID, got 600' \
    'Bad: no reader shows its cargo: clog2: format: expected one of the letters s h d l x X e E after %, got "%q"' \
    'names.clog2: not in the log: 0 records (memory or disk full), 1 records of events that were not described or of messages without a partner, 0 ends of states that did not begin, cargo of 1 events that does not fit its format' \
    "MPE_Log_pack: expected one of the letters s h d l x X e E, got '?'"; do
    grep -qxF "hpcw_mpe: $text" err || fail "expected '$text', got:" err
done
"$hpcgen" verify names.clog2
"$hpcgen" info --all names.clog2 >info
for name in Compute Exchange Mark Sample 'By hand' 'State 302' 'A name of more than 31 bytes is$'; do
    grep -q "$name" info || fail "expected the definition '$name' in:" info
done
if grep -e Odd -e Low -e Another -e Early info; then
    fail "expected no definition of these"
fi
rm names.clog2 second.clog2

echo "== death"
for variable in MPE_TMPDIR TMPDIR TMP TEMP; do
    "$mpiexec" -n 1 env -u MPE_TMPDIR -u TMPDIR -u TMP -u TEMP "$variable=$scratch/local" "$program" dies >out 2>&1 &&
        fail "expected a program that dies"
    "$hpcgen" recover --quiet --output names.clog2 local/*.local || fail "the log is not recovered with $variable:" out
    "$hpcgen" info --all names.clog2 >info
    grep -q Compute info && grep -q Exchange info || fail "expected both states in:" info
    rm names.clog2 local/*
done
MPE_LOGFILE_PREFIX=missing/names "$mpiexec" -n 1 "$program" 2>err && fail "expected MPE_Finish_log to fail"
grep -q '^hpcw_mpe: no log: missing/names.clog2: ' err || fail "expected why there is no log, got:" err
MPE_LOGFILE_PREFIX=other "$mpiexec" -n 1 "$program" 2>err && fail "expected another name of the log"
"$hpcgen" verify other.clog2
rm other.clog2

echo "== with the wrapper"
"$mpiexec" -n "$processes" env LD_PRELOAD="$wrapper${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=wrapped.clog2 \
    HPCW_TRACE_DIR="$scratch/local" "$program" wrapped 2>err || fail "the program fails with the wrapper:" err
if grep -vxF 'hpcw_mpe: Mine: not described: expected two numbers of MPE_Log_get_state_eventIDs, got 4 and 5' err; then
    fail "expected no other message"
fi
[ "$(wc -l <err)" = "$processes" ] || fail "expected a message of each process, got:" err
[ "$(ls ./*.clog2)" = ./wrapped.clog2 ] || fail "expected one log, got $(ls ./*.clog2)"
"$hpcgen" verify wrapped.clog2
"$check" "$processes" wrapped.clog2
"$hpcgen" info --all wrapped.clog2 | grep -q MPI_Sendrecv || fail "expected calls of MPI in the log"
