#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcw-linktest with problems: wrong numbers of processes, bad paths, dying processes, signals, a failing MPI. Each
# is reported in one line, all processes end, and an earlier result stays. $HPCGEN is the program.
export PROGRAM=hpcw-linktest
. "$HERE/refuse.inc"
. "$HERE/stops.inc"

unchanged() {
    cmp -s before.sion result.sion || bad "$1: the earlier result is another one now"
}
# fails STATUS PATTERN PROCESSES OPTION...
fails() {
    status=$1 pattern=$2 processes=$3
    shift 3
    stops "$status" "$pattern" -n "$processes" "$HPCGEN" --oversubscribe -o result.sion "$@"
}
measured() {
    "$MPIEXEC" -n 2 "$HPCGEN" --oversubscribe -o result.sion -q -n 2 || bad "fails: $1"
}
measured 'the first result'
cp result.sion before.sion

# ---- options and numbers of processes
refuse 1 'expected at least 2 processes, got 1: start it with mpiexec' "$HPCGEN"
fails 1 'expected an even number of processes, as all are in pairs in each step, got 3: start 2 or 4' 3
fails 1 'expected an even number of processes, *, got 5: start 4 or 6' 5
fails 1 'expected --bidirectional or --unidirectional, got both' 2 --bidirectional --unidirectional
fails 1 '--size-messages: expected different sizes, got 1K twice' 2 -s 1K,2K,1024
fails 2 '--mode: expected one of mpi, got "tcp"' 2 --mode tcp
fails 2 '-n: expected a whole number from 1 to 4294967295, got "0"' 2 -n 0
fails 2 '-s: expected 0 to 2147483647 bytes, got "2G"' 2 -s 2G
verdicts
unchanged 'wrong options'

# ---- more processes than processors
stops 1 "*: expected a processor for each process, got 1 for 2: start fewer, or add --oversubscribe to measure anyway" \
    -n 2 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$HPCGEN" -o result.sion

# ---- paths
fails 1 '*nowhere*No such file or directory' 2 -o nowhere/result.sion
fails 1 '*nowhere*No such file or directory' 4 -s 1,2 -o nowhere/result.sion
mkdir directory.sion
fails 1 'directory.sion: *' 2 -o directory.sion
long=$(seq 2046 | sed 's/.*/./' | tr '\n' '/')ab
fails 1 '--output: expected at most 4095 characters, got 4096' 2 -s 1,2 -o "$long"
# One process may not write files beyond 64 KiB. MPICH itself writes larger files, so this runs with Open MPI only.
if "$MPIEXEC" --version 2>&1 | grep -q 'Open MPI\|OpenRTE'; then
    set -- "$HPCGEN" --oversubscribe -q -n 1 -w 0 -s 8 --num-randomize-tasks 1000 -o result.sion
    # shellcheck disable=SC2016
    stops 1 '*result.sion*File too large' -n 1 "$@" : -n 1 sh -c 'ulimit -f 128; exec "$0" "$@"' "$@"
fi
verdicts
unchanged 'a bad path'

# ---- processes with different command lines
differ() { # STATUS PATTERN OPTIONS-OF-PROCESS-0 OPTIONS-OF-PROCESS-1
    # shellcheck disable=SC2086
    stops "$1" "$2" -n 1 "$HPCGEN" --oversubscribe $3 : -n 1 "$HPCGEN" --oversubscribe $4
}
differ 1 'command line: expected the same number of sizes on all processes, got 1 on process 0 and 2 on process 1' \
    '-s 1' '-s 1,2'
differ 1 '*expected the same message_size on all processes, got 8 on process 0 and 16 on process 1' '-s 8' '-s 16'
differ 1 '*expected the same path on all processes, got "a.sion" on process 0 and "b.sion" on process 1' '-o a.sion' '-o b.sion'
differ 1 '*expected --bidirectional or --unidirectional, got both' '' '--bidirectional --unidirectional'
differ 2 '--wrong: expected an option of hpcw-linktest*' '' '--wrong'
wait
[ ! -e a.sion ] && [ ! -e b.sion ] && [ ! -e pingpong_results_bin.sion ] || bad "refused runs leave $(echo ./*.sion)"

# ---- an MPI that fails
if [ -n "$MPI_FAILS" ]; then
    stops any 'process 1: MPI fails: *' -n 2 env LD_PRELOAD="$MPI_FAILS" "$HPCGEN" --oversubscribe -o result.sion
fi
verdicts
unchanged 'an MPI that fails'

# ---- processes that die, and signals
# begins OPTION...  Starts a run in the background and waits until it has begun. Sets $launcher, and writes `pids`,
# a line for each process.
begins() {
    rm -f pids .hpcw-*.tmp
    # shellcheck disable=SC2016
    timeout 60 "$MPIEXEC" -n 2 sh -c 'echo $$ >>pids; exec "$0" "$@"' "$HPCGEN" --oversubscribe -o result.sion "$@" \
        >/dev/null 2>errors &
    launcher=$!
    tries=0
    while [ -z "$(find . -name '.hpcw-*result.sion.tmp')" ] && [ $tries -lt 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    [ "$(wc -l <pids)" -eq 2 ] || bad "expected 2 processes, got: $(cat pids errors)"
}
ends() { # WHAT
    wait $launcher
    got=$?
    case $got in
    0 | 124) bad "status $got, expected a failure: $1" ;;
    esac
    unchanged "$1"
}
# One step with very many messages, during which nothing checks for signals.
begins -q -n 4000000000
kill -9 "$(tail -n 1 pids)"
ends 'a process that was killed'
# The next run removes the temporary file of the killed run.
measured 'a result after a run that was killed'
[ -z "$(find . -name '*.tmp')" ] || bad "temporary files left: $(find . -name '*.tmp')"
cp result.sion before.sion

# A run of many steps: one process gets the signal, and all processes end after the current step.
begins -n 1 -w 0 -s 8 --num-randomize-tasks 1000000
tries=0
while ! grep -q '^hpcw-linktest: ' errors && [ $tries -lt 400 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
kill -TERM "$(tail -n 1 pids)"
ends 'a signal'
grep '^hpcw-linktest: ' errors >lines
sed -n 1p lines | grep -Eq '^hpcw-linktest: [1-9][0-9]* of 3000000 measurements, about [0-9].* left$' || bad "no progress: $(cat errors)"
[ "$(grep -c 'stopped' lines)" -eq 1 ] && [ "$(tail -n 1 lines)" = 'hpcw-linktest: stopped by signal 15' ] ||
    bad "of a signal it says: $(cat errors)"
[ -z "$(find . -name '*.tmp')" ] || bad "temporary files left after a signal: $(find . -name '*.tmp')"
exit $failed
