#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slow ports, slow cables and delayed messages in a LinkTest result, and prints them for `hpcgen score`.

    ./find_slow_links.py data/linktest/pingpong_results_bin.sion > findings.json

Knows nothing of the machine but what the file says: which tasks share a host. Reads one SION file, little-endian, of
the full test (doc/formats/sion.md, doc/formats/linktest.md).
"""
import array
import json
import math
import struct
import sys
from statistics import median

VISIBLE, DELAYED = 5, 10  # standard deviations; single messages are many
PORT = 0.12  # least excess of ln(time) of a slow port; the place of a host on a torus makes up to 0.1
CABLE = 0.2  # the same of a slow cable; congestion makes nearly as much
SWITCH = 0.05  # least difference of ln(time) to hosts of the same switch and of the next one; noise is 0.005
NEAR = 8  # hosts before and after one that are about as far from all others, and meet them at about the same time


def robust(values):
    """Median, and the standard deviation if few values are far off."""
    middle = median(values)
    return middle, 1.4826 * median(abs(v - middle) for v in values)


def read(path):
    """The host of each task, then, task by task, ln(time) with each partner in the first permutation."""
    with open(path, "rb") as file:
        head = file.read(1076)
        if head[:8] != b"sion\0\0\0\0":
            sys.exit(f"{path}: expected a little-endian SION file")
        block, tasks, files = struct.unpack_from("<3i", head, 20)
        chunks = struct.unpack(f"<{2 * tasks}q", file.read(16 * tasks))[tasks:]
        hosts, rows, start = [], [], -(-(1088 + 16 * tasks) // block) * block
        if files != 1:
            sys.exit(f"{path}: expected one physical file, got {files}")
        for rank in range(tasks):
            file.seek(start)
            if rank == 0:
                header = file.read(65)
                mode = struct.unpack_from("<I", header, 61)[0]
                rest = file.read(87 + mode)
                all_to_all, retests = rest[mode], struct.unpack_from("<Q", rest, 37 + mode)[0]
            name = file.read(struct.unpack("<I", file.read(4))[0])
            file.seek(4 + (88 + 24 * all_to_all + 32 * retests if rank == 0 else 0), 1)
            times, partners = (array.array(kind, file.read(8 * (tasks - 1))) for kind in "dQ")
            row = array.array("f", bytes(4 * tasks))
            for partner, time in zip(partners, map(math.log, times)):
                row[partner] = time
            hosts.append(name.rstrip(b"\0").decode())
            rows.append(row)
            start += chunks[rank]
    return hosts, rows


def times_of_hosts(rows, ranks):
    """ln(time) from each host to each other one: the median of its ranks' timings with the other's."""
    result = []
    for own in ranks:
        columns = list(zip(*(rows[r] for r in own)))
        result.append([median(t for p in other for t in columns[p]) for other in ranks])
    return result


def excess(times, host, others):
    """How much slower a host is than most of `others`: the median, over all partners, of the difference of ln(time).
    Their lower quartile is right even if many of them are slow, too."""
    columns = list(zip(*(times[o] for o in others)))
    return median(t - sorted(c)[len(c) // 4] for p, (t, c) in enumerate(zip(times[host], columns))
                  if p != host and p not in others)


def main():
    hosts, rows = read(sys.argv[1])
    ranks = {}
    for rank, name in enumerate(hosts):
        ranks.setdefault(name, []).append(rank)
    names, ranks = list(ranks), list(ranks.values())
    one_way = times_of_hosts(rows, ranks)
    times = [[(t + back) / 2 for t, back in zip(row, column)] for row, column in zip(one_way, zip(*one_way))]
    found = []

    # Ports: a host is slower than the hosts before it and than those after it. At least on one side they share its
    # switch, so neither distance nor congestion explains the difference. And none of its links is as fast as the fastest
    # of other hosts: those of a small switch, far from all others, have fast links among themselves. Only a host alone in
    # its group looks as if its port was slow.
    near = min(NEAR, len(names) // 4)
    fastest = [min((t for p, t in enumerate(row) if p != h), default=0) for h, row in enumerate(times)]
    excesses = []
    for h in range(len(names)):
        sides = [s for s in (range(max(h - near, 0), h), range(h + 1, min(h + 1 + near, len(names)))) if len(s) > 2]
        excesses.append(min([excess(times, h, side) for side in sides] + [fastest[h] - median(fastest)]))
    middle, sd = robust(excesses)
    slow = {h for h, v in enumerate(excesses) if v - middle > max(VISIBLE * sd, PORT)}
    found += [{"kind": "slow_port", "host": names[h], "sd": (excesses[h] - middle) / sd} for h in sorted(slow)]

    # Cables: pairs of hosts whose messages are slow, while neither host is. A cable joins two switches, so these pairs
    # are blocks of the matrix of hosts; the first pair of each is printed. A switch begins at a host whose times with
    # the hosts around it differ from those of the host before it.
    good = [h for h in range(len(names)) if h not in slow]
    begins = {i: median(abs(times[a][p] - times[b][p]) for p in good[max(i - 4, 0):i + 4] if p not in (a, b)) > SWITCH
              for i, (a, b) in enumerate(zip(good, good[1:]), 1) if len(good) > 4}
    usual = {h: median(times[h]) for h in good}
    pair = {(i, k): times[a][b] - max(usual[a], usual[b]) for i, a in enumerate(good) for k, b in enumerate(good[:i])}
    middle, sd = robust(pair.values()) if len(pair) > 8 else (0, math.inf)
    bad = {at for at, v in pair.items() if v - middle > max(VISIBLE * sd, CABLE)}
    found += [{"kind": "slow_cable", "rank_a": ranks[good[i]][0], "rank_b": ranks[good[k]][0]} for i, k in sorted(bad)
              if ((i - 1, k) not in bad or begins[i]) and ((i, k - 1) not in bad or begins[k])
              and {(i + 1, k), (i, k + 1)} & bad]

    # Messages: a timing far out of those of the same two hosts.
    for host, own in enumerate(ranks):
        for rank in own:
            far = {p: rows[rank][p] - one_way[host][h] for h, other in enumerate(ranks) if h != host for p in other}
            sd = robust(far.values())[1] if far else 0
            found += [{"kind": "outlier", "rank": rank, "partner": p, "sd": v / sd} for p, v in far.items()
                      if v > DELAYED * sd > 0]
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
