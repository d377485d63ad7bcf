#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Load data of vt, vt-tv or LBAF that break a rule of the format. verify refuses them. info, report, export, rewrite
# and fit accept them, and warn once if this changes a record. Also two sets in one directory.
failed=0
bad() {
    echo "$*"
    failed=1
}
python3 - <<'PYTHON' || exit 1
import copy
import json
import os


def entity(number, home, index):
    return {"collection_id": 7, "home": home, "id": number << 18 | home << 2 | 3, "index": [index], "migratable": True,
            "type": "object"}


def base():
    """Two ranks with two objects each, for three phases."""
    files = []
    for rank in range(2):
        objects = [entity(rank + 1 + 10 * i, rank, 2 * rank + i) for i in range(2)]
        phases = [{"id": p, "tasks": [{"entity": copy.deepcopy(o), "node": rank, "resource": "cpu", "time": 0.5 + i}
                                      for i, o in enumerate(objects)]} for p in range(3)]
        metadata = {"phases": {"identical_to_previous": {"list": [], "range": []}, "skipped": {"list": [], "range": []}}, "rank": rank,
                    "shared_node": {"id": 0, "num_nodes": 1, "rank": rank, "size": 2}, "type": "LBDatafile"}
        files.append({"metadata": metadata, "phases": phases})
    return files


def write(name, files, stem="data"):
    os.makedirs(name, exist_ok=True)
    for rank, file in enumerate(files):
        with open(f"{name}/{stem}.{rank}.json", "w", encoding="utf-8") as out:
            json.dump(file, out)


def changed(name, change):
    files = base()
    change(files)
    write(name, files)


def first(files):
    return files[0]["phases"][0]["tasks"][0]


def untyped(files):
    for file in files:
        del file["metadata"]["type"]


def no_migratable(files):
    for file in files:
        for phase in file["phases"]:
            for task in phase["tasks"]:
                del task["entity"]["migratable"]


def no_home(files):
    ends = [{"collection_id": 7, "migratable": True, "seq_id": k, "type": "object"} for k in range(2)]
    files[0]["phases"][0]["communications"] = [{"bytes": 8.0, "from": ends[0], "messages": 1, "to": ends[1], "type": "SendRecv"}]


def id_no_home(files):
    ends = [{"id": file["phases"][0]["tasks"][0]["entity"]["id"], "migratable": True, "type": "object"} for file in files]
    files[0]["phases"][0]["communications"] = [{"bytes": 8.0, "from": ends[0], "messages": 1, "to": ends[1], "type": "SendRecv"}]


def moved(files):
    """As LBAF writes a phase after it moved objects: the homes are not those of the ids, the ends of edges lack the collection,
    and iterations follow the tasks and edges."""
    for rank, file in enumerate(files):
        for phase in file["phases"]:
            tasks = copy.deepcopy(phase["tasks"])
            for task in phase["tasks"]:
                task["entity"]["home"] = 1
            ends = [{k: task["entity"][k] for k in ("home", "id", "migratable", "type")} for task in phase["tasks"]]
            phase["communications"] = [{"bytes": 8.0, "from": ends[0], "messages": 1, "to": ends[1], "type": "SendRecv"}]
            phase["lb_iterations"] = [{"id": i, "tasks": tasks} for i in range(2)]


