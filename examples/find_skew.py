#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds clocks that are wrong in an event log, and prints them for `hpcgen score`.

    hpcgen export --form csv --output log.csv data/clog2/app.clog2
    ./find_skew.py log.csv > findings.json

All ranks leave a reduction within microseconds. A rank that always seems to leave early or late has a wrong clock: a
line through its distances from the median rank gives offset and drift. Most clocks are right: how most ranks differ says
what is noise.
"""
import csv
import json
import sys
from statistics import median

VISIBLE = 5  # standard deviations
HELD_S = 25e-6  # the system held a rank that is later, its clock is not to blame
REDUCTIONS = ("MPI_Allreduce", "MPI_Barrier")


def line(points):
    """Offset in the middle, and slope."""
    n = len(points)
    x, y = sum(p[0] for p in points) / n, sum(p[1] for p in points) / n
    xx = sum((p[0] - x) ** 2 for p in points)
    slope = sum((p[0] - x) * (p[1] - y) for p in points) / xx
    return y, slope


def main():
    exits = {}  # name -> rank -> times
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for event in csv.DictReader(file):
            if event["what"] == "end" and event["name"] in REDUCTIONS:
                exits.setdefault(event["name"], {}).setdefault(int(event["rank"]), []).append(float(event["time_s"]))
    points = {}  # rank -> (time of the median rank, distance from it)
    for ranks in exits.values():
        for call in range(min(len(times) for times in ranks.values())):
            middle = median(times[call] for times in ranks.values())
            away = {rank: times[call] - middle for rank, times in ranks.items()}
            held = max(HELD_S, 10 * 1.4826 * median(abs(a) for a in away.values()))
            for rank, seconds in away.items():
                if abs(seconds) <= held:
                    points.setdefault(rank, []).append((middle, seconds))
    found = []
    if points and min(len(p) for p in points.values()) > 3:
        fit = {rank: line(p) for rank, p in points.items()}
        span = max(p[0] for p in points[min(points)]) - min(p[0] for p in points[min(points)])
        offset, drift = median(f[0] for f in fit.values()), median(f[1] for f in fit.values())
        noise = 1.4826 * median(abs(f[0] - offset) for f in fit.values())
        for rank, (y, slope) in sorted(fit.items()):
            off = abs(y - offset) + 0.5 * abs(slope - drift) * span
            if off > VISIBLE * noise:
                found.append({"kind": "clock", "rank": rank, "offset_us": 1e6 * (y - offset),
                              "drift_ppm": 1e6 * (slope - drift)})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
