#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong clocks of any sign, for any seed and number of ranks. Logs stay valid, rank 0's clock is right, and
# truth.json gives the errors of the others.
. "$HERE/refuse.inc"

log() { # RANKS SEED OPTIONS...
    ranks=$1 seed=$2
    shift 2
    "$HPCGEN" --quiet --ranks "$ranks" --seed "$seed" --formats clog2 --scale tiny --set load.phases=3 \
        --set rank2file.checkpoints=1 --out log --force "$@" || bad "fails: $ranks ranks, seed $seed, $*"
    "$HPCGEN" verify --quiet log || bad "not sound: $ranks ranks, seed $seed, $*"
}
seed=0
while [ $((seed += 1)) -le 100 ]; do
    for ranks in 1 2 5 24; do
        log $ranks $seed --set trace.skew=2 --set trace.drift=0.1
    done
done
log 1 8523 --set trace.skew=2
log 24 3 --set trace.skew=1000000 --set trace.drift=400000

# The clock errors in the log are those that truth.json gives for each host.
log 64 4 --workload hydro --set load.phases=12
cp log/clog2/app.clog2 right.clog2
log 64 4 --workload hydro --set load.phases=12 --set trace.skew=5000 --set trace.drift=1000
for name in right log/clog2/app; do
    "$HPCGEN" export --quiet $name.clog2 --form csv --output $name.csv || bad "export fails"
done
python3 - <<'PYTHON' || bad "truth.json says something else"
import csv
import json


def last_times(name):
    """The time of the last event of each rank."""
    time = {}
    for row in csv.DictReader(open(name)):
        time[int(row["rank"])] = float(row["time_s"])
    return time


right, wrong = last_times("right.csv"), last_times("log/clog2/app.csv")
clocks = json.load(open("log/truth.json"))["clog2"]["clocks"]
# The host of rank 0 has a right clock, so it is no fault.
assert [clock["node"] for clock in clocks] == list(range(1, 16)), clocks
right_clock = {"first_rank": 0, "ranks": clocks[0]["first_rank"], "offset_us": 0, "drift_ppm": 0}
start = wrong[0] - right[0]  # the log begins earlier, so that no clock is below 0
for clock in [right_clock] + clocks:
    for rank in range(clock["first_rank"], clock["first_rank"] + clock["ranks"]):
        off = wrong[rank] - right[rank] - start
        wanted = clock["offset_us"] * 1e-6 + clock["drift_ppm"] * 1e-6 * (right[rank] - 10e-6)
        assert abs(off - wanted) < 3e-9, (rank, off, wanted)
worst = max(clocks, key=lambda c: abs(c["offset_us"]))
assert abs(worst["offset_us"]) > 4000 and worst["visibility"][0]["sd"] > 10, worst
PYTHON

# How well a constant error is seen depends neither on the length of the run nor on the number of collective calls.
for phases in 12 300; do
    log 64 4 --workload hydro --set load.phases=$phases --set trace.skew=5000
    python3 - <<'PYTHON' >sds.$phases
import json

for clock in json.load(open("log/truth.json"))["clog2"]["clocks"]:
    print(round(clock["visibility"][0]["sd"]))
PYTHON
done
diff sds.12 sds.300 >&2 || bad "other visibility of clocks in a long run"

printf '{"findings": [{"kind": "clock", "node": 0}, {"kind": "clock", "node": 1}]}' >findings.json
"$HPCGEN" score findings.json log >score || bad "the findings cannot be scored"
grep -q 'kind=clock findings=2 right=1 ' score || bad "the clock of rank 0 counts as wrong: $(cat score)"

exit $failed
