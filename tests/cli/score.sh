#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `hpcgen score` for findings that are perfect, empty, wrong, repeated, named by other ranks, or malformed.
failed=0
bad() {
    echo "$*"
    failed=1
}
refuse() { # PATTERN, then what to score
    if "$HPCGEN" score findings.json "${2:-data}" >out 2>err; then
        bad "not refused: $(cat findings.json)"
    fi
    # shellcheck disable=SC2254
    case $(cat err) in
    $1) ;;
    *) bad "expected the message $1, got: $(cat err)" ;;
    esac
    [ ! -s out ] || bad "a refused call prints a result"
}
# Checks the output line for a kind of fault.
score() { # KIND LINE
    "$HPCGEN" score findings.json data >out || bad "score failed"
    grep -qF -- "- kind=$1 $2" out || bad "expected $1 $2, got: $(grep "kind=$1 " out)"
}
findings() {
    echo "{\"findings\": [$1]}" >findings.json
}

"$HPCGEN" --quiet --ranks 128 --formats vom,clog2,rank2file --scale tiny --out data --set machine.slow_node_share=0.2 \
    --set rank2file.missing_files=1 --set rank2file.truncated_files=1 --set rank2file.wrong_crcs=1 \
    --set rank2file.stale_index=yes || exit 1

# Perfect findings: one for each fault in truth.json, with more members than needed.
python3 - <<'END'
import json
truth = json.load(open("data/truth.json"))
found = []
def walk(at):
    if isinstance(at, dict) and "visibility" in at:
        found.append({k: at[k] for k in at if k not in ("visibility", "first_rank", "ranks", "node")})
        if at["kind"] == "slow_node":
            found.append({"kind": "slow_node", "rank": at["first_rank"] + at["ranks"] - 1})
            found.append({"kind": "slow_node", "node": at["node"], "why": {"sd": 9}})
    elif isinstance(at, dict):
        for one in at.values():
            walk(one)
    elif isinstance(at, list):
        for one in at:
            walk(one)
walk(truth)
json.dump({"findings": found}, open("perfect.json", "w"))
END
host() { # NODE
    python3 -c "import json; print(json.load(open('data/truth.json'))['machine']['hosts'][$1])"
}
cp perfect.json findings.json
"$HPCGEN" score --json findings.json data >out || bad "score failed"
"$JSON_CHECK" out || bad "no JSON"
python3 - <<'END' || failed=1
import json
kinds = {k["kind"]: k for k in json.load(open("out"))["kinds"]}
assert {"slow_node", "missing_file", "truncated_file", "wrong_crc", "stale_index"} <= set(kinds), kinds
for k in kinds.values():
    assert k["precision"] == 1 and k["right"] == k["findings"], k
    for c in ("visible", "faint", "hidden"):
        assert k[c + "_recall"] == (1 if k[c + "_faults"] else None), k
    assert k["findings"] == sum(k[c + "_faults"] for c in ("visible", "faint", "hidden")), k
assert kinds["wrong_crc"]["visible_faults"] == 1
assert kinds["slow_node"]["findings"] > 1
END

# Nothing found.
findings ''
score wrong_crc 'findings=0 right=0 precision=null visible_faults=1 visible_recall=0.0'

# Wrong findings: an intact file (once repeated), and kinds of faults that this dataset does not have.
findings '{"kind": "wrong_crc", "file": "scr/x"}, {"kind": "wrong_crc", "file": "scr/x"}, {"kind": "wrong_crc", "file": "scr/y"},
    {"kind": "slow_cable", "rank_a": 1, "rank_b": 2}, {"kind": "slow_cable", "rank_a": 2, "rank_b": 1},
    {"kind": "outlier", "rank": 1, "partner": 2}, {"kind": "interruption", "rank": 1, "phase": 2},
    {"kind": "overloaded", "rank": 1, "phase": 2}, {"kind": "clock", "host": "'"$(host 1)"'"}'
score wrong_crc 'findings=2 right=0 precision=0.0 visible_faults=1 visible_recall=0.0'
score slow_cable 'findings=1 right=0 precision=0.0 visible_faults=0 visible_recall=null'
score outlier 'findings=1 right=0 precision=0.0'
score interruption 'findings=1 right=0'
score overloaded 'findings=1 right=0'
score clock 'findings=1 right=0'

