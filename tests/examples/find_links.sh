#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The detector of slow links finds the visible faults for several sizes of jobs. Nodes and cables are bad more often than usual.
# Usage: find_links.sh HPCGEN EXAMPLES PYTHON RANKS...
set -eu
hpcgen=$(realpath "$1") examples=$(realpath "$2") python=$3 scores=$(dirname "$(realpath "$0")")/scores.py
shift 3

"$python" -c 'import numpy' || exit 77

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for ranks; do
    # 256 ranks are at three switches, and none of their cables is slow.
    cable=$(test "$ranks" -lt 1024 || echo slow_cable)
    data=$scratch/$ranks
    "$hpcgen" --quiet --no-checksums --ranks "$ranks" --formats linktest --out "$data" \
        --set machine.bad_node_share=0.06 --set machine.bad_cable_share=0.05
    "$python" "$examples/find_slow_links.py" "$data/linktest/pingpong_results_bin.sion" >"$scratch/found.json"
    echo "$ranks ranks"
    "$hpcgen" score --json "$scratch/found.json" "$data" | "$python" "$scores" slow_port outlier ${cable:+"$cable"}
    rm -r "$data"
done

# The last three hosts have their own switch, far from the others, and ports that are not slow.
"$hpcgen" --quiet --no-checksums --ranks 256 --seed 7 --formats linktest --out "$scratch/far" \
    --set machine.bad_node_share=0
"$python" "$examples/find_slow_links.py" "$scratch/far/linktest/pingpong_results_bin.sion" >"$scratch/found.json"
! grep slow_port "$scratch/found.json"
