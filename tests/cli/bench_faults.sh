#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sweeps with problems: full disks, signals, failing processes, too little time. The affected points are reported,
# the others are measured, nothing hangs, and no data remain.
export PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data

clean() { # DIRECTORY
    [ -z "$(ls -A "$1")" ] || bad "data remain: $(ls -A "$1")"
}
holds() { # OUTPUT PATTERN: a line of its results
    "$JSON_CHECK" "$1/results.json" || bad "$1/results.json is no JSON"
    grep -q -e "$2" "$1/results.json" || bad "$1 has no $2: $(grep '"reason"' "$1/results.json")"
}
ends() { # STATUS COMMAND...
    expected=$1
    shift
    timeout 100 "$@"
    got=$?
    [ $got -eq "$expected" ] || bad "status $got, expected $expected: $*"
}

# ---- files may not grow beyond 64 KiB: the write of the container fails, the task-local files fit
# shellcheck disable=SC2016
small='ulimit -f 128; exec "$0" "$@"'
ends 1 sh -c "$small" "$HPCGEN" data --out limit --repeat 1 --ranks 4 --per-rank 40000 --blocksize 4K --mode fsync --files 1 \
    --layout sion-aligned,task-local --record 8000 --quiet 2>said
# The report page is larger than 64 KiB, so writing it fails. The results are kept.
case $(cat said) in
'' | 'hpcw-bench: limit/report.html: cannot write '*': File too large') ;;
*) bad "it says: $(cat said)" ;;
esac
holds limit '"failure": {"errno": 27, "process": 0}'
holds limit 'data: cannot write .*File too large'
holds limit '"fate": "measured"'
holds limit '"complete": true'
clean data

# ---- one of three processes may not write files beyond 64 KiB
if [ -n "$MPIEXEC" ]; then
    set -- data --repeat 1 --ranks 6 --per-rank 40000 --blocksize 4K --mode fsync --files 1 --record 8000 --quiet \
        --layout sion-aligned,task-local,shared-posix,mpiio-independent,mpiio-collective
    ends 1 "$MPIEXEC" -n 2 "$HPCGEN" "$@" --out one : -n 1 sh -c "$small" "$HPCGEN" "$@" --out one 2>launcher
    holds one '"failure": {"errno": 27, "process": 2}'
    holds one '"fate": "measured"'
    clean data

    # HDF5: with this seed the dataset is written before its ceiling. HDF5 reports the failed write and nothing
    # else.
    set -- data --repeat 1 --ranks 6 --per-rank 40000 --mode fsync --record 8000 --quiet --seed 2 \
        --layout hdf5-independent,hdf5-collective
    "$MPIEXEC" -n 1 "$HPCGEN" "$@" --out dataset : -n 1 sh -c "$small" "$HPCGEN" "$@" --out dataset 2>launcher
    "$JSON_CHECK" dataset/results.json || bad "dataset/results.json is no JSON"
    grep -q '"reason": "this build has no parallel HDF5"' dataset/results.json ||
        [ "$(grep -c '"reason": "H5Dwrite: file write failed"' dataset/results.json)" -eq 2 ] ||
        bad "other failures: $(grep '"reason"' dataset/results.json)"
    grep HDF5-DIAG launcher && bad "HDF5 prints its errors"
    clean data
fi

# ---- a relative path that names another directory on each process
if [ -n "$MPIEXEC" ]; then
    mkdir -p here/data there/data
    ends 1 "$MPIEXEC" -n 1 -wdir here "$HPCGEN" data --out ../apart --quiet : -n 1 -wdir there "$HPCGEN" data --out ../apart \
        --quiet 2>said
    grep -q '^hpcw-bench: data: expected the same directory on all processes, got one without .hpcw-bench.* of process 0' said ||
        bad "it says: $(cat said)"
    [ ! -e apart ] || bad "results of nothing: $(ls apart)"
    clean here/data
    clean there/data
fi