# Findings of overloaded ranks count in the phases of the scenario's overload, but not before.
"$HPCGEN" --quiet --ranks 128 --formats vom --scale tiny --out spike --set load.scenario=spike || exit 1
python3 - <<'END' || failed=1
import json
scenario = json.load(open("spike/truth.json"))["vom"]["scenario"]
hit = [r for r in scenario["ranks"] if r["rank"] in scenario["home_ranks"]]
assert len(hit) == len(scenario["home_ranks"]), scenario
assert all(r["kind"] == "overloaded" and r["factor"] > 2 for r in hit), hit
assert all(scenario["first_phase"] <= r["first_phase"] <= r["phase"] < r["first_phase"] + r["phases"] for r in hit), hit
assert all(r["since"] == scenario["first_phase"] - 1 for r in hit), hit
one = hit[0]
found = [one["first_phase"], one["first_phase"] + one["phases"] - 1, one["since"]]
json.dump({"findings": [{"kind": "overloaded", "rank": one["rank"], "phase": p} for p in found]}, open("findings.json", "w"))
END
"$HPCGEN" score findings.json spike >out || bad "score failed"
# The second finding names the same fault as the first one. The third finding names no fault.
grep -qF -- '- kind=overloaded findings=2 right=1 precision=0.5' out || bad "overloaded: got $(cat out)"

# Costs: only faults that cost more than 1 % of the run of 10 s count, in the order of the findings. The cost of one
# fault is unknown.
mkdir costs
cat >costs/truth.json <<'END'
{"clog2": {"phases": [{"end_ns": 4000000000}, {"end_ns": 10000000000}], "interruptions": [
   {"kind": "interruption", "rank": 1, "phase": 1, "cost_s": 0.5, "visibility": []},
   {"kind": "interruption", "rank": 2, "phase": 1, "cost_s": 2, "visibility": []},
   {"kind": "interruption", "rank": 3, "phase": 1, "cost_s": 1, "visibility": []},
   {"kind": "interruption", "rank": 4, "phase": 1, "cost_s": 0.25, "visibility": []},
   {"kind": "interruption", "rank": 5, "phase": 1, "cost_s": 0.1, "visibility": []},
   {"kind": "interruption", "rank": 6, "phase": 1, "cost_s": null, "visibility": []}]}}
END
cost() { # COST FOUND ORDERED
    "$HPCGEN" score findings.json costs >out || bad "score failed"
    sed '1,/^cost:$/d' out >got
    printf '  cost_s: %s\n  cost_found_s: %s\n  ordered: %s\n  faults_of_unknown_cost: 1\n' "$@" | diff - got || bad "other costs"
}
at() { printf '{"kind": "interruption", "rank": %s, "phase": 1}' "$1"; }
findings ''
cost 3.75 0.0 null
findings "$(at 2), $(at 5), $(at 6), $(at 2)"
cost 3.75 2.0 null
findings "$(at 2), $(at 1), $(at 5), $(at 3)"
cost 3.75 3.5 0.5

# A truth.json with kinds, visibilities and places of faults that the dataset above does not have.
mkdir by_hand
cat >by_hand/truth.json <<'END'
{"machine": {"slow_cables": [
   {"kind": "slow_cable", "first_rank_a": 0, "ranks_a": 10, "first_rank_b": 20, "ranks_b": 10, "visibility": [{"format": "linktest", "file": "f", "sd": 4.9}]}]},
 "linktest": {"outliers": [
   {"kind": "outlier", "rank": 3, "worst_partner": 7, "visibility": [{"format": "linktest", "file": "f", "sd": 20}]},
   {"kind": "outlier", "rank": 4, "worst_partner": 7, "visibility": [{"format": "linktest", "file": "f", "sd": 7.9}]},
   {"kind": "outlier", "rank": 4, "worst_partner": 8, "visibility": [{"format": "linktest", "file": "f", "sd": null}]},
   {"kind": "outlier", "rank": 5, "worst_partner": 8, "visibility": []},
   {"kind": "outlier", "rank": 5, "worst_partner": 8, "visibility": [{"sd": 1}, {"sd": 8}]}]}}
END
findings '{"kind": "slow_cable", "rank_a": 25, "rank_b": 9}, {"kind": "outlier", "rank": 3, "partner": 7},
    {"kind": "outlier", "rank": 4, "partner": 8}, {"kind": "outlier", "rank": 5, "partner": 8}, {"kind": "outlier", "rank": 7, "partner": 3}'
