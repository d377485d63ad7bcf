#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The format as a user of hpcgen meets it.
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
"$HPCGEN" verify --quiet whole || bad "verify fails"
"$HPCGEN" info whole/$file | grep -q '^unit: events$' || bad "info has no unit"
grep -q '"stuck_ranks": \[[0-9]' whole/truth.json || bad "truth.json names no stuck rank"

# Parts, one of which has nothing to do.
"$HPCGEN" "$@" --out parts --part 1/2 && "$HPCGEN" "$@" --out parts --part 2/2 && "$HPCGEN" join --quiet parts
diff -r whole parts || bad "parts differ from the whole"

# Other numbers of processes, also more of them than ranks.
if [ -n "$MPIEXEC" ]; then
    "$MPIEXEC" -n 3 "$HPCGEN" "$@" --out mpi && diff -r whole mpi || bad "3 processes write something else"
    "$HPCGEN" --ranks 2 --formats counter --quiet --out few
    "$MPIEXEC" -n 4 "$HPCGEN" --ranks 2 --formats counter --quiet --out few-mpi
    diff -r few few-mpi || bad "4 processes write something else for 2 ranks"
fi

# The fuzz target starts from good files.
for seed in "$HERE"/../fuzz/seeds/counter/*; do
    "$HPCGEN" verify --quiet "$seed" || bad "the reader refuses the seed $seed"
done

# Damage.
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