# ---- a small file system: too small before the run, or full during the run
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=4m none small 2>/dev/null; then
    set -- small --out before --repeat 1 --ranks 2 --per-rank 4M --blocksize 4K --layout sion-aligned --mode fsync --files 1 --quiet
    ends 1 "$HPCGEN" "$@" 2>said
    needs='small: expected [0-9]* bytes of free space for a run, got 4194304 (8.1 MiB, got 4.0 MiB); use a smaller --per-rank or a '
    grep -q "^hpcw-bench: $PWD/$needs" said || bad "it says: $(cat said)"
    ends 0 "$HPCGEN" "$@" --dry-run >said
    grep -q "^warning: $PWD/$needs" said || bad "the plan says: $(cat said)"
    # The sweep chooses the sizes. Here the smallest size that counts does not fit: the message names the disk, not
    # the budget.
    ends 1 "$HPCGEN" small --out before --quiet 2>said
    needs='small: expected [0-9.]* [MG]iB of free space for runs of [0-9.]* MiB (--least-bytes), got 4.0 MiB; use a directory '
    grep -q "^hpcw-bench: $PWD/$needs" said || bad "it says: $(cat said)"
    ends 0 "$HPCGEN" small --out before --dry-run >said
    grep -q "^warning: if plain writes are faster than [0-9.]* [kM]B/s: $PWD/$needs" said || bad "the plan says: $(cat said)"
    [ ! -e before ] || bad "results of nothing: $(ls before)"
    clean small
    # A container of four ranks in whole blocks of 2 MiB: more is preallocated than the data need.
    ends 1 "$HPCGEN" small --out middle --repeat 1 --ranks 4 --per-rank 64K --blocksize 2M,4K --layout sion-aligned \
        --mode preallocated --files 1 --record 8K --quiet
    holds middle '"failure": {"errno": 28, "process": 0}'
    holds middle '"fate": "measured"'
    # tmpfs is memory: no rate is called durable, and O_DIRECT points are left out.
    ends 0 "$HPCGEN" small --out memory --repeat 1 --ranks 2 --per-rank 64K --layout shared-posix --mode fsync,direct \
        --record 8K >said 2>progress
    holds memory '"reason": "tmpfs is memory, with no disk for O_DIRECT"'
    grep -q '^point .* to memory ' said || bad "no column of memory: $(cat said)"
    grep -q '^tmpfs is memory: no rate here is that of a disk, and nothing is durable$' said || bad "no word of memory: $(cat said)"
    grep -q 'to the disk' said && bad "a disk: $(cat said)"
    if [ -f memory/report.html ]; then
        grep -q 'tmpfs is memory' memory/report.html || bad "the page does not say that it is memory"
        grep -i 'durable t\|on the disk\|durable rate' memory/report.html && bad "the page calls memory a disk"
    fi
    clean small
    umount small
fi

