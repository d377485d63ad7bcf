#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A LinkTest result as a NumPy file, read back by NumPy. Skipped without NumPy.
. "$HERE/refuse.inc"
numpy=
for python in /usr/bin/python3 python3; do
    ! $python -c 'import numpy' 2>/dev/null || numpy=$python
done
[ -n "$numpy" ] || exit 77
result=set/linktest/pingpong_results_bin.sion
"$HPCGEN" --ranks 10 --formats linktest --out set --quiet || bad "generate fails"
"$HPCGEN" export --quiet $result --output times.csv || bad "csv fails"
"$HPCGEN" export $result --output times.npy 2>said || bad "npy fails"
"$HPCGEN" export --quiet $result --output some.npy --first-rank 3 --last-rank 4 || bad "two rows fail"
"$HPCGEN" export --quiet $result --output - --form npy >piped.npy || bad "npy to a pipe fails"
cmp piped.npy times.npy || bad "other bytes in a pipe"
[ "$(cat said)" = "hpcgen: times.npy: 10 rows, $(wc -c <times.npy) B" ] || bad "said: $(cat said)"
$numpy - <<'PYTHON' || bad "other values than in the CSV"
import csv, numpy
times = numpy.load("times.npy", mmap_mode="r")
assert times.shape == (10, 10) and times.dtype == numpy.dtype("<f8"), (times.shape, times.dtype)
assert numpy.isnan(times.diagonal()).all() and numpy.isnan(times).sum() == 10
rows = [[float(t or "nan") for t in r[3:]] for r in list(csv.reader(open("times.csv")))[1:]]
assert numpy.array_equal(times, numpy.array(rows), equal_nan=True)
assert numpy.array_equal(numpy.load("some.npy"), times[3:5], equal_nan=True)
PYTHON
exit $failed
