#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Event logs for other viewers: an export has the events of the log, cut at the ends of the window.
. "$HERE/refuse.inc"
log=set/clog2/app.clog2
"$HPCGEN" --ranks 6 --formats clog2 --workload stencil --set load.phases=4 --out set --quiet || bad "generate fails"
make() {
    "$HPCGEN" export --quiet "$@" || bad "fails: $*"
}
count() { # WANTED PATTERN FILE
    got=$(grep -c "$2" "$3")
    [ "$got" -eq "$1" ] || bad "$3: $got lines with $2, expected $1"
}

# The whole log: every begun state ends, and every message is sent and received.
make $log --output all.csv
make $log --output all.json
make $log --output all
cmp all all.json || bad "expected chrome by default"
make $log --output named.json --form csv
cmp named.json all.csv || bad "expected csv, as --form says"
"$HPCGEN" export --quiet $log --output - --form csv | cmp - all.csv || bad "other bytes in a pipe"
"$HPCGEN" info $log >info
messages=$(grep -c ',send,' all.csv)
[ "$messages" -gt 0 ] || bad "no messages"
count "$messages" ',receive,' all.csv
count "$(grep -c ',begin,' all.csv)" ',end,' all.csv
count 24 ',event,"Phase done"' all.csv
sed 1d all.csv | cut -d, -f1 | sort -g -c || bad "not in the order of time"
"$JSON_CHECK" all.json || bad "not JSON"
count "$messages" '"ph":"s"' all.json
count "$messages" '"ph":"f"' all.json
count "$(grep -c ',begin,' all.csv)" '"ph":"B"' all.json
count "$(grep -c ',end,' all.csv)" '"ph":"E"' all.json
count 6 '"ph":"M"' all.json
[ "$(grep -o '"id":"[^"]*"' all.json | sort | uniq -c | awk '$1 != 2' | wc -l)" -eq 0 ] ||
    bad "a flow with other than two ends"

# One rank, and a window in the middle of a computation: states are cut at its ends.
make $log --output one.csv --form csv --first-rank 3 --last-rank 3
[ "$(sed 1d one.csv | cut -d, -f2 | sort -u)" = 3 ] || bad "other ranks"
count "$(grep -c '^[^,]*,3,0,begin,' all.csv)" ',begin,' one.csv
make $log --output part.csv --form csv --from 0.011 --to 0.012
count "$(grep -c ',begin,' part.csv)" ',end,' part.csv
count 6 '^0.011,.*,begin,"Inner"' part.csv
count 6 '^0.012,.*,end,"Inner"' part.csv
[ "$(sed 1d part.csv | awk -F, '$1 < 0.011 || $1 > 0.012' | wc -l)" -eq 0 ] || bad "outside the window"

# The JSON has the same events as the CSV, one by one.
make $log --output one.json --first-rank 3 --last-rank 3
make $log --output part.json --from 0.011 --to 0.012
for name in all one part; do
    python3 - $name.csv $name.json <<'PYTHON' || bad "$name.json: other events than $name.csv"
import csv
import decimal
import json
import sys

LETTER = {"begin": "B", "end": "E", "event": "i", "send": "s", "receive": "f"}
rows = list(csv.DictReader(open(sys.argv[1], encoding="ascii")))
events = json.load(open(sys.argv[2], encoding="ascii"), parse_float=decimal.Decimal)["traceEvents"]
names = [e for e in events if e["ph"] == "M"]
assert all(e["args"]["name"] == f"rank {e['pid']}" for e in names)
assert {str(e["pid"]) for e in names} == {row["rank"] for row in rows}
events = [e for e in events if e["ph"] != "M"]
assert len(events) == len(rows), (len(events), len(rows))
order, message = {}, {}
for row, e in zip(rows, events):
    assert (e["ph"], e["pid"], e["tid"], e["name"]) == \
        (LETTER[row["what"]], int(row["rank"]), int(row["thread"]), row["name"]), (row, e)
    assert e["ts"] == decimal.Decimal(row["time_s"]) * 1000000, (row, e)
    assert ("args" in e) == (e["ph"] in "sf")
    if e["ph"] in "sf":
        assert e["args"] == {"tag": int(row["tag"]), "bytes": int(row["bytes"])}, (row, e)
        pair = (row["rank"], row["peer"]) if e["ph"] == "s" else (row["peer"], row["rank"])
        # For each pair of ranks and tag, messages are received in the order in which they are sent. So the ids
        # increase at both ends.
        ends = (e["ph"], *pair, row["tag"])
        assert int(e["id"]) > order.get(ends, 0), (row, e)
        order[ends] = int(e["id"])
        assert message.setdefault(e["id"], ends[1:]) == ends[1:], (row, e)
PYTHON
done

# The forms states and messages contain what the events of the whole log give. In a window, states and messages that
# overlap it are exported whole.
for form in states messages; do
    make $log --output $form.csv --form $form
    make $log --output part.$form.csv --form $form --from 0.011 --to 0.012 --first-rank 2 --last-rank 3
    "$HPCGEN" export --quiet $log --output - --form $form | cmp - $form.csv || bad "$form: other bytes in a pipe"
done
python3 - <<'PYTHON' || bad "other states or messages than events"
import collections, csv
def read(name):
    return list(csv.DictReader(open(name, encoding="ascii")))
def times(rows, begin, end):
    return [(float(row[begin]), float(row[end])) for row in rows]
states, ends, begun = [], [], collections.defaultdict(list)
sent, messages = collections.defaultdict(list), []
for e in read("all.csv"):
    at, time = (e["rank"], e["thread"]), float(e["time_s"])
    if e["what"] == "begin":
        begun[at].append((e["name"], time))
    elif e["what"] == "end":
        name, begin = begun[at].pop()
        states.append((*at, name, begin, time, len(begun[at])))
    elif e["what"] == "send":
        sent[e["rank"], e["peer"], e["tag"]].append((e["bytes"], time))
    elif e["what"] == "receive":
        key = e["peer"], e["rank"], e["tag"]
        messages.append((*key, *sent[key].pop(0), time))
rows = read("states.csv")
assert list(rows[0]) == ["rank", "thread", "name", "begin", "end", "depth"], rows[0]
got = [(r["rank"], r["thread"], r["name"], float(r["begin"]), float(r["end"]), int(r["depth"])) for r in rows]
assert got == states and len(states) > 100, (got[:3], states[:3])
part = [r for r in rows if r["rank"] in "23" and float(r["begin"]) < 0.012 and float(r["end"]) > 0.011]
assert read("part.states.csv") == part and 0 < len(part) < len(rows), (len(part), read("part.states.csv")[:3])
rows = read("messages.csv")
assert list(rows[0]) == ["from", "to", "tag", "bytes", "sent", "received"], rows[0]
got = [(r["from"], r["to"], r["tag"], r["bytes"], float(r["sent"]), float(r["received"])) for r in rows]
assert got == messages and len(messages) > 50, (got[:3], messages[:3])
part = [r for r in rows if (r["from"] in "23" or r["to"] in "23")
        and float(r["sent"]) < 0.012 and float(r["received"]) > 0.011]
assert read("part.messages.csv") == part and 0 < len(part) < len(rows), (len(part), len(rows))
PYTHON

# The output line names the file and the number of events.
"$HPCGEN" export --quiet --json $log --output 'a"b.json' >said || bad "export --json fails"
"$JSON_CHECK" said || bad "no JSON: $(cat said)"
grep -q '"output": *"a\\"b.json"' said || bad "expected the name of the output, got: $(cat said)"
"$HPCGEN" export $log --output said.json 2>said || bad "export fails"
case $(cat said) in
"hpcgen: said.json: $(grep -c '"ph":"[^M]' said.json) events, "*) ;;
*) bad "said: $(cat said)" ;;
esac
cmp all.json said.json || bad "another one"

for form in chrome csv states npz otf2; do
    refuse 1 "$log: window of time: expected end > begin, got 2 to 1 s" \
        "$HPCGEN" export $log -O x --form $form --from 2 --to 1
    refuse 1 "$log: window of time: expected end > begin, got 1 to 1 s" \
        "$HPCGEN" export $log -O x --form $form --from 1 --to 1
    refuse 1 "$log: window of ranks: expected last >= first, got 3 to 2" \
        "$HPCGEN" export $log -O x --form $form --first-rank 3 --last-rank 2
done

# The suffix of the output selects the form. For an unknown suffix the export fails and leaves nothing.
refuse 1 "a.npy: expected one of .csv, .json, .npz, .otf2 at the end, or --form, for clog2, got .npy" \
    "$HPCGEN" export $log -O a.npy
refuse 1 "d.d/a.parquet: expected one of .csv, *, got .parquet" "$HPCGEN" export $log -O d.d/a.parquet
[ -z "$(find . -name 'a.*')" ] || bad "left: $(find . -name 'a.*')"
mkdir d.d
make $log --output d.d/all
cmp all.json d.d/all || bad "a suffix of the directory decides"
make $log --output a.txt --form csv
cmp all.csv a.txt || bad "expected csv, as --form says"

# A warning says that the window contains nothing, also with --quiet.
for form in chrome csv states messages npz; do
    make $log --output none --form $form --from 100 --to 200 --first-rank 2 --last-rank 3 2>said
    case $(cat said) in
    "hpcgen: none: empty: no "*" of $log from 100 to 200 s of ranks 2 to 3") ;;
    *) bad "$form of an empty window: $(cat said)" ;;
    esac
