#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `hpcgen fit` for all presets, scenarios and workloads. Usage: loop.py HPCGEN [--ranks N] [--seeds N]

The script generates data from known parameters, fits them, generates data from the fit with another seed (the twin), and
compares both. It prints how many rows of the comparison are alike, which rows differ, and the known and the fitted parameters.
As a control, it prints how many rows differ for data of other parameters. Not part of `make check`: it takes minutes.
"""
import argparse
import collections
import json
import statistics
import subprocess
import sys
import tempfile

PRESETS = ["dfplus-hdr200", "dragonfly-ss11", "fattree-hdr100", "dfplus-ndr200", "torus-tofud", "tcp-1g"]
WORKLOADS = ["stencil", "hydro", "solver", "wavefront", "fft", "coupled"]
MOST_RANKS_OF_LOGS = 64
SCENARIOS = ["none", "spike", "ramp", "hotspot"]
# Parameters of the control, which should differ from data of the default parameters.
OTHER = ["load.objects=20", "load.mean_first=4", "load.mean_last=3", "load.sigma_last=1", "load.skew=0", "load.persistence=0.4", "load.persistence_first=0.4",
         "load.alike=0.1", "load.edge_bytes_mean=6", "load.setup=no", "load.dims=3", "load.far_edges=3",
         "load.edge_messages_mean=0.5", "load.edge_follows=0", "load.migration=0.2", "sion.mean_size=20K", "sion.sigma=0.1",
         "rank2file.mean_size=60K"]

arguments = argparse.ArgumentParser()
arguments.add_argument("hpcgen")
arguments.add_argument("--ranks", type=int, default=1024)
arguments.add_argument("--seeds", type=int, default=5)
options = arguments.parse_args()


def run(*words):
    return subprocess.run([options.hpcgen, *words], check=True, capture_output=True, text=True).stdout


class Tally:
    """Sums over the rows of many comparisons, and the fitted parameters."""

    def __init__(self):
        self.alike = self.rows = 0
        self.different = collections.Counter()
        self.learned = collections.defaultdict(list)
        self.default = {}

    def add(self, comparison):
        for row in comparison["rows"]:
            self.rows += row["verdict"] != "unknown"
            self.alike += row["verdict"] == "alike"
            if row["verdict"] == "different":
                self.different[row["statistic"]] += 1

    def learn(self, fitted):
        for p in fitted["parameters"]:
            try:
                value = float(p["value"])
            except ValueError:
                continue  # not a number
            self.learned[p["key"]].append(value)
            self.default[p["key"]] = p["default"]

    def print(self, title):
        print(f"{title:32} {self.alike:5} of {self.rows:5} rows alike")
        for name, count in self.different.most_common():
            print(f"    {count:3} times different: {name}")
        sys.stdout.flush()


def generate(where, formats, seed, *words):
    run("-q", "-n", str(options.ranks), "-f", formats, "-o", where, *(["-s", str(seed)] if seed else []), *words)


def loop(work, name, formats, tally, *words):
    for seed in range(1, options.seeds + 1):
        real, twin, ini = f"{work}/real", f"{work}/twin", f"{work}/twin.ini"
        generate(real, formats, seed, *words)
        try:
            tally.learn(json.loads(run("fit", real, "-O", ini, "--json")))
        except subprocess.CalledProcessError as refused:
            tally.different["refused: " + refused.stderr.strip()] += 1
            subprocess.run(["rm", "-r", real], check=True)
            continue
        # A fitted configuration of load data contains a seed of its own, so the twin gets no --seed.
        generate(twin, formats, None if "vom" in formats else seed + 1000, "-c", ini)
        tally.add(json.loads(run("fit", "--compare", real, twin, "--json")))
        subprocess.run(["rm", "-r", real, twin], check=True)
    tally.print(name)


with tempfile.TemporaryDirectory() as work:
    print(f"{options.ranks} ranks, {options.seeds} seeds")
    everything = Tally()
    for scenario in SCENARIOS:
        tally = Tally() if scenario != "none" else everything
        loop(work, f"scenario {scenario}", "sion,vom,rank2file", tally, "--set", f"load.scenario={scenario}")
    for preset in PRESETS:
        loop(work, f"preset {preset}", "linktest", Tally(), "-p", preset)
    ranks, options.ranks = options.ranks, min(options.ranks, MOST_RANKS_OF_LOGS)
    for workload in WORKLOADS:
        loop(work, f"workload {workload}", "clog2", Tally(), "-w", workload)
    options.ranks = ranks
    control = Tally()
    for seed in range(1, options.seeds + 1):
        generate(f"{work}/real", "sion,vom,rank2file", seed)
        generate(f"{work}/other", "sion,vom,rank2file", seed + 1000, *[w for o in OTHER for w in ("--set", o)])
        control.add(json.loads(run("fit", "--compare", f"{work}/real", f"{work}/other", "--json")))
        subprocess.run(["rm", "-r", f"{work}/real", f"{work}/other"], check=True)
    print(f"{'control: other data':32} {control.alike:5} of {control.rows:5} rows alike")
    print("\nparameter                    default       mean     sd over the seeds, scenario none")
    for key, values in everything.learned.items():
        spread = statistics.stdev(values) if len(values) > 1 else 0
        print(f"{key:26} {everything.default[key]:>9} {statistics.mean(values):10.4g} {spread:10.2g}")
