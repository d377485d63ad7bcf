#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs written for SIONlib. Usage: sionlib.sh HPCGEN PROGRAM SOURCE.c "MPIEXEC" COMPILER...
#
# PROGRAM, compiled from SOURCE.c for hpcw's SIONlib names, must print what SOURCE.stdout has. Its containers must pass
# `hpcgen verify`. If HPCW_SIONLIB names a directory with include/ and lib/ of SIONlib 1.7, SOURCE.c is also compiled for
# that one: it must print the same, and leave the same bytes.
set -eu
hpcgen=$1 program=$2 source=$3 mpiexec=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
case $hpcgen in /*) ;; *) hpcgen=$PWD/$hpcgen ;; esac
case $program in /*) ;; *) program=$PWD/$program ;; esac
expected=${source%.c}.stdout

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/hpcw" "$scratch/sionlib"

# shellcheck disable=SC2086 # several words, or none
run() {
    if [ -n "$mpiexec" ]; then timeout 100 "$mpiexec" -n 4 "$@"; else "$@"; fi
}

cd "$scratch/hpcw"
HPCW_SIONLIB_ERRORS=$scratch/errors run "$program" >"$scratch/stdout"
diff -u "$expected" "$scratch/stdout" || { echo "$program: expected what $expected has"; exit 1; }
# SIONlib's calls with bad arguments say nothing to the program, so somebody else must hear of them.
grep -q 'expected .*, got ' "$scratch/errors" || { echo "no error was reported"; exit 1; }
for file in *.sion; do
    "$hpcgen" verify "$file" >"$scratch/verify" 2>&1 || { cat "$scratch/verify"; exit 1; }
done
if [ -z "$mpiexec" ]; then
    "$program" beyond >"$scratch/stdout"
    diff -u "$here/sionlib_beyond.stdout" "$scratch/stdout"
fi

[ -n "${HPCW_SIONLIB-}" ] || exit 0
name=sion # some releases call their libraries lsion
[ -f "$HPCW_SIONLIB/lib/libsioncom_64.a" ] || name=lsion
libs="-l${name}ser_64 -l${name}com_64 -l${name}com_64_lock_none -lpthread -lm"
[ -z "$mpiexec" ] || libs="-l${name}mpi_64 -l${name}gen_64 $libs"
cd "$scratch/sionlib"
# shellcheck disable=SC2086
"$@" -D_SION_LINUX -I"$HPCW_SIONLIB/include" "$source" -o "$scratch/original" -L"$HPCW_SIONLIB/lib" $libs
run "$scratch/original" >"$scratch/stdout" 2>/dev/null
diff -u "$expected" "$scratch/stdout" || { echo "SIONlib prints something else than $expected has"; exit 1; }
for file in *; do
    cmp "$file" "$scratch/hpcw/$file"
done
