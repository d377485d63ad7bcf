#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a result of `hpcgen score --json` on standard input: each KIND has visible faults, nearly all of them were found,
and hardly any finding is wrong.

The kind `cost` stands for the time that faults of all kinds added to the run. If the result has this time, the findings must
explain nearly all of it, and name the most expensive fault first.

Usage: scores.py KIND...
"""
import json
import sys

result = json.load(sys.stdin)
score = {k["kind"]: k for k in result["kinds"]}
for kind in sys.argv[1:]:
    if kind == "cost":
        cost = result.get("cost")
        print(kind, cost)
        if cost and (cost["cost_found_s"] < 0.9 * cost["cost_s"] or cost["ordered"] not in (None, 1)):
            sys.exit(f"cost: expected 0.9 of it to be found, in this order, got {cost}")
        continue
    k = score.get(kind, {"visible_faults": 0})
    if k["visible_faults"] == 0:
        sys.exit(f"truth.json: expected a visible {kind}, got none")
    print(kind, "precision", k["precision"], "recall", k["visible_recall"])
    if k["precision"] is None or k["precision"] < 0.9 or k["visible_recall"] < 0.95:
        sys.exit(f"{kind}: expected precision >= 0.9 and recall >= 0.95, got {k}")
