#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs written for SIONlib. Usage: sionlib.sh HPCGEN PROGRAM SOURCE.c KIND "MPIEXEC" COMPILER...
#
# KIND is the kind of SIONlib's library: ser, gen, mpi, omp or ompi.
#
# PROGRAM, compiled from SOURCE.c with hpcw's libraries, must print what sionlib_KIND.stdout has. Its containers must pass
# `hpcgen verify`. If HPCW_SIONLIB names a directory with include/ and lib/ of SIONlib 1.7, SOURCE.c is also compiled with
# SIONlib: this program must print the same and write the same bytes.
set -eu
OMP_WAIT_POLICY=passive
export OMP_WAIT_POLICY
hpcgen=$1 program=$2 source=$3 kind=$4 mpiexec=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
case $hpcgen in /*) ;; *) hpcgen=$PWD/$hpcgen ;; esac
case $program in /*) ;; *) program=$PWD/$program ;; esac
expected=$here/sionlib_$kind.stdout

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/hpcw" "$scratch/sionlib"

# shellcheck disable=SC2086 # several words, or none
run() {
    if [ -n "$mpiexec" ]; then timeout 100 "$mpiexec" -n 4 "$@"; else "$@"; fi
}

cd "$scratch/hpcw"
run "$program" >"$scratch/stdout"
diff -u "$expected" "$scratch/stdout" || { echo "$program: expected what $expected has"; exit 1; }
# The metadata of each container has the path that the program passed to the open.
grep -o '[.]/[a-z]*[.]sion' "$expected" | sort -u >"$scratch/paths"
[ -s "$scratch/paths" ]
while read -r path; do
    grep -aqF "$path" "$path" || { echo "$path: expected this path in the metadata"; exit 1; }
done <"$scratch/paths"
for file in *.sion; do
    "$hpcgen" verify "$file" >"$scratch/verify" 2>&1 || { cat "$scratch/verify"; exit 1; }
done
# The argument "beyond" tests what SIONlib cannot do, so SIONlib does not run it.
run "$program" beyond >"$scratch/stdout" 2>"$scratch/stderr"
diff -u "$here/sionlib_${kind}_beyond.stdout" "$scratch/stdout"

# If the program sets no function for errors, errors are printed, except those of missing files.
case $kind in
mpi | gen)
    printf '%s\n' 'buddy.sion: not opened: hpcw has no buddy checkpointing, expected a mode without buddy' >"$scratch/expected"
    grep buddy "$scratch/stderr" | sort -u | diff - "$scratch/expected"
    ;;
esac

# If the program sets no function for errors, the library writes errors to the file HPCW_SIONLIB_ERRORS.
if [ "$kind" = mpi ]; then
    HPCW_SIONLIB_ERRORS=$scratch/errors run "$program" beyond >/dev/null
    printf '%s\n' 'missing.sion: cannot open for reading: No such file or directory' >"$scratch/expected"
    grep missing.sion "$scratch/errors" | diff - "$scratch/expected"
    grep -q buddy.sion "$scratch/errors"
fi

# HPCW_SIONLIB_ERRORS names a pipe that nobody reads: the errors go to stderr, and the program does not wait.
if [ "$kind" = ser ]; then
    mkfifo "$scratch/fifo"
    HPCW_SIONLIB_ERRORS=$scratch/fifo timeout 60 "$program" beyond >"$scratch/stdout" 2>"$scratch/stderr"
    diff -u "$here/sionlib_${kind}_beyond.stdout" "$scratch/stdout"
    grep -q 'none.sion: expected at least 1 task, got 0' "$scratch/stderr"
fi

[ -n "${HPCW_SIONLIB-}" ] || exit 0
name=sion # some releases call their libraries lsion
[ -f "$HPCW_SIONLIB/lib/libsioncom_64.a" ] || name=lsion
libs="-l${name}gen_64 -l${name}ser_64 -l${name}com_64 -l${name}com_64_lock_none -lpthread -lm"
[ "$kind" = ser ] || libs="-l${name}${kind}_64 $libs"
cd "$scratch/sionlib"
# shellcheck disable=SC2086
"$@" -D_SION_LINUX -I"$HPCW_SIONLIB/include" "$source" -o "$scratch/original" -L"$HPCW_SIONLIB/lib" $libs
run "$scratch/original" >"$scratch/stdout" 2>/dev/null
diff -u "$expected" "$scratch/stdout" || { echo "SIONlib prints something else than $expected has"; exit 1; }
for file in *; do
    cmp "$file" "$scratch/hpcw/$file"
done
