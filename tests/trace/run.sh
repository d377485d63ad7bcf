#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program prints the same with and without the preloaded wrapper, and its log has no errors.
# Usage: run.sh MPIEXEC PROCESSES LIBRARY PROGRAM HPCGEN
set -eu
mpiexec=$1 processes=$2 library=$(realpath "$3") program=$(realpath "$4") hpcgen=$(realpath "$5")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The sanitizers' library must be loaded first, but here the wrapper is.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

fail() {
    echo "$1"
    [ $# -lt 2 ] || cat "$2"
    exit 1
}

# Usage: traced [NAME=VALUE...] [--] [ARGUMENT...]; only the program loads the library, not mpiexec.
traced() {
    settings=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086 # several settings
    "$mpiexec" -n "$processes" env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" $settings "$program" "$@" >traced.out 2>traced.err ||
        fail "the program failed:" traced.err
    cmp plain.out traced.out || fail "expected the output of plain.out, got:" traced.out
}

# Checks that the wrapper printed nothing.
silent() {
    [ ! -s traced.err ] || fail "expected no message, got:" traced.err
}

# Checks that the wrapper printed one line, which matches the first argument.
one_line() {
    [ "$(grep -c hpcw_trace: traced.err)" = 1 ] || fail "expected one line, got:" traced.err
    grep "$1" traced.err >/dev/null || fail "expected '$1' in:" traced.err
}

# Checks that the strict reader finds no problem in a log.
sound() {
    "$hpcgen" verify "$1"
    "$hpcgen" info --all "$1" >info
    sed -n '/^problems:/,/^profile:/p' info | sed '1d;$d' >problems
    [ ! -s problems ] || fail "$1: problems:" problems
}

# Usage: count STATE; prints how often the state is in the log.
count() {
    awk -v state="$1" '$1 == "name:" { found = $2 == state } $1 == "count:" && found { print $2; exit }' info
}
expect() {
    [ "$(count "$1")" = "${2-}" ] || fail "$1: expected ${2:-none}, got '$(count "$1")'"
}

"$mpiexec" -n "$processes" "$program" >plain.out 2>plain.err || fail "the program fails without the wrapper:" plain.err

echo "== every call"
traced HPCW_TRACE_ALSO=all
silent
log=$(basename "$program").clog2
[ -f "$log" ] || fail "no log called $log"
sound "$log"
expect MPI_Bsend $((3 * processes))
expect MPI_Recv $((3 * processes))
expect MPI_Sendrecv_replace "$processes"
expect MPI_Start $((10 * processes))
expect MPE_Isend_waited $((10 * processes))
expect MPE_Imrecv_waited $((3 * processes))
expect MPI_Mrecv $((4 * processes))
expect MPI_Iallreduce "$processes"
expect MPI_Comm_idup $((2 * processes))
expect MPI_Group_incl "$processes"
expect MPI_Type_vector "$processes"
expect MPI_Type_dup "$processes"
expect MPI_Type_create_subarray "$processes"
expect MPI_Request_get_status "$processes"
expect MPI_Scan
# All nonblocking receives except the cancelled one.
expect MPE_Irecv_waited $((processes * (4 + 10 * (4 + 40) + 10 + 1) + (processes > 1 ? 2 * (processes / 2) * 2 : 0)))

echo "== threads"
traced HPCW_TRACE_FILE=threads.clog2 -- threads
silent
sound threads.clog2

echo "== off at the start, then switched on"
traced HPCW_TRACE=0 HPCW_TRACE_FILE=off.clog2
silent
sound off.clog2
expect MPI_Send
expect MPI_Waitall "$processes"

echo "== the usual calls"
traced HPCW_TRACE_FILE=usual.clog2
silent
sound usual.clog2
expect MPI_Bcast "$processes"
expect MPI_Type_vector
expect MPI_Group_free
traced HPCW_TRACE_FILE=also.clog2 HPCW_TRACE_ALSO=datatype
silent
sound also.clog2
expect MPI_Bcast "$processes"
expect MPI_Type_vector "$processes"
expect MPI_Group_free

echo "== classes, memory, clock"
traced HPCW_TRACE_ALSO=all HPCW_TRACE_SKIP=message,datatype HPCW_TRACE_FILE=skip.clog2 HPCW_TRACE_MEMORY=8 HPCW_TRACE_DIR=. \
    HPCW_TRACE_CLOCK=mpi
silent
sound skip.clog2
expect MPI_Send
expect MPI_Type_vector
expect MPI_Bcast "$processes"

echo "== clocks"
traced HPCW_TRACE_CLOCKS=1 HPCW_TRACE_FILE=one.clog2 HPCW_TRACE_CLOCK=system
one_line "one.clog2: clocks: system clock; $processes of $processes processes read the clock of process 0"
traced HPCW_TRACE_CLOCKS=1 HPCW_TRACE_FILE=own.clog2 HPCW_TRACE_CLOCK=mpi
if [ "$processes" = 1 ]; then
    one_line 'MPI_Wtime; 1 of 1 processes'
else
    one_line "MPI_Wtime; 1 of $processes processes read .* offset .* us at the begin and .* us at the end, drift .*, round trip .* us"
fi

echo "== bad settings"
traced HPCW_TRACE_DIR=. HPCW_TRACE_FILE=nowhere/x.clog2
one_line nowhere/x.clog2
rm "$log"
traced HPCW_TRACE_FILE="$(printf "%4064s" "" | tr ' ' x)"
one_line "HPCW_TRACE_FILE: expected at most 4063 bytes, got 'xxx"
traced HPCW_TRACE_CLOCKS=always HPCW_TRACE_FILE=clocks.clog2
one_line "HPCW_TRACE_CLOCKS: expected 0 or 1, got 'always'"
traced HPCW_TRACE_WAIT=0 HPCW_TRACE_FILE=wait.clog2
one_line "HPCW_TRACE_WAIT: expected 1 to 3600 s, got '0'"
traced HPCW_TRACE_ALSO=clocks HPCW_TRACE_FILE=class.clog2
one_line "HPCW_TRACE_ALSO: expected all, message, .*, info, got 'clocks'"
traced HPCW_TRACE_CLOCK=sundial HPCW_TRACE_FILE=clock.clog2
one_line "HPCW_TRACE_CLOCK: expected best, counter, system or mpi, got 'sundial'"
sound clock.clog2
traced HPCW_TRACE_MEMORY=abc HPCW_TRACE_SKIP=collective,messag,info HPCW_TRACE_FILE=two.clog2
if [ "$(grep -c hpcw_trace: traced.err)" != 2 ] ||
    ! grep -q "HPCW_TRACE_MEMORY: expected 8 to 1048576 MiB, got 'abc'; using the default" traced.err ||
    ! grep -q "HPCW_TRACE_SKIP: expected all, .*, got 'messag'; using the default" traced.err; then
    fail "expected a line for each bad setting, got:" traced.err
fi
sound two.clog2
expect MPI_Bcast "$processes"
: >no_directory
traced HPCW_TRACE_DIR=no_directory HPCW_TRACE_FILE=file.clog2
grep -q 'no_directory/file.clog2.*: cannot create: Not a directory' traced.err ||
    fail "expected that no_directory is none, got:" traced.err

if [ "$processes" != 1 ]; then
    echo "== a directory for each process"
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$mpiexec" -n "$processes" sh -c 'mkdir -p "rank.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" &&
        cd "rank.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && LD_PRELOAD=$1${LD_PRELOAD:+:$LD_PRELOAD} exec "$2"' \
        sh "$library" "$program" >traced.out 2>traced.err || fail "the program failed:" traced.err
    cmp plain.out traced.out || fail "expected the output of plain.out, got:" traced.out
    one_line 'nothing is recorded: every_call.clog2: expected the same directory on all processes'
    [ -z "$(find rank.* -type f)" ] || fail "expected no file, got: $(find rank.* -type f)"
fi
