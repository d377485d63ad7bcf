#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds damaged checkpoints below a prefix directory of SCR, and prints them for `hpcgen score`.

    ./find_damage.py data/scr > findings.json

A map that lost a rank is refused as a whole, so this program reads the leaves of all maps one by one. Each file in
them must exist, and have its size and CRC-32. A file that is in no map belongs to a rank that the map lost. The
index must name datasets that exist.
"""
import argparse
import json
import os
import sys
import zlib

import hpcw


def check(path, said):
    """Returns the kind of damage of a file, or None. `said` has the attributes of the file in the map."""
    if not os.path.exists(path):
        return "missing_file"
    size, crc = said.get("SIZE"), said.get("CRC")
    if size is not None and os.path.getsize(path) != int(size):
        return "truncated_file"
    with open(path, "rb") as file:
        return "wrong_crc" if crc is not None and zlib.crc32(file.read()) != int(crc, 16) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    prefix = parser.parse_args().prefix.rstrip("/")
    top = os.path.basename(os.path.abspath(prefix))
    listed, files, found = {}, set(), []
    for directory, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(directory, name)
            if name.startswith("rank2file.0."):
                # In the layout of SCR 1.1, the maps are in the directory of the dataset, and file names are relative to it.
                above = os.path.dirname(directory)
                base = prefix if above == os.path.join(prefix, ".scr") else above
                for entry in hpcw.open(path).tree.get("RANK", {}).values():
                    for file, said in entry.get("FILE", {}).items():
                        listed.setdefault(os.path.normpath(os.path.join(base, file)), {}).update(said)
            elif ".scr" not in os.path.relpath(directory, prefix).split(os.sep):
                files.add(os.path.normpath(path))
    wrong = [(check(path, said), path) for path, said in sorted(listed.items())]
    wrong += [("missing_rank", path) for path in sorted(files - set(listed))]
    for kind, path in wrong:
        if kind:
            found.append({"kind": kind, "file": os.path.join(top, os.path.relpath(path, prefix))})
    current = hpcw.open(prefix).current
    if current is not None and not os.path.isdir(os.path.join(prefix, current)):
        found.append({"kind": "stale_index", "file": f"{top}/.scr/index.scr", "current": current})
    json.dump({"findings": found}, sys.stdout, indent=1)


main()
