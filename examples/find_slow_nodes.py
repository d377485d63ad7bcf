#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slow nodes in load-balancing data of vt, and prints them for `hpcgen score`.

    ./find_slow_nodes.py data/vom > findings.json

Tasks that cannot migrate do similar work on every rank. Where they take longer, the node is slow. The metadata says
which ranks share a node.
"""
import argparse
import json
import sys

import numpy as np

import hpcw

VISIBLE = 5  # standard deviations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads")
    loads = hpcw.open(parser.parse_args().loads)
    tasks = loads.tasks()
    tasks = tasks[(tasks["phase"] > 0) & ~tasks["migratable"] & (tasks["time"] > 0)]
    ranks, at, count = np.unique(tasks["rank"], return_inverse=True, return_counts=True)
    value = np.bincount(at, np.log(tasks["time"]), len(ranks)) / count
    nodes, first, at, size = np.unique(loads.nodes[np.isin(loads.ranks, ranks)], return_index=True, return_inverse=True,
                                       return_counts=True)
    mean = np.bincount(at, value, len(nodes)) / size
    first, mean = first[size == size.max(initial=0)], mean[size == size.max(initial=0)]  # of whole nodes
    found = []
    if len(mean) > 8:
        away = mean - np.median(mean)
        sd = 1.4826 * np.median(abs(away))
        found = [{"kind": "slow_node", "rank": int(ranks[first[i]]), "sd": away[i] / sd}
                 for i in np.flatnonzero(away >= VISIBLE * sd)]
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
