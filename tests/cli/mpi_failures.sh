#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A failure on one process or on all processes: hpcgen prints one line, the status is not 0, no process hangs, and
# nothing looks finished.
. "$HERE/refuse.inc"
. "$HERE/stops.inc"

stops any '--rnks: expected an option*did you mean --ranks*' -n 3 "$HPCGEN" --rnks 8 --out out
stops any 'linktest: expected an even number*' -n 3 "$HPCGEN" --ranks 7 --out out
stops any 'nowhere/out: cannot create the directory*' -n 3 "$HPCGEN" --ranks 8 --out nowhere/out
mkdir full
: >full/notes
stops any 'full: expected an empty directory*' -n 3 "$HPCGEN" --ranks 8 --out full
stops any 'out: expected * bytes of free space*' -n 2 "$HPCGEN" --ranks 65536 --formats linktest \
    --set linktest.permutations=1000 --out out
verdicts
[ ! -e out ] || bad "a refused run left out"

# The same relative path names another directory on each process.
mkdir -p one two/data/vom
"$HPCGEN" --quiet --ranks 4 --formats clog2 --scale tiny --out one/data || bad "fails: one/data"
stops any 'data: expected the same directory on all processes, got one without the lease*' \
    -n 1 -wdir one "$HPCGEN" --ranks 8 --formats vom --force --out data : -n 1 -wdir two "$HPCGEN" --ranks 8 --formats vom --force --out data
verdicts
[ -z "$(find one two -name 'data*.br')" ] || bad "a refused run wrote $(find one two -type f)"
"$HPCGEN" verify --quiet one/data || bad "a refused run removes the older dataset"

# Processes with different command lines. Usage: differ MESSAGE ARGUMENTS-OF-PROCESS-0 ARGUMENTS-OF-PROCESS-1
differ() {
    message=$1 first=$2 second=$3
    # shellcheck disable=SC2086
    stops any "command line: expected the same $message" -n 1 "$HPCGEN" $first : -n 1 "$HPCGEN" $second
}
differ '--ranks on all processes, got 8 on process 0 and 16 on process 1' '--ranks 8 --out out' '--ranks 16 --out out'
differ '--out on all processes, got "out" on process 0 and "out2" on process 1' '--ranks 8 --out out' '--ranks 8 --out out2'
differ 'command on all processes, got "generate" on process 0 and "plan" on process 1' \
    '--ranks 8 --out out' 'plan --ranks 8 --out out'
differ '--formats on all processes, got "sion" on process 0 and "sion,vom" on process 1' \
    '--ranks 8 --out out --formats sion' '--ranks 8 --out out --formats sion,vom'
differ '--set or parameters of --config on all processes, got "" on process 0 and "sion.sigma=0" on process 1' \
    '--ranks 8 --out out' '--ranks 8 --out out --set sion.sigma=0'
differ '--part on all processes, got "1/2" on process 0 and "2/2" on process 1' \
    '--ranks 8 --out out --part 1/2' '--ranks 8 --out out --part 2/2'
differ '--blocksize on all processes, got auto on process 0 and 4096 on process 1' \
    '--ranks 8 --out out --blocksize auto' '--ranks 8 --out out'
stops any '--wibble: *' -n 1 "$HPCGEN" --ranks 8 --out out : -n 1 "$HPCGEN" --ranks 8 --out out --wibble
echo '[machine]' >one.ini
stops any 'two.ini: *No such file*' -n 1 "$HPCGEN" --ranks 8 --out out --config one.ini \
    : -n 1 "$HPCGEN" --ranks 8 --out out --config two.ini
verdicts
[ ! -e out ] && [ ! -e out2 ] || bad "a refused run left its directory"

# One of three processes may write only small files, of 32 KiB: each process in turn.
# shellcheck disable=SC2016
small='ulimit -f 64; exec "$0" "$@"'
set -- --ranks 256 --scale small --out
stops any 'out0*: File too large: finished files stay: go on with the same command and --resume' -n 1 sh -c "$small" "$HPCGEN" "$@" out0 : -n 2 "$HPCGEN" "$@" out0
stops any 'out1*: File too large: finished files stay: go on with the same command and --resume' -n 1 "$HPCGEN" "$@" out1 : -n 1 sh -c "$small" "$HPCGEN" "$@" out1 \
    : -n 1 "$HPCGEN" "$@" out1
stops any 'out2*: File too large: finished files stay: go on with the same command and --resume' -n 2 "$HPCGEN" "$@" out2 : -n 1 sh -c "$small" "$HPCGEN" "$@" out2
verdicts
for victim in 0 1 2; do
    unfinished out$victim
done
# Processes may have different numbers of threads, and a failed run can be resumed.
timeout 60 "$MPIEXEC" -n 1 "$HPCGEN" "$@" out1 --resume --quiet --jobs 1 \
    : -n 1 "$HPCGEN" "$@" out1 --resume --quiet --jobs 2 || bad "resume fails after a failure"
"$HPCGEN" "$@" serial --quiet
diff -r serial out1 || bad "other bytes after a failure"
rm -rf serial out?

# Commands that run on one process print their output once.
for command in 'list' 'plan --ranks 8 --jobs 1' 'verify full'; do
    # shellcheck disable=SC2086
    "$HPCGEN" $command >alone 2>/dev/null
    # shellcheck disable=SC2086
    timeout 60 "$MPIEXEC" -n 3 "$HPCGEN" $command >together 2>/dev/null
    [ $? -ne 124 ] || bad "hangs: $command"
    diff alone together || bad "$command prints something else with three processes"
done
exit $failed
