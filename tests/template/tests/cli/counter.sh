#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the commands of hpcgen on files of the format.
failed=0
bad() {
    echo "$*"
    failed=1
}
# Usage: refuse STATUS PATTERN COMMAND...
refuse() {
    status=$1 pattern=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    # shellcheck disable=SC2254
    case "$got $said" in
    "$status hpcgen: "$pattern) ;;
    *) bad "expected $status hpcgen: $pattern, got $got $said" ;;
    esac
}

file=counter/values.counter

"$HPCGEN" list | grep -q '^  counter  *one integer per rank$' || bad "list does not name the format"
set -- --ranks 300 --formats counter --quiet
"$HPCGEN" "$@" --out whole || bad "generate fails"
[ "$(wc -c <whole/$file)" -eq 2440 ] || bad "expected 40 + 8 * 300 bytes, got $(wc -c <whole/$file)"
"$HPCGEN" plan "$@" --json | grep -q '"name": *"counter"' || bad "plan does not name the format"
"$HPCGEN" verify --quiet --deep whole || bad "verify fails"
"$HPCGEN" info --all whole/$file | grep -q '^unit: events$' || bad "info has no unit"
"$HPCGEN" export whole/$file --quiet --output all.csv || bad "export fails"
[ "$(wc -l <all.csv)" -eq 301 ] || bad "expected 300 lines and a heading, got $(wc -l <all.csv)"
"$HPCGEN" export whole/$file --quiet --output - --first-rank 7 --last-rank 8 | cmp - <<END || bad "export of two ranks fails"
$(sed -n '1p; 9,10p' all.csv)
END
"$HPCGEN" export whole/$file --quiet --form npz --output all.npz || bad "export to npz fails"
python3 -c "
import sys, zipfile
values = open(sys.argv[1], 'rb').read()[32:-8]
assert zipfile.ZipFile('all.npz').read('values.npy').endswith(values)" whole/$file || bad "all.npz has other values"
"$HPCGEN" info --all whole | grep -q '^ *stuck_ranks: [1-9]' || bad "info counts no stuck rank"
echo '{"findings": []}' >none.json
"$HPCGEN" score none.json whole >score || bad "score fails"

# Commands that the format does not support, and options that only other formats have, are refused.
use='got counter; use verify, info, report or export'
refuse 1 "whole/$file: --form: expected csv or npz for counter, got npy" "$HPCGEN" export whole/$file --output x --form npy
refuse 1 "whole/$file: --task: expected none for counter, got one" "$HPCGEN" export whole/$file --output x --task 1
refuse 1 "whole/$file: rewrite: expected *, $use" "$HPCGEN" rewrite whole/$file x
fits='fit: expected *'
refuse 1 "whole/$file: $fits, $use" "$HPCGEN" fit whole/$file --output x
refuse 1 "whole/$file: $fits, $use" "$HPCGEN" fit whole --output x
refuse 1 "whole/$file: $fits, $use" "$HPCGEN" fit --compare whole whole
refuse 1 "whole/$file: *" "$HPCGEN" recover whole/$file --output x
refuse 1 'whole/*' "$HPCGEN" scr list whole
"$HPCGEN" --ranks 8 --formats sion,counter --quiet --out both
"$HPCGEN" fit both --output twin.ini >table || bad "fit fails"
grep -q '^counter: the counter file was left out: fitting an\{0,1\} counter file is not possible in this version$' table || bad "no remark on what fit leaves out: $(cat table)"
said=$("$HPCGEN" fit --compare both both 2>&1 >table) || bad "fit --compare fails: $said"
echo "$said" | grep -qx "hpcgen: both/$file, both/$file: left out: fitting an\{0,1\} counter file is not possible in this version" ||
    bad "fit --compare does not say once what it leaves out, got: $said"
"$HPCGEN" --config twin.ini --quiet --out twin || bad "the twin cannot be generated"
grep -q '"stuck_ranks": \[[0-9]' whole/truth.json || bad "truth.json names no stuck rank"

# Parts, one of which has nothing to do.
"$HPCGEN" "$@" --out parts --part 1/2 && "$HPCGEN" "$@" --out parts --part 2/2 && "$HPCGEN" join --quiet parts
diff -r whole parts || bad "parts differ from the whole"

# Other numbers of processes, including more than there are ranks.
if [ -n "$MPIEXEC" ]; then
    "$MPIEXEC" -n 3 "$HPCGEN" "$@" --out mpi && diff -r whole mpi || bad "3 processes write something else"
    "$HPCGEN" --ranks 2 --formats counter --quiet --out few
    "$MPIEXEC" -n 4 "$HPCGEN" --ranks 2 --formats counter --quiet --out few-mpi
    diff -r few few-mpi || bad "4 processes write something else for 2 ranks"
fi

# The fuzz target starts from valid files.
for seed in "$HERE"/../fuzz/seeds/counter/*; do
    "$HPCGEN" verify --quiet "$seed" || bad "the reader refuses the seed $seed"
done

# Damage.
rm parts/$file
refuse 1 "parts/$file: *" "$HPCGEN" verify parts
"$HPCGEN" repair --quiet parts && diff -r whole parts || bad "repair makes something else"
cp whole/$file damaged.counter
printf 'x' | dd of=damaged.counter bs=1 seek=32 conv=notrunc 2>/dev/null
refuse 1 '*damaged.counter: offset 2432: sum: expected * got *' "$HPCGEN" verify damaged.counter
refuse 2 '*counter: expected 1 to 67108864 ranks, got 67108866*' \
    "$HPCGEN" --ranks 67108866 --formats counter --out refused

if said=$("$HPCGEN" report --quiet whole 2>&1); then
    grep -q 'Value of every rank' whole.report.html || bad "the report has no section of the format"
else
    case $said in
    *"install libjs-chart.js"*) ;;
    *) bad "report fails: $said" ;;
    esac
fi
exit $failed
