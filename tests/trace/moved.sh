#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The log is in the directory in which the program began, even if the program changes its directory. No other file is
# written, overwritten or left.
# Usage: moved.sh MPIEXEC LIBRARY PROGRAM HPCGEN
set -eu
mpiexec=$1 library=$(realpath "$2") program=$(realpath "$3") hpcgen=$(realpath "$4")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

fail() {
    echo "$how: $*"
    exit 1
}

for how in same first second each root renamed linked closed; do
    mkdir here traces
    echo victim >victim
    (cd here && "$mpiexec" -n 2 env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=app.clog2 \
        HPCW_TRACE_DIR=../traces "$program" "$how") >out 2>&1 || { cat out; fail "the program fails"; }
    work=here
    [ "$how" != renamed ] || work=there
    [ -s $work/app.clog2 ] || { cat out; fail "expected the log in $work, got: $(find . -name '*.clog2')"; }
    "$hpcgen" verify $work/app.clog2 || fail "the log is damaged"
    if [ "$how" = closed ]; then
        # The program closed the wrapper's descriptors and reused their numbers for files of its own. The wrapper keeps later
        # records in memory and says so. The program's files must have only what the program wrote.
        for own in here/own.*; do
            [ "$(cat "$own")" = "$(basename "$own")" ] || fail "$own: something else was written there"
        done
        rm -f here/own.*
    else
        [ ! -s out ] || { cat out; fail "expected no message"; }
    fi
    [ "$(cat victim)" = victim ] || fail "a link that was planted during the run was followed"
    [ -z "$(ls -A traces)" ] || fail "local files are left: $(ls -A traces)"
    [ "$(find $work -type f)" = $work/app.clog2 ] || fail "expected the log alone, got: $(find $work -type f)"
    rm -rf here there traces
done

# A link that existed at the start is followed.
how=same
mkdir here traces there
ln -s ../there/real here/app.clog2
(cd here && "$mpiexec" -n 2 env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=app.clog2 \
    HPCW_TRACE_DIR=../traces "$program" "$how") >out 2>&1 || { cat out; fail "the program fails"; }
"$hpcgen" verify there/real || fail "expected the log where the link leads"
[ -h here/app.clog2 ] || fail "expected the link to stay"
rm -rf here there traces

# A pipe or a link with the name of a local file of the wrapper must not stop the program.
how=planted
mkdir traces
mkfifo traces/app.clog2.0123456789abcdef.000000.local
ln -s /dev/zero traces/app.clog2.0123456789abcdee.000000.local
timeout 60 "$mpiexec" -n 2 env LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" HPCW_TRACE_FILE=app.clog2 \
    HPCW_TRACE_DIR=traces "$program" "$how" >out 2>&1 || { cat out; fail "the program fails or hangs"; }
"$hpcgen" verify app.clog2
for other in traces/*.local; do
    if timeout 60 "$hpcgen" recover --output recovered.clog2 "$other" >out 2>&1; then
        fail "recover accepts $other"
    elif [ $? -eq 124 ]; then
        fail "recover hangs at $other"
    fi
    grep -q "$other: expected a regular file" out || { cat out; fail "expected the reason"; }
done
