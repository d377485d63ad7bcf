#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A shared library exports exactly the functions that its version script lists, each with the version of that list.
# Usage: versions.sh NM LIBRARY MAP
set -eu
nm=$1 library=$2 map=$3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

awk '/^[A-Z_0-9.]+ \{/ { version = $1 } /^ +[A-Za-z].*;$/ { sub(/;/, "", $1); print $1 "@@" version }' "$map" |
    LC_ALL=C sort >"$scratch/listed"
[ -s "$scratch/listed" ] || { echo "$map: expected a list of functions, got none"; exit 1; }
"$nm" -D --defined-only --with-symbol-versions "$library" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort >"$scratch/exported"
diff "$scratch/listed" "$scratch/exported" || { echo "expected what $map lists (<), got (>)"; exit 1; }
