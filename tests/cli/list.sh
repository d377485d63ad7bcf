#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `list` shows formats, presets, and parameters by topic, in 80 columns, with ranges and defaults. A legend explains
# marks such as [A].
. "$HERE/refuse.inc"
"$HPCGEN" list >first || bad "list fails"
"$HPCGEN" list --all >all || bad "list --all fails"
"$HPCGEN" list --json >list.json || bad "list --json fails"
"$JSON_CHECK" list.json || bad "no JSON"
topics=$(sed -n '/^topics/,/^$/p' first | sed 1d | tr -d ' \n' | tr , ' ')
[ "$(echo "$topics" | wc -w)" -ge 10 ] || bad "topics: $topics"
for topic in $topics; do
    "$HPCGEN" list "$topic" >topic || bad "list $topic fails"
    [ "$(wc -l <topic)" -ge 4 ] || bad "list $topic: $(cat topic)"
    cat topic >>each
    "$HPCGEN" list "$topic" --all >>every || bad "list $topic --all fails"
done
for text in first all each every; do
    [ "$(awk 'length > 80' $text | wc -l)" -eq 0 ] || bad "$text: lines of more than 80 columns: $(awk 'length > 80' $text)"
done

# `list` begins with the parameters that are set most. --all, or all topics together, have every parameter.
keys() {
    sed -n 's/^  \([a-z0-9_]*\.[a-z0-9_]*\) = .*/\1/p' "$1" | sort
}
[ "$(keys first | wc -l)" -eq 30 ] || bad "other parameters that are set most: $(keys first)"
python3 - <<'PYTHON' | sort >wanted
import json
d = json.load(open("list.json", encoding="ascii"))
assert list(d["set"]) == list(d["parameters"]), "other keys"
assert all(p["meaning"] for p in d["parameters"].values())
assert d["parameters"]["trace.skew"]["unit"] == "us" and d["parameters"]["trace.skew"]["most"] == 1e6
assert d["parameters"]["load.scenario"]["choices"] == ["none", "spike", "ramp", "hotspot"]
assert d["marks"]["[A]"]
print(*d["set"], sep="\n")
PYTHON
keys all | diff wanted - || bad "list --all lacks parameters"
keys every | diff wanted - || bad "no topic has some parameters"
[ "$(keys first | comm -23 - wanted)" = "" ] || bad "unknown parameters"
grep -q "^  \.\.\. and $(($(wc -l <wanted) - 30)) more: hpcgen list --all$" first || bad "first: $(tail -8 first)"

for mark in $(grep -o '\[[A-Z][0-9]*\]' all | sort -u); do
    grep -q "^  \\$mark  *[a-z]" all || bad "mark $mark is not explained"
done
! grep -q 'where values come from' topic || bad "a legend without marks: $(cat topic)"

# A parameter is shown with its value and range, and with its default if its value was set.
"$HPCGEN" list trace --set trace.skew=3 | tr -s ' \n' ' ' >text
grep -qF 'trace.skew = 3 us ' text || bad "no value: $(cat text)"
grep -qF '(0 to 1000000; default: 0)' text || bad "no range or default: $(cat text)"
"$HPCGEN" list rank2file | tr -s ' \n' ' ' | grep -qF '(scr-1.1, scr-1.2, scr-3, shared)' || bad "no choices"

refuse 2 "list: unknown topic \`machin\`; did you mean \`machine\`?" "$HPCGEN" list machin
refuse 2 "list: unknown topic \`stars\`: expected one of run, machine, *" "$HPCGEN" list stars

# A preset also has the name of a real machine.
for pair in juwels=dfplus-hdr200 LUMI=dragonfly-ss11 narval=fattree-hdr100 Jupiter=dfplus-ndr200 fugaku=torus-tofud; do
    "$HPCGEN" list presets --preset "${pair%=*}" >/dev/null || bad "no preset ${pair%=*}"
    "$HPCGEN" plan -n 8 --preset "${pair%=*}" | grep -q "preset ${pair#*=}," || bad "${pair%=*} is another preset"
done
refuse 2 '--preset: expected one of dfplus-hdr200, *, got "summit"' "$HPCGEN" list --preset summit
exit $failed
