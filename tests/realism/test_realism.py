#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The runner: bounds, rows that fail and hold, figures that are missing, tables that it cannot read. Usage: test_realism.py REALISM"""
import json
import os
import subprocess
import sys
import tempfile

HEAD = "| figure | data | over | bound | measured | source |\n|---|---|---|---|---|---|\n"
FIGURES = [{"name": "agree.bytes", "value": 0.002, "says": "they disagree on 0.2 %"},
           {"name": "agree.silent", "value": 0.9, "says": "90.0 % of the bytes"},
           {"name": "zero", "value": 0, "says": "nothing"}, {"name": "unknown", "value": None, "says": "no value"},
           {"name": "negative", "value": -0.3, "says": "less than nothing"}]

runner, failed = os.path.abspath(sys.argv[1]), False
os.chdir(tempfile.mkdtemp())
with open("figures.json", "w", encoding="utf-8") as figures:
    json.dump(FIGURES, figures)


def run(table, status, *lines):
    global failed
    with open("table.md", "w", encoding="utf-8") as file:
        file.write("# Page\n\n" + table)
    done = subprocess.run([sys.executable, runner, "--table", "table.md", "--figures-of", "figures.json",
                           "--list"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    got = done.stdout.splitlines()
    if done.returncode != status or got != list(lines):
        print(f"expected {status}:", *lines, f"got {done.returncode}:", *got, sep="\n  ")
        failed = True


run(HEAD + "| `agree.*` | stencil | each | <= 0.1 | | F |\n", 1,
    "FAIL agree.silent: expected <= 0.1, got 0.9: 90.0 % of the bytes [stencil]", "0 of 1 rows hold, 1 fail")
run(HEAD + "| `agree.silent` | stencil | median | 0.5 .. 1e0 | | F |\n| `zero` | stencil | each | 0 | | F |\n", 0,
    "ok   agree.silent: 0.5 .. 1e0 [stencil]", "ok   zero: 0 [stencil]", "2 of 2 rows hold, 0 fail")
run(HEAD + "| `negative` | stencil | each | -0.5 .. -0.1 | | F |\n| `negative` | stencil | each | >= 0 | | F |\n", 1,
    "ok   negative: -0.5 .. -0.1 [stencil]", "FAIL negative: expected >= 0, got -0.3: less than nothing [stencil]",
    "1 of 2 rows hold, 1 fail")
run(HEAD + "| `none` | stencil | each | <= 1 | | F |\n| `none` | stencil | each? | <= 1 | | F |\n", 1,
    "FAIL none: expected <= 1, got nothing: the files have no such figure [stencil]", "ok   none: <= 1 [stencil]",
    "1 of 2 rows hold, 1 fail")
run(HEAD + "| `unknown` | stencil | each | <= 1 | | F |\n| `unknown` | stencil | median | <= 1 | | F |\n", 1,
    "FAIL unknown: expected <= 1, got nothing: no value [stencil]",
    "FAIL unknown: expected <= 1, got nothing: median of 1: no value [stencil]", "0 of 2 rows hold, 2 fail")
run(HEAD + "| `zero` | stencil | each | about 1 | | F |\n", 1,
    "table.md:5: expected a bound such as >= 0.2 or 0.1 .. 0.3, got about 1")
run(HEAD + "| `zero` | stencil | all | 0 | | F |\n", 1, "table.md:5: expected each or median, got all")
run(HEAD + "| `zero` | other | each | 0 | | F |\n", 1,
    "table.md:5: expected one of stencil, workloads, coupled, farm, fft, wavefront, faults, wave, late, pipeline,"
    " master, checkpoint, scenario, sample, balancer, curve, duration, options, bisection, got other")
run("| a | b |\n|---|---|\n", 1,
    "table.md: expected a table with the columns figure, data, over, bound, measured, source, got none")

sys.exit(failed)
