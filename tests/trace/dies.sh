#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A traced program dies at a random moment, in every possible way. The recovered log has every call that the program
# itself counted, and at most one more for each thread. The next run reports what is left. DIES_RUNS is the number
# of tries for each way.
# Usage: dies.sh MPIEXEC PROCESSES LIBRARY PROGRAM HPCGEN
. "$(dirname "$0")/dies.inc"
runs=${DIES_RUNS:-1}

# Prints a random time below 30000 microseconds. In 30 ms a process fills several windows (mapped pieces) of its local file.
moment() {
    od -An -N2 -t u2 /dev/urandom | awk '{ print int($1 * 30000 / 65536) }'
}

for how in kill segv abort exit mpi_abort term; do
    echo "== $how"
    turn=0
    while [ "$turn" -lt "$runs" ]; do
        rm -f counts.* ready local/* run.clog2 recovered.clog2
        at=$(moment)
        if [ "$how" = term ]; then
            # Sends SIGTERM to all processes of the job, as a batch system does that ends a job.
            setsid "$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$program" "$scratch" wait 0 >out 2>&1 &
            job=$!
            until [ -e ready ]; do
                sleep 0.01
            done
            sleep "0.$(printf %06d "$at")"
            kill -TERM "-$job"
            wait "$job" || true # mpiexec of MPICH returns 0
        elif run "$how" "$at" >out 2>&1; then
            fail "$how: expected a run that fails" out
        fi
        # shellcheck disable=SC2046
        wait_for_processes $(pids)
        [ ! -e run.clog2 ] || fail "$how: expected no log of a run that died"
        [ "$(find local -name 'run.clog2.*.local' | wc -l)" -eq "$processes" ] ||
            fail "$how: expected $processes local files, got: $(ls local)" out
        "$hpcgen" recover --quiet --output recovered.clog2 local/run.clog2.*.local || fail "$how: recover fails"
        compare recovered.clog2 "$processes"
        turn=$((turn + 1))
    done
done

echo "== the next run says what the last one left"
run finish 10 >out 2>err || fail "the program fails" err
grep -q "^hpcw_trace: $scratch/local/run.clog2.[0-9a-f]*.\*.local: left by an earlier run" err ||
    fail "expected the local files of the last run, got:" err
compare run.clog2 0
[ "$(find local -type f | wc -l)" -eq "$processes" ] || fail "expected the local files of the last run alone"

echo "== a pattern for the files of two dead runs is refused, with that for one of them"
run kill 0 >out 2>&1 && fail "expected a run that fails" out
# shellcheck disable=SC2046
wait_for_processes $(pids)
"$hpcgen" recover --output two.clog2 local/run.clog2.*.local >out 2>err && fail "expected no log of two runs"
grep -q "the same run as .* the same 16 digits: LOG\.DIGITS\.\*\.local" err || fail "expected how to name one run, got:" err

echo "== and none of one that is alive"
rm -f counts.* ready local/*
run wait 0 >out 2>&1 &
job=$!
until [ -e ready ]; do
    sleep 0.01
done
alive=$(pids)
rm counts.*
run finish 10 >out2 2>err || fail "the program fails" err
[ ! -s err ] || fail "expected no message, got:" err
kill "$job"
wait "$job" || true
# shellcheck disable=SC2086
wait_for_processes $alive

echo "== a log that cannot be written can be made later"
rm -f local/*
HPCW_TRACE_FILE=$scratch/nowhere/run.clog2 run finish 400 >out 2>err || fail "the program fails" err
[ "$(wc -l <err)" -eq 1 ] || fail "expected one message, got:" err
command=$(sed -n 's/.*the records are still there: hpcgen \(recover .*\)/\1/p' err)
[ -n "$command" ] || fail "expected how to recover the log, got:" err
eval "\"\$hpcgen\" $command" || fail "$command: fails"
compare run.clog2 0
