#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Metadata rates: operations, output, and no files remain. $HPCGEN is the benchmark; $MPIEXEC may be empty.
# shellcheck disable=SC2034 # of refuse.inc
PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data

# rates OUTPUT ARGS...
rates() {
    out=$1
    shift
    $launch "$HPCGEN" metadata data --out "$out" --repeat 5 "$@" >table || bad "fails: $launch $*"
    "$JSON_CHECK" "$out/results.json" || bad "$out/results.json is no JSON"
    [ -z "$(ls -A data)" ] || bad "data remain: $(ls -A data)"
}

for launch in '' ${MPIEXEC:+"timeout 100 $MPIEXEC -n 3"}; do
    name=out${launch:+3}
    rates "$name" --tasks 40,5
    # The CSV has 2 layouts and 2 task counts in ascending order, each with 4 operations and 5 runs.
    [ "$(grep -c . "$name/results.csv")" -eq $((1 + 2 * 2 * 4 * 5)) ] || bad "other rows: $(cat "$name/results.csv")"
    [ "$(tail -n +2 "$name/results.csv" | cut -d, -f1,2 | uniq | tr '\n' ' ')" = \
        'task-local,5 sion-aligned,5 task-local,40 sion-aligned,40 ' ] || bad "other order: $(cat "$name/results.csv")"
    [ "$(head -n 1 "$name/results.csv" | tr -d '\r')" = \
        layout,tasks,operation,repetition,seconds,tasks_per_second,others_processors ] || bad "other columns"
    # tasks_per_second is tasks divided by seconds.
    tail -n +2 "$name/results.csv" | awk -F, '{ r = $2 / $5 / $6 } r < 0.999999 || r > 1.000001 || $5 <= 0' >odd
    [ ! -s odd ] || bad "rates that the seconds do not give: $(cat odd)"
    case $(tail -n 1 table) in
    'On '"$PWD"'/data ('*', host '*') with 40 tasks, and compared with a file for each, one container is created '*' and opened '*) ;;
    *) bad "last line: $(tail -n 1 table)" ;;
    esac
done

# The page has one chart, and a second report gives the same page.
if [ -f out/report.html ]; then
    "$HTML_CHECK" out/report.html out/results.json >said || bad "no sound page, or one with other figures"
    [ "$(cut -d' ' -f1 said)" -eq 1 ] || bad "expected 1 chart, got $(cat said)"
    "$HPCGEN" report out/results.json -O again.html || bad "report fails"
    cmp out/report.html again.html || bad "another page"
    sed '0,/"unlink_s": [0-9.e-]*/s//"unlink_s": 9/' out/results.json >odd.json
    refuse 1 'odd.json: metadata*unlink: expected * from its trials, got *' "$HPCGEN" report odd.json -O x
fi

# With a single run, the noise is unknown, so there is no verdict.
"$HPCGEN" metadata data --out once --repeat 1 --tasks 5 >table || bad "fails with one run"
[ "$(tail -n 1 table | sed 's/.*) nothing/nothing/')" = 'nothing can be said: expected 5 runs or more, got 1; use a larger --repeat' ] ||
    bad "last line: $(tail -n 1 table)"

# A file system with few inodes: results of 5 tasks are kept, the failure of 200 tasks is named, and 1000 tasks are
# not tried.
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16m,nr_inodes=100 none small 2>/dev/null; then
    "$HPCGEN" metadata small --out inodes --repeat 5 --tasks 5,200,1000 >table 2>said
    got=$?
    [ "$(ls -A small)" = '' ] || bad "data remain: $(ls -A small)"
    umount small
    [ $got -eq 1 ] && [ ! -s said ] || bad "status $got where inodes are missing: $(cat said)"
    "$JSON_CHECK" inodes/results.json || bad "inodes/results.json is no JSON"
    grep -q '^task-local files *5 *[0-9]' table || bad "5 tasks are lost: $(cat table)"
    grep -q '^one container *200 *failed' table || bad "200 tasks have not failed: $(cat table)"
    grep -q '^failed, 200 tasks: small/.*: cannot create: No space left on device$' table || bad "no reason: $(cat table)"
    grep -q '^failed, 1000 tasks: not tried, as 200 tasks failed$' table || bad "no word of 1000 tasks: $(cat table)"
    case $(tail -n 1 table) in
    'On '*' with 5 tasks, '*) ;;
    *) bad "last line: $(tail -n 1 table)" ;;
    esac
    [ ! -f inodes/report.html ] || "$HPCGEN" report inodes/results.json -O again.html || bad "report fails"
fi

# The budget has no time for 5000 tasks: this is reported, but is no failure.
rates short --tasks 5:5000:x10 --budget 100ms
grep -q '^task-local files *5000 .*no time' table || bad "5000 tasks in 0.1 s: $(cat table)"
refuse 1 'nowhere: cannot*' "$HPCGEN" metadata nowhere --out four
refuse 2 '--tasks: *' "$HPCGEN" model --tasks 5
refuse 1 'short/results.json: expected the results of a sweep, got those of metadata' \
    "$HPCGEN" compare short/results.json short/results.json
[ ! -e four ] || bad "a refused run leaves its directory"
exit $failed
