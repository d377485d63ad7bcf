#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The report page of a sweep: each figure on the page is in results.json. $HPCGEN is the benchmark.
# shellcheck disable=SC2034 # of refuse.inc
PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
. "$HERE/browser.inc"
mkdir data
"$HPCGEN" data --out out --budget 60s --repeat 3 --ranks 4 --per-rank 20000 --quiet --blocksize 4K,64K \
    --layout sion-aligned,sion-packed,sion-shifted,task-local,shared-posix || bad "sweep fails"
"$HTML_CHECK" out/report.html out/results.json >said || bad "no sound page, or one with other figures"
charts=$(cut -d' ' -f1 said)
[ "$charts" -ge 8 ] || bad "expected 8 charts or more, got $charts"
drawn "$charts" out/report.html
narrow out/report.html
if command -v chromium >/dev/null && command -v python3 >/dev/null; then
    PYTHONPATH=$HERE/../support PYTHONDONTWRITEBYTECODE=1 timeout 100 python3 "$HERE/bench_marks.py" out/report.html >said 2>&1 ||
        bad "marks: $(cat said)"
fi
rates='Durable throughput'
grep -q '"type": "tmpfs"' out/results.json && rates='Throughput into memory'
for what in "$rates" 'Aligned against misaligned' 'Layouts side by side' 'Into the page cache' \
    'Comparison with the ceiling' 'Where the time goes' 'Raw samples' 'All points' 'How it was measured'; do
    grep -q "<h2 id=[^>]*>$what" out/report.html || bad "there is no section: $what"
done
if grep -q '"file_system_blocks": {' out/results.json; then
    grep -q '"badge counted">counted, not measured' out/report.html || bad "what was counted is not said to be"
fi

# The verdict is at the top, with a link to its evidence.
verdict=$(sed -n 's/^  "verdict": {.*"text": "\(.*\)",.*/\1/p; /^  "verdict": {$/{n;s/.*"text": "\(.*\)",/\1/p}' out/results.json)
sed -n '/<div class="findings">/,/<\/div>/p' out/report.html | grep -qF "<p>$verdict" || bad "the verdict is not on top: $verdict"

grep -q '<p>Measured with the data of .*4.* ranks from .*1.* process\.' out/report.html || bad "not on top: how many ranks and processes"

# The verdict begins with directory and host. Then follow one chart, an explanation of the page and its terms, and
# at the end the method.
case $verdict in
"On $PWD/data ("*", host $(uname -n), 20"*') '*) ;;
*) bad "the verdict does not say where: $verdict" ;;
esac
grep -o '<h2 id=[^>]*>[^<]*\|<figure' out/report.html | sed 's/.*>//; s/^<figure$/chart/' >order
[ "$(sed -n '1,3p' order | tr '\n' ,)" = "$rates,chart,What this is," ] || bad "another order at the begin: $(cat order)"
[ "$(tail -n 1 order)" = 'How it was measured' ] || bad "another order at the end: $(cat order)"
sed -n '/>What this is</,/<h2/p' out/report.html >words
for word in Aligned Ceiling Noisy 'Too small' Interval; do
    grep -q ">$word<" words || bad "a word is not explained: $word"
done

# Drawn again, the page is the same, wherever it is written.
"$HPCGEN" report out/results.json --output again.html || bad "report fails"
cmp out/report.html again.html || bad "another page"
refuse 1 '--output: expected a file for the page, got -: ./- is one of this name' "$HPCGEN" report out/results.json --output -
[ ! -e ./- ] || bad "a file is called -"
# The results are never replaced by their page, whatever name leads to them.
cp out/results.json kept.json
ln -s out/results.json link
for name in out/results.json out/../out/results.json link; do
    refuse 1 "$name: expected an output that is not read, got the input out/results.json: choose another name" \
        "$HPCGEN" report out/results.json --output "$name"
done
cmp kept.json out/results.json || bad "the results are gone"
# A FIFO is refused as input, without waiting for a writer.
mkfifo pipe
refuse 1 'pipe: expected a regular file, got a FIFO, a socket or a device' timeout -k 1 20 "$HPCGEN" report pipe
refuse 1 'pipe: expected a regular file, got a FIFO, a socket or a device' \
    timeout -k 1 20 "$HPCGEN" compare out/results.json pipe
for arguments in "report --help" "compare out/results.json out/results.json" "model --ranks 64 --blocksize 4K"; do
    # shellcheck disable=SC2086
    if "$HPCGEN" $arguments >/dev/full 2>said; then bad "status 0 without its output: $arguments"; fi
    [ "$(cat said)" = "hpcw-bench: standard output: cannot write" ] || bad "it says: $(cat said)"
done
rm out/report.html
"$HPCGEN" report out/results.json || bad "report fails without --output"
cmp out/report.html again.html || bad "it is not beside the results"
rm out/report.html
"$HPCGEN" report out || bad "report fails with the directory of the results"
cmp out/report.html again.html || bad "it is not in the directory"
"$HPCGEN" compare out/results.json out/results.json >files
"$HPCGEN" compare out out >said || bad "compare fails with directories"
cmp files said
mkdir nothing
refuse 1 'nothing/results.json: cannot open for reading: No such file or directory' "$HPCGEN" report nothing

# A killed sweep has no page; `report` makes it. The page begins with the statement that the sweep did not end.
"$HPCGEN" data --out killed --budget 60s --repeat 300 --ranks 4 --per-rank 20000 --quiet --blocksize 4K \
    --layout sion-aligned,sion-shifted --mode fsync &
