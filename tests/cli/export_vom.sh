#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Load data as CSV, read back by Python: the lines are the records of the JSON files.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 6 --formats vom --set load.phases=3 --set vom.container=plain --out plain --quiet || bad "generate fails"
"$HPCGEN" --ranks 6 --formats vom --set load.phases=3 --out set --quiet || bad "generate fails"
make() {
    "$HPCGEN" export --quiet "$@" || bad "fails: $*"
}
make set/vom --output tasks.csv
make set/vom --output edges.csv --form edges
python3 - plain/vom tasks.csv edges.csv <<'PYTHON' || bad "other records than in the files"
import csv, glob, json, sys
tasks, edges = [], []
def end(e):
    return [e["type"] if "id" in e else "seq_id", str(e.get("id", e.get("seq_id")))]
for rank in range(6):
    for phase in json.load(open(f"{sys.argv[1]}/data.{rank}.json"))["phases"]:
        at = [str(rank), str(phase["id"])]
        for t in phase["tasks"]:
            e = t["entity"]
            tasks.append(at + end(e) + [str(e["home"]), str(int(e["migratable"])), str(e.get("collection_id", "")),
                str(e.get("objgroup_id", "")), " ".join(map(str, e.get("index", []))), t["resource"], t["time"],
                [s["time"] for s in t.get("subphases", [])]])
        for c in phase.get("communications", []):
            edges.append(at + [c["type"]] + end(c["from"]) + end(c["to"]) + [c["bytes"], str(c["messages"])])
rows = list(csv.reader(open(sys.argv[2])))
assert rows[0] == ["rank", "phase", "kind", "id", "home", "migratable", "collection_id", "objgroup_id", "index",
                   "resource", "time_s", "subphases_s"], rows[0]
assert len(tasks) > 18
assert [r[:10] + [float(r[10]), [float(s) for s in r[11].split()]] for r in rows[1:]] == tasks
rows = list(csv.reader(open(sys.argv[3])))
assert rows[0] == ["rank", "phase", "category", "from_kind", "from", "to_kind", "to", "bytes", "messages"], rows[0]
assert len(edges) > 18 and any(float(b) for *_, b, _ in rows[1:])
assert [r[:7] + [float(r[7]), r[8]] for r in rows[1:]] == edges
PYTHON

make set/vom --output some.csv --first-rank 2 --last-rank 3
[ "$(sed 1d some.csv | cut -d, -f1 | uniq)" = "2
3" ] || bad "other ranks"
make set/vom/data.3.json.br --output one.csv
grep '^3,' tasks.csv | diff - some.csv >/dev/null && bad "nothing of rank 2"
sed 1d one.csv >one_lines
grep '^3,' tasks.csv | diff - one_lines || bad "another rank 3"

# Edges with other ends than objects, and a text with quotes, which the CSV doubles.
cat >odd.json <<'JSON'
{"type":"LBDatafile","phases":[{"id":7,"communications":[
{"type":"CollectionToNode","from":{"type":"object","seq_id":4,"home":0,"migratable":false},
"to":{"type":"node","id":3},"bytes":1.5,"messages":2},
{"type":"WriteShared","from":{"type":"shared_id","id":5},"to":{"type":"node","id":0},"bytes":8.0,"messages":0}],
"tasks":[{"entity":{"type":"object","seq_id":4,"home":0,"migratable":false},"node":0,"resource":"a \"b\", c","time":0.25}]}]}
JSON
make odd.json --output odd.csv
[ "$(sed 1d odd.csv)" = '0,7,seq_id,4,0,0,,,,"a ""b"", c",0.25,' ] || bad "odd task: $(cat odd.csv)"
make odd.json --output odd.csv --form edges
[ "$(sed 1d odd.csv)" = '0,7,CollectionToNode,seq_id,4,node,3,1.5,2
0,7,WriteShared,shared_id,5,node,0,8.0,0' ] || bad "odd edges: $(cat odd.csv)"

# Its messages.
"$HPCGEN" export set/vom --output said.csv --form edges 2>said || bad "export fails"
case $(cat said) in
"hpcgen: said.csv: $(sed 1d edges.csv | wc -l) edges, "*) ;;
*) bad "said: $(cat said)" ;;
esac
"$HPCGEN" export --quiet --json set/vom --output said.csv >said || bad "export --json fails"
grep -q "\"tasks\": *$(sed 1d tasks.csv | wc -l)" said || bad "said: $(cat said)"

refuse 1 'set/vom: --form: expected csv, edges or npz for vom, got chrome*' "$HPCGEN" export set/vom -O x --form chrome
refuse 1 'set/vom: --from: expected none for vom, got one' "$HPCGEN" export set/vom -O x --from 1
refuse 1 'set/vom: window of ranks: expected last >= first, got 3 to 2' "$HPCGEN" export set/vom -O x --first-rank 3 --last-rank 2
"$HPCGEN" --ranks 2 --formats clog2 --set load.phases=2 --out log --quiet || bad "generate fails"
refuse 1 'log/clog2/app.clog2: --form: expected chrome*csv*for clog2, got edges*' \
    "$HPCGEN" export log/clog2/app.clog2 -O x --form edges
refuse 1 'missing: expected a file or directory: No such file or directory' "$HPCGEN" export missing -O x --form edges
exit $failed
