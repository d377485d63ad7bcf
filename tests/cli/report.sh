#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page of a dataset: each of its formats has charts, and the dataset does not change.
. "$HERE/refuse.inc"
. "$HERE/browser.inc"
sound() { # TEXT FILE
    got=$("$HTML_CHECK" "$2") || bad "$2 is no sound page"
    [ "$got" = "$1" ] || bad "$2: $got, expected $1"
}

# The formats are listed here, so that a new format does not change the page.
"$HPCGEN" -n 8 -o set -q -f clog2,linktest,rank2file,sion,vom --set machine.bad_node_share=1 --set machine.slow_node_share=1 \
    --set rank2file.missing_files=1 --set rank2file.truncated_files=1 --set trace.skew=20 || bad "generate fails"
"$HPCGEN" report set/ 2>said || bad "report fails: $(cat said)"
[ "$(tail -n 1 said)" = "hpcgen: set.report.html" ] || bad "it says: $(cat said)"
"$HPCGEN" verify --quiet set/sion/particles.sion || bad "the dataset was touched"
[ "$(ls set)" = "$(printf 'CHECKSUMS.xxh128\nclog2\nlinktest\nmanifest.json\nscr\nsion\ntruth.json\nvom')" ] ||
    bad "there is something else in the dataset"
sound "13 charts, 27 tables" set.report.html
drawn 13 set.report.html
grep -q '<h1>Synthetic run of 8 ranks on dfplus-hdr200: set</h1>' set.report.html || bad "title: $(grep '<h1' set.report.html)"
for section in 'Links between ranks' 'Task-local data' 'Load of ranks' 'Event log' 'Checkpoints'; do
    grep -q "<h2 id=[^>]*>$section" set.report.html || bad "there is no section: $section"
done
for injected in 'slow port' 'slow node' truncated_file; do
    grep -q "$injected" set.report.html || bad "what was injected is not marked: $injected"
done

# The page begins with the findings of each section and a table of contents.
sed -n '/<div class="findings">/,/<\/nav>/p' set.report.html | sed 's/<[^>]*>//g' >top
# A finding names rank and host, has a value, and links to its place on the page. The terminal shows the same lines.
host='([a-z0-9.]*)'
for finding in "Links between ranks .*: no rank stands out by its mean time per message: the largest is that of rank [0-7] $host, .* times the median of all ranks" \
    "Task-local data .*: .*rank [0-7] $host.* times the median of all ranks" \
    "Load of ranks .*: balanced phases would save .* wait .* on average for rank [0-7] $host, which works " \
    'Event log (CLOG-2): the run takes .* on 8 ranks\. Of their time .* is in MPI (.* in MPI_.*), .* computing outside of states\.' \
    "Imbalance .*: rank [0-7] $host is outside of MPI for .*, the mean rank for " \
    "Ranks wait for others in .* of their time: .*\. They wait most for rank [0-7] $host: .* of " \
    "The longest wait: rank [0-7] $host waits .* in MPI_.* for rank [0-7] $host, from .* of the log's clock on\." \
    "The critical path, which leads to ranks that are late by themselves, is .*, and for .* of .* on rank [0-7] $host. Injected: 2 slow nodes, 1 wrong clock\." \
    "Checkpoints .*: .* 2 files are missing or have another size than in the map, first .* of rank [0-7] $host\. Injected: 2 faults\."; do
    grep -q "^$finding" top || bad "no finding $finding in $(cat top)"
    grep -q "^$finding" said || bad "the terminal does not say $finding: $(cat said)"
done
for link in '#chart-[0-9]*">rank' '#chart-[0-9]*">phase' '#rank-[0-9]*">rank' '#timeline" data-rank="[0-9]*' '#odd-file">'; do
    sed -n '/<div class="findings">/,/<\/div>/p' set.report.html | grep -q "$link" || bad "no link $link in the findings"
done
# The time after the end of a rank is not counted as computing.
cat >early.lua <<'EOF'
function run()
  for _ = 1, phases do
    work(rank == 0 and 1 or 1 / 4)
    next_phase()
  end
end
EOF
"$HPCGEN" -n 4 -f clog2 -o early -q --scale tiny --set rank2file.checkpoints=0 --workload early.lua || bad "generate fails"
"$HPCGEN" report early/clog2/app.clog2 -O early.html 2>early.said || bad "report of a log fails"
grep -q 'Of their time none is in MPI, [0-9.]* % in other states ([0-9.]* % in Compute), 0 % computing outside of states, [0-9.]* % after their last state\.$' early.said ||
    bad "ranks that have ended: $(cat early.said)"

