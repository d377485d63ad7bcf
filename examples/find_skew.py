#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds clocks that are wrong in an event log, and prints them for `hpcgen score`.

    ./find_skew.py data/clog2/app.clog2 > findings.json

All ranks leave a reduction within microseconds. A rank that mostly leaves early or late has a wrong clock. If this
changes between the first and the second half of the log, the clock drifts. Most clocks are right, so the
differences of most ranks are noise.
"""
import argparse
import json
import sys

import numpy as np

import hpcw

VISIBLE = 5  # standard deviations
REDUCTIONS = ("MPI_Allreduce", "MPI_Barrier")


def exits(log):
    """Returns the ranks, and the times at which each left each reduction: [rank, call]."""
    states = log.states()
    ranks, calls = np.unique(states["rank"]), []
    for name in REDUCTIONS:
        own = states[log.names[states["name"]] == name]
        ends = [own["end"][own["rank"] == rank] for rank in ranks]
        calls += list(zip(*ends))
    return ranks, np.array(calls).T


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    ranks, times = exits(hpcw.open(parser.parse_args().log))
    found = []
    if times.shape[-1] > 3:
        when = np.median(times, axis=0)
        away = times - when
        order = np.argsort(when, kind="stable")
        early, late = order[:len(order) // 2], order[-(len(order) // 2):]
        offset = np.median(away, axis=1)
        change = np.median(away[:, late], axis=1) - np.median(away[:, early], axis=1)
        span = np.median(when[late]) - np.median(when[early])
        offset, change = offset - np.median(offset), change - np.median(change)
        noise = 1.4826 * np.median(abs(offset))
        for i in np.flatnonzero(abs(offset) + abs(change) > VISIBLE * noise):
            found.append({"kind": "clock", "rank": int(ranks[i]), "offset_us": 1e6 * offset[i],
                          "drift_ppm": 1e6 * change[i] / span})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
