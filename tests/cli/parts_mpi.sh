#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Parts with different numbers of processes, and a run resumed with another number.
. "$HERE/refuse.inc"
run() { # PROCESSES ARGS...
    processes=$1
    shift
    timeout 60 "$MPIEXEC" -n "$processes" "$HPCGEN" "$@" --quiet || bad "fails with $processes processes: $*"
}
set -- --ranks 96 --files 3 --set linktest.permutations=2 --set linktest.all_to_all=yes \
    --set linktest.tail_probability=0.001 --set linktest.retests=96
"$HPCGEN" --quiet "$@" --out alone
run 3 "$@" --out parts --part 2/2
run 2 "$@" --out parts --part 1/2
run 1 "$@" --out parts --part 1/2 --resume
"$HPCGEN" join --quiet parts || bad "join fails"
diff -r alone parts || bad "parts differ"

rm parts/sion/particles.sion.000001
run 2 "$@" --out parts --resume --sync
diff -r alone parts || bad "differs after a lost file was written again"
run 4 --ranks 96 --files 3 --out parts --force --jobs 2
"$HPCGEN" --quiet --ranks 96 --files 3 --out plain
diff -r plain parts || bad "differs after --force"
run 2 verify parts
exit $failed
