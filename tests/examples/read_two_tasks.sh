#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `read_two_tasks` reads the container of the example `two_tasks`.
# Usage: read_two_tasks.sh READ_TWO_TASKS TWO_TASKS
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
read_two_tasks=$(absolute "$1") two_tasks=$(absolute "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

if "$read_two_tasks" >got; then
    echo "expected a failure without a container"
    exit 1
fi
grep -q '^HPCW_ENOENT: two_tasks.sion: cannot open for reading' got || { cat got; exit 1; }

"$two_tasks"
"$read_two_tasks" >got
printf 'task 0, 24 bytes:  0.0  0.5 -1.0\ntask 1, 24 bytes:  1.5  0.5 -1.0\n' >expected
diff expected got
