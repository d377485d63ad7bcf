#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that programs have the same results on data and on their twin, generated from a fit.
Usage: consumers.py HPCGEN [FOLDER]

Load data: five balancers move the tasks of a phase. The result of a balancer is the time of the slowest rank in the next
phase, or in the same phase if there is only one. The balancers are ordered by their results on the original and on its twin.
Both orders must have a rank correlation (Kendall's tau) of at least 0.8, which allows one swap of neighbours, in 8 of 10
cases.

LinkTest: the original and its twin must have equally many slow links, within a factor of 2 after 1 is added to both counts.
examples/find_slow_links.py finds them. The detector says nothing about a single host. So for a single host, timings beyond 5
median absolute deviations are counted.

FOLDER is searched for load data of at least 4 ranks, for instance in clones of LB-analysis-framework and vt-tv of
DARMA-tasking, and for LinkTest results. Without FOLDER, hpcgen makes some data of each kind.
"""
import collections
import glob
import importlib.util
import itertools
import json
import math
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LEAST_RANKS = 4
PHASES = 6  # most phases of a set
SAME = 0.05  # smaller relative differences of the slowest rank are a tie: twins with other seeds differ as much
TAU = 0.8
hpcgen = os.path.realpath(sys.argv[1])
if importlib.util.find_spec("numpy") is None:
    print("skipped: expected the Python package numpy, got none")
    sys.exit(77)


def run(*words):
    return subprocess.run([hpcgen, *words], check=True, capture_output=True, text=True).stdout


# ---- balancers. tasks: [ranks] lists of migratable tasks; fixed: [ranks] seconds of all other tasks ----


def rotate(tasks, _fixed):
    return tasks[-1:] + tasks[:-1]


def scatter(tasks, _fixed):
    draw = random.Random(1)
    moved = [[] for _ in tasks]
    for task in itertools.chain(*tasks):
        moved[draw.randrange(len(tasks))].append(task)
    return moved


def greedy(tasks, fixed):
    """Places objects longest first, each on the least loaded rank."""
    moved, load = [[] for _ in tasks], list(fixed)
    for task in sorted(itertools.chain(*tasks), key=lambda t: -t[1]):
        least = load.index(min(load))
        moved[least].append(task)
        load[least] += task[1]
    return moved


def refine(tasks, fixed):
    """Ranks above the mean give objects to the least loaded rank if its load stays below theirs."""
    moved = [sorted(t, key=lambda t: -t[1]) for t in tasks]
    load = [f + sum(t[1] for t in own) for f, own in zip(fixed, tasks)]
    mean = sum(load) / len(load)
    for rank in sorted(range(len(load)), key=lambda r: -load[r]):
        for task in list(moved[rank]):
            least = load.index(min(load))
            if load[rank] > mean and load[least] + task[1] < load[rank]:
                moved[rank].remove(task)
                moved[least].append(task)
                load[rank] -= task[1]
                load[least] += task[1]
    return moved


def diffuse(tasks, fixed):
    """In ten rounds, each rank gives the next one objects that lower the larger of both loads."""
    moved = [sorted(t, key=lambda t: -t[1]) for t in tasks]
    load = [f + sum(t[1] for t in own) for f, own in zip(fixed, tasks)]
    for _ in range(10):
        for rank in range(len(load)):
            for other in (rank - 1, (rank + 1) % len(load)):
                for task in list(moved[rank]):
                    if load[other] + task[1] < load[rank]:
                        moved[rank].remove(task)
                        moved[other].append(task)
                        load[rank] -= task[1]
                        load[other] += task[1]
    return moved


BALANCERS = [rotate, scatter, greedy, refine, diffuse]


def read(folder, stem):
    """Returns the tasks of each phase: (id, seconds) of a rank's migratable tasks, and the seconds of all
    others."""
    lines = run("export", folder, "--output", "-", "-q", *(["--stem", stem] if stem else [])).splitlines()
    ranks = 1 + max(int(line.split(",", 1)[0]) for line in lines[1:])
    phases = collections.defaultdict(lambda: ([[] for _ in range(ranks)], [0.0] * ranks))
    for line in lines[1:]:
        cell = line.split(",")
        tasks, fixed = phases[int(cell[1])]
        if cell[5] == "1":
            tasks[int(cell[0])].append((cell[3], float(cell[-2])))
        else:
            fixed[int(cell[0])] += float(cell[-2])
    return [phases[p] for p in sorted(phases)]


def slowest(moved, later):
    """Returns the time of the slowest rank over the mean, with the task times of a later phase. Tasks that are new in that
    phase stay on their ranks."""
    tasks, fixed = later
    here = {task: rank for rank, own in enumerate(tasks) for task, _ in own}
    place = {task: rank for rank, own in enumerate(moved) for task, _ in own}
    load = list(fixed)
    for own in tasks:
        for task, seconds in own:
            load[place.get(task, here[task])] += seconds
    return max(load) / statistics.mean(load)


def results(folder, stem=None):
    """Returns the result of each balancer: slowest(), as a mean over phases."""
    phases = read(folder, stem)
    begins = range(1, len(phases) - 1) if len(phases) > 2 else range(max(1, len(phases) - 1))
    begins = sorted({begins[k * (len(begins) - 1) // (PHASES - 1)] for k in range(PHASES)})
    later = [phases[min(p + 1, len(phases) - 1)] for p in begins]
    return [statistics.mean(slowest(balance(*phases[p]), after) for p, after in zip(begins, later)) for balance in BALANCERS]


def tau(a, b):
    """Kendall's tau-b."""

    def sign(x, y):
        return 0 if abs(math.log(x / y)) < SAME else 1 if x > y else -1

    pairs = [(sign(a[i], a[k]), sign(b[i], b[k])) for i, k in itertools.combinations(range(len(a)), 2)]
    scale = math.sqrt(sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs))
    return sum(x * y for x, y in pairs) / scale if scale > 0 else 1.0