sweep=$!
tries=0
while [ ! -e killed/results.json ] && [ $tries -lt 3000 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -9 $sweep
wait $sweep 2>/dev/null
rm -r data/.hpcw-bench.*
[ ! -e killed/report.html ] || bad "the sweep has ended before it was killed"
"$HPCGEN" report killed/results.json 2>said || bad "report of a killed sweep fails"
grep -q '"text": "The sweep was not ended, and this is of [0-9]* of its 900 runs: On ' killed/results.json ||
    bad "results.json does not begin with it: $(grep '"text"' killed/results.json)"
grep -q '<p>The sweep was not ended, ' killed/report.html || bad "the page does not begin with it"
narrow killed/report.html

# Points that failed or were left out are listed with the reason.
"$HPCGEN" report "$HERE/../fuzz/seeds/results/four-points.json" --output four.html 2>said || bad "report of a seed fails"
grep -q 'failed: shared.dat: cannot write: Invalid argument &lt;&amp;&gt;' four.html || bad "no reason of a failure"
grep -q 'left out: the budget of 120 s was over' four.html || bad "no reason of an omission"

file="$HERE"/../cluster/results/moosefs.json
"$HPCGEN" report "$file" --output moosefs.html || bad "report of $file fails"
"$HTML_CHECK" moosefs.html "$file" >/dev/null || bad "no sound page of $file, or one with other figures"

"$HPCGEN" report "$HERE/../fuzz/seeds/results/metadata.json" --output metadata.html || bad "report of a seed fails"
narrow metadata.html

# Text from results.json is escaped in HTML. Refused: statistics that do not follow from their samples, and files
# that are not results.
sed 's|"processor": "[^"]*"|"processor": "</script><script>alert(1)</script>"|' out/results.json >odd.json
"$HPCGEN" report odd.json --output odd.html || bad "report of odd text fails"
"$HTML_CHECK" odd.html >/dev/null || bad "odd text breaks the page"
# changed NAME SCRIPT PATTERN
changed() {
    sed "$2" out/results.json >"$1.json"
    refuse 1 "$1.json: $3" "$HPCGEN" report "$1.json" --output x
}
changed median '0,/"median": [0-9.]*/s//"median": 12345.5/' 'points*: expected * from its trials, got 12345.5'
changed trial '0,/"total_s": [0-9.]*/s//"total_s": 99.5/' 'points*: expected * from its trials*'
changed member 's/"budget_s"/"budget"/' 'run.budget_s: expected this member, got none'
changed more '0,/"repeat"/s//"extra": 1, "repeat"/' 'run.extra: expected no member of this name, or only one'
changed words '0,/"layout": "sion-aligned"/s//"layout": "sion"/' 'points?0?.layout: expected one of the words*'
changed twins 's/"twin": "[^"]*"/"twin": "nobody"/' 'points*.twin: expected the id of another point, or null'
changed broken 's/^  "points": \[/  "points": \[[/' 'expected one JSON object, *'
refuse 1 'missing: cannot open for reading: *' "$HPCGEN" report missing
refuse 1 'nowhere/x: *' "$HPCGEN" report out/results.json --output nowhere/x
[ ! -e x ] || bad "something is left"

# Compares a sweep with itself and with another machine.
sed 's|"processor": "[^"]*"|"processor": "other one"|; s|sion-packed/fsync/64K|sion-packed/fsync/65K|' \
    out/results.json >other.json
"$HPCGEN" compare out/results.json other.json >said || bad "compare fails"
"$HPCGEN" compare out/results.json other.json --json >pairs.json || bad "compare --json fails"
"$JSON_CHECK" pairs.json || bad "pairs.json is no JSON"
grep -q '^other processor: .*, other one$' said || bad "the other processor is not said"
grep -q '^other.json: sion-packed/fsync/65K: only in this file$' said || bad "the point without a partner is not said"
# The points are too small to be compared.
grep -q '^out/results.json: sion-aligned/fsync/4K: too small: [0-9.]* KiB in [0-9.]* [mu]*s, expected 256.0 MiB and 40.0 ms$' said || bad "too small points are not named: $(cat said)"
[ "$(tail -n 1 said)" = \
    'nothing can be said: no point counts in both sweeps; some points are too small: use a larger --per-rank for both sweeps' ] || bad "last line: $(tail -n 1 said)"
"$HPCGEN" data --out large --budget 60s --repeat 3 --ranks 4 --per-rank 20000 --quiet --blocksize 4K,64K --mode fsync \
    --layout sion-aligned,sion-packed,task-local --least-bytes 1 --least-time 1us || bad "sweep with small limits fails"
"$HPCGEN" compare large/results.json large/results.json >said || bad "compare fails"
grep -q '^sion-aligned/fsync/4K .* +0.0 % .*no difference shown' said || bad "a point differs from itself: $(cat said)"
grep -q '^task-local  *[1-9].* +0.0 % .*no difference shown' said || bad "a layout differs from itself: $(cat said)"
grep -q '^plain writes  *[1-9].* +0.0 % .*no difference shown' said || bad "plain writes differ from themselves"
case $(tail -n 1 said) in
# The scatter of these short runs decides which line is printed. test_bench_compare checks each line.
'no difference was shown; differences above '*' % in a layout'*' would have been seen') ;;
'nothing can be said: too few runs of a point (expected 5 or more, got 3); use --repeat 5 for both sweeps') ;;
'nothing can be said: '*' points of '*' layouts are too few to show how sweeps scatter; use more block sizes'*) ;;
*) bad "last line: $(tail -n 1 said)" ;;
esac
refuse 1 'missing: cannot open for reading: *' "$HPCGEN" compare out/results.json missing
exit $failed
