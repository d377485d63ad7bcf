#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# generate writes what plan prints: the same sizes, and the stored bytes to within 1 %.
failed=0
bad() {
    echo "$*"
    failed=1
}

# Prints a line per file: apparent bytes, stored bytes, path.
planned() {
    "$HPCGEN" plan --json "$@" |
        sed -n 's/^ *{"path": "\([^"]*\)", "apparent_bytes": \([0-9]*\), "allocated_bytes": \([0-9]*\)},*$/\2 \3 \1/p'
}

compare() {
    rm -rf set
    "$HPCGEN" --quiet --formats linktest,sion --out set "$@" || bad "generate fails: $*"
    planned --formats linktest,sion "$@" >plan
    [ "$(wc -l <plan)" -eq "$(find set/linktest set/sion -type f | wc -l)" ] || bad "another number of files: $*"
    total=0 really=0
    while read -r apparent stored path; do
        size=$(stat -c %s "set/$path")
        [ "$size" -eq "$apparent" ] || bad "$path: $size bytes, planned $apparent: $*"
        total=$((total + stored)) really=$((really + $(stat -c '%b * %B' "set/$path")))
    done <plan
    off=$(((total - really) * 1000 / really))
    [ $off -le 10 ] && [ $off -ge -10 ] || bad "stored: $really bytes, planned $total: $*"
}

compare --ranks 512 --scale small
compare --ranks 256 --files 3 --set sion.files=7
compare --ranks 64 --blocksize 65536
compare --ranks 64 --blocksize auto
compare --ranks 2
compare --ranks 128 --set linktest.permutations=2 --set linktest.all_to_all=yes --set linktest.retests=128
compare --ranks 128 --set linktest.bisection=yes
compare --ranks 64 --preset tcp-1g --scale tiny
compare --ranks 64 --blocksize 1
compare --ranks 64 --blocksize 1000
compare --ranks 64 --blocksize 5000
rm -rf set plan

# Sizes of compressed files are estimates: at most a twentieth too small, and half too large.
estimate() {
    "$HPCGEN" --quiet --formats vom --ranks 64 --out set "$@" || bad "generate fails: $*"
    planned --formats vom --ranks 64 "$@" >plan
    apparent=$(awk '{ apparent += $1 } END { print apparent }' plan)
    really=$(cat set/vom/* | wc -c)
    [ "$(wc -l <plan)" -eq "$(find set/vom -type f | wc -l)" ] || bad "another number of files of vom: $*"
    [ $((apparent * 20)) -ge $((really * 19)) ] && [ $((apparent * 2)) -le $((really * 3)) ] ||
        bad "vom: $really bytes, planned $apparent: $*"
    rm -r set plan
}
set -- --workload stencil
estimate "$@"
estimate "$@" --scale tiny
estimate "$@" --set load.comm=sample
for quality in 0 1 9; do
    for window in 10 18; do
        estimate "$@" --scale small --set vom.quality=$quality --set vom.window=$window
    done
done

# The statistics of balancers are not larger than planned, even if a balancer runs in each phase.
for container in brotli lbaf; do
    for phases in 1 6 15; do
        set -- --formats vom --ranks 8 --set load.balancer=tempered --set vom.container=$container --set load.phases=$phases
        "$HPCGEN" --quiet --out set "$@" || bad "generate fails: $*"
        really=$(cat set/vom_balance/* | wc -c)
        apparent=$(planned "$@" | awk '/vom_balance/ { print $1 }')
        [ "$really" -le "$apparent" ] && [ "$apparent" -le $((really * 5 / 2)) ] ||
            bad "statistics: $really bytes, planned $apparent: $*"
        rm -r set
    done
done

# The plans of all parts together are the plan of the whole run.
planned --ranks 64 --files 5 >whole
for part in 1 2 3; do
    planned --ranks 64 --files 5 --part $part/3
done | LC_ALL=C sort >parts
LC_ALL=C sort whole | diff - parts || bad "the parts are not the whole"
rm whole parts

# A run of all parts ends with a list of the delayed ranks, which needs memory. After a run of one part, join makes
# this list.
memory() {
    "$HPCGEN" plan --json --formats linktest --ranks 512 --files 2 "$@" |
        sed -n 's/^ *"memory_bytes": \([0-9]*\),*$/\1/p'
}
none=$(memory --set linktest.tail_probability=0) all=$(memory --set linktest.tail_probability=1)
[ "$all" -ge $((none + 512 * 500)) ] || bad "memory: planned $none without delays, $all with one in every timing"
part=$(memory --part 1/2 --set linktest.tail_probability=1)
[ "$part" -le "$none" ] || bad "memory: planned $none for everything, $part for a part"

# Plans of large datasets are fast and write nothing.
at_most() { # SECONDS ARGS...: of processor time, as others may use the machine
    seconds=$1
    shift
    # shellcheck disable=SC3045
    (ulimit -t "$seconds" && exec "$HPCGEN" plan "$@") >text 2>said || bad "plan fails, or is slow: $*"
}
at_most 3 --ranks 32768 --formats linktest,sion,vom --out out
grep -q '^32768 ranks' text || bad "the plan does not name the ranks"
at_most 3 --ranks 65536 --formats linktest --files 16 --part 3/16 --out out
grep -q 'part 3/16: 1 files' text || bad "the plan does not say how the work divides"
at_most 5 --ranks 1000000 --formats sion --out out
rm text said
[ -z "$(ls -A)" ] || bad "plan left $(ls -A)"
"$HPCGEN" --dry-run --ranks 64 --out out >dry
"$HPCGEN" plan --ranks 64 --out out | diff - dry || bad "--dry-run is not plan"
[ ! -e out ] || bad "--dry-run made its directory"
# A run that needs more space than the disk has is refused. A plan of it prints a warning.
"$HPCGEN" plan --ranks 65536 --formats linktest --set linktest.permutations=1000 --out out >plan 2>said || bad "plan fails where the disk is too small"
grep -qx 'hpcgen: out: expected [0-9]* bytes of free space, got [0-9]* ([0-9.]* .B, got [0-9.]* .B)' said && [ "$(wc -l <said)" -eq 1 ] ||
    bad "the plan does not say that the disk is too small: $(cat said)"
"$HPCGEN" plan --ranks 65536 --formats linktest --set linktest.permutations=1000 >plan 2>said || bad "plan fails without --out"
[ ! -s said ] || bad "of no directory the plan says: $(cat said)"
# The plan says that its time is processor time, and how long a disk takes.
"$HPCGEN" plan --ranks 512 --formats sion >plan
grep -q 'The time is that of the processors. A disk of 500 MB/s takes ' plan || bad "the plan does not say what its time is"
exit $failed
