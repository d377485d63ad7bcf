#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds slow nodes in load-balancing data of vt, and prints them for `hpcgen score`.

    ./find_slow_nodes.py data/vom > findings.json

Tasks that cannot migrate do like work on every rank: where they take longer, the node is slow. Which ranks share a node
is in the metadata. Reads plain files, and compressed ones by libbrotlidec (doc/formats/vom.md).
"""
import ctypes
import glob
import json
import math
import os
import sys
from statistics import median

VISIBLE = 5  # standard deviations


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(b"{"):
        decode, room = ctypes.CDLL("libbrotlidec.so.1").BrotliDecoderDecompress, 1 << 20
        while True:
            text, size = ctypes.create_string_buffer(room), ctypes.c_size_t(room)
            if decode(ctypes.c_size_t(len(data)), data, ctypes.byref(size), text) == 1:
                data = text.raw[:size.value]
                break
            room *= 4
            if room > 1 << 32:
                sys.exit(f"{path}: expected JSON, or a brotli stream of JSON")
    return json.loads(data)


def main():
    node_of, value = {}, {}
    for path in glob.glob(os.path.join(sys.argv[1], "data.*.json*")):
        data = read(path)
        rank, shared = data["metadata"]["rank"], data["metadata"]["shared_node"]
        logs = [math.log(task["time"]) for phase in data["phases"] if phase["id"] > 0 for task in phase["tasks"]
                if not task["entity"].get("migratable") and task["time"] > 0]
        if logs:
            node_of.setdefault(shared["id"], []).append(rank)
            value[rank] = sum(logs) / len(logs)
    whole = max((len(ranks) for ranks in node_of.values()), default=0)
    mean = {node: sum(value[r] for r in ranks) / whole for node, ranks in node_of.items() if len(ranks) == whole}
    found = []
    if len(mean) > 8:
        middle = median(mean.values())
        sd = 1.4826 * median(abs(v - middle) for v in mean.values())
        found = [{"kind": "slow_node", "rank": min(node_of[node]), "sd": (v - middle) / sd}
                 for node, v in sorted(mean.items()) if v - middle >= VISIBLE * sd]
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
