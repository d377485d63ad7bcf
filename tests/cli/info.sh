#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `hpcgen info --json` has exactly the members listed in the tables of doc/info.md.
page=$HERE/../../doc/info.md
failed=0
bad() {
    echo "$*"
    failed=1
}

# The members in the first column of the tables of a section. Usage: listed SECTION
listed() {
    awk -v section="## $1" '
        /^## / { on = $0 == section }
        on && /^\| `/ { split($0, cell, "|"); print cell[2] }' "$page" | grep -o '`[^`]*`' | tr -d '`' | sort -u
}

# Prints the members in the output for some files. Usage: printed FILE...
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
    # Keys of a tree and of statistics have names from the file.
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
same rank2file set/scr set/scr/scr.dataset.1/.scr/rank2file.scr set/scr/scr.dataset.1/.scr/summary.scr

# The container of a LinkTest result is described like any other.
listed SION >listed
printed set/linktest/*.sion | sed -n 's/^container\.//p' >got
diff listed got || bad "the container of a LinkTest result has other members"
# The statistics of vt.
printed set/vom | sed -n 's/^phases\[\]\.Rank_load\.//p' | tr '\n' ' ' >got
[ "$(cat got)" = "avg car imb kur max min npr skw std sum var " ] || bad "statistics: $(cat got)"
# The sum of the times overflows.
"$HPCGEN" rewrite --quiet set/vom/data.3.json.br large.json && sed -i 's/"time": *[0-9.e-]*/"time":1e308/g' large.json
printed large.json >got
"$HPCGEN" info large.json >text
grep -q '^ *sum: null$' text || bad "sums: $(grep sum: text)"

# Values: 16 ranks.
"$HPCGEN" info set/sion/particles.sion >text
for line in 'tasks_of_set: 16' 'fs_block_size: 4096' '  - tasks=4 file_number=3 blocks=[234] *'; do
    grep -q -- "^$line" text || bad "info does not say $line"
done
exit $failed
