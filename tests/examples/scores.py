#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that `hpcgen score --json` on standard input has visible faults of some kinds, and that nearly all were found
and hardly anything else.

Usage: scores.py KIND...
"""
import json
import sys

score = {k["kind"]: k for k in json.load(sys.stdin)["kinds"]}
for kind in sys.argv[1:]:
    k = score.get(kind, {"visible_faults": 0})
    if k["visible_faults"] == 0:
        sys.exit(f"truth.json: expected a visible {kind}, got none")
    print(kind, "precision", k["precision"], "recall", k["visible_recall"])
    if k["precision"] is None or k["precision"] < 0.9 or k["visible_recall"] < 0.95:
        sys.exit(f"{kind}: expected precision >= 0.9 and recall >= 0.95, got {k}")