"$HPCGEN" score findings.json by_hand >out || bad "score failed"
cat >expected <<'END'
kinds:
  - kind=slow_cable findings=1 right=1 precision=1.0 visible_faults=0 visible_recall=null faint_faults=1 faint_recall=1.0 hidden_faults=0 hidden_recall=null
  - kind=outlier findings=4 right=3 precision=0.75 visible_faults=1 visible_recall=1.0 faint_faults=1 faint_recall=1.0 hidden_faults=2 hidden_recall=0.5
END
cmp -s out expected || bad "by hand: got: $(cat out)"

# The ranks and phases of a fault are a range that begins at its first rank or phase.
mkdir spans
cat >spans/truth.json <<'END'
{"faults": [{"kind": "slow_node", "first_rank": 3, "ranks": 13, "visibility": [{"sd": 9}]},
    {"kind": "slow_node", "first_rank": 10, "ranks": 9007199254740000, "visibility": [{"sd": 1}]},
    {"kind": "overloaded", "rank": 7, "first_phase": 5, "phases": 6, "visibility": [{"sd": 9}]},
    {"kind": "overloaded", "rank": 8, "first_phase": 0, "phases": 30, "visibility": [{"sd": 1}]},
    {"kind": "clock", "first_rank": 20, "ranks": 4, "visibility": [{"sd": 9}]},
    {"kind": "clock", "first_rank": 26, "ranks": 4, "visibility": [{"sd": 1}]},
    {"kind": "clock", "first_rank": 23, "ranks": 4, "visibility": [{"sd": 1}]},
    {"kind": "slow_cable", "first_rank_a": 0, "ranks_a": 4, "first_rank_b": 8, "ranks_b": 4, "visibility": [{"sd": 9}]},
    {"kind": "slow_cable", "first_rank_a": 8, "ranks_a": 4, "first_rank_b": 4, "ranks_b": 4, "visibility": [{"sd": 9}]}]}
END
# The second of three clocks has no rank of the first, but the third has ranks of both: all count as one.
findings '{"kind": "clock", "rank": 29}, {"kind": "clock", "rank": 20}, {"kind": "clock", "rank": 19}'
"$HPCGEN" score findings.json spans >out || bad "score failed"
grep -q "kind=clock findings=2 right=1 .*visible_faults=1 .*hidden_faults=0" out || bad "clocks: $(cat out)"
# The second of three faults has ranks of the first and the host of the third: all count as one.
mkdir hosts
cat >hosts/truth.json <<'END'
{"faults": [{"kind": "slow_node", "host": "a", "first_rank": 0, "ranks": 4, "visibility": [{"sd": 9}]},
    {"kind": "slow_node", "host": "b", "first_rank": 2, "ranks": 4, "visibility": [{"sd": 1}]},
    {"kind": "slow_node", "host": "b", "first_rank": 10, "ranks": 4, "visibility": [{"sd": 1}]}]}
END
findings '{"kind": "slow_node", "host": "b"}, {"kind": "slow_node", "rank": 0}, {"kind": "slow_node", "rank": 13}'
"$HPCGEN" score findings.json hosts >out || bad "score failed"
grep -q "kind=slow_node findings=1 right=1 .*visible_faults=1 .*hidden_faults=0" out || bad "hosts: $(cat out)"
for ends in '1 9 1' '9 1 1' '11 4 1' '7 8 1' '1 5 0' '1 2 0' '8 12 0'; do
    # shellcheck disable=SC2086
    set -- $ends
    findings "{\"kind\": \"slow_cable\", \"rank_a\": $1, \"rank_b\": $2}"
    "$HPCGEN" score findings.json spans >out || bad "score failed"
    grep -q "kind=slow_cable findings=1 right=$3 .*visible_faults=2 " out || bad "cable $ends: $(cat out)"
done
for span in 'slow_node 2 0' 'slow_node 3 1' 'slow_node 9 1' 'slow_node 15 1' 'slow_node 4503599627370496 1' \
    'slow_node 9007199254740011 0' 'overloaded 4 0' 'overloaded 5 1' 'overloaded 8 1' 'overloaded 10 1' 'overloaded 11 0'; do
    # shellcheck disable=SC2086
    set -- $span
    [ "$1" = slow_node ] && where="\"rank\": $2" || where="\"rank\": 7, \"phase\": $2"
    findings "{\"kind\": \"$1\", $where}"
    "$HPCGEN" score findings.json spans >out || bad "score failed"
    grep -q "kind=$1 findings=1 right=$3 .*visible_faults=1 " out || bad "$span: $(cat out)"
