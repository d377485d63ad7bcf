#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A second run fails; with --resume it continues, with --force it starts again.
make() { "$HPCGEN" --ranks 8 --quiet "$@"; }

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
"$HPCGEN" join --quiet parts
diff -r whole parts && echo same

echo "== by force, from scratch"
make --out set --force --seed 99 || exit
cmp -s whole/sion/particles.sion set/sion/particles.sion || echo changed
make --out set --force || exit
diff -r whole set && echo same
