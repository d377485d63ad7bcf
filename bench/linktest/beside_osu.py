#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares hpcw-linktest with the OSU micro-benchmarks, on two processes of one host.

Usage: beside_osu.py HPCW_LINKTEST HPCGEN OSU_DIRECTORY [ROUNDS [MPIEXEC...]]

OSU_DIRECTORY has osu_latency and osu_bw, built with the same MPI. Each round runs osu_latency, hpcw-linktest with ping-pong,
osu_bw, then hpcw-linktest --unidirectional. Compared programs send the same number of messages. A result of
hpcw-linktest is the mean of two measurements, one led by each process. The table has the median of each program over the
rounds, and the median of the ratios of the rounds.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

SIZES = [8, 1024, 8192, 65536, 1 << 20, 1 << 22]
ROUND_TRIPS = 200  # of the latency
WINDOWS = 20  # of 64 messages, of the bandwidth

linktest, hpcgen, osu = (os.path.abspath(path) for path in sys.argv[1:4])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 21
launch = (sys.argv[5:] or ["mpiexec"]) + ["-n", "2"]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def of_osu(program, count):
    text = run(*launch, os.path.join(osu, program), "-x", count // 10, "-i", count)
    return {int(size): float(value) for size, value in re.findall(r"^(\d+)\s+([\d.]+)\s*$", text, re.M)}


def ours(count, *options):
    run(*launch, linktest, "-q", "-w", count // 10, "-n", count, "-s", ",".join(map(str, SIZES)), "-o", "r.sion", *options)
    results = {}
    for name in os.listdir("."):
        info = json.loads(run(hpcgen, "info", "--json", name))
        results[info["message_size"]] = info["summaries"][0]["avg_s"]
    return results


pairs = {"latency, us": {size: [] for size in SIZES}, "bandwidth, MB/s": {size: [] for size in SIZES}}
with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for _ in range(rounds):
        theirs, mine = of_osu("osu_latency", ROUND_TRIPS), ours(ROUND_TRIPS)
        for size in SIZES:
            pairs["latency, us"][size].append((theirs[size], 1e6 * mine[size]))
        theirs, mine = of_osu("osu_bw", WINDOWS), ours(64 * WINDOWS, "--unidirectional")
        for size in SIZES:
            pairs["bandwidth, MB/s"][size].append((theirs[size], 1e-6 * size / mine[size]))
    os.chdir("/")

print("| figure | bytes | OSU | hpcw-linktest | ratio |\n|---|---|---|---|---|")
for figure, of_size in pairs.items():
    for size, values in of_size.items():
        theirs, mine = (statistics.median(value[i] for value in values) for i in (0, 1))
        ratio = statistics.median(value[1] / value[0] for value in values)
        print(f"| {figure} | {size} | {theirs:.4g} | {mine:.4g} | {ratio:.2f} |")
