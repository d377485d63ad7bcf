#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program that a page shows must be the same as the file PROGRAM. Usage: readme.sh PAGE.md LANGUAGE PROGRAM
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk -v begin="\`\`\`$2" '$0 == begin { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" >"$scratch/shown"
# The first line is the licence mark.
tail -n +2 "$3" >"$scratch/program"
diff -u "$scratch/program" "$scratch/shown" || {
    echo "the program in $(basename "$1") differs from $(basename "$3")"
    exit 1
}