# Ranks with a fault stand out. The page marks the fault as injected.
"$HPCGEN" -n 64 -f linktest -o links -q --set machine.bad_node_share=1 || bad "generate fails"
"$HPCGEN" report links -q -O links.html || bad "report of links fails"
sed 's/<[^>]*>//g' links.html |
    grep -q '[0-9]* ranks stand out, most of all rank 53 ([a-z0-9.]*), slow port (injected): its mean time per message is ' ||
    bad "no rank stands out: $(grep -A 2 'class="findings"' links.html)"
[ "$(grep -cx 'Task-local data (SION container)' top)" -eq 1 ] || bad "no contents: $(cat top)"

# The link matrix marks the ranks of slow ports, and both ends of slow cables.
"$HPCGEN" -n 64 -f linktest -o marked -q --set machine.bad_node_share=0.2 --set machine.bad_cable_share=1 \
    --set machine.nodes_per_switch=4 --set machine.nodes_per_group=8 || bad "generate fails"
"$HPCGEN" report marked -q -O marked.html || bad "report of slow cables fails"
python3 - <<'EOF' || bad "other ranks are marked"
import json
import re

machine = json.load(open("marked/truth.json"))["machine"]
wanted = []
for port in machine["slow_ports"]:
    own = (port["first_rank"], port["ranks"])
    wanted += [(own, (0, 64), "port"), ((0, 64), own, "port")]
for cable in machine["slow_cables"]:
    a, b = ((cable[f"first_rank_{end}"], cable[f"ranks_{end}"]) for end in "ab")
    wanted += [(a, b, "cable"), (b, a, "cable")]
assert {what for _, _, what in wanted} == {"port", "cable"}
wanted = [(x - 0.5, x + n - 0.5, y - 0.5, y + m - 0.5, f"slow {what} (injected)") for (x, n), (y, m), what in wanted]
areas = [json.loads(area) for area in re.findall('{"left".*?}', open("marked.html").read())]
marked = [tuple(area[side] for side in ("left", "right", "top", "bottom", "label")) for area in areas]
assert sorted(marked) == sorted(wanted), (sorted(marked), sorted(wanted))
EOF

# The curves of load data are those of truth.json, and the bars of a log are the times of its states.
"$HPCGEN" -n 256 -f clog2,vom -o many -q --scale tiny --set load.phases=6 || bad "generate fails"
"$HPCGEN" report many -q -O many.html || bad "report of many ranks fails"
"$HPCGEN" export many/clog2/app.clog2 -q --form states --output states.csv || bad "export fails"
python3 - <<'EOF' || bad "the charts show other values"
import collections
import csv
import json
import math
import re

charts = [json.loads(c) for c in re.findall('<script type="application/json">({.*?})</script>', open("many.html").read())]
curves = {s["name"]: [p["y"] for p in s["points"]] for c in charts if c["kind"] == "xy" for s in c["series"]}
phases = json.load(open("many/truth.json"))["vom"]["phases"]
for curve, key in (("imbalance", "imbalance"), ("busiest rank", "rank_load_max_s"), ("mean of all ranks", "rank_load_mean_s")):
    wanted = [phase[key] for phase in phases]
    assert all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-9), curves[curve], wanted)), (curve, curves[curve], wanted)
    assert len(curves[curve]) == len(wanted)

[bars] = [c for c in charts if c["kind"] == "bars"]
groups = len(bars["categories"])
size = 256 // groups  # ranks of a bar, which shows their mean time
assert size > 1, bars["categories"]
time, end = collections.Counter(), {}
for row in csv.DictReader(open("states.csv")):
    group = int(row["rank"]) // size
    time[row["name"], group] += (float(row["end"]) - float(row["begin"])) / size
    end[int(row["rank"])] = max(end.get(int(row["rank"]), 0), float(row["end"]))
for g in range(groups):
    for bar in bars["bars"]:
        if bar["name"].startswith("MPI_"):
            assert math.isclose(bar["values"][g], time[bar["name"], g], rel_tol=1e-6), (bar["name"], g)
    whole = sum(end[r] for r in range(g * size, (g + 1) * size)) / size - 1e-5  # the log begins at 10 us
    assert math.isclose(sum(bar["values"][g] for bar in bars["bars"]), whole, rel_tol=1e-9), g
EOF