done

# Malformed findings.
findings '{"kind": "fast_node", "rank": 1}'
refuse 'hpcgen: findings.json: findings?0?.kind: expected one of slow_port, *stale_index, got fast_node'
findings '{"kind": "slow_node", "rank": 1}, {"kind": "slow_node"}'
refuse 'hpcgen: findings.json: findings?1?: slow_node: expected host, node or rank, got none'
findings '{"kind": "slow_node", "rank": -1}'
refuse '*expected host, node or rank, got none'
findings '{"kind": "outlier", "rank": 1.5, "partner": 2}'
refuse '*findings?0?: outlier: expected rank and partner, got none'
findings '{"kind": "slow_node", "host": "x", "rank": 1}'
refuse 'hpcgen: findings.json: findings?0?: slow_node: expected one of host, node and rank, got several'
findings '{"kind": "slow_node", "rank": 127}, {"kind": "outlier", "rank": 1, "partner": 128}'
refuse 'hpcgen: findings.json: findings?1?.partner: expected a rank below 128 as in the run, got 128'
node=$(host 31)
findings '{"kind": "slow_port", "host": "'"$node"'"}, {"kind": "clock", "host": "'"${node}x"'"}'
refuse "hpcgen: findings.json: findings?1?.host: expected one of machine.hosts in data/truth.json, got ${node}x"
findings '{"kind": "slow_port", "node": 31}, {"kind": "clock", "node": 32}'
refuse 'hpcgen: findings.json: findings?1?.node: expected a node below 32 as in the run, got 32'
phases=$(python3 -c "import json; print(len(json.load(open('data/truth.json'))['vom']['phases']))")
for kind in overloaded interruption; do
    findings '{"kind": "'$kind'", "rank": 1, "phase": '$((phases - 1))'}, {"kind": "'$kind'", "rank": 1, "phase": '"$phases"'}'
    refuse "hpcgen: findings.json: findings?1?.phase: expected a phase below $phases as in the run, got $phases"
done
findings '{"kind": "outlier", "rank": 1, "partner": 2, "rank": 3}'
refuse 'hpcgen: findings.json: findings?0?.rank: expected one, got 2'
echo '{"findings": [], "findings": [{"kind": "fast_node"}]}' >findings.json
refuse 'hpcgen: findings.json: findings: expected one list, got 2'

# A changed truth.json is detected by its checksum, or without checksums by missing members of a fault.
findings '{"kind": "slow_node", "rank": 1}'
cp -r data changed
sed -i 's/"ranks": 128/"ranks": 127/' changed/truth.json
refuse 'hpcgen: changed/truth.json: XXH3-128: expected * as in CHECKSUMS.xxh128, got *: to make it again: hpcgen repair DIR' changed
rm changed/CHECKSUMS.xxh128
"$HPCGEN" score findings.json changed >out || bad "score without checksums failed"
change() { # EXPRESSION PATTERN
    sed "$1" data/truth.json >changed/truth.json
    ! cmp -s data/truth.json changed/truth.json || bad "nothing changes: $1"
    refuse "hpcgen: changed/truth.json: slow_node: $2" changed
}
change 's/"visibility"/"visibilitx"/' 'visibility: expected a list, got none'
change 's/"sd"/"se"/' 'visibility: expected sd, or certain = true, got neither'
change 's/"ranks": 4/"ranks": 0/' 'expected a place of one or more ranks or phases, got none'

findings '7'
refuse '*findings?0?.kind: expected one of *, got none'
echo '{"found": []}' >findings.json
refuse 'hpcgen: findings.json: findings: expected a list, got none'
echo '{"findings": {}}' >findings.json
refuse '*findings: expected a list, got something else'
echo '{"findings": [' >findings.json
refuse 'hpcgen: findings.json: expected JSON, got something else at offset *'
true >findings.json
refuse 'hpcgen: findings.json: expected {"findings": ?...?} as in doc/truth.md, got an empty file'
rm findings.json
refuse 'hpcgen: findings.json: *'
findings ''
refuse 'hpcgen: none/truth.json: *' none
exit $failed
