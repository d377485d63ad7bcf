#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two programs write the same file. Usage: same.sh FILE PROGRAM OTHER
set -eu
file=$1 program=$(realpath "$2") other=$(realpath "$3")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$program"
mv "$file" first
"$other"
cmp first "$file"
