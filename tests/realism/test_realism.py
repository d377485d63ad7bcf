#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests realism.py: bounds, rows that hold or fail, missing figures, unreadable tables, measured times, and noise that
changes no figure. Usage: test_realism.py REALISM"""
import json
import os
import subprocess
import sys
import tempfile

HEAD = "| figure | data | over | bound | measured | source |\n|---|---|---|---|---|---|\n"
MEASURED = "\n| machine | call | ranks | time | bytes: us | source |\n|---|---|---|---|---|---|\n"
NOISE = "\n| parameter | figure | source |\n|---|---|---|\n"
FIGURES = [{"name": "agree.bytes", "value": 0.002, "says": "they disagree on 0.2 %"},
           {"name": "agree.silent", "value": 0.9, "says": "90.0 % of the bytes"},
           {"name": "zero", "value": 0, "says": "nothing"}, {"name": "unknown", "value": None, "says": "no value"},
           {"name": "negative", "value": -0.3, "says": "less than nothing"},
           {"name": "log.mean_us.MPI_Bcast.64", "value": 3, "says": ""},
           {"name": "noise.share", "value": 0.5, "says": ""}]

runner, failed = os.path.abspath(sys.argv[1]), False
os.chdir(tempfile.mkdtemp())
with open("figures.json", "w", encoding="utf-8") as figures:
    json.dump(FIGURES, figures)
# Stand-ins for hpcgen, which makes a directory, and for figures, which prints the same for any file.
for program, line in (("generate", 'while [ "$1" != --out ]; do shift; done; mkdir -p "$2"'),
                      ("print", "cat figures.json")):
    with open(program, "w", encoding="utf-8") as script:
        script.write(f"#!/bin/sh\n{line}\n")
    os.chmod(program, 0o700)
PROGRAMS = ("--hpcgen", os.path.abspath("generate"), "--figures", os.path.abspath("print"))


def run(table, status, *lines, options=("--figures-of", "figures.json", "--list")):
    global failed
    with open("table.md", "w", encoding="utf-8") as file:
        file.write("# Page\n\n" + table)
    done = subprocess.run([sys.executable, runner, "--table", "table.md", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
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
    "table.md:5: expected one of stencil, workloads, coupled, farm, fft, wavefront, faults, physics, across, burst, "
    "collectives, wave, late, pipeline, master, checkpoint, noise, ramp, seeds, scenario, sample, balancer, "
    "curve, duration, options, bisection, got other")
run("| a | b |\n|---|---|\n", 1,
    "table.md: expected a table with the columns figure, data, over, bound, measured, source, got none")

# The stand-in prints 3 us for a broadcast. It holds with a measured time of 4 us and fails with 2 us.
row = "| `collective.*` | collectives | each | 0.7 .. 1.3 | | C |\n"
run(HEAD + row + MEASURED + "| tcp-1g | bcast | 2 | mean | 64: 4 | C |\n", 0,
    "realism: collectives data", "1 of 1 rows hold, 0 fail", options=PROGRAMS)
run(HEAD + row + MEASURED + "| tcp-1g | bcast | 2 | mean | 64: 2 | C |\n", 1, "realism: collectives data",
    "FAIL collective.bcast.64: expected 0.7 .. 1.3, got 1.5: tcp-1g, 2 ranks: 3 us, measured 2 us [collectives]",
    "0 of 1 rows hold, 1 fail", options=PROGRAMS)

# The stand-in prints a share of 0.5 both with and without the noise.
NOISY = "| `noise.share` | noise | each | {} | | P |\n" + NOISE + "| `noise.ticks` | `noise.share` | P |\n"
run(HEAD + NOISY.format("0.4 .. 0.6"), 1,
    "FAIL noise.share: expected not 0.4 .. 0.6, got 0.5: without noise.ticks", "1 kinds of noise, 1 wrong",
    options=(*PROGRAMS, "--ablation"))
run(HEAD + NOISY.format("<= 0.4"), 1, "FAIL noise.share: expected <= 0.4, got 0.5: with noise.ticks",
    "1 kinds of noise, 1 wrong", options=(*PROGRAMS, "--ablation"))
sys.exit(failed)
