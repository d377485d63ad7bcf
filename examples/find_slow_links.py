#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slow ports, slow cables and delayed messages in a LinkTest result, and prints them for `hpcgen score`.

    ./find_slow_links.py data/linktest/pingpong_results_bin.sion > findings.json

The only knowledge of the machine is in the file: which tasks share a host. Reads the full test.
"""
import argparse
import json
import sys

import numpy as np

import hpcw

VISIBLE, DELAYED = 5, 10  # standard deviations; more for single messages, as there are many
PORT = 0.12  # least excess of ln(time) of a slow port; the position of a host in a torus adds up to 0.1
CABLE = 0.2  # least excess of ln(time) of a slow cable; congestion adds nearly as much
SWITCH = 0.05  # least difference of ln(time) to hosts of one switch and to those of the next; noise is 0.005
NEAR = 8  # hosts before and after a host that have similar distances and meet others at similar times


def robust(values):
    """Returns the median, and a standard deviation that a few outliers do not change."""
    middle = np.median(values)
    return middle, 1.4826 * np.median(abs(values - middle))


def times_of_hosts(rows, ranks):
    """Returns a matrix of ln(time) between hosts: the median of the timings from all ranks of one host to all ranks of
    the other host."""
    hosts, most = len(ranks), max(map(len, ranks))
    padded = np.full((len(rows) + 1, len(rows) + 1), np.nan)
    padded[:-1, :-1] = rows
    index = np.array([[*own, *[-1] * (most - len(own))] for own in ranks])
    blocks = padded[index][:, :, index]  # [host, its rank, partner's host, its rank]
    blocks = blocks.transpose(0, 2, 1, 3).reshape(hosts, hosts, -1)
    return (np.nanmedian if np.isnan(blocks).any() else np.median)(blocks, axis=2)  # nanmedian: slow for few values


def excess(times, host, others):
    """Returns how much slower a host is than most of `others`, as a difference of ln(time). For each partner, the time of
    the host is compared with the lower quartile of `others`, so that many of them may be slow, too. The result is the
    median over all partners."""
    usual = np.sort(times[others], axis=0)[len(others) // 4]
    return np.median(np.delete(times[host] - usual, [host, *others]))


def slow_ports(times):
    """Returns pairs (host, standard deviations) of hosts with a slow port. Such a host is slower than the hosts with lower
    numbers and than the hosts with higher numbers. The hosts on at least one side share a switch with it, so neither
    distance nor congestion explains the difference. Besides, none of its links is as fast as the fastest links of other
    hosts. This excludes the hosts of a small, distant switch, which have fast links among themselves. A host that is
    alone in its group is reported wrongly."""
    hosts = len(times)
    near = min(NEAR, hosts // 4)
    fastest = np.min(times + np.diag(np.full(hosts, np.inf)), axis=1)
    excesses = fastest - np.median(fastest)
    for h in range(hosts):
        for side in range(max(h - near, 0), h), range(h + 1, min(h + 1 + near, hosts)):
            if len(side) > 2:
                excesses[h] = min(excesses[h], excess(times, h, side))
    middle, sd = robust(excesses)
    return [(h, (excesses[h] - middle) / sd) for h in np.flatnonzero(excesses - middle > max(VISIBLE * sd, PORT)).tolist()]


def slow_cables(times, good):
    """Returns pairs of hosts of `good` with slow messages between them, although neither host is slow. A slow cable joins
    two switches, so such pairs form a block of the matrix of hosts. The first pair of each block is returned. A switch
    begins at each host whose times to the hosts around it differ from those of the previous host."""
    if len(good) <= 4:
        return []

    begins = {}
    for i, (a, b) in enumerate(zip(good, good[1:]), 1):
        around = [p for p in good[max(i - 4, 0):i + 4] if p not in (a, b)]
        begins[i] = np.median(abs(times[a, around] - times[b, around])) > SWITCH
    usual = np.median(times[good], axis=1)
    pair = times[np.ix_(good, good)] - np.maximum(usual[:, None], usual)
    below = np.tri(len(good), k=-1, dtype=bool)
    middle, sd = robust(pair[below])
    bad = set(zip(*(at.tolist() for at in np.nonzero(below & (pair - middle > max(VISIBLE * sd, CABLE))))))
    return [(good[i], good[k]) for i, k in sorted(bad)
            if ((i - 1, k) not in bad or begins[i]) and ((i, k - 1) not in bad or begins[k])
            and {(i + 1, k), (i, k + 1)} & bad]


def delayed(rows, one_way, host):
    """Returns (rank, partner, standard deviations) of each timing that is far from the other timings of the same two
    hosts."""
    away = rows - one_way[np.ix_(host, host)]
    away[host[:, None] == host] = np.nan
    middle = np.nanmedian(away, axis=1, keepdims=True)
    sd = 1.4826 * np.nanmedian(abs(away - middle), axis=1)
    for rank, partner in np.argwhere((away > DELAYED * sd[:, None]) & (sd[:, None] > 0)).tolist():
        yield rank, partner, away[rank, partner] / sd[rank]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    links = hpcw.open(parser.parse_args().result)
    names, host = np.unique(links.hosts.astype(str), return_inverse=True)
    order = np.argsort([np.argmax(host == h) for h in range(len(names))])  # by their first ranks
    names, host = names[order], np.argsort(order)[host]
    ranks = [np.flatnonzero(host == h).tolist() for h in range(len(names))]
    found = []
    if len(names) > 1:
        rows = np.log(links.seconds)
        np.fill_diagonal(rows, 0)
        one_way = times_of_hosts(rows, ranks)
        times = (one_way + one_way.T) / 2
        ports = slow_ports(times)
        found += [{"kind": "slow_port", "host": names[h], "sd": sd} for h, sd in ports]
        slow = {h for h, _ in ports}
        found += [{"kind": "slow_cable", "rank_a": ranks[a][0], "rank_b": ranks[b][0]}
                  for a, b in slow_cables(times, [h for h in range(len(names)) if h not in slow])]
        found += [{"kind": "outlier", "rank": r, "partner": p, "sd": sd} for r, p, sd in delayed(rows, one_way, host)]
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
