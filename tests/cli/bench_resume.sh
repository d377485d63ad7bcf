#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A killed sweep can be resumed: it keeps its measurements and repeats none. Also --dry-run and --json. $HPCGEN is
# the benchmark, $MPIEXEC may be empty.
export PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data

set -- --budget 300s --repeat 6 --ranks 4 --per-rank 3000000 --record 50000 --blocksize 4K,64K --files 1 --mode fsync \
    --layout sion-aligned,sion-shifted,task-local --least-bytes 1 --least-time 1us

# --dry-run prints the plan of a sweep and writes nothing.
"$HPCGEN" data "$@" --out out --dry-run >plan || bad "--dry-run fails"
[ -z "$(ls -A data)" ] && [ ! -e out ] || bad "--dry-run writes: $(ls -A data)"
cat >expected <<ENDE
sion-aligned/fsync/4K          11.4 MiB      1
sion-aligned/fsync/64K         11.4 MiB      1
sion-shifted/fsync/4K          11.4 MiB      1
sion-shifted/fsync/64K         11.4 MiB      1
task-local/fsync/records-50000      11.4 MiB      4
ENDE
grep '^[a-z-]*/fsync' plan | tr -s ' ' >points
tr -s ' ' <expected | diff - points >said || bad "other points are planned: $(cat said)"
grep -q "^where: $PWD/data (.*, blocks of [0-9]* B), from 1 process on 1 host\$" plan || bad "not where: $(cat plan)"
grep -q '^runs: 6 of each of 5 points and of its ceiling, after a warm-up run$' plan || bad "no runs: $(cat plan)"
# 801.1 MiB: 5 points and their ceilings, 7 runs each, with the warm-up run.
grep -qx 'writes: about 801.1 MiB in all, and about 11.4 MiB in 4 files at any time' plan || bad "no bytes: $(cat plan)"
grep -qx 'space: [0-9.]* [KMGTP]iB free; a run fits' plan || bad "no space: $(cat plan)"
grep -q '^time: at most 5 min 00 s (--budget)$' plan || bad "no time: $(cat plan)"
grep -q '^assumed: plain writes of 1.1 GB/s, and runs that take 2.5 times as long; a slower file system gets ' plan || bad "no speed: $(cat plan)"
grep -q '^warning' plan && bad "a warning: $(cat plan)"
"$HPCGEN" data "$@" --out out --dry-run --max-bytes 1M >plan || bad "--dry-run fails with little space"
grep -q '^warning: .*/data: expected [0-9]* bytes of --max-bytes for a run, got 1048576 ' plan || bad "no warning: $(cat plan)"
grep -q '^space: .* free; a run does not fit into --max-bytes$' plan || bad "it does not say what a run does not fit into: $(cat plan)"
# Only exact byte counts are printed, if the numbers would look equal as rounded sizes.
"$HPCGEN" data "$@" --out out --dry-run --per-rank 64M --ranks 64 >plan || bad "--dry-run fails with 64 ranks of 64 MiB"
grep -q '^warning: .*/data: expected 42[0-9]* bytes of [-a-z ]* for a run, got 4294967296; use a smaller --per-rank or ' plan ||
    grep -q 'bytes of free space' plan || bad "another warning: $(cat plan)"
# The example of doc/bench.md that compares two sweeps fits into --max-bytes, and has at least 12 points, not only
# the 6 about the block size.
options=$(sed -n 's/^    hpcw-bench DIR --out before \(.*\) && .*/\1/p' "$HERE/../../doc/bench.md")
# shellcheck disable=SC2086 # several options
"$HPCGEN" data $options --out out --dry-run >plan || bad "the comparison of doc/bench.md cannot be planned: $options"
! grep -q -e 'into --max-bytes$' plan && [ "$(grep -c '^sion-aligned/fsync/\|^sion-shifted/fsync/' plan)" -ge 12 ] ||
    bad "the comparison of doc/bench.md with $options: $(cat plan)"
