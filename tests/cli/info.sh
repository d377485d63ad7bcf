#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `hpcgen info --json` has exactly the members listed in the tables of doc/info.md.
page=$HERE/../../doc/info.md
. "$HERE/refuse.inc"

# Prints the members that a section of the page lists in the first column of its tables. Usage: listed SECTION
listed() {
    awk -v section="## $1" '
        /^## / { on = $0 == section }
        on && /^\| `/ { split($0, cell, "|"); print cell[2] }' "$page" | grep -o '`[^`]*`' | tr -d '`' | sort -u
}

# Prints the members in the output of info for some files. Usage: printed FILE...
printed() {
    for path; do
        "$HPCGEN" info --json "$path" >info.json || bad "info $path fails"
        "$JSON_CHECK" --members info.json || bad "info $path prints no JSON"
    done | sort -u
}

# Usage: same SECTION FILE...
same() {
    section=$1
    shift
    echo "$section" >>compared
    # Members below `tree` and of statistics have names from the file, so doc/info.md does not list them.
    { printf 'file\nformat\n' && listed "$section"; } | sort -u >listed
    printed "$@" | grep -v -E '^tree\.|^(phases\[\]\.(Object|Rank)_(load|comm)|container)\.' >got
    diff listed got || bad "$section: the page (<) and the program (>) differ"
}

set -- --scale tiny --quiet --ranks 16 --seed 1
"$HPCGEN" "$@" --out set --set linktest.all_to_all=true --set trace.skew=5000 --set load.sigma_first=0 \
    --set load.sigma_last=0 --set load.setup_sigma=0 --set load.fill=1 \
    --workload hydro ||
    bad "generate fails"
same SION set/sion/particles.sion
same LinkTest set/linktest/*.sion
# The last rank lacks phases, which gives a warning.
cp -r set/vom uneven
"$HPCGEN" rewrite set/vom/data.15.json.br short.json.br --last-phase 2 --quiet && mv short.json.br uneven/data.15.json.br ||
    bad "rewrite fails"
same VOM uneven set/vom/data.3.json.br
same CLOG-2 set/clog2/app.clog2
"$HPCGEN" "$@" --out stale --formats rank2file --set rank2file.stale_index=yes || bad "generate fails"
same rank2file set/scr stale/scr set/scr/scr.dataset.1/.scr/rank2file.scr set/scr/scr.dataset.1/.scr/summary.scr
awk '/^## / { section = substr($0, 4) } /\[The format\]/ { print section }' "$page" >sections
while read -r section; do
    grep -qxF -e "$section" compared || bad "$section: expected a line \`same '$section' FILE...\` in tests/cli/info.sh, got none"
done <sections

# Together, a finished and an unfinished dataset have all members that the section Directories lists.
"$HPCGEN" --scale tiny --quiet --ranks 16 --out parts --part 1/2 || bad "generate fails"
same Directories set parts
"$HPCGEN" --scale tiny --quiet --ranks 32 --workload wavefront --set machine.slow_node_share=0.5 --set load.noise=0.05 \
    --set load.scenario=spike --set machine.bad_cable_share=1 --set machine.nodes_per_switch=2 \
    --set rank2file.missing_files=1 --out faults || bad "generate fails"
"$HPCGEN" info --all faults >text || bad "info fails"
for line in 'kind=slow_node where=jw[^ ]* phase=null factor=[0-9.]* cost_s=[0-9.]*' 'kind=spike where=null phase=null factor=null cost_s=0\.[0-9]*' \
    'kind=slow_cable where=switches [0-9]* and [0-9]* ' 'kind=interruption where=rank [0-9]* phase=[0-9]* factor=null cost_s=' \
    'kind=missing_file where=scr/[^ ]* phase=null factor=null cost_s=null'; do
    grep -q -e "^  - $line" text || bad "no fault $line: $(grep kind= text)"
done

# The container of a LinkTest result has the same members as any other container.
listed SION >listed
printed set/linktest/*.sion | sed -n 's/^container\.//p' >got
diff listed got || bad "the container of a LinkTest result has other members"
# Statistics have the members that vt writes.
printed set/vom | sed -n 's/^phases\[\]\.Rank_load\.//p' | tr '\n' ' ' >got
[ "$(cat got)" = "avg car imb kur max min npr skw std sum var " ] || bad "statistics: $(cat got)"
# If the sum of the times overflows, it is null.
"$HPCGEN" rewrite --quiet set/vom/data.3.json.br large.json && sed -i 's/"time": *[0-9.e-]*/"time":1e308/g' large.json
printed large.json >got
"$HPCGEN" info --all large.json >text
grep -q '^ *sum: null$' text || bad "sums: $(grep sum: text)"

# On a terminal, info prints at most 24 lines, with rounded values, units, and the longest states first. A pipe gets
# all tables.
"$HPCGEN" info set/clog2/app.clog2 | grep -q '^largest_pairs:' || bad "no pairs in a pipe"
on_a_terminal() {
    python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$HPCGEN" info "$1" </dev/null | tr -d '\r'
}
for path in set set/clog2/app.clog2 set/linktest/*.sion set/sion/particles.sion set/vom set/scr set/scr/scr.dataset.1 \
    set/scr/scr.dataset.1/.scr/*.scr; do
    on_a_terminal "$path" >text || bad "info $path fails"
    [ "$(wc -l <text)" -le 24 ] || bad "info $path: $(wc -l <text) lines"
    [ "$(awk 'length > 80' text | wc -l)" -eq 0 ] || bad "info $path: lines of more than 80 columns: $(cat text)"
done
says() { # PATH LINE...: it has each, by its words
    "$HPCGEN" info "$1" | tr -s ' ' >text
    path=$1
    shift
    for line; do
        grep -q -- "$line" text || bad "info $path does not say $line: $(cat text)"
    done
}
size=$(wc -c <set/clog2/app.clog2)
says set '^set: dataset$' ' state complete ranks 16 nodes 4$' ' preset dfplus-hdr200 ' ' scale tiny ' ' seed 1$' \
    ' workload hydro$' '^ clog2 clog2 1 .* kB$' '^ scr rank2file ' '^ truth.json truth 1 ' 'wrong_clocks [1-9]'
"$HPCGEN" info --json set | grep -q "\"name\": \"clog2\", \"what\": \"clog2\", \"files\": 1, \"bytes\": $size}" ||
    bad "another size of the log: $("$HPCGEN" info --json set)"
mkdir any
cp set/clog2/app.clog2 any
cp -r set any/copy
: >any/nothing
printf '\211HDF\r\n\032\n' >any/data.h5
says any '^any: directory$' '^ copy dataset ' '^ app.clog2 clog2 1 ' '^ data.h5 HDF5 file 1 8 B$' '^ nothing empty file 1 0 B$'
mkdir many
for i in 1 2 3; do seq -f 'many/%g' $((i * 100 - 99)) $((i * 100)) | xargs touch; done
"$HPCGEN" info many >text
grep -q '^  \.\.\. and 290 more; --all shows them$' text || bad "info many: $(cat text)"
rm any/copy/manifest.json
says any/copy '^any/copy: directory$'
says parts '^parts: dataset$' ' state unfinished ' 'hpcgen join. finishes it' '^ .hpcw state of the run '
says parts/vom ' state unfinished ' 'hpcgen join. finishes it'
for part in vom sion; do
    refuse 1 "parts/$part/..: expected a finished dataset, got an unfinished one: *" "$HPCGEN" report parts/$part
done
for verb in report verify; do
    refuse 1 'parts*: expected a finished dataset, got an unfinished one: *hpcgen join* finishes it' "$HPCGEN" $verb parts
done
[ ! -e parts.report.html ] || bad "a report on an unfinished dataset"
says set/sion/particles.sion ' fs_block_size 4.1 kB (4096) ' ' apparent_bytes [0-9.]* kB ([0-9]*)'
# Datasets that cannot be read are named, and the others are shown.
says stale '^ stale_index 1$'
printf x >stale/scr/scr.dataset.2/.scr/rank2file.scr
says stale/scr '^warning: 2 of 3 datasets cannot be read: stale/scr/scr.dataset.2/.scr/rank2file.scr: offset 0: ' \
    '^ scr.dataset.1 1 20.* 16 ' '^ scr.dataset.2 2$' '^ scr.dataset.3 3$'
# Prints as many tasks of a container as the screen has room for. Columns without room are named, and long names are
# cut.
says set/sion/particles.sion '^ rank bytes blocks$' '^ 0 [0-9.]* kB [1-9]$' '^ \.\.\. and 13 more; --all shows them$' '^ columns that --all shows: mapping$'
[ "$("$HPCGEN" info --json set/sion/particles.sion | grep -c '{"rank": [0-9]*, "bytes": [0-9]*, "blocks": [1-9]}')" -eq 16 ] ||
    bad "no task of each rank"
long=$(printf 'long-%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
mkdir named
echo text >"named/$long"
says named "^ name what files bytes$" '^ long-[-long]*\.\.\. text 1 5 B$'
# States are sorted by their time, longest first.
"$HPCGEN" info --json set/clog2/app.clog2 | python3 -c '
import json, sys
states = sorted(json.load(sys.stdin)["profile"], key=lambda s: -s.get("seconds", 0))
print(*(s["name"] for s in states), sep="\n")' >wanted
"$HPCGEN" info set/clog2/app.clog2 | awk '/^[^ ]/ { on = 0 } /^profile:/ { on = NR } on && NR > on + 2 && /^  [^.]/ { print $1 }' >got
head -n "$(wc -l <got)" wanted | diff - got || bad "states in another order"
[ "$(wc -l <got)" -ge 4 ] || bad "few states: $(cat got)"

# Values: 16 ranks.
"$HPCGEN" info --all set/sion/particles.sion >text
for line in 'tasks_of_set: 16' 'fs_block_size: 4096' '  - tasks=4 file_number=3 blocks=[234] *'; do
    grep -q -- "^$line" text || bad "info does not say $line"
done
exit $failed
