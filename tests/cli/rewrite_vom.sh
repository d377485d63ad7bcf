#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rewrites load data: the records stay the same in every form. For selected phases and ranks, only those are
# written.
. "$HERE/refuse.inc"
"$HPCGEN" --ranks 4 --formats vom --set load.phases=6 --out set --quiet || bad "generate fails"
"$HPCGEN" --ranks 4 --formats vom --set load.phases=6 --set vom.container=plain --out plain --quiet ||
    bad "generate fails"
again() {
    "$HPCGEN" rewrite --quiet "$@" || bad "fails: $*"
}
again set/vom as_plain --as plain
again set/vom as_brotli
again as_brotli/data.0.json.br one.json
again as_brotli as_lbaf --as lbaf --first-rank 1 --last-rank 2
again as_plain/data.1.json one.json.br
again plain/vom some --as plain --first-phase 2 --last-phase 3
[ "$(ls as_plain as_lbaf some | tr '\n' ' ')" = "as_lbaf: data.1.json data.2.json  as_plain: data.0.json data.1.json \
data.2.json data.3.json  some: data.0.json data.1.json data.2.json data.3.json " ] || bad "other names: $(ls as_* some)"
[ "$(ls as_brotli | tr '\n' ' ')" = "data.0.json.br data.1.json.br data.2.json.br data.3.json.br " ] ||
    bad "other names: $(ls as_brotli)"
cmp one.json as_plain/data.0.json || bad "plain text changes on the way through brotli"
cmp one.json.br as_brotli/data.1.json.br || bad "one file is compressed otherwise than a directory"
cmp as_lbaf/data.1.json as_brotli/data.1.json.br || bad "other bytes under LBAF's names"
for written in as_plain as_brotli some one.json.br; do
    "$HPCGEN" verify $written >said 2>&1 || bad "$written: $(cat said)"
done
python3 - <<'PYTHON' || bad "other records"
import json
for rank in range(4):
    old, new, some = (json.load(open(f"{d}/data.{rank}.json")) for d in ("plain/vom", "as_plain", "some"))
    assert new == old, rank
    assert [p["id"] for p in some["phases"]] == [2, 3]
    assert some["phases"] == old["phases"][2:4] and some["metadata"] == old["metadata"]
PYTHON

# A rank has fewer phases, as if it was killed. All phases are written, and one line reports this. --last-phase 2
# makes the ranks equal.
cp -r plain/vom short
again plain/vom/data.2.json short/data.2.json --last-phase 2
again plain/vom moved --as plain --last-phase 2
again plain/vom/data.1.json moved/data.1.json --first-phase 1 --last-phase 3
uneven() { # LINE ARGUMENT...
    line=$1
    shift
    "$HPCGEN" "$@" --quiet >/dev/null 2>why || bad "fails: $*"
    [ "$(cat why)" = "hpcgen: $line" ] || bad "$*: $(cat why)"
}
uneven 'short/data.2.json: expected 6 phases as in rank 0, got 3, which are written as they are' rewrite short again
uneven 'short/data.2.json: expected 6 phases as in rank 0, got 3, which are written as they are' export short --output -
uneven 'short/data.3.json: expected 3 phases as in rank 2, got 6, which are written as they are' export short --form edges --output - \
    --first-rank 2
uneven 'moved/data.1.json: expected phase 0 as in rank 0, got 1, which is written as it is' rewrite moved moved_again
again short even --last-phase 2 2>why
[ ! -s why ] || bad "phases that are not written: $(cat why)"

# Metadata of removed phases are removed, too. Phase 6 is identical to phase 5, which is removed. Phase 8 is
# identical to phase 7, which stays. The file also has user-defined values, iterations, and another order of keys
# than hpcgen's.
cat >odd.json <<'JSON'
{ "type": "LBDatafile", "metadata": {"rank": 1, "type": "LBDatafile", "shared_node": {"id": 1, "num_nodes": 2, "rank": 0, "size": 1},
  "phases": {"count": 12, "skipped": {"list": [1], "range": [[3, 4], [9, 10]]}, "identical_to_previous": {"list": [6, 8], "range": []}}},
  "phases": [
 {"id": 0, "tasks": []}, {"id": 2, "tasks": []}, {"id": 5, "tasks": []},
 {"lb_iterations": [{"id": 4, "tasks": []}], "tasks": [{"time": 25e-1, "resource": "cpu", "node": 1,
    "entity": {"type": "object", "id": 262151, "home": 1, "migratable": true, "collection_id": 7, "index": [3]},
    "user_defined": {"z": null, "a": [ 1, {"b": "\u00e4"} ]}}],
  "id": 7, "user_defined": {"x": true}},
 {"id": 11, "tasks": []}]}
