#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example `where_time_goes` reads a log. Its output must be what Python computes from an export of the log.
# Usage: where_time_goes.sh PROGRAM HPCGEN
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
program=$(absolute "$1") hpcgen=$(absolute "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$hpcgen" --ranks 16 --formats clog2 --out data --quiet
"$program" data/clog2/app.clog2 >got
"$hpcgen" export data/clog2/app.clog2 --form csv --output log.csv --quiet
python3 - log.csv got <<'PYTHON'
import collections, csv, sys
stack, since, seconds, messages, size = collections.defaultdict(list), {}, collections.Counter(), 0, 0
for row in csv.DictReader(open(sys.argv[1])):
    time, timeline = float(row["time_s"]), (row["rank"], row["thread"])
    if row["what"] in ("begin", "end"):
        if stack[timeline]:
            seconds[stack[timeline][-1]] += time - since[timeline]
        since[timeline] = time
        if row["what"] == "begin":
            stack[timeline].append(row["name"])
        else:
            stack[timeline].remove(row["name"])
    elif row["what"] == "send":
        messages, size = messages + 1, size + int(row["bytes"])
got = open(sys.argv[2]).read().splitlines()
assert got[-1] == f"{messages} messages, {size} bytes", (got[-1], messages, size)
shown = {line[:31].strip(): float(line[31:42]) for line in got[:-1]}
percent = sum(float(line[45:].split()[0]) for line in got[:-1])
assert abs(percent - 100) < 0.1 * len(shown), got
# Entries without time are not shown.
assert shown.keys() == {name for name, value in seconds.items() if value > 0}, (shown, seconds)
for name, value in shown.items():
    assert abs(value - seconds[name]) < 2e-6 * (1 + value), (name, value, seconds[name])
PYTHON

if "$program" nothing.clog2 2>errors; then
    echo "expected a failure for a file that does not exist"
    exit 1
fi
grep -q '^HPCW_ENOENT: nothing.clog2: cannot open for reading' errors || { cat errors; exit 1; }
