#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Inserts lines after the first line of FILE that contains TEXT. Fails if there is none.
# Usage: add.sh FILE TEXT LINE...
set -eu
file=$1 text=$2
shift 2
lines=$(printf '%s\n' "$@")
export text lines
awk '
    { print }
    !done && index($0, ENVIRON["text"]) { print ENVIRON["lines"]; done = 1 }
    END { exit !done }' "$file" >"$file.new" || {
    rm -f "$file.new"
    echo "$file: no line has: $text" >&2
    exit 1
}
cat "$file.new" >"$file"
rm -f "$file.new"
