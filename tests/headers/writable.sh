#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks that a program or library has no mutable globals except NAME... Usage: writable.sh NM FILE NAME...
#
# Each NAME must exist in FILE. Names of the compiler, its runtimes and the linker do not count: they begin with an
# underscore or are listed below. A program also has copies of variables of libc and MPI, which do not count either.
set -eu
nm=$1 file=$2
shift 2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '%s\n' "$@" | sed '/^$/d' | LC_ALL=C sort -u >"$scratch/expected"
"$nm" -f sysv --defined-only "$file" >"$scratch/symbols"
# A static variable in a function is NAME.NUMBER or FUNCTION.NAME, depending on the compiler. clang may make one for
# each member of a struct.
awk -F'|' '{ gsub(/ /, "") } $NF ~ /^\.t?(data|bss)$/ { print $1 }' "$scratch/symbols" |
    sed -e '/@/d' -e 's/\.[0-9]*$//' -e 's/^.*\.//' |
    grep -v -E '^_|^(completed|data_start|environ|std(in|out|err)|(ompi|mca|MPIR?|lsan|asan|gcov)_.*)$' |
    LC_ALL=C sort -u >"$scratch/writable" || true
if ! grep -q '\.text' "$scratch/symbols"; then
    echo "$file: expected a table of symbols, got none"
    exit 1
fi
if ! diff "$scratch/expected" "$scratch/writable" >"$scratch/difference"; then
    echo "$file: mutable globals expected but missing (<), there but not expected (>):"
    grep '^[<>]' "$scratch/difference"
    exit 1
fi
