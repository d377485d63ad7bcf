#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The detectors of examples/ find the visible faults of a dataset and almost nothing else, according to `hpcgen
# score`.
# Usage: find.sh HPCGEN EXAMPLES PYTHON
set -eu
hpcgen=$(realpath "$1") examples=$(realpath "$2") python=$3 scores=$(dirname "$(realpath "$0")")/scores.py

"$python" -c 'import numpy' || exit 77

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# The machine has many faults of each kind. Switches and groups are small, so that 256 ranks use several of each.
"$hpcgen" --quiet --no-checksums --ranks 256 --out data --set machine.nodes_per_switch=8 \
    --set machine.nodes_per_group=16 --set machine.bad_node_share=0.06 --set machine.bad_cable_share=0.1 \
    --set machine.slow_node_share=0.06 --set linktest.tail_probability=1e-5 --set linktest.tail=200 \
    --workload hydro --set trace.skew=20 --set trace.drift=2 \
    --set rank2file.missing_files=2 --set rank2file.truncated_files=2 --set rank2file.wrong_crcs=2 \
    --set rank2file.missing_ranks=2 --set rank2file.stale_index=yes

"$python" "$examples/find_slow_links.py" data/linktest/pingpong_results_bin.sion >links.json
"$python" "$examples/find_slow_nodes.py" data/vom >nodes.json
"$python" "$examples/find_damage.py" data/scr >damage.json
"$python" "$examples/find_skew.py" data/clog2/app.clog2 >skew.json
"$python" "$examples/draw_log.py" data/clog2/app.clog2 0 0.5 >log.svg
grep -q '^<path fill="#4878a8" d="M' log.svg
[ "$(tail -n 1 log.svg)" = "</svg>" ]
# Usage: check FINDINGS KIND...
check() {
    findings=$1
    shift
    "$hpcgen" score --json "$findings" data | "$python" "$scores" "$@"
}
check links.json slow_port slow_cable outlier
check nodes.json slow_node
check skew.json clock
check damage.json missing_file truncated_file wrong_crc missing_rank stale_index

# The detector finds causes of waits, where all ranks have about equal work. Most of the four slow nodes cost no time,
# since the ranks wait for another node that is equally slow.
# Usage: causes RANKS KIND...
causes() {
    ranks=$1
    shift
    rm -rf data
    "$hpcgen" --quiet --no-checksums --ranks "$ranks" --formats clog2,vom --out data --workload hydro \
        --set load.phases=20 --set load.course=flat --set load.fill=1 --set load.sigma_last=0.05 \
        --set machine.slow_node_share=0.03 --set load.noise=2e-3
    "$python" "$examples/find_causes.py" data/clog2/app.clog2 4 >causes.json
    check causes.json "$@"
}
causes 64 slow_node interruption cost
causes 256 interruption cost
