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


def robust(values):
    """Median, and the standard deviation if few values are far off."""
    middle = median(values)
    return middle, 1.4826 * median(abs(v - middle) for v in values)


def read(path):
    """Host of each task, and rows of (timings, partners) of the first permutation."""
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
            row = array.array("d", file.read(8 * (tasks - 1))), array.array("Q", file.read(8 * (tasks - 1)))
            hosts.append(name.rstrip(b"\0").decode())
            rows.append(row)
            start += chunks[rank]
    return hosts, rows


def residuals(hosts, rows, ranks):
    """Of each rank, ln(time) by partner, less the median of what its host measures with the partner's: these are as far
    from each other, and meet at nearly the same time, when links are as congested."""
    result = [{} for _ in rows]
    for name, own in ranks.items():
        logs = [{p: math.log(t) for t, p in zip(*rows[r]) if hosts[p] != name} for r in own]
        for other, partners in ranks.items():
            block = [row[p] for row in logs for p in partners if p in row]
            local = median(block) if block else 0
            for r, row in zip(own, logs):
                result[r].update((p, row[p] - local) for p in partners if p in row)
    return result


def main():
    hosts, rows = read(sys.argv[1])
    names = list(dict.fromkeys(hosts))
    ranks = {name: [r for r, h in enumerate(hosts) if h == name] for name in names}
    whole = max(len(r) for r in ranks.values())
    found = []

    # Ports: the median of all that a host measures stands out of the other hosts'.
    typical = [median(math.log(t) for t, p in zip(*row) if hosts[p] != hosts[r]) for r, row in enumerate(rows)]
    node = {name: sum(typical[r] for r in ranks[name]) / len(ranks[name]) for name in names}
    middle, sd = robust([v for name, v in node.items() if len(ranks[name]) == whole])
    slow = {name for name in names if node[name] - middle > max(VISIBLE * sd, 0.03)}
    found += [{"kind": "slow_port", "host": name, "sd": (node[name] - middle) / sd} for name in sorted(slow)]

    # Cables: pairs of hosts whose messages are all slow, while each of the two is not; with neighbours, as a cable has
    # many hosts at either end.
    pair = {}
    for a, one in enumerate(names):
        for b in range(a):
            values = [math.log(rows[r][0][k]) - typical[r] for r in ranks[one] for k, p in enumerate(rows[r][1])
                      if hosts[p] == names[b]]
            if not {one, names[b]} & slow:
                pair[a, b] = min(values)
    middle, sd = robust(list(pair.values())) if len(pair) > 8 else (0, math.inf)
    bad = {at for at, v in pair.items() if v - middle > max(VISIBLE * sd, 0.2)}
    for a, b in sorted(bad):
        near = [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
        if sum(at in bad for at in near) >= 2:
            found.append({"kind": "slow_cable", "rank_a": ranks[names[a]][0], "rank_b": ranks[names[b]][0]})
    # Messages: a timing far out of those of the host with partners nearby.
    for rank, row in enumerate(residuals(hosts, rows, ranks)):
        _, sd = robust(list(row.values()))
        found += [{"kind": "outlier", "rank": rank, "partner": p, "sd": v / sd} for p, v in row.items()
                  if v > DELAYED * sd]
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
