#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks what a shared library exports and needs. Usage: symbols.sh NM LIBRARY serial|mpi|trace|mpe HEADER...
#
# - It exports exactly what HEADERs declare. The tracing wrapper (trace) also exports functions of MPI and functions that
#   end a process. The MPE2 library (mpe) also exports its names for Fortran.
# - It does not refer to functions that print, exit or raise, nor to libm's transcendental functions, whose bits differ
#   from machine to machine. (assert is allowed, in debug builds.) The wrapper and the MPE2 library cannot return errors,
#   so they may print, but must not end the program.
# - The serial library refers to no function of MPI.
set -eu
nm=$1 library=$2 kind=$3
shift 3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

"$(dirname "$0")/declared.sh" "$@" >"$scratch/declared"
"$nm" -D --defined-only "$library" | awk '$2 ~ /^[B-Z]$/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u |
    grep -v -E '^(__(start|stop|asan|odr_asan|ubsan|sanitizer|profc|gcov|llvm)|_(init|fini|edata|end)$|__bss_start$)' \
        >"$scratch/exported" || true
case $kind in
trace)
    # A few names must be there, so that an empty list does not pass.
    if [ "$(grep -c -x -E 'P?MPI_(Init|Send|Recv|Pcontrol)' "$scratch/exported")" != 8 ]; then
        echo "$library: expected functions of MPI to be exported"
        status=1
    fi
    others='P?MPI_[A-Z][a-z0-9_]*|mpi_[a-z_]*_(f08_)?|_[eE]xit'
    ;;
mpe) others=$(sed 's/$/_/' "$scratch/declared" | tr 'A-Z\n' 'a-z|')- ;;
*) others=- ;;
esac
grep -v -x -E "$others" "$scratch/exported" >"$scratch/own"
if ! diff "$scratch/declared" "$scratch/own" >"$scratch/difference"; then
    echo "$library: declared in a header but not exported (<), exported but not declared (>):"
    grep '^[<>]' "$scratch/difference"
    status=1
fi

printing='_?_?v?f?d?printf(_chk)?|puts|fputs|putchar|fputc|fwrite|perror|psignal|stdout|stderr'
forbidden="_?_?exit|_Exit|quick_exit"
[ "$kind" = trace ] || [ "$kind" = mpe ] || forbidden="$forbidden|$printing"
forbidden="$forbidden|abort|raise|kill|setlocale|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sincos"
forbidden="$forbidden|sinh|cosh|tanh|asin|acos|atan|atan2|cbrt|hypot|erf|lgamma|tgamma|fma"
[ "$kind" != serial ] || forbidden="$forbidden|P?MPI_.*|ompi_.*|MPI[RDX]_.*"
"$nm" -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' >"$scratch/needed"
if grep -x -E "$forbidden" "$scratch/needed" >"$scratch/found"; then
    echo "$library refers to what the library must not use:"
    sed 's/^/  /' "$scratch/found"
    status=1
fi
exit $status