JSON
again odd.json cut.json --first-phase 6 --last-phase 10
[ "$(cat cut.json)" = '{"metadata":{"phases":{"count":11,"identical_to_previous":{"list":[8],"range":[]},"skipped":{"list":[],"range":[[9,10]]}},"rank":1,"shared_node":{"id":1,"num_nodes":2,"rank":0,"size":1},"type":"LBDatafile"},"phases":[{"id":7,"lb_iterations":[{"id":4,"tasks":[]}],"tasks":[{"entity":{"collection_id":7,"home":1,"id":262151,"index":[3],"migratable":true,"type":"object"},"node":1,"resource":"cpu","time":2.5,"user_defined":{"a":[1,{"b":"\u00e4"}],"z":null}}],"user_defined":{"x":true}}]}' ] ||
    bad "cut: $(cat cut.json)"
sed 's/{"lb_iterations": \[{"id": 4, "tasks": \[\]}\], /{/
    s/"id": 7,/"lb_iterations": [{"id": 4, "tasks": []}], "id": 7,/' odd.json >late.json
again late.json late_cut.json --first-phase 6 --last-phase 10
grep -q '"z":null}}\],"lb_iterations":\[{"id":4,"tasks":\[\]}\],"user_defined":{"x":true}}' late_cut.json ||
    bad "iterations after the tasks: $(cat late_cut.json)"
again odd.json all.json
again all.json twice.json
cmp all.json twice.json || bad "written twice it is another"

# Files of vt are reproduced byte for byte.
for real in lbgen_4ranks rotate_4ranks seed1 seed2_3ranks; do
    if [ -d "${HPCW_GOLDEN-}/vom/${real}_plain" ]; then
        again "$HPCW_GOLDEN/vom/${real}_br" $real --as plain
        diff -r "$HPCW_GOLDEN/vom/${real}_plain" $real || bad "$real: other bytes than vt's"
    fi
done

# Its messages.
"$HPCGEN" rewrite set/vom said.vom --sync --json >said.json 2>said || bad "rewrite --json fails"
case $(cat said) in
"hpcgen: said.vom: 4 files, 24 phases, "*) ;;
*) bad "said: $(cat said)" ;;
esac
"$JSON_CHECK" said.json || bad "no JSON: $(cat said.json)"
grep -q "\"bytes\": *$(cat said.vom/* | wc -c)" said.json || bad "said: $(cat said.json)"

refuse 1 'said.vom: expected no file or directory of this name, got one' "$HPCGEN" rewrite set/vom said.vom
refuse 1 'nowhere/x: cannot create the directory: *' "$HPCGEN" rewrite set/vom nowhere/x
refuse 1 'nowhere/x.json: *No such file or directory' "$HPCGEN" rewrite odd.json nowhere/x.json
refuse 1 'missing: expected a file or directory: *' "$HPCGEN" rewrite missing x
refuse 1 'set: rewrite: expected data of one format, such as set/vom, got a directory around it' "$HPCGEN" rewrite set x
refuse 1 'set/vom: expected ranks of 0 to 3, got 4 to 9' "$HPCGEN" rewrite set/vom x --first-rank 4 --last-rank 9
refuse 1 'rewrite: expected ranges of ranks and phases, got ranks 2 to 1 and phases 0 to *' \
    "$HPCGEN" rewrite set/vom x --first-rank 2 --last-rank 1
refuse 1 'rewrite: expected ranges of ranks and phases, got ranks 0 to 1 and phases 2 to 1' \
    "$HPCGEN" rewrite set/vom x --last-rank 1 --first-phase 2 --last-phase 1
head -c 3000 as_plain/data.2.json >short.json
cp short.json as_plain/data.2.json
refuse 1 'short.json: *' "$HPCGEN" rewrite short.json x
refuse 1 'as_plain/data.2.json: *' "$HPCGEN" rewrite as_plain x
[ ! -e x ] && [ -z "$(find . -name '*.tmp')" ] || bad "something is left"
exit $failed