# Runs below --least-bytes are too small to be compared: the plan and the sweep both say so.
"$HPCGEN" data "$@" --out out --dry-run --least-bytes 16M >plan || bad "--dry-run fails with a small --per-rank"
small='--per-rank: runs of 11.4 MiB are below --least-bytes, 16.0 MiB, and no point will be compared; use a larger --per-rank or a smaller --least-bytes'
grep -qxF "warning: $small" plan || bad "no warning of small runs: $(cat plan)"
"$HPCGEN" data "$@" --out small --repeat 1 --least-bytes 16M >table 2>progress || bad "a sweep of small runs fails"
grep -qxF "hpcw-bench: $small" progress || bad "the sweep does not say that its runs are small: $(cat progress)"
# A short sweep first measures the speed and makes its runs as small as needed. So too little space is a problem
# only if the file system is fast.
"$HPCGEN" data --out out --dry-run --budget 10s --max-bytes 128M >plan || bad "--dry-run fails with a short budget"
grep -q '^warning: if plain writes are faster than 1.[0-9]* GB/s: .*/data: expected .* of [-a-z ]* for runs of 256.0 MiB (--least-bytes), ' plan ||
    bad "no warning for a fast file system: $(cat plan)"
# The plan has the points that fit into the budget, as the sweep has. At the assumed speed, a run and its ceiling
# take 56 ms. Points about the block size need time for 6 runs, others for 7.
"$HPCGEN" data "$@" --out out --dry-run --budget 1900ms >plan || bad "--dry-run fails with a short budget"
grep -q '^runs: 6 of each of 4 points ' plan || bad "the plan has points that do not fit: $(cat plan)"
grep -qx 'left out, the budget of 1.90 s is too small for it: task-local/fsync/records-50000' plan || bad "not left out: $(cat plan)"
"$HPCGEN" data "$@" --out out --dry-run --budget 1900ms --max-bytes 1M --json >plan.json || bad "--dry-run --json fails"
python3 - plan.json <<'ENDE' || bad "another plan in JSON: $(cat plan.json)"
import json, sys
plan = json.load(open(sys.argv[1]))
assert (plan["format"], plan["version"], plan["repeat"], plan["budget_s"]) == ("hpcw-bench plan", 1, 6, 1.9)
assert plan["points"][0] == {"id": "sion-aligned/fsync/4K", "bytes": 12000000, "files": 1} and len(plan["points"]) == 4
assert [point["id"] for point in plan["left_out"]] == ["task-local/fsync/records-50000"]
assert (plan["bytes"], plan["most_bytes"], plan["most_files"]) == (2 * 4 * 7 * 12000000, 12000000, 1)
assert len(plan["warnings"]) == 1 and "--max-bytes" in plan["warnings"][0]
assert plan["free_bytes"] > 0 and plan["fits"] is False
ENDE
# A plan without points fails, as the sweep does. If space and time are both too small, the message names the space.
refuse 1 '*/data: nothing would be measured: sion-aligned/fsync/4K: the budget of 100 ms is too small for it' \
    "$HPCGEN" data "$@" --out out --dry-run --budget 100ms
refuse 1 '*/data: expected * bytes of *, got *; use a smaller --per-rank or *' \
    "$HPCGEN" data --out out --dry-run --per-rank 2G --max-bytes 1G
# Without --per-rank, the size of the runs follows from the assumed speed. A budget of 60 s has no time for all
# points.
"$HPCGEN" data --out out --dry-run --budget 60s --json >plan.json || bad "--dry-run --json fails"
python3 - plan.json <<'ENDE' || bad "another plan in JSON: $(cat plan.json)"
import json, sys
plan = json.load(open(sys.argv[1]))
assert 6 <= len(plan["points"]) < len(plan["left_out"]) and 5 <= plan["repeat"] <= 30
ENDE
"$HPCGEN" data --out out --dry-run --budget 10s --max-bytes 128M --least-bytes 256M >plan || bad "--dry-run fails"
grep -q '^warning: .*/data: expected .* for runs of 256.0 MiB (--least-bytes), ' plan || bad "no warning: $(cat plan)"
! grep -q '"type": "tmpfs"' small/results.json || grep -q '^tmpfs is memory: ' plan || bad "memory is not called so: $(cat plan)"

