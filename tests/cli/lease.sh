#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two runs in one directory: one writes its dataset, the other fails and names the first. The lease of a dead run
# counts only if nobody can know that the run is dead.
. "$HERE/refuse.inc"
make() {
    "$HPCGEN" --quiet --formats linktest,sion "$@" || bad "fails: $*"
}
same() { # with nothing hidden beside
    diff -r "$1" "$2" >differences 2>&1 || bad "$1 and $2 differ: $(cat differences)"
    [ "$(find "$1" | wc -l)" -eq "$(find "$2" | wc -l)" ] || bad "other files: $(find "$2")"
}
PAIRS=${HPCW_PAIRS-12}
for seed in 1 2; do
    make --ranks 64 --seed $seed --out whole.$seed
done

# ---- pairs of runs with different parameters, at the same time
race() { # FLAG...: of both runs
    rm -rf raced
    for seed in 1 2; do
        ("$HPCGEN" --quiet --formats linktest,sion --ranks 64 --jobs 1 --seed $seed --out raced "$@" 2>error.$seed
            echo $? >status.$seed) &
    done
    wait
    good=0
    for seed in 1 2; do
        if [ "$(cat status.$seed)" -eq 0 ]; then
            good=$((good + 1)) winner=$seed
        else
            grep -q -e 'expected no other run, got one that writes here: process [0-9]* on .*seed [12]' \
                -e 'a dataset with other parameters exists: expected seed' error.$seed ||
                bad "seed $seed: $(cat error.$seed)"
        fi
    done
    # Without --force, one run wins. With --force, the second run may also write after the first one.
    [ $good -ge 1 ] || bad "no run of the pair was successful: $(cat error.1 error.2)"
    [ $good -eq 1 ] || [ $# -gt 0 ] || bad "both runs say that they wrote the dataset"
    if [ $good -eq 1 ]; then
        same whole.$winner raced
    else
        "$HPCGEN" verify --quiet raced 2>damage || bad "both end well, beside damage: $(cat damage)"
    fi
}
pair=0
while [ $pair -lt "$PAIRS" ]; do
    race
    race --force
    pair=$((pair + 1))
done

# ---- the lease of a run that is alive, and of a killed one
"$HPCGEN" --quiet --formats linktest,sion --ranks 1024 --jobs 1 --out busy &
pid=$!
while [ ! -e busy/.hpcw/lease ] && kill -0 $pid 2>/dev/null; do :; done
refuse 1 "busy: expected no other run, got one that writes here: process [0-9]* on * (generate, 1024 ranks, seed 2, *" \
    "$HPCGEN" --formats linktest,sion --ranks 64 --out busy --force
refuse 1 "busy: expected no other run, got one that writes here: process *" \
    "$HPCGEN" --formats linktest,sion --ranks 64 --out busy --force --takeover
grep -q "^host = $(uname -n)\$" busy/.hpcw/lease || bad "the lease names another host: $(cat busy/.hpcw/lease)"
boot=$(sed -n 's/^boot = //p' busy/.hpcw/lease)
kill -9 $pid
wait $pid 2>/dev/null
# The run is known to be dead, so its lease is removed without --takeover.
[ -e busy/.hpcw/lease ] || bad "the killed run has left no lease"
make --ranks 64 --seed 1 --out busy --force
same whole.1 busy

# ---- the lease of a run on another host
lease() { # HOST BOOT
    mkdir -p far/.hpcw
    printf 'A run of hpcgen that writes into this directory.\nhost = %s\nboot = %s\npid = 4711\nrun = generate, 8 ranks\n' \
        "$1" "$2" >far/.hpcw/lease
}
lease elsewhere.example "$(echo "$boot" | tr 0-9 1-90)"
refuse 1 'far: expected no other run, got far/.hpcw/lease of process 4711 on elsewhere.example (generate, 8 ranks), and cannot know*--takeover' \
    "$HPCGEN" --formats linktest,sion --ranks 64 --out far
[ -e far/.hpcw/lease ] || bad "the lease of another host is gone"
make --ranks 64 --seed 1 --out far --takeover
same whole.1 far
rm -r far
mkdir -p far/.hpcw
: >far/.hpcw/lease
refuse 1 'far: expected no other run, got far/.hpcw/lease of process *--takeover' \
    "$HPCGEN" --formats linktest,sion --ranks 64 --out far
# A lease with another boot id may belong to another host with the same name.
for other in 000000 ffffff ''; do
    lease "$(uname -n)" "$other"
    refuse 1 'far: expected no other run, got far/.hpcw/lease of process 4711 *--takeover' \
        "$HPCGEN" --formats linktest,sion --ranks 64 --out far
done
lease "$(uname -n)" "$boot"
make --ranks 64 --seed 1 --out far
same whole.1 far

# ---- a run of several processes is alive as long as one of them is
children() { # of a process
    for stat in /proc/[0-9]*/stat; do
        sed -n "s/^\([0-9]*\) (.*) [A-Z] $1 .*/\1/p" "$stat" 2>/dev/null
    done
}
if [ -n "$MPIEXEC" ]; then
    "$MPIEXEC" -n 2 "$HPCGEN" --quiet --formats linktest,sion --ranks 1024 --jobs 1 --out several >/dev/null 2>&1 &
    launcher=$!
    while [ ! -e several/.hpcw/lease ] && kill -0 $launcher 2>/dev/null; do :; done
    sleep 0.2
    first=$(sed -n 's/^pid = //p' several/.hpcw/lease)
    processes=$(children $launcher)
    # shellcheck disable=SC2086
    kill -STOP $processes
    kill -9 $launcher "$first"
    wait $launcher 2>/dev/null
    refuse 1 "several: expected no other run, got one that writes here: process $first *" \
        "$HPCGEN" --formats linktest,sion --ranks 64 --out several --force
    # shellcheck disable=SC2086
    kill -9 $processes 2>/dev/null
    for process in $processes; do
        # Waits until the process is a zombie or gone.
        while ! grep -q ') Z ' "/proc/$process/stat" 2>/dev/null && [ -e "/proc/$process/stat" ]; do sleep 0.05; done
    done
    make --ranks 64 --seed 1 --out several --force
    same whole.1 several
fi

# ---- two runs take over the same lease at the same time
pair=0
while [ $pair -lt "$PAIRS" ]; do
    rm -rf far
    lease elsewhere.example 000000
    for seed in 1 2; do
        ("$HPCGEN" --quiet --formats linktest,sion --ranks 64 --jobs 1 --seed $seed --out far --takeover 2>error.$seed
            echo $? >status.$seed) &
    done
    wait
    winner=0
    for seed in 1 2; do
        [ "$(cat status.$seed)" -ne 0 ] || winner=$((winner + seed))
    done
    case $winner in
    1 | 2) same whole.$winner far ;;
    *) bad "two takers: $winner: $(cat error.1 error.2)" ;;
    esac
    pair=$((pair + 1))
done

# ---- parts share a lease with each other, but with no other run
"$HPCGEN" --quiet --formats linktest,sion --ranks 1024 --files 2 --part 1/2 --jobs 1 --out shared &
pid=$!
while ! ls shared/.hpcw/part.* >/dev/null 2>&1 && kill -0 $pid 2>/dev/null; do :; done
kill -STOP $pid
make --ranks 1024 --files 2 --part 2/2 --out shared
refuse 1 'shared: expected no other run, got one that writes here: process *, part 1/2)*' "$HPCGEN" join shared
refuse 1 'shared: expected no other run, got one that writes here: process *, part 1/2)*' \
    "$HPCGEN" --formats linktest,sion --ranks 64 --out shared --force
kill -CONT $pid
wait $pid || bad "a part fails beside another one"
"$HPCGEN" join --quiet shared || bad "join fails after its parts have ended"
make --ranks 1024 --files 2 --out alone
same alone shared
exit $failed
