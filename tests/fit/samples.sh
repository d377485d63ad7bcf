#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fits the published samples of doc/fit.md, "Published samples", and compares each with its twin, which is generated from
# the fit. Usage: samples.sh HPCGEN
#
# The directory HPCW_SAMPLES has clones of the repositories LB-analysis-framework and vt-tv of DARMA-tasking;
# without it the test is skipped. The test prints a line for each data set. Each readable data set must have a twin that
# passes verify. Every second data set, in path order, was not used to develop the fit. Of the rows that compare these sets with
# their twins, 80 % must be alike. Rows without information do not count.
set -eu
hpcgen=$PWD/$1
[ -n "${HPCW_SAMPLES-}" ] || {
    echo "HPCW_SAMPLES is not set: it names a directory with the published samples" >&2
    exit 77
}
samples=$(cd "$HPCW_SAMPLES" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$samples"
find LB-analysis-framework/data vt-tv/data -name '*.json' -o -name '*.json.br' |
    sed -E 's/\.[0-9]+\.json(\.br)?$//; s/\.json$//' | LC_ALL=C sort -u >"$scratch/sets"
cd "$scratch"
number=0
alike=0
rows=0
failed=0
while read -r set; do
    number=$((number + 1))
    rm -rf real twin
    mkdir real
    for file in "$samples/$set".[0-9]*.json "$samples/$set".[0-9]*.json.br "$samples/$set".json; do
        [ ! -e "$file" ] || ln -s "$file" real/
    done
    if ! "$hpcgen" fit real --output twin.ini -q 2>err; then
        echo "$set: refused: $(cut -d : -f 3- err)"
        continue
    fi
    if ! "$hpcgen" -q -c twin.ini -f vom -o twin || ! "$hpcgen" verify twin >out ||
        ! "$hpcgen" fit --compare real twin --json >rows; then
        echo "$set: no sound twin"
        failed=1
        continue
    fi
    good=$(grep -c '"verdict": "alike"' rows || true)
    bad=$(grep -c '"verdict": "different"' rows || true)
    held=
    if [ $((number % 2)) = 0 ]; then
        held=', held out'
        alike=$((alike + good))
        rows=$((rows + good + bad))
    fi
    unknown=$(grep -c '"verdict": "unknown"' rows || true)
    echo "$set: $good of $((good + bad)) rows alike, $unknown unknown$held"
done <sets
echo "held out: $alike of $rows rows alike"
[ $((5 * alike)) -ge $((4 * rows)) ] && [ $rows -gt 0 ] || failed=1
exit $failed