# Order of the page: what it is, the findings, the evidence, and the method.
order=$(grep -o '<div class="about">\|<div class="findings">\|<div id="timeline">\|>How the event log was read</h2>' set.report.html)
[ "$order" = "$(printf '<div class="about">\n<div class="findings">\n<div id="timeline">\n>How the event log was read</h2>')" ] ||
    bad "the page has another order: $order"

# Standard output has only the page, and no file is made.
"$HPCGEN" report set --output - >piped.html 2>said || bad "report to a pipe fails: $(cat said)"
[ "$(tail -n 1 said)" = "hpcgen: standard output" ] || bad "it says: $(cat said)"
cmp piped.html set.report.html || bad "another page in a pipe"
[ ! -e - ] || bad "a report to standard output leaves a file"
if [ -c /dev/full ]; then
    "$HPCGEN" report set --output - >/dev/full 2>said && bad "a full standard output goes unnoticed"
    grep -q '^hpcgen: standard output: cannot write' said || bad "it says: $(cat said)"
fi

# report replaces its own page. Any other file needs --force, even a page of another command.
cp set.report.html first.html
"$HPCGEN" report set -q || bad "no second report"
cmp first.html set.report.html || bad "another page the second time"
"$HPCGEN" report set/linktest/pingpong_results_bin.sion -O other.html 2>said || bad "report of a file fails"
grep -q "the largest is that of rank [0-7] ([a-z0-9.]*), " said || bad "no host of a rank: $(cat said)"
"$HPCGEN" report set -q -O other.html || bad "a report does not replace that of another file"
cmp first.html other.html || bad "another page"
"$HPCGEN" fit --compare set set -q -O twin.html || bad "fit --compare fails"
echo '<title>Report on set</title>' >mine.html
for file in twin.html mine.html set/truth.json; do
    cp $file before
    refuse 1 "$file: expected a new file or an older report, got another: *--force*" "$HPCGEN" report set -q -O $file
    cmp $file before || bad "$file was replaced"
done
"$HPCGEN" report set -q --force --jobs 1 || bad "--force fails"
cmp first.html set.report.html || bad "another page with one thread"

# The page's name is that of the directory, also for paths as `.` and `..`. Without --force, nothing is written
# through a link.
for path in set/. set/clog2/.. ; do
    rm set.report.html
    "$HPCGEN" report $path -q || bad "report of $path fails"
    grep -q ': set</h1>' set.report.html || bad "$path: title: $(grep '<h1' set.report.html)"
done
rm set.report.html
(cd set && "$HPCGEN" report . -q) || bad "report of . fails"
[ "$(find . -name '.*report.html')" = "" ] || bad "a hidden page: $(find . -name '.*report.html')"
refuse 1 '/: expected --output*' "$HPCGEN" report /
rm set.report.html
ln -s planted set.report.html
refuse 1 'set.report.html: expected a new file *--force*' "$HPCGEN" report set -q
[ ! -e planted ] || bad "a page was written through a link"
rm set.report.html

# Load data in which a rank has fewer phases. The missing phases are not shown as phases without work.
cp -r set/vom uneven
"$HPCGEN" rewrite set/vom/data.3.json.br short --last-phase 2 -q || bad "rewrite fails"
mv short/data.3.json.br uneven/ 2>/dev/null || mv short uneven/data.3.json.br
"$HPCGEN" report uneven -q -O x.html 2>err || bad "report of uneven load data fails: $(cat err)"
grep -q 'uneven/data.3.json.br: expected [0-9]* phases as in the ranks before, got 3' err || bad "no word on a short rank: $(cat err)"
mv uneven/data.3.json.br short.br && mv uneven/data.0.json.br uneven/data.3.json.br && mv short.br uneven/data.0.json.br

# SCR 3's own maps have no sizes. The page says from where the sizes are: maps, files, or both.
sizes_from() { # TEXT
    "$HPCGEN" report maps/scr -q --force -O maps.html || bad "report of checkpoints fails"
    grep -q "<th scope=\"row\">Sizes from</th><td>$1</td>" maps.html ||
        bad "expected sizes from $1, got $(grep 'Sizes from' maps.html)"
}
"$HPCGEN" -n 4 -f rank2file -o maps -q --scale tiny --set rank2file.layout=scr-3 --set rank2file.checkpoints=2 ||
    bad "generate fails"
sizes_from 'the rank2file maps'
if command -v python3 >/dev/null; then
    for n in 2 1; do
        python3 - maps/scr/.scr/scr.dataset.$n/rank2file.0.0 <<'EOF' # renames the key SIZE