changed("moved", moved)
changed("attr64", lambda f: first(f).update(attributes={"big": 30000000000}))
changed("attrbool", lambda f: first(f).update(attributes={"flag": True, "list": [1], "none": None}))
changed("inttime", lambda f: first(f).update(time=1))
changed("plainid", lambda f: first(f)["entity"].update(id=12345))
changed("edge_no_home", no_home)
changed("id_no_home", id_no_home)
changed("untyped", untyped)
changed("no_migratable", no_migratable)
changed("short", lambda f: f[1]["phases"].pop())
changed("short_first", lambda f: f[0]["phases"].pop())
write("no_phase", [{"phases": base()[0]["phases"], "type": "LBDatafile"}, {"phases": [], "type": "LBDatafile"}])
write("two_stems", base(), "a")
write("two_stems", base()[:1], "b")
figures = dict(avg=1.0, car=1.0, imb=0.0, kur=1.0, max=1.0, min=1.0, npr=1.0, skw=1.0, std=1.0, sum=1.0, var=1.0)
names = ["Object_comm", "Object_load_modeled", "Object_load_raw", "Rank_comm", "Rank_load_modeled", "Rank_load_raw"]
with open("old_stats.json", "w", encoding="utf-8") as out:
    json.dump({"type": "LBStatsfile", "phases": [{"id": 0, "pre-LB": {n: figures for n in names}}]}, out)
PYTHON

# ---- data of other programs. Usage: taken SET TASKS WARNING; WARNING is empty if no record is changed ----

can_report=yes
"$HPCGEN" report inttime -q -O page.html 2>err || can_report=no
case $can_report$(cat err) in
yes) ;;
*libjs-chart.js*) ;;
*) bad "report of inttime fails: $(cat err)" ;;
esac
warned() { # WARNING COMMAND...
    warning=$1
    shift
    "$HPCGEN" "$@" >out 2>err || bad "$*: $(cat err)"
    # shellcheck disable=SC2254
    case $(cat err) in
    $warning) ;;
    *) bad "$*: expected the warning '$warning', got: $(cat err)" ;;
    esac
}
taken() {
    set=$1
    tasks=$2
    expected=$3
    ! "$HPCGEN" verify "$set" >out 2>&1 || bad "$set: verify accepts it"
    warned '' info --all "$set"
    case $expected:$(grep '^warning: ' out) in
    :) ;;
    *:"warning: $set/data."*) ;;
    *) bad "$set: expected a warning of info like '$expected', got: $(cat out)" ;;
    esac
    [ "$(awk '$1 == "tasks:" {n += $2} END {print n}' out)" = "$tasks" ] || bad "$set: other tasks: $(cat out)"
    [ $can_report = no ] || warned "$expected" report "$set" -q --force -O page.html
    warned "$expected" export "$set" -q -O tasks.csv
    [ "$(wc -l <tasks.csv)" = $((tasks + 1)) ] || bad "$set: other tasks are exported: $(cat tasks.csv)"
    rm -rf again
    warned "$expected" rewrite "$set" again -q --as plain
    "$HPCGEN" export again -q -O again.csv 2>/dev/null
    cmp tasks.csv again.csv || bad "$set: other tasks are written"
    warned '' fit "$set" -O twin.ini
    case $expected:$(grep -cE 'records break a rule|ranks have not as many phases' out) in
    :0) ;;
    ?*:1) ;;
    *) bad "$set: expected a remark of fit only where there is a warning: $(cat out)" ;;
    esac
}
taken attr64 12 ''
grep -q '"big":30000000000' again/data.0.json || bad "an attribute of 64 bits is lost: $(cat again/data.0.json)"
taken attrbool 12 ''
grep -q '"flag":true,"list":\[1\],"none":null' again/data.0.json || bad "attributes are lost: $(cat again/data.0.json)"
taken inttime 12 ''
taken plainid 12 '*plainid/data.0.json: *migratable: expected false (0) by the bits of id 12345, got 1; taken as it is'
grep -q '^0,0,seq_id,12345,0,1,' tasks.csv || bad "another id: $(cat tasks.csv)"
taken edge_no_home 12 '*expected the key "home" with seq_id 0, got none; taken as it is, like 1 other records'
taken id_no_home 12 '*expected the key "home" with id 262147, got none; taken as it is, like 1 other records'
grep -q '"to":{"home":1,"id":524295,' again/data.0.json || bad "another home: $(cat again/data.0.json)"
taken moved 12 '*moved/data.0.json: *home: expected 0 by the bits of id *, got 1; taken as it is, like 11 other records'
python3 - <<'PYTHON' || bad "moved: $(cat again/data.0.json)"
import json
with open("again/data.0.json", encoding="utf-8") as file:
    phase = json.load(file)["phases"][1]
