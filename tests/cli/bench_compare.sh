#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares two sweeps and checks the output. Which differences are found is checked elsewhere: by test_bench_compare
# with made-up measurements, and by bench_check.sh. $HPCGEN is the benchmark.
export PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data
# sweep OUTPUT
sweep() {
    "$HPCGEN" data --out "$1" --budget 100s --repeat 3 --ranks 8 --per-rank 40000 --record 4000 --blocksize 4K --files 1 \
        --layout sion-aligned,sion-packed,task-local,shared-posix --mode buffered --least-bytes 1 --least-time 1us \
        --quiet || bad "sweep $1 fails"
}
sweep first
sweep second
"$HPCGEN" compare first/results.json second/results.json >equal || bad "compare fails"
grep -q 'task-local  *1  ' equal || bad "the layouts are not compared: $(cat equal)"
"$HPCGEN" compare first/results.json second/results.json --json >equal.json || bad "compare --json fails"
"$JSON_CHECK" equal.json || bad "no JSON"
grep -q '"layout": "task-local", "points": 1, .*"verdict": "' equal.json || bad "not in the JSON: $(cat equal.json)"

# Each change in the table follows from the two ratios in its row, or from the two rates of plain writes.
cat >follows.py <<'ENDE'
import json, re, sys
rows = [re.split("  +", line.strip()) for line in open("equal")]
points = [row for row in rows if "/buffered/" in row[0]]
layouts = [row for row in rows if row[0] in ("sion-aligned", "sion-packed", "task-local", "shared-posix", "plain writes")]
assert len(points) == 4 and len(layouts) == 5
for name, first, second, change in [(r[0], r[2], r[4], r[5]) for r in points] + [(r[0], r[2], r[3], r[4]) for r in layouts]:
    first, second, change = (float(text.split()[0]) for text in (first, second, change))
    assert abs(100 * (second / first - 1) - change) < 0.05 + 0.15 * second / first, name
said = json.load(open("equal.json"))
for at in said["points"] + said["layouts"]:
    assert abs(at["second_ratio"] / at["first_ratio"] - 1 - at["change"]) < 1e-9
ENDE
python3 follows.py || bad "a change is not that of the figures: $(cat equal)"

# A killed sweep is named in the first line and at the begin of the verdict, in text and in JSON.
sed 's/"stopped": null/"stopped": "not ended"/' second/results.json >killed.json
"$HPCGEN" compare first/results.json killed.json >said || bad "compare fails with a killed sweep"
[ "$(head -n 1 said)" = 'killed.json: the sweep was not ended, and this is of 12 of its 12 runs' ] || bad "first line: $(cat said)"
tail -n 1 said | grep -q '^the second sweep was not ended, and this is of 12 of its 12 runs; ' || bad "last line: $(cat said)"
"$HPCGEN" compare killed.json second/results.json --json >said || bad "compare fails with a killed sweep"
grep -q '"verdict": "the first sweep was not ended, and this is of 12 of its 12 runs; ' said || bad "not in the JSON: $(cat said)"

# Machine names with bytes that control a terminal: ESC, U+009B, and a byte that is not UTF-8. All other text stays.
esc=$(printf '\033') csi=$(printf '\302\233') byte=$(printf '\233')
sed "s/\"processor\": \".*\"/\"processor\": \"a\\\\u001b[31m${csi}2J${byte}2J\\\\u0007 µ b\"/" second/results.json >wild.json
"$HPCGEN" compare first/results.json wild.json >wild || bad "compare fails with a wild name"
grep -q 'other processor: .*, a?\[31m??2J?2J? µ b$' wild || bad "another name: $(head -n 1 wild | od -c | head)"
grep -q -e "$esc" -e "$csi" -e "$byte" wild && bad "a file commands the terminal: $(od -c wild | head)"
sed 's/"processors"/"\\u001b[2Jprocessors": 1, &/' second/results.json >wild.json
refuse 1 'wild.json: machine.[?][[]2Jprocessors: expected no member of this name, *' "$HPCGEN" compare first/results.json wild.json
exit $failed
