#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A dataset from begin to end: its files, and what verify, info and xxhsum print about them.
set -e
"$HPCGEN" --ranks 8 --out set/ --quiet
find set -type f | LC_ALL=C sort

echo "== checked"
"$HPCGEN" verify set
# File 0 of a container represents all of its files.
"$HPCGEN" verify set/linktest/pingpong_results_bin.sion
"$HPCGEN" verify set/sion/particles.sion
# Load data: one rank's file, and all of them.
"$HPCGEN" verify set/vom/data.3.json.br
"$HPCGEN" verify set/vom
# Checkpoints: a map, a summary, and the whole prefix directory.
"$HPCGEN" verify set/scr/scr.dataset.1/.scr/rank2file.scr
"$HPCGEN" verify set/scr/.scr/scr.dataset.2/summary.scr
"$HPCGEN" verify set/scr
if command -v xxhsum >/dev/null; then
    (cd set && xxhsum --quiet -c CHECKSUMS.xxh128) >/dev/null
fi

"$HPCGEN" verify set/clog2/app.clog2

echo "== described"
"$HPCGEN" info --all set/sion/particles.sion | grep -E '^(format|tasks_of_set|fs_block_size):'
"$HPCGEN" info --all set/vom | grep -E '^(format|ranks|files):'
"$HPCGEN" info --all set/scr | grep -E '^(format|current):'
"$HPCGEN" info --json set/linktest/pingpong_results_bin.sion | tr -d ' \n' | grep -c '^{.*"format":"linktest".*}$'

echo "== a dry run names the same files and writes none"
"$HPCGEN" --ranks 8 --out dry --dry-run >plan
"$HPCGEN" plan --ranks 8 --formats rank2file --json >>plan # which names all of them
for file in $(cd set && find */ -type f); do
    grep -q "$file" plan || echo "the plan lacks $file"
done
[ ! -e dry ] || echo "the dry run left something"
