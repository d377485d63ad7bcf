#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `read_tasks` reads containers with several numbers of processes.
# Usage: read_tasks.sh MPIEXEC READ_TASKS TWO_TASKS HPCGEN
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
mpiexec=$1 read_tasks=$(absolute "$2") two_tasks=$(absolute "$3") hpcgen=$(absolute "$4")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$two_tasks"
# 24 bytes: 0, 0.5 and -1 as doubles; task 1 begins with 1.5.
printf 'task 0: 24 bytes, sum 718\ntask 1: 24 bytes, sum 1029\n' >expected
for n in 1 2 3; do
    "$mpiexec" -n $n "$read_tasks" two_tasks.sion | sort >got
    diff expected got
done

"$hpcgen" --ranks 7 --formats sion --set sion.files=2 --out data --quiet
file=$(ls data/sion/*.sion)
"$mpiexec" -n 1 "$read_tasks" "$file" | sort >expected
[ "$(wc -l <expected)" = 7 ]
"$mpiexec" -n 3 "$read_tasks" "$file" | sort >got
diff expected got

# If the file does not exist, all processes report the same error, and the program fails.
if "$mpiexec" -n 2 "$read_tasks" nothing.sion 2>errors; then
    echo "expected a failure for a file that does not exist"
    exit 1
fi
[ "$(grep -c '^HPCW_ENOENT: nothing.sion: cannot open for reading' errors)" = 2 ] || { cat errors; exit 1; }

for arguments in '' 'two_tasks.sion more'; do
    status=0
    # shellcheck disable=SC2086 # none, or two
    "$mpiexec" -n 1 "$read_tasks" $arguments 2>errors || status=$?
    [ $status = 2 ] && grep -q '^usage: read_tasks CONTAINER$' errors || { cat errors; exit 1; }
done
