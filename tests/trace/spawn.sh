#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that a program spawns have a log of their own if hpcw-trace starts them.
# Usage: spawn.sh HPCW_TRACE LIBRARY MPIEXEC PROGRAM HPCGEN
set -eu
trace=$(realpath "$1") library=$(realpath "$2") mpiexec=$3 program=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(realpath "$(mktemp -d)")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset HPCW_TRACE HPCW_TRACE_FILE
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

fail() {
    echo "$1"
    cat out
    exit 1
}
# Usage: holds LOG RANKS CALL...
holds() {
    log=$1 ranks=$2
    shift 2
    "$hpcgen" verify --quiet "$log" || fail "$log: unsound"
    "$hpcgen" info --all "$log" >info
    grep -q "^ranks: $ranks$" info || fail "$log: expected $ranks ranks"
    for call in "$@"; do
        grep -q "name: $call$" info || fail "$log: expected $call"
    done
}

# Some MPIs cannot start processes here.
timeout 60 "$mpiexec" -n 1 "$program" >out 2>&1 || exit 77

timeout 60 "$mpiexec" -n 1 "$trace" --library "$library" "$program" >out 2>&1 || fail "the program fails"
holds spawn.clog2 1 MPI_Comm_spawn MPI_Send
[ "$(echo spawn.*clog2)" = spawn.clog2 ] || fail "expected one log, got $(echo spawn.*clog2)"
grep -q '^messages: 0$' info || fail "the log has a message to a process that is not in it"

cat >started <<ENDE
#!/bin/sh
exec "$trace" --library "$library" "\$@"
ENDE
chmod +x started
timeout 60 "$mpiexec" -n 1 "$trace" --library "$library" "$program" "$scratch/started" >out 2>&1 || fail "the program fails"
holds spawn.clog2 1 MPI_Comm_spawn MPI_Send
holds "$(echo spawn.[0-9]*.clog2)" 2 MPI_Comm_get_parent MPI_Recv MPI_Bcast
[ "$(grep -c 'the log will be' out)" = 1 ] || fail "expected one line with the name of a log"
