#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds what makes ranks wait in an event log, the most expensive first, and prints it for `hpcgen score`.

    ./find_causes.py data/clog2/app.clog2 RANKS_PER_NODE > findings.json

An interruption makes a rank compute longer in one phase than in those before and after. A slow node makes all its
ranks compute longer in all phases; no log tells it from a heavy load where loads differ as much. The log is
replayed without each cause. A call then takes the same time after its begin, or after the last rank that it waits
for. The cost of the cause is the time by which the run ends earlier. Clocks must be right, and ranks must do the
same work without the cause.
"""
import argparse
import collections
import json
import math
import sys

import numpy as np

import hpcw

INTERRUPTED, SLOW = 8, 5  # standard deviations; doc/truth.md calls causes above them visible
LEAST = 1e-3  # share of the run; cheaper causes are not reported
# Calls that do not wait, and calls that wait for messages. All other calls of MPI are collective.
STARTS = ("MPI_Isend", "MPI_Irecv")
WAITS = ("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany")
ENDS_SENDS = ("MPI_Send", "MPI_Sendrecv", "MPI_Waitall")
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv")


def compute_times(states, done):
    """Returns the seconds that each rank computes in each phase: {rank: array}."""
    times = {}
    for rank in np.unique(done["rank"]).tolist():
        own, ends = states[states["rank"] == rank], done["time"][done["rank"] == rank]
        phase = np.searchsorted(ends, own["end"])
        times[rank] = np.bincount(phase, own["end"] - own["begin"], len(ends))[:len(ends)]
    return times


def outliers(values, least):
    """Returns {key: distance from the median} of values that are more than `least` standard deviations above the median."""
    if len(values) < 8:
        return {}
    away = np.array(list(values.values())) - np.median(list(values.values()))
    sd = 1.4826 * np.median(abs(away))
    return {key: by for key, by in zip(values, away.tolist()) if by > least * sd}


def find(times, per_node):
    """Returns the causes: the ranks and phases of each, and the share of the compute time there that is due to it."""
    phases = range(1, min(map(len, times.values()), default=0))  # phase 0 sets up
    if not phases:
        return
    log = {r: np.log(row) for r, row in times.items() if min(row) > 0}
    found = []
    for p in phases:
        near = [n for n in (p - 1, p + 1) if n in phases]
        jumps = {r: row[p] - max(row[n] for n in near) for r, row in log.items() if near}
        found += [("interruption", r, (r,), (p,), by) for r, by in outliers(jumps, INTERRUPTED).items()]
    means = collections.defaultdict(list)
    for r, row in log.items():
        means[r // per_node * per_node].append(np.mean(row[phases]))
    for first, by in outliers({first: np.mean(values) for first, values in means.items()}, SLOW).items():
        ranks = [r for r in range(first, first + per_node) if r in times]
        found.append(("slow_node", first, ranks, range(len(times[first])), by))
    for kind, rank, ranks, at, by in found:
        yield {"kind": kind, "rank": rank, "ranks": ranks, "phases": at, "share": 1 - math.exp(-by)}


def events(log, states, done):
    """Returns (time, rank, what, name, number of the state or message, other rank) in the order of time. At equal
    times, a call first receives and then ends; then the next call begins, and sends."""
    messages = log.messages()
    name = log.names[states["name"]].tolist()
    empty = states["begin"] == states["end"]
    parts = [(messages["received"], messages["dest"], "receive", 0, messages["source"]),
             (states["end"], states["rank"], "end", np.where(empty, 5, 1), states["rank"]),
             (done["time"], done["rank"], "done", 2, done["rank"]),
             (states["begin"], states["rank"], "begin", 3, states["rank"]),
             (messages["sent"], messages["source"], "send", 4, messages["dest"])]
    order = np.lexsort((np.concatenate([np.broadcast_to(p[3], len(p[0])) for p in parts]),
                        np.concatenate([p[0] for p in parts])))
    rows = [(time, rank, what, name[number] if what in ("begin", "end") else "", number, other)
            for times, ranks, what, _, others in parts
            for number, (time, rank, other) in enumerate(zip(times.tolist(), ranks.tolist(), others.tolist()))]
    return (rows[at] for at in order.tolist())


def latest(waits, time, gain):
    """Adds the time of an event that a call waits for. Returns the latest of these times, and for each cause the latest
    time without this cause. `waits` is the result of the previous call for the same wait, or None."""
    if waits is None:
        return time, [time - g for g in gain]
    return max(waits[0], time), [max(w, time - g) for w, g in zip(waits[1], gain)]


def replay(happened, causes):
    """Returns the seconds by which the run ends earlier without each of the causes."""
    hit = collections.defaultdict(list)  # (rank, phase) -> numbers of causes
    for number, cause in enumerate(causes):
        for rank in cause["ranks"]:
            for p in cause["phases"]:
                hit[rank, p].append(number)
    gain = collections.defaultdict(lambda: [0.0] * len(causes))  # rank -> time that it gains without each cause
    last, began, waits, posted, met = {}, {}, {}, {}, {}
    phase, calls = collections.Counter(), collections.Counter()
    sent, to = {}, collections.defaultdict(set)
    for time, rank, what, name, number, other in happened:
        last[rank] = time
        if what == "send":
            sent[number] = time, gain[rank]
            to[rank].add(other)
        elif what == "receive":
            if rank in waits and number in sent:
                waits[rank] = latest(waits[rank], *sent.pop(number))
        elif what == "done":
            phase[rank] += 1
        elif name == "Compute" and what == "begin":
            began[rank] = time
        elif name == "Compute":
            gain[rank] = list(gain[rank])
            for cause in hit[rank, phase[rank]]:
                gain[rank][cause] += (time - began[rank]) * causes[cause]["share"]
        elif name in STARTS or name in WAITS:
            if what == "begin":
                if name in RECEIVES:
                    posted[rank] = time, gain[rank]
                if name in WAITS:
                    waits[rank] = latest(None, time, gain[rank])
            elif name in WAITS:
                for receiver in to[rank]:  # a large message leaves when its receiver is there
                    if posted.get(receiver, (0,))[0] > waits[rank][0]:
                        waits[rank] = latest(waits[rank], *posted[receiver])
                until, earlier = waits.pop(rank)
                gain[rank] = [until - e for e in earlier]
                if name in ENDS_SENDS:
                    to[rank].clear()
        elif name.startswith("MPI_") or name == "Checkpoint":
            call = name, calls[rank, name]
            if what == "begin":
                met[call] = latest(met.get(call), time, gain[rank])
            else:
                gain[rank] = [met[call][0] - e for e in met[call][1]]
                calls[rank, name] += 1
    end = max(last.values(), default=0)
    return end, [end - max(last[r] - gain[r][number] for r in last) for number in range(len(causes))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("ranks_per_node", type=int)
    arguments = parser.parse_args()
    log = hpcw.open(arguments.log)
    states, done = log.states(), log.events()
    done = done[log.names[done["name"]] == "Phase done"]
    times = compute_times(states[log.names[states["name"]] == "Compute"], done)
    causes = list(find(times, arguments.ranks_per_node))
    end, costs = replay(events(log, states, done), causes)
    found = []
    for cost, cause in sorted(zip(costs, causes), key=lambda c: -c[0]):
        if cost >= LEAST * end:
            where = {"phase": cause["phases"][0]} if cause["kind"] == "interruption" else {}
            found.append({"kind": cause["kind"], "rank": cause["rank"], **where, "cost_s": cost})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