# ---- links ----


def flagged(path):
    found = json.loads(subprocess.run([sys.executable, f"{ROOT}/examples/find_slow_links.py", path], check=True, capture_output=True,
                                      text=True).stdout)["findings"]
    matrix = path + ".npy"
    run("export", path, "--output", matrix, "-q")
    with open(matrix, "rb") as file:
        head = file.read(10)
        file.read(struct.unpack("<H", head[8:])[0])
        data = file.read()
    times = [t for t in struct.unpack(f"<{len(data) // 8}d", data) if t == t]
    os.remove(matrix)
    middle = statistics.median(times)
    mad = statistics.median(abs(t - middle) for t in times)
    hosts = len(set(line.split(",")[1] for line in run("export", path, "--form", "hosts", "--output", "-", "-q").splitlines()[1:]))
    return len(found) if hosts > 1 else sum(t - middle > 5 * mad for t in times)


# ---- cases ----

# Parameters of load data, each with its own order of the balancers; of LinkTest results with faults or many ranks per host.
LOADS = ["", "load.objects=30", "load.sigma_last=1.2", "load.persistence=0.5 load.persistence_first=0.2", "load.alike=0.95",
         "load.fill_spread=0.6 load.objects=20", "load.time_table=200 -90 -85 -80 -70 60 150 160 170 180", "load.dims=3 load.migration=0.2",
         "load.setup=no load.phases=1", "load.objects=2 load.skew=0"]
LINKS = ["machine.bad_node_share=0.05 machine.bad_factor_1=0.3 machine.bad_weight_1=1 machine.bad_weight_2=0", "machine.bad_node_share=0",
         "machine.ppn=64 machine.cores=64 linktest.messages=20 linktest.s_msg=0.9 linktest.tail_probability=0.006 linktest.tail=1500 "
         "linktest.tail_max=3000"]


def settings(text):
    """Parses words KEY=VALUE; a value that is a table contains blanks."""
    return [w for s in re.findall(r"\S+=(?:(?!\s+\S+=).)*", text.strip()) for w in ("--set", s)]


def generated(work):
    for number, text in enumerate(LOADS):
        where = f"{work}/loads{number}"
        run("-q", "-n", "32", "-f", "vom", "-s", str(number + 1), "-w", "stencil", "-o", where,
            *settings("load.phases=8 load.course=ramp " + text))
        yield f"{where}/vom", "data"
    for number, text in enumerate(LINKS):
        where = f"{work}/links{number}"
        ranks = 64 if "ppn" in text else 256
        run("-q", "-n", str(ranks), "-f", "linktest", "-s", str(number + 1), "-o", where, *settings(text))
        yield from ((path, None) for path in glob.glob(f"{where}/linktest/*.sion"))


def found(folder):
    for directory, _, names in sorted(os.walk(folder)):
        stems = collections.Counter(m[1] for m in (re.fullmatch(r"(.+)\.\d+\.json(\.br)?", n) for n in names) if m)
        yield from ((directory, stem) for stem, ranks in sorted(stems.items()) if ranks >= LEAST_RANKS)
        yield from ((os.path.join(directory, n), None) for n in sorted(names) if n.endswith(".sion"))


alike = collections.defaultdict(list)
with tempfile.TemporaryDirectory() as work:
    for path, stem in found(sys.argv[2]) if len(sys.argv) > 2 else generated(work):
        choice = ["--stem", stem] if stem else []
        ini, twin = f"{work}/twin.ini", f"{work}/twin"
        try:
            run("fit", path, "--output", ini, "-q", *choice)
        except subprocess.CalledProcessError as failure:
            print(f"{path}: refused: {failure.stderr.strip()}")
            continue
        run("-q", "-c", ini, "-o", twin)
        if stem:
            real, made = results(path, stem), results(f"{twin}/vom")
            kind, good = "load data", tau(real, made) >= TAU
            said = "; ".join(f"{b.__name__} {x:.2f}, {y:.2f}" for b, x, y in zip(BALANCERS, real, made)) + f"; tau {tau(real, made):.2f}"
        else:
            count = [flagged(p) for p in (path, glob.glob(f"{twin}/linktest/*.sion")[0])]
            kind, good = "LinkTest", 0.5 <= (count[0] + 1) / (count[1] + 1) <= 2
            said = f"{count[0]} and {count[1]} flagged"
        alike[kind].append(good)
        print(f"{path}{' ' + stem if stem else ''}: {said}: {'alike' if good else 'different'}", flush=True)
        subprocess.run(["rm", "-r", twin], check=True)
for kind, good in alike.items():
    print(f"{kind}: {sum(good)} of {len(good)} cases alike")
sys.exit(not alike or any(10 * sum(good) < 8 * len(good) for good in alike.values()))