# ---- signals
for signal in INT:2 TERM:15 USR1:10; do
    "$HPCGEN" data --out ${signal%:*} --budget 60s --quiet &
    pid=$!
    while [ -z "$(ls -A data)" ] && kill -0 $pid 2>/dev/null; do :; done
    sleep 1
    # sh lets background children ignore SIGINT, but a program that catches it still gets it.
    kill -"${signal%:*}" $pid
    wait $pid
    got=$?
    [ $got -eq $((128 + ${signal#*:})) ] || bad "status $got after $signal"
    holds ${signal%:*} "\"stopped\": \"interrupted (signal ${signal#*:})\""
    holds ${signal%:*} '"complete": false'
    clean data
done
# A signal stops the measurement of metadata rates: the results contain the task counts that are finished.
"$HPCGEN" metadata data --out ended --budget 1000h --repeat 5 --tasks 5,262144 --quiet &
pid=$!
while [ ! -e data/.hpcw-bench.$pid/task.000500 ] && kill -0 $pid 2>/dev/null; do :; done
kill -TERM $pid
wait $pid
got=$?
[ $got -eq 143 ] || bad "status $got after TERM"
holds ended '"stopped": "interrupted (signal 15)"'
holds ended 'with 5 tasks, '
clean data

# ---- data that a run cannot remove are named; the next run removes them
if [ "$(id -u)" -eq 0 ] && mkdir mounted && mount -t tmpfs -o size=64k none mounted 2>/dev/null; then
    umount mounted
    "$HPCGEN" data --out held --budget 1h --repeat 500 --ranks 2 --per-rank 20000 --record 5000 --quiet \
        --layout shared-posix --mode fsync 2>said &
    pid=$!
    while [ ! -e held/results.json ] && kill -0 $pid 2>/dev/null; do :; done
    kill -STOP $pid # or it would remove the new directory with the data of a run
    mkdir data/.hpcw-bench.$pid/held && mount -t tmpfs -o size=64k none data/.hpcw-bench.$pid/held || bad "no mount"
    kill -TERM $pid
    kill -CONT $pid
    wait $pid
    grep -q "^hpcw-bench: data/.hpcw-bench.$pid: cannot remove the data, which the next run does: " said || bad "it says: $(cat said)"
    umount data/.hpcw-bench.$pid/held
    "$HPCGEN" data --out after --repeat 1 --ranks 2 --per-rank 20000 --layout shared-posix --mode fsync --quiet 2>said ||
        bad "fails after data that stayed: $(cat said)"
    grep -q "data/.hpcw-bench.$pid: removed" said || bad "it says: $(cat said)"
    clean data
fi

# ---- a killed sweep: results.json has all complete repetitions, and says that the sweep did not end
"$HPCGEN" data --out killed --budget 1h --repeat 500 --ranks 2 --per-rank 20000 --record 5000 --quiet \
    --layout shared-posix --mode fsync &
pid=$!
while [ ! -e killed/results.json ] && kill -0 $pid 2>/dev/null; do :; done
# A second run at the same time does not touch the data of the first run.
"$HPCGEN" data --out beside --repeat 1 --ranks 2 --per-rank 20000 --layout shared-posix --mode fsync --quiet 2>said ||
    bad "fails beside another: $(cat said)"
[ -d data/.hpcw-bench.$pid ] && [ ! -s said ] || bad "the data of a run go away beside it: $(ls -A data) $(cat said)"
kill -9 $pid
wait $pid 2>/dev/null
holds killed '"stopped": "not ended"'
holds killed '"complete": false'
holds killed '"fate": "measured"'
# The next run removes the data of the killed run and reports their directory. Directories with similar names stay.
mkdir data/.hpcw-bench.1 data/.hpcw-bench.1x && touch data/.hpcw-bench.1x.owner
[ -d data/.hpcw-bench.$pid ] || bad "no data of the killed run: $(ls -A data)"
"$HPCGEN" data --out next --repeat 1 --ranks 2 --per-rank 20000 --layout shared-posix --mode fsync --quiet 2>said ||
    bad "fails after a killed run: $(cat said)"
[ "$(cat said)" = "hpcw-bench: data/.hpcw-bench.$pid: removed: a run that was killed left it" ] || bad "it says: $(cat said)"
[ -d data/.hpcw-bench.1 ] && [ -d data/.hpcw-bench.1x ] || bad "others' directories are removed: $(ls -A data)"
rm -r data/.hpcw-bench.1*
clean data

# ---- the directory of the data is removed during the sweep
mkdir gone
"$HPCGEN" gone --out lost --budget 20s --repeat 2 --quiet --layout shared-posix,task-local --mode fsync &
pid=$!
while [ -z "$(ls -A gone)" ] && kill -0 $pid 2>/dev/null; do :; done
sleep 0.3
rm -rf gone 2>/dev/null || rm -rf gone
wait $pid
got=$?
[ $got -eq 1 ] || bad "status $got where the directory went away"
[ ! -e lost ] || holds lost '"errno": 2,'

# ---- the directory of the data is replaced by a link: the target of the link is not removed
mkdir -p swapped precious/below
echo mine >precious/below/file
"$HPCGEN" swapped --out link --budget 20s --repeat 30 --ranks 2 --per-rank 2000000 --files 1 --blocksize 4K --mode fsync \
    --layout sion-aligned,task-local --least-bytes 1 --least-time 1us --quiet 2>said &
pid=$!
while ! work=$(ls -d swapped/.hpcw-bench.*[0-9] 2>/dev/null) && kill -0 $pid 2>/dev/null; do :; done
kill -s STOP $pid
mv "$work" away && ln -s ../precious "$work"
kill -s CONT $pid
wait $pid
got=$?
[ $got -eq 1 ] || bad "status $got where the directory of data became a link: $(cat said)"
[ "$(cat precious/below/file)" = mine ] || bad "what a link leads to is removed"

# ---- too little time: the message names the point that has no time; a sweep without any measurement fails
ends 1 "$HPCGEN" data --out short --budget 300ms --quiet 2>said
grep -q '^hpcw-bench: data: nothing was measured: sion-aligned/fsync/[0-9]*[KM]: the budget of 300 ms is too small for it$' said ||
    bad "it says: $(cat said)"
holds short 'the budget of 300 ms is too small for it'
holds short '"complete": true'
clean data
exit $failed
