#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The runner: bounds, rows that fail and hold, figures that are missing, and tables that it cannot read.
Usage: test_realism.py REALISM"""
import json
import os
import subprocess
import sys
import tempfile

HEAD = "| figure | data | over | bound | measured | source |\n|---|---|---|---|---|---|\n"
FIGURES = [{"name": "log.distinct.MPI_Barrier", "value": 0.002, "says": "MPI_Barrier: 1 distinct duration in 1024 calls"},
           {"name": "log.distinct.MPI_Send", "value": 0.9, "says": "MPI_Send: 450 distinct durations"},
           {"name": "zero", "value": 0, "says": "nothing"}, {"name": "unknown", "value": None, "says": "no value"},
           {"name": "negative", "value": -0.3, "says": "less than nothing"}]

runner, failed = os.path.abspath(sys.argv[1]), False
os.chdir(tempfile.mkdtemp())


def run(rows, status, *lines):
    global failed
    with open("table.md", "w", encoding="utf-8") as file:
        file.write("# Page\n\n" + rows)
    with open("figures.json", "w", encoding="utf-8") as file:
        json.dump(FIGURES, file)
    done = subprocess.run([sys.executable, runner, "--table", "table.md", "--figures-of", "figures.json", "--list"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    got = done.stdout.splitlines()
    if done.returncode != status or got != list(lines):
        print(f"expected {status}:", *lines, f"got {done.returncode}:", *got, sep="\n  ")
        failed = True


run(HEAD + "| `log.distinct.*` | default | each | >= 0.2 | | M |\n", 1,
    "FAIL log.distinct.MPI_Barrier: expected >= 0.2, got 0.002: MPI_Barrier: 1 distinct duration in 1024 calls [default]",
    "0 of 1 rows hold, 1 fail")
run(HEAD + "| `log.distinct.MPI_Send` | default | median | 0.5 .. 1e0 | | M |\n| `zero` | default | each | 0 | | M |\n", 0,
    "ok   log.distinct.MPI_Send: 0.5 .. 1e0 [default]", "ok   zero: 0 [default]", "2 of 2 rows hold, 0 fail")
run(HEAD + "| `negative` | default | each | -0.5 .. -0.1 | | M |\n| `negative` | default | each | >= 0 | | M |\n", 1,
    "ok   negative: -0.5 .. -0.1 [default]", "FAIL negative: expected >= 0, got -0.3: less than nothing [default]",
    "1 of 2 rows hold, 1 fail")
run(HEAD + "| `none` | default | each | <= 1 | | M |\n| `none` | default | each? | <= 1 | | M |\n", 1,
    "FAIL none: expected <= 1, got nothing: the files have no such figure [default]", "ok   none: <= 1 [default]",
    "1 of 2 rows hold, 1 fail")
run(HEAD + "| `unknown` | default | each | <= 1 | | M |\n| `unknown` | default | median | <= 1 | | M |\n", 1,
    "FAIL unknown: expected <= 1, got nothing: no value [default]",
    "FAIL unknown: expected <= 1, got nothing: median of 1: no value [default]", "0 of 2 rows hold, 2 fail")
run(HEAD + "| `zero` | default | each | about 1 | | M |\n", 1,
    "table.md:5: expected a bound such as >= 0.2 or 0.1 .. 0.3, got about 1")
run(HEAD + "| `zero` | default | all | 0 | | M |\n", 1, "table.md:5: expected each or median, got all")
run(HEAD + "| `zero` | other | each | 0 | | M |\n", 1,
    "table.md:5: expected one of default, faults, scenario, sample, balancer, curve, duration, options, bisection, got other")
run("| a | b |\n|---|---|\n", 1,
    "table.md: expected a table with the columns figure, data, over, bound, measured, source, got none")
sys.exit(failed)
