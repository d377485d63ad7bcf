#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A second run fails; with --resume it continues, with --force it starts again.
make() { "$HPCGEN" --ranks 8 --quiet "$@"; }
files() { "$@" --json | grep -o '"files_[a-z]*": [0-9]*'; }

make --out whole || exit
make --out set --resume || exit
diff -r whole set || exit

echo "== again, without a word about it"
make --out set
echo "status $?"

echo "== again, other parameters"
make --out set --resume --seed 99
echo "status $?"
diff -r whole set && echo untouched

echo "== an unfinished set of parts is completed"
make --out parts --part 1/2
make --out parts --part 2/2 --resume
files "$HPCGEN" join --quiet parts
diff -r whole parts && echo same

echo "== by force, from scratch"
make --out set --force --seed 99 || exit
cmp -s whole/sion/particles.sion set/sion/particles.sion || echo changed
make --out set --force || exit
diff -r whole set && echo same

echo "== the costs of faults after a lost file"
slow() { make --formats clog2,vom --set machine.slow_node_share=1 "$@"; }
slow --out costs || exit
grep -q '"kind": "slow_node".*"cost_s": [0-9]' costs/truth.json || echo "no costs"
cp -r costs lost
rm lost/vom/data.3.json.br
slow --out lost --resume || exit
diff -r costs lost >difference && echo same

echo "== files of a first run, and of one after a lost file"
files make --formats sion,vom --out counts
rm counts/vom/data.3.json.br
files make --formats sion,vom --out counts --resume