assert [i["id"] for i in phase["lb_iterations"]] == [0, 1] and len(phase["lb_iterations"][1]["tasks"]) == 2
edge = phase["communications"][0]
for entities in [t["entity"] for t in phase["tasks"]], [edge["from"], edge["to"]]:
    assert [(e["id"], e["home"], e["migratable"]) for e in entities] == [(262147, 0, True), (2883587, 0, True)]
PYTHON
taken untyped 12 '*untyped/data.0.json: expected the type "LBDatafile" *; taken as it is'
taken no_migratable 12 '*expected the key "migratable" *; taken as it is, like 5 other records'
grep -q '^1,2,object,[0-9]*,1,1,' tasks.csv || bad "others migrate: $(cat tasks.csv)"
taken short 10 '*short/data.1.json: expected 3 phases as in *, got 2, which are *'
grep -q '^1 ranks have not as many phases as the first one, 3: rank 1 has 2$' out || bad "no rank is named: $(cat out)"
taken short_first 10 '*short_first/data.1.json: expected 2 phases as in *, got 3, which are *'
taken no_phase 6 '*no_phase/data.1.json: expected 3 phases as in *, got 0, which are *'

# ---- two sets ----

for command in 'verify two_stems' 'info two_stems' 'export two_stems -O x.csv' 'rewrite two_stems x' 'fit two_stems -O x.ini'; do
    # shellcheck disable=SC2086
    ! "$HPCGEN" $command >out 2>err || bad "$command takes two sets"
    grep -q 'got two, "a" and "b": choose a stem' err || bad "$command: sets are not named: $(cat err)"
done
"$HPCGEN" verify two_stems --stem a >out 2>err || bad "verify of a stem fails: $(cat err)"
"$HPCGEN" info --all two_stems --stem b >out 2>err || bad "info of a stem fails: $(cat err)"
grep -q '^files: 1$' out || bad "another set: $(cat out)"
"$HPCGEN" export two_stems --stem a -q -O a.csv || bad "export of a stem fails"
[ "$(wc -l <a.csv)" = 13 ] || bad "another set is exported: $(cat a.csv)"
"$HPCGEN" rewrite two_stems b_alone --stem b -q || bad "rewrite of a stem fails"
[ "$(ls b_alone)" = data.0.json.br ] || bad "another set is written: $(ls b_alone)"
"$HPCGEN" fit two_stems --stem a -q -O a.ini || bad "fit of a stem fails"
grep -q '^ranks = 2$' a.ini || bad "another set is learned: $(cat a.ini)"
"$HPCGEN" fit --compare two_stems b_alone --stem b >out 2>err || bad "the comparison of a stem fails: $(cat err)"
[ $can_report = no ] || "$HPCGEN" report two_stems --stem a -q -O a.html || bad "report of a stem fails"
# An output that is a file of one of the two sets is refused.
cp two_stems/a.0.json kept
! "$HPCGEN" export two_stems --stem b -q -O two_stems/a.0.json 2>err || bad "an input is replaced"
cmp kept two_stems/a.0.json || bad "an input was replaced"
! "$HPCGEN" info two_stems --stem c >out 2>err || bad "a stem that is not there is taken"
[ "$(cat err)" = 'hpcgen: two_stems: expected load data with the stem "c", got none' ] || bad "another message: $(cat err)"

# ---- statistics (LBStatsfile) with the type at the top level ----

"$HPCGEN" verify old_stats.json >/dev/null 2>err || bad "verify of old statistics fails: $(cat err)"
"$HPCGEN" info --all old_stats.json >out 2>err || bad "info of old statistics fails: $(cat err)"
grep -q '^type: LBStatsfile$' out || bad "no statistics: $(cat out)"
exit $failed
