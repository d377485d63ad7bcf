#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds what makes ranks wait in an event log, the most expensive first, and prints it for `hpcgen score`.

    hpcgen export --form csv --output log.csv data/clog2/app.clog2
    ./find_causes.py log.csv RANKS_PER_NODE > findings.json

An interruption makes a rank compute longer in one phase than in those before and after. A slow node makes all its ranks
compute longer in all phases; no log tells it from a heavy load where loads differ as much. The log is replayed without
each cause: a call ends as long after its begin, or after the last rank that it waits for, as it did. By how much earlier
the run ends is the cost of the cause. Clocks must be right, and ranks do the same work without the cause.
"""
import collections
import csv
import json
import math
import sys
from statistics import mean, median

INTERRUPTED, SLOW = 8, 5  # standard deviations from which on doc/truth.md calls them visible
LEAST = 1e-3  # share of the run; what costs less is not worth a look
# Calls that wait for nobody, and for messages. All others of MPI are collective.
STARTS = ("MPI_Isend", "MPI_Irecv")
WAITS = ("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany")
ENDS_SENDS = ("MPI_Send", "MPI_Sendrecv", "MPI_Waitall")
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv")


def events(path):
    with open(path, newline="", encoding="utf-8") as file:
        for time, rank, _, what, name, peer, tag, _ in csv.reader(file):
            if what != "what":
                yield float(time), int(rank), what, name, peer, tag


def compute_times(path):
    """Seconds that each rank computes in each phase."""
    times, began, now = collections.defaultdict(list), {}, collections.defaultdict(float)
    for time, rank, what, name, _, _ in events(path):
        if name == "Compute" and what == "begin":
            began[rank] = time
        elif name == "Compute":
            now[rank] += time - began[rank]
        elif name == "Phase done":
            times[rank].append(now.pop(rank, 0))
    return times


def outliers(values, least):
    """{key: distance from the median} of the values that are at least so many standard deviations above it."""
    if len(values) < 8:
        return {}
    middle = median(values.values())
    sd = 1.4826 * median(abs(v - middle) for v in values.values())
    return {key: v - middle for key, v in values.items() if v - middle > least * sd}


def find(times, per_node):
    """Causes: where they are, and the share of the compute times there that would not be without them."""
    phases = range(1, min(map(len, times.values()), default=0))  # phase 0 sets up
    if not phases:
        return
    log = {r: [math.log(t) for t in row] for r, row in times.items() if min(row) > 0}
    found = []
    for p in phases:
        near = [n for n in (p - 1, p + 1) if n in phases]
        jumps = {r: row[p] - max(row[n] for n in near) for r, row in log.items() if near}
        found += [("interruption", r, (r,), (p,), by) for r, by in outliers(jumps, INTERRUPTED).items()]
    means = collections.defaultdict(list)
    for r, row in log.items():
        means[r // per_node * per_node].append(mean(row[p] for p in phases))
    for first, by in outliers({first: mean(values) for first, values in means.items()}, SLOW).items():
        ranks = [r for r in range(first, first + per_node) if r in times]
        found.append(("slow_node", first, ranks, range(len(times[first])), by))
    for kind, rank, ranks, at, by in found:
        yield {"kind": kind, "rank": rank, "ranks": ranks, "phases": at, "share": 1 - math.exp(-by)}


def latest(waits, time, gain):
    """The latest time that a call waits for, and the latest one without each cause; `waits` are those so far."""
    if waits is None:
        return time, [time - g for g in gain]
    return max(waits[0], time), [max(w, time - g) for w, g in zip(waits[1], gain)]


def replay(path, causes):
    """How much earlier the run ends without each of the causes, seconds."""
    hit = collections.defaultdict(list)  # (rank, phase) -> numbers of causes
    for number, cause in enumerate(causes):
        for rank in cause["ranks"]:
            for p in cause["phases"]:
                hit[rank, p].append(number)
    gain = collections.defaultdict(lambda: [0.0] * len(causes))  # rank -> by how much it is earlier
    last, began, waits, posted, met = {}, {}, {}, {}, {}
    phase, calls = collections.Counter(), collections.Counter()
    sent, to = collections.defaultdict(collections.deque), collections.defaultdict(set)
    for time, rank, what, name, peer, tag in events(path):
        last[rank] = time
        if what == "send":
            sent[rank, int(peer), tag].append((time, gain[rank]))
            to[rank].add(int(peer))
        elif what == "receive":
            if rank in waits and sent[int(peer), rank, tag]:
                waits[rank] = latest(waits[rank], *sent[int(peer), rank, tag].popleft())
        elif name == "Phase done":
            phase[rank] += 1
        elif name == "Compute" and what == "begin":
            began[rank] = time
        elif name == "Compute":
            gain[rank] = list(gain[rank])
            for number in hit[rank, phase[rank]]:
                gain[rank][number] += (time - began[rank]) * causes[number]["share"]
        elif name in STARTS or name in WAITS:
            if what == "begin":
                if name in RECEIVES:
                    posted[rank] = time, gain[rank]
                if name in WAITS:
                    waits[rank] = latest(None, time, gain[rank])
            elif name in WAITS:
                for other in to[rank]:  # a large message leaves when its receiver is there
                    if posted.get(other, (0,))[0] > waits[rank][0]:
                        waits[rank] = latest(waits[rank], *posted[other])
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
    causes = list(find(compute_times(sys.argv[1]), int(sys.argv[2])))
    end, costs = replay(sys.argv[1], causes)
    found = []
    for cost, cause in sorted(zip(costs, causes), key=lambda c: -c[0]):
        if cost >= LEAST * end:
            where = {"phase": cause["phases"][0]} if cause["kind"] == "interruption" else {}
            found.append({"kind": cause["kind"], "rank": cause["rank"], **where, "cost_s": cost})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