done
"$HPCGEN" export $log --output none.json --from 100 2>said || bad "fails: an empty window"
[ "$(cat said)" = "hpcgen: none.json: empty: no events of $log from 100 s on" ] || bad "said: $(cat said)"
"$JSON_CHECK" none.json || bad "not JSON"
refuse 2 'export: expected --output FILE, got none*' "$HPCGEN" export $log
refuse 1 'set/truth.json: *' "$HPCGEN" export set/truth.json -O x
refuse 1 "set: export: expected data of one format, such as set/*, got a directory around it" "$HPCGEN" export set -O x
refuse 1 'missing: *' "$HPCGEN" export missing -O x
refuse 1 'nowhere/x: *' "$HPCGEN" export $log -O nowhere/x -q
# Two blocks of 64 KiB of the log are swapped. The export succeeds, and one line warns that it may be wrong.
"$HPCGEN" --ranks 16 --formats clog2 --workload solver --out more --quiet || bad "generate fails"
{
    dd if=more/clog2/app.clog2 bs=1024 count=65
    dd if=more/clog2/app.clog2 bs=1024 skip=129 count=64
    dd if=more/clog2/app.clog2 bs=1024 skip=65 count=64
    dd if=more/clog2/app.clog2 bs=1024 skip=193
} >swapped.clog2 2>/dev/null
for form in csv chrome states messages; do
    for output in - x; do
        make swapped.clog2 --form $form --output $output >/dev/null 2>why
        [ "$(grep -c '^hpcgen: swapped.clog2: .*, got records out of order: 1, ends without start: ' why)" -eq 1 ] ||
            bad "$form: $(cat why)"
    done
    make more/clog2/app.clog2 --form $form --output x 2>why
    [ ! -s why ] || bad "$form of a sound log: $(cat why)"
done
rm x

head -c 5000 $log >short.clog2
refuse 1 'short.clog2: *' "$HPCGEN" export short.clog2 -O x
[ ! -e x ] || bad "something is left"
exit $failed
