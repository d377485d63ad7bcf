#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrapper's tables overflow and then cannot grow. The program is not affected, and one line reports what is
# missing in the log.
# Usage: crowded.sh MPIEXEC PROCESSES PROGRAM HPCGEN
set -eu
mpiexec=$1 processes=$2 program=$(realpath "$3") hpcgen=$(realpath "$4")

fail() {
    cat out err
    echo "crowded: $1"
    exit 1
}

run() {
    "$mpiexec" -n "$processes" env HPCW_TRACE_FILE="$1.clog2" "$program" "$1" >out 2>err || fail "the program failed"
    grep -qx '0 wrong' out || fail "messages did not arrive"
}

count() {
    awk -v state="$1" '$1 == "name:" { found = $2 == state } $1 == "count:" && found { print $2; exit }' info
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

echo "== the tables overflow"
run many
[ ! -s err ] || fail "expected no message"
"$hpcgen" verify many.clog2
"$hpcgen" info --all many.clog2 >info
[ "$(count MPE_Irecv_waited)" = $((processes * (40000 + 2 * 3000 + 400))) ] ||
    fail "receives: expected $((processes * 46400)), got $(count MPE_Irecv_waited)"
[ "$(count MPI_Comm_free)" = $((processes * (400 + 2000 + 1 + 2 + 2 + 1 + 1))) ] ||
    fail "MPI_Comm_free: expected $((processes * 2407)), got $(count MPI_Comm_free)"

for how in refused each; do
    echo "== out of memory: $how"
    run "$how"
    [ "$(grep -c hpcw_trace: err)" = 1 ] || fail "expected one line"
    grep -q "hpcw_trace: $how.clog2: not in the log: .*, [1-9][0-9]* handles (out of memory)" err ||
        fail "expected the number of handles"
    "$hpcgen" verify "$how.clog2"
done