import sys, zlib
with open(sys.argv[1], "r+b") as f:
    text = f.read()[:-4].replace(b"SIZE\0", b"SIZF\0")
    f.seek(0)
    f.write(text + zlib.crc32(text).to_bytes(4, "big"))
EOF
        [ $n = 1 ] || sizes_from 'the rank2file maps; of files without a size there, from the files'
    done
    sizes_from 'the files, as the maps have none'
fi

# Formats whose files are lost are not on the page, and a line names them. Also the report of a single file, and of
# a window.
rm -r set/vom set/scr set/clog2
"$HPCGEN" report set -q -O part.html 2>said || bad "report of a part fails: $(cat said)"
[ "$(cat said)" = \
    'hpcgen: set: expected all formats of the dataset, got none of vom, clog2, rank2file: `hpcgen repair` makes them again' ] ||
    bad "no word on the missing formats: $(cat said)"
grep -q 'Missing formats of the dataset: vom, clog2, rank2file[.]' part.html || bad "no word on the page on the missing formats"
sound "3 charts, 7 tables" part.html
! grep -q '<h2 id=[^>]*>Event log' part.html || bad "a section of what is not there"
"$HPCGEN" report set/linktest/pingpong_results_bin.sion -q -O one.html || bad "report of a file fails"
sound "2 charts, 4 tables" one.html
"$HPCGEN" -n 16 -f clog2 -w solver -o log -q || bad "generate fails"
"$HPCGEN" report log/clog2/app.clog2 -q -O window.html --from 0.01 --to 0.02 || bad "report of a window fails"
grep -q '"from":0.01,"to":0.02' window.html || bad "another window"
drawn 5 window.html

# A collective call inside a state is in the same timeline, even on another communicator. So its time does not count
# for the state.
cat >nested.lua <<'END'
states = { "Sum" }
function run()
  local pair = split(rank // 2)
  for _ = 1, phases do
    state("Sum", function() pair:reduce(8) end)
    work(1)
    checkpoint()
    next_phase()
  end
end
END
"$HPCGEN" -n 8 --scale tiny -f clog2 -w nested.lua -o nested -q || bad "generate fails"
"$HPCGEN" report nested -q -O nested.html || bad "report of nested states fails"
grep -q '<td>Sum</td>.*<data class="seconds" value="0">0 ns</data>' nested.html ||
    bad "a state and the call in it have the same time: $(grep '<td>Sum</td>' nested.html)"

# Ranks that were interrupted are marked.
"$HPCGEN" -n 8 --scale tiny -f clog2 -o stopped -q --set load.noise=0.5 || bad "generate fails"
"$HPCGEN" report stopped -q -O stopped.html || bad "report of interruptions fails"
grep -q 'interrupted rank (injected)' stopped.html || bad "no interruption is marked"

refuse 1 'missing: expected a file or directory: *' "$HPCGEN" report missing
mkdir empty
refuse 1 'empty: expected a dataset, *' "$HPCGEN" report empty
refuse 1 'log/clog2/app.clog2: window of time: expected end > begin, got 2 to 1 s' \
    "$HPCGEN" report log/clog2/app.clog2 -O x --from 2 --to 1
refuse 1 'log/clog2/app.clog2: expected a window within *' "$HPCGEN" report log/clog2/app.clog2 -O x --from 1e6
refuse 1 'nowhere/x: *' "$HPCGEN" report log -O nowhere/x
# Two blocks of 64 KiB of the log are swapped. The report is made, and one line warns that it may be wrong.
{
    dd if=log/clog2/app.clog2 bs=1024 count=65
    dd if=log/clog2/app.clog2 bs=1024 skip=129 count=64
    dd if=log/clog2/app.clog2 bs=1024 skip=65 count=64
    dd if=log/clog2/app.clog2 bs=1024 skip=193
} >swapped.clog2 2>/dev/null
"$HPCGEN" report swapped.clog2 -q -O swapped.html 2>why || bad "report of swapped blocks fails: $(cat why)"
[ "$(grep -c '^hpcgen: swapped.clog2: .*, got records out of order: 1, ends without start: ' why)" -eq 1 ] ||
    bad "why: $(cat why)"
grep -q 'got records out of order: 1, ends' swapped.html || bad "a page of swapped blocks that does not say so"

head -c 20000 log/clog2/app.clog2 >short.clog2
refuse 1 'short.clog2: *' "$HPCGEN" report short.clog2 -O x
[ ! -e x ] && [ ! -e empty.report.html ] || bad "something is left"
exit $failed
