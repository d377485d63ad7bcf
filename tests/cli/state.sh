#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From the state directory of a dataset (.hpcw), only the files of runs are removed.
. "$HERE/refuse.inc"
strange='notes part.mine part.0123456789abcdef.bak sion.notes.jsonl sion.0-1.jsonl.bak sion.00-1.jsonl vom.0-99999999999999999999.jsonl
linktest.unit linktest.unit0.bak parameters.json.bak'
own='sion.0-7.jsonl linktest.unit0 .hpcw-0123456789abcdef-parameters.json.tmp'
lay() { # DIR
    mkdir -p "$1"/.hpcw/folder
    for name in $strange; do
        echo mine >"$1/.hpcw/$name"
    done
}
# says DIR COMMAND...: the command succeeds, one line on stderr names the foreign files in DIR/.hpcw, and they still
# exist.
says() {
    dir=$1
    shift
    "$@" 2>lines || bad "status $?: $*: $(cat lines)"
    grep -q "^hpcgen: $dir/.hpcw/.* and 10 more: left there, as no run of hpcgen made them\$" lines &&
        [ "$(grep -c 'left there' lines)" -eq 1 ] || bad "$*: $(cat lines)"
    for name in $strange; do
        [ "$(cat "$dir/.hpcw/$name")" = mine ] || bad "$name is gone after $*"
    done
    find "$dir/.hpcw" | wc -l >count
    [ "$(cat count)" -eq 12 ] || bad "$*: $(find "$dir/.hpcw")"
    "$HPCGEN" verify --quiet "$dir" || bad "does not verify after $*"
}
options='--ranks 4 --scale tiny --formats sion,linktest'
# shellcheck disable=SC2086
make() { "$HPCGEN" $options "$@"; }

lay fresh
says fresh make --out fresh
says fresh make --out fresh --resume
says fresh make --out fresh --force --seed 7
echo more >>fresh/truth.json
says fresh "$HPCGEN" repair fresh
says fresh "$HPCGEN" join fresh
make --out fresh --resume --seed 7 --quiet 2>lines || bad "a quiet run fails"
[ ! -s lines ] || bad "a quiet run says: $(cat lines)"

# Leftovers of runs are removed.
for name in $own; do
    : >fresh/.hpcw/$name
done
says fresh make --out fresh --resume --seed 7

make --quiet --out parts --part 1/2 || bad "the first part fails"
make --quiet --out parts --part 2/2 || bad "the second part fails"
lay parts
says parts "$HPCGEN" join parts

# One foreign file, whose name has a control character for a terminal.
make --quiet --out one || bad "generate fails"
mkdir one/.hpcw
: >one/.hpcw/"$(printf 'a\033b')"
make --out one --resume 2>lines || bad "--resume fails"
grep -qx 'hpcgen: one/.hpcw/a?b: left there, as no run of hpcgen made it' lines || bad "one alone: $(cat lines)"
! grep -q "$(printf '\033')" lines || bad "control characters: $(cat lines)"
exit $failed
