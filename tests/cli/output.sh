#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stdout has only results. Text for people goes to stderr, and --quiet suppresses it.
failed=0
bad() {
    echo "$*"
    failed=1
}
run() {
    "$HPCGEN" "$@" >stdout 2>stderr || bad "fails: $* ($(cat stderr))"
}
silent() {
    run "$@"
    [ ! -s stdout ] || bad "stdout of $*: $(cat stdout)"
    [ ! -s stderr ] || bad "stderr of $*: $(cat stderr)"
}
json() {
    run "$@"
    "$JSON_CHECK" stdout || bad "no JSON from $*"
}

run --ranks 8 --out loud
[ ! -s stdout ] || bad "generate without --json prints on stdout: $(cat stdout)"
for word in 'seed 2' dfplus-hdr200 loud/linktest/pingpong_results_bin.sion 'loud is complete'; do
    grep -q "$word" stderr || bad "the summary lacks $word"
done

silent --ranks 8 --out quiet --quiet
silent --ranks 8 --out quiet --quiet --resume
silent verify --quiet quiet
silent verify --quiet quiet/sion/particles.sion
silent --ranks 8 --out parts --part 1/2 --quiet
silent --ranks 8 --out parts --part 2/2 --quiet
silent join --quiet parts

for file in manifest.json truth.json; do
    "$JSON_CHECK" quiet/$file || bad "$file is no JSON"
done
json --ranks 8 --out json --json --quiet
grep -q '"complete": true' stdout || bad "the result does not say that it is complete"
[ ! -s stderr ] || bad "stderr with --json --quiet: $(cat stderr)"
json plan --ranks 8 --json
json list --json
json list --json --preset tcp-1g --scale large --set machine.ppn=3
grep -q '"machine.ppn": 3' stdout || bad "list does not show a setting"
json verify --json quiet
json verify --json quiet/linktest/pingpong_results_bin.sion
for file in linktest/pingpong_results_bin.sion sion/particles.sion sion/particles.sion.000003; do
    json info --json quiet/$file
done
json --ranks 8 --out parts2 --part 1/2 --quiet --json
json --ranks 8 --out parts2 --part 2/2 --quiet --json
grep -q '"complete": false' stdout || bad "a part prints that it is complete"
json join --json --quiet parts2

# Text output has all digits of large numbers.
silent --quiet --ranks 4 --formats linktest --seed 18446744073709551615 --set linktest.permutations=1 --out seed
run info --all seed/linktest/pingpong_results_bin.sion
grep -q '^task_seed: 18446744073709551615$' stdout || bad "info rounds: $(grep task_seed stdout)"

# A failure to write to standard output is an error.
if [ -c /dev/full ]; then
    "$HPCGEN" list >/dev/full 2>stderr && bad "a full standard output goes unnoticed"
    [ "$(cat stderr)" = "hpcgen: standard output: cannot write" ] || bad "stderr: $(cat stderr)"
fi
exit $failed