# trials FILE: prints a line for each run of a layout or ceiling in the results
trials() {
    grep '{"repetition": ' "$1" | sed 's/^ *//; s/,$//' | LC_ALL=C sort
}
# until_runs N: waits until the results have N runs and their ceilings
until_runs() {
    tries=0
    while [ "$(trials out/results.json 2>/dev/null | wc -l)" -lt $((2 * $1)) ] && [ $tries -lt 3000 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
}
# end SIGNAL PROCESS: sends the signal to a process of the sweep, then waits for the sweep
end() {
    kill -s "$1" "$2" 2>/dev/null || bad "the sweep has ended before it is killed"
    wait $sweep 2>/dev/null
}
# After a resume, the results contain each earlier run byte for byte. Each point has each repetition once.
whole() {
    trials out/results.json >after
    [ -z "$(LC_ALL=C comm -23 before after)" ] || bad "runs are gone: $(LC_ALL=C comm -23 before after)"
    [ "$(wc -l <after)" -eq 60 ] || bad "expected 60 runs, got $(wc -l <after)"
    [ "$(sed 's/.*"order": \([0-9]*\),.*/\1/' after | sort -n | uniq -d)" = "" ] || bad "two runs have one number"
    for repetition in 1 2 3 4 5 6; do
        [ "$(grep -c "\"repetition\": $repetition," after)" -eq 10 ] || bad "repetition $repetition is not there ten times"
    done
    grep -q '"complete": true' out/results.json || bad "not complete"
    grep -q '"stopped": null' out/results.json || bad "stopped"
    [ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"
}

"$HPCGEN" data "$@" --out out --quiet 2>err &
sweep=$!
until_runs 7
end KILL $sweep
trials out/results.json >before
runs=$(($(wc -l <before) / 2))
# The plan names the kept runs and counts the bytes still to write: each point makes its missing runs and a warm-up
# run.
"$HPCGEN" data "$@" --out out --resume --dry-run --json >plan.json 2>progress || bad "--resume --dry-run fails: $(cat progress)"
grep -qx "hpcw-bench: out: $runs of 30 runs kept, $((30 - runs)) to do, each with its ceiling" progress || bad "the plan does not say what is kept: $(cat progress)"
grep -qx "  \"bytes\": $((2 * (35 - runs) * 12000000))," plan.json || bad "other bytes to do after $runs runs: $(cat plan.json)"
trials out/results.json | cmp - before || bad "--dry-run changes results"
"$HPCGEN" data "$@" --out out --resume >table 2>progress || bad "--resume fails: $(cat progress)"
grep -q "^hpcw-bench: out: $runs of 30 runs kept, $((30 - runs)) to do, each with its ceiling\$" progress || bad "no runs kept: $(cat progress)"
grep -q 'removed: a run that was killed left it' progress || bad "the data of the killed run are not removed"
whole
tail -n 1 table | grep -q '^On ' || bad "no verdict after a resume: $(cat table)"
# A complete sweep has nothing left to measure.
cp after before
"$HPCGEN" data "$@" --out out --resume >table 2>progress || bad "a complete sweep cannot be resumed"
grep -q '^hpcw-bench: out: 30 of 30 runs kept, 0 to do,' progress || bad "no runs kept: $(cat progress)"
"$HPCGEN" data "$@" --out out --resume --dry-run >plan 2>progress || bad "a complete sweep cannot be planned"
grep -q '^writes: about 0 B in all, ' plan || bad "the plan of a complete sweep writes: $(cat plan)"
refuse 1 'out: expected the name of a new directory for the results, got one that exists' "$HPCGEN" data "$@" --out out
whole

# The directory is renamed during a sweep, and another gets its name. The sweep goes on in the first one, and does not
# touch the other.
rm -r out
"$HPCGEN" data "$@" --out out >table 2>err &
sweep=$!
until_runs 1
mv out renamed
mkdir out
wait $sweep || bad "a sweep fails if its directory is renamed: $(cat err)"
grep -qx 'hpcw-bench: out: this directory was renamed during the sweep, and has the results under its new name' err ||
    bad "it does not say where its results are: $(cat err)"
[ -d out ] || bad "a sweep removes another directory"
[ -z "$(ls -A out)" ] || bad "a sweep writes into another directory: $(ls -A out)"
: >before
mv renamed/results.json renamed/results.csv out
whole

# The directory is removed during a sweep, and another gets its name. The sweep fails.
rm -r out
"$HPCGEN" data "$@" --out out --quiet 2>err &
sweep=$!
until_runs 1
mv out removed
mkdir out
until rm -r removed 2>/dev/null; do # the sweep may make a file meanwhile
    sleep 0.01
done
wait $sweep && bad "a sweep whose directory was removed succeeds"
grep -q '^hpcw-bench: out/results.[a-z]*: cannot .*: No such file or directory' err || bad "not why: $(cat err)"
[ -d out ] || bad "a sweep removes another directory"
[ -z "$(ls -A out)" ] || bad "a sweep writes into another directory: $(ls -A out)"
[ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"

# The sweep is killed twice. At the first start, --resume finds nothing to keep.
rm -r out
mkdir out
"$HPCGEN" data "$@" --out out --resume --quiet 2>err &
sweep=$!
until_runs 1
end KILL $sweep
trials out/results.json >first
# Two at once would replace each other's results.
"$HPCGEN" data "$@" --out out --resume --quiet 2>err &
sweep=$!
until_runs $(($(wc -l <first) / 2 + 2))
refuse 1 'out: another sweep is running, and writes its results here' "$HPCGEN" data "$@" --out out --resume --quiet
end KILL $sweep
trials out/results.json >first
"$HPCGEN" data "$@" --out out --resume --quiet 2>err &
sweep=$!
until_runs $(($(wc -l <first) / 2 + 4))
end KILL $sweep
trials out/results.json >before
[ -z "$(LC_ALL=C comm -23 first before)" ] || bad "runs of the first sweep are gone after the second"
"$HPCGEN" data "$@" --out out --resume --json >json 2>err || bad "the third start fails: $(cat err)"
whole
cmp json out/results.json || bad "--json prints something else"

if [ -n "$MPIEXEC" ]; then
    ! timeout 100 "$MPIEXEC" -n 2 "$HPCGEN" data "$@" --out out --resume --quiet 2>err || bad "other processes go on"
    grep -qF 'out: processes: expected "1 on 1 host" as in the interrupted sweep, got "2 on 1 host"' err ||
        bad "nothing is said of other processes: $(cat err)"
    rm -r out
    # One process is killed, and the launcher ends the other.
    # shellcheck disable=SC2016 # the inner shell expands it
    timeout 100 "$MPIEXEC" -n 2 sh -c 'echo $$ >>pids; exec "$0" "$@"' "$HPCGEN" data "$@" --out out --quiet 2>err &
    sweep=$!
    until_runs 5
    end KILL "$(head -n 1 pids)"
    trials out/results.json >before
    # The command to go on names the number of processes, but no launcher: it may be mpirun, srun or another one.
    if "$HPCGEN" report out/results.json 2>said; then
        grep -qF "; to go on with 2 processes: hpcw-bench $* $PWD/data --out out --resume" said || bad "report says nothing of two processes: $(cat said)"
    fi
    timeout 100 "$MPIEXEC" -n 2 "$HPCGEN" data "$@" --out out --resume --quiet 2>err || bad "two processes do not go on: $(cat err)"
    whole
fi

# An interrupted sweep prints how many runs it made, and the command to go on. So does `report`. The report page has
# the command with the full path.
rm -r out
"$HPCGEN" data "$@" --out out >table 2>progress &
sweep=$!
until_runs 1
end TERM $sweep
runs=$(($(trials out/results.json | wc -l) / 2))
go_on="hpcw-bench $* $PWD/data --out"
grep -qxF "hpcw-bench: interrupted after $runs of 30 runs; to go on: $go_on out --resume" progress || bad "it does not say how to go on: $(cat progress)"
grep -qF "and this is of $runs of its 30 runs: On " table || bad "the verdict does not say how much was done: $(cat table)"
if [ -f out/report.html ]; then
    "$HPCGEN" report out/results.json 2>said || bad "report of an interrupted sweep fails"
    grep -qxF "hpcw-bench: out/results.json: the sweep was interrupted (signal 15), and these are $runs of its 30 runs; to go on: $go_on out --resume" said ||
        bad "report does not say how to go on: $(cat said)"
    grep -qF "the page shows $runs of its 30 runs; to go on: $go_on $PWD/out --resume" out/report.html || bad "nor does the page"
fi
refuse 1 'out: options: expected "*" as in the interrupted sweep, got "* --verify"' \
    "$HPCGEN" data "$@" --verify --out out --resume --quiet
mkdir more
sed 's/"repeat": 6,/"repeat": 600,/' out/results.json >more/results.json
refuse 1 'more: expected the points and repetitions of this sweep, got others' "$HPCGEN" data "$@" --out more --resume --quiet
refuse 1 'out: expected the name of a new directory *, got one that exists; to go on with its interrupted sweep, add --resume' \
    "$HPCGEN" data "$@" --out out
refuse 1 '--resume: expected --out DIR, *' "$HPCGEN" data "$@" --resume
refuse 1 '--resume: expected --out DIR, *' "$HPCGEN" data "$@" --resume --dry-run
# --resume replaces no file that a sweep did not write, and no target of a link.
resume() { # NAME
    timeout -k 1 60 "$HPCGEN" data --resume --out "$@" --quiet
}
for name in results.csv report.html; do
    mkdir foreign
    echo mine >foreign/$name
    refuse 1 "foreign/$name: expected the file of an interrupted sweep, got one without results.json: choose another --out" resume foreign "$@"
    [ "$(cat foreign/$name)" = mine ] || bad "somebody else's $name is replaced"
    rm -r foreign
    cp -r out linked
    rm -f linked/$name
    echo mine >elsewhere
    ln -s ../elsewhere linked/$name
    refuse 1 "linked/$name: expected the file of an interrupted sweep, got no regular file: choose another --out" resume linked "$@"
    [ "$(cat elsewhere)" = mine ] || bad "what the link $name leads to is replaced"
    rm -r linked
done
mkdir linked
ln -s ../nowhere linked/results.json
refuse 1 'linked/results.json: expected the file of an interrupted sweep, got no regular file: choose another --out' resume linked "$@"
[ ! -e nowhere ] || bad "results are written through a link"
mkfifo linked/pipe
mv linked/pipe linked/results.json
refuse 1 'linked/results.json: expected the file of an interrupted sweep, got no regular file: choose another --out' resume linked "$@"
refuse 1 'linked/results.json: expected the file of an interrupted sweep, got no regular file: choose another --out' resume linked "$@" --dry-run
rm linked/results.json
: >linked/results.json
refuse 1 'linked/results.json: expected the results of a sweep, got an empty file: choose another --out' resume linked "$@"
refuse 1 'elsewhere: expected the directory of an interrupted sweep, got something else: choose another --out' resume elsewhere "$@"
mkdir other
refuse 1 'out: directory: expected "*/data" as in the interrupted sweep, got "*/other"' \
    "$HPCGEN" other "$@" --out out --resume --quiet

# A sweep that is stopped for 4 s after five rounds makes fewer rounds than planned, and says so.
rm -r out
"$HPCGEN" data --out out --budget 4s --ranks 4 --per-rank 3000000 --blocksize 4K --files 1 --mode fsync \
    --layout sion-aligned,sion-shifted --least-bytes 1 --least-time 1us >table 2>progress &
sweep=$!
until_runs 10
kill -s STOP $sweep 2>/dev/null
sleep 4
kill -s CONT $sweep 2>/dev/null
if wait $sweep; then
    planned=$(sed -n 's/^hpcw-bench: plan: \([0-9]* points, [0-9]* rounds\) .*/\1/p' progress)
    rounds=${planned#*, }
    made=$(sed -n 's/^ *"repeat": \([0-9]*\),$/\1/p' out/results.json)
    [ "$made rounds" = "$rounds" ] || # on a machine that has no time for more than five
        grep -qx "hpcw-bench: measured: [0-9]* points, $made rounds; planned: $planned" progress ||
        bad "another plan was kept to: $(cat progress)"
else # a busy disk
    grep -q 'nothing was measured: .*: the budget of 4.00 s is too small for it$' progress || bad "the sweep fails: $(cat progress)"
fi
# A sweep that fails removes its empty directory, but not one that existed.
mkdir kept
for dir in kept new; do
    prlimit --fsize=1000 "$HPCGEN" data --out $dir --resume --budget 5s --repeat 3 --ranks 2 --per-rank 100 --blocksize 4K \
        --layout task-local --mode fsync --least-bytes 1 --quiet 2>said && bad "results larger than a file may be are written: $dir"
    grep -q "$dir/results.json: cannot write" said || bad "it says: $(cat said)"
done
[ -d kept ] || bad "an older directory is gone"
[ ! -e new ] || bad "a new directory is left"
exit $failed
