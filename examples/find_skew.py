#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds clocks that are wrong in an event log, and prints them for `hpcgen score`.

    hpcgen export --form csv --output log.csv data/clog2/app.clog2
    ./find_skew.py log.csv > findings.json

All ranks leave a reduction within microseconds. A rank that mostly leaves early or late has a wrong clock, and one of which
that changes from the first half of the log to the second half has one that drifts. Most clocks are right: how most ranks
differ says what is noise.
"""
import csv
import json
import sys
from statistics import median

VISIBLE = 5  # standard deviations
REDUCTIONS = ("MPI_Allreduce", "MPI_Barrier")


def main():
    exits = {}  # name -> rank -> times
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for event in csv.DictReader(file):
            if event["what"] == "end" and event["name"] in REDUCTIONS:
                exits.setdefault(event["name"], {}).setdefault(int(event["rank"]), []).append(float(event["time_s"]))
    away = {}  # rank -> distance from the median rank, call by call
    when = []  # the median rank's times
    for ranks in exits.values():
        for call in range(min(len(times) for times in ranks.values())):
            middle = median(times[call] for times in ranks.values())
            when.append(middle)
            for rank, times in ranks.items():
                away.setdefault(rank, []).append(times[call] - middle)
    found = []
    if len(when) > 3:
        order = sorted(range(len(when)), key=when.__getitem__)
        early, late = order[:len(order) // 2], order[-(len(order) // 2):]
        offset = {rank: median(seconds) for rank, seconds in away.items()}
        change = {rank: median(seconds[i] for i in late) - median(seconds[i] for i in early)
                  for rank, seconds in away.items()}
        span = median(when[i] for i in late) - median(when[i] for i in early)
        middle, common = median(offset.values()), median(change.values())
        noise = 1.4826 * median(abs(o - middle) for o in offset.values())
        for rank in sorted(offset):
            off = abs(offset[rank] - middle) + abs(change[rank] - common)
            if off > VISIBLE * noise:
                found.append({"kind": "clock", "rank": rank, "offset_us": 1e6 * (offset[rank] - middle),
                              "drift_ppm": 1e6 * (change[rank] - common) / span})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
