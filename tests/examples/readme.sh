#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program shown in the README is the one that is tested. Usage: readme.sh README.md PROGRAM.c
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" >"$scratch/readme.c"
# The first line is the licence mark.
tail -n +2 "$2" >"$scratch/program.c"
diff -u "$scratch/program.c" "$scratch/readme.c" || {
    echo "the C program in $(basename "$1") differs from $(basename "$2")"
    exit 1
}
