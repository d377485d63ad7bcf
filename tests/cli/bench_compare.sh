#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Of two sweeps, one with a layout that writes a hundred times slower: compare names it. Into the page cache, so that no
# disk decides. $HPCGEN is the benchmark, $SLOW_WRITES the library that delays.
export PROGRAM=hpcw-bench
. "$HERE/refuse.inc"
mkdir data
# sweep OUTPUT
sweep() {
    "$HPCGEN" data --out "$1" --budget 100s --repeat 7 --ranks 8 --per-rank 40000 --record 4000 --blocksize 4K --files 1 \
        --layout sion-aligned,sion-packed,task-local,shared-posix --mode buffered --least-bytes 1 --least-time 0s \
        --quiet || bad "sweep $1 fails"
}
sweep first
sweep second
"$HPCGEN" compare first/results.json second/results.json >equal || bad "compare fails"
grep -q 'task-local  *1  ' equal || bad "the layouts are not compared: $(cat equal)"

# Names of a machine that command a terminal: ESC, U+009B, a byte that is no UTF-8. All else stays.
esc=$(printf '\033') csi=$(printf '\302\233') byte=$(printf '\233')
sed "s/\"processor\": \".*\"/\"processor\": \"a\\\\u001b[31m${csi}2J${byte}2J\\\\u0007 µ b\"/" second/results.json >wild.json
"$HPCGEN" compare first/results.json wild.json >wild || bad "compare fails with a wild name"
grep -q 'other processor: .*, a?\[31m??2J?2J? µ b$' wild || bad "another name: $(head -n 1 wild | od -c | head)"
grep -q -e "$esc" -e "$csi" -e "$byte" wild && bad "a file commands the terminal: $(od -c wild | head)"
sed 's/"processors"/"\\u001b[2Jprocessors": 1, &/' second/results.json >wild.json
refuse 1 'wild.json: machine.[?][[]2Jprocessors: expected no member of this name, *' "$HPCGEN" compare first/results.json wild.json

# A library in front of that of the sanitizers, which want to be the first.
ldd "$HPCGEN" | grep -q -e asan -e tsan && exit $failed
export SLOW_PERCENT=10000 SLOW_MOST=4000
# On a machine that does other work, compare says that it sees nothing: then once more.
for try in 1 2 3; do
    rm -rf second slow
    sweep second
    export LD_PRELOAD="$SLOW_WRITES"
    sweep slow
    unset LD_PRELOAD
    "$HPCGEN" compare second/results.json slow/results.json >said || bad "compare fails"
    if grep -q '^task-local  *1  *-.* slower$' said; then break; fi
done
grep -q '^task-local  *1  *-.* slower$' said || bad "the slow layout is not found in $try sweeps: $(cat said)"
tail -n 1 said | grep -q 'slower: task-local (-[0-9]* %, between .*); ' ||
    bad "last line: $(tail -n 1 said)"
"$HPCGEN" compare second/results.json slow/results.json --json >said.json || bad "compare --json fails"
"$JSON_CHECK" said.json || bad "no JSON"
grep -q '"layout": "task-local", "points": 1, .*"verdict": "slower"' said.json || bad "not in the JSON: $(cat said.json)"
exit $failed
