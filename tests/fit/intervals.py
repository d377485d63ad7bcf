#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts how often the 95 % intervals of `hpcgen fit` hold the parameter. Usage: intervals.py HPCGEN [--ranks N] [--seeds N]

Load data of known parameters are generated for all presets and several seeds, and fitted. Of each parameter with an interval it
prints in how many runs the interval holds the value, for all presets and for the worst one. It fails if that is less than 90 % or
more than 99 % of all intervals, or of one parameter and preset less than 70 %. Not part of `make check`: it takes minutes.
"""
import argparse
import collections
import json
import statistics
import subprocess
import sys
import tempfile

PRESETS = ["dfplus-hdr200", "dragonfly-ss11", "fattree-hdr100", "dfplus-ndr200", "torus-tofud", "tcp-1g"]

# Of task times, a fit cannot tell what the system added: its parameters are of both.
QUIET = [word for name in ("jitter", "preemptions", "warm_up") for word in ("--set", f"load.{name}=0")]

arguments = argparse.ArgumentParser()
arguments.add_argument("hpcgen")
arguments.add_argument("--ranks", type=int, default=256)
arguments.add_argument("--seeds", type=int, default=20)
arguments.add_argument("--phases", type=int, default=12)
options = arguments.parse_args()


def run(*words):
    return subprocess.run([options.hpcgen, *words], check=True, capture_output=True, text=True).stdout


held = collections.defaultdict(collections.Counter)
learned = collections.defaultdict(list)
widths = collections.defaultdict(list)
truth = {}
with tempfile.TemporaryDirectory() as work:
    for number, preset in enumerate(PRESETS):
        for seed in range(1, options.seeds + 1):
            run("-q", "-n", str(options.ranks), "-f", "vom", "-s", str(1000 * number + seed), "-p", preset, "-o", f"{work}/real",
                "--set", f"load.phases={options.phases}", "--set", "vom.container=plain", *QUIET)
            fitted = json.loads(run("fit", f"{work}/real", "-O", f"{work}/twin.ini", "--json"))
            subprocess.run(["rm", "-r", f"{work}/real"], check=True)
            for p in fitted["parameters"]:
                if p["low"] is not None:
                    truth[p["key"]] = float(p["default"])
                    held[p["key"]][preset] += p["low"] <= truth[p["key"]] <= p["high"]
                    learned[p["key"]].append(float(p["value"]))
                    widths[p["key"]].append(p["high"] - p["low"])

print(f"{options.ranks} ranks, {options.phases} phases, {options.seeds} seeds, {len(PRESETS)} presets")
print(f"{'parameter':26} {'value':>7} {'mean':>8} {'sd':>8} {'width':>8}  held   worst preset")
most = options.seeds * len(PRESETS)
worst_of_all = options.seeds
for key, counts in held.items():
    worst = min(counts[p] for p in PRESETS)
    worst_of_all = min(worst_of_all, worst)
    print(f"{key:26} {truth[key]:7.4g} {statistics.mean(learned[key]):8.4g} {statistics.stdev(learned[key]):8.2g} "
          f"{statistics.mean(widths[key]):8.2g}  {sum(counts.values())} of {most}  {worst} of {options.seeds}")
all_held = sum(sum(c.values()) for c in held.values())
share = all_held / (most * len(held))
print(f"all: {all_held} of {most * len(held)}, {100 * share:.1f} %")
sys.exit(not (0.9 <= share <= 0.99 and worst_of_all >= 0.7 * options.seeds))
