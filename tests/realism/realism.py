#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates datasets, and compares their figures with the table of doc/realism.md.

    realism.py --hpcgen PROGRAM --figures PROGRAM --table doc/realism.md [--ranks N] [--seeds N] [--only PATTERN]

Prints a line per row that fails, with the sentence of the figure. Status 1: a row fails. --list also prints the rows that
hold. --keep DIR leaves the datasets there. --figures-of FILE takes figures that were printed before.
--ablation switches each kind of noise off in turn, and fails if the row that measures this noise still holds.
"""
import argparse
import fnmatch
import functools
import itertools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# Sizes near the protocol limits: powers of two, one byte less, and one more.
SIZES = sorted({1, 8, 64, 512, *(2**k + d for k in (10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24) for d in (-1, 0, 1))})
# Parameters with more faults of every kind, so that a dataset of few ranks has faults of each kind.
FAULTS = ("machine.bad_node_share=0.06", "machine.slow_node_share=0.06", "machine.bad_cable_share=0.06",
          "machine.nodes_per_switch=8", "machine.nodes_per_group=16", "load.scenario=spike", "load.noise=5e-3",
          "trace.skew=20", "trace.drift=4",
          "linktest.tail_probability=1e-5", "linktest.tail=200", "rank2file.missing_files=2",
          "rank2file.truncated_files=2", "rank2file.wrong_crcs=2")
# All ranks have the same work in all phases, and nothing disturbs them.
UNIFORM = ("load.fill=1", "load.sigma_first=0", "load.sigma_last=0", "load.setup=no", "load.noise=0",
           "machine.slow_node_share=0", "noise.processors=0", "noise.ticks=0", "noise.detours=0")
MASTER = 1e-3  # seconds of the farm's master for a result, so that it is the bottleneck
SERVER = 16.2  # GB/s of a file server

MOST_LINES = 4  # of one row
LONGEST = 1800  # seconds of one program
REFUSED = "refused"  # in place of a figure: why there are no more
HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("figure", "data", "over", "bound", "measured", "source")
MEASURED = ("machine", "call", "ranks", "time", "bytes: us", "source")
NOISE = ("parameter", "figure", "source")


class Row:
    """A line of the table."""

    def __init__(self, cells):
        self.figure, self.data, self.over, bound, self.measured, self.source = cells
        self.figure = self.figure.strip("`")
        self.optional = self.over.endswith("?")
        self.over = self.over.rstrip("?")
        self.low, self.high = parse_bound(bound)
        self.bound = bound
        if self.over not in ("each", "median"):
            raise ValueError(f"expected each or median, got {self.over}")
        if self.data not in MAKE:
            raise ValueError(f"expected one of {', '.join(MAKE)}, got {self.data}")

    def holds(self, value):
        return value is not None and self.low <= value <= self.high


def parse_bound(text):
    """Parses '>= 0.2', '<= 25', '0' or '0.2 .. 0.7' to minimum and maximum."""
    number = r"(-?[0-9.]+(?:e-?\d+)?)"
    for pattern, least, most in ((rf">= {number}$", 1, None), (rf"<= {number}$", None, 1), (rf"{number}$", 1, 1),
                                 (rf"{number} \.\. {number}$", 1, 2)):
        found = re.match(pattern, text)
        if found:
            return (float(found.group(least)) if least else -math.inf, float(found.group(most)) if most else math.inf)
    raise ValueError(f"expected a bound such as >= 0.2 or 0.1 .. 0.3, got {text}")


def read_table(path, columns):
    """Returns the lines of all tables with these columns: [(number of the line, cells)]."""
    lines, inside = [], False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
            if cells == columns:
                inside = True
            elif not line.startswith("|"):
                inside = False
            elif inside and not set(line.strip()) <= set("|-"):
                lines.append((number, cells))
    return lines


def read_rows(path):
    rows = []
    for number, cells in read_table(path, COLUMNS):
        try:
            rows.append(Row(cells))
        except ValueError as error:
            sys.exit(f"{path}:{number}: {error}")
    if not rows:
        sys.exit(f"{path}: expected a table with the columns {', '.join(COLUMNS)}, got none")
    return rows


def set_all(settings):
    return [part for setting in settings for part in ("--set", setting)]


def torus_hops(sides, a, b):
    """Returns the hops between two nodes of a torus. Consecutive nodes differ in the last coordinate."""
    hops = 0
    for side in reversed(sides):
        straight = abs(a % side - b % side)
        hops += min(straight, side - straight)
        a, b = a // side, b // side
    return hops


class Refused(Exception):
    """A program failed with this message."""


class Runs:
    """Makes datasets and computes their figures."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch

    def call(self, *command):
        try:
            done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=LONGEST)
        except subprocess.TimeoutExpired as expired:
            raise Refused(f"expected an end within {LONGEST} s: {' '.join(str(c) for c in command)}") from expired
        if done.returncode != 0:
            raise Refused(done.stderr.strip())
        return done.stdout

    def generate(self, name, *settings):
        out = os.path.join(self.scratch, name)
        self.call(self.options.hpcgen, "--quiet", "--no-checksums", "--out", out, *settings)
        return out

    def figures(self, *what):
        return [(f["name"], f["value"], f["says"]) for f in json.loads(self.call(self.options.figures, *what))]

    def drop(self, out):
        if not self.options.keep:
            shutil.rmtree(out)

    def each_seed(self, name, *settings):
        for seed in range(1, self.options.seeds + 1):
            out = self.generate(f"{name}-{seed}", "--ranks", self.options.ranks, "--seed", seed, *settings)
            yield seed, self.figures(out)
            self.drop(out)

    def log(self, name, ranks, workload, *parameters, options=()):
        """Makes a dataset with only an event log."""
        text = os.path.join(HERE, f"{workload}.lua")
        return self.generate(name, "--ranks", ranks, "--formats", "clog2", "--workload",
                             text if os.path.exists(text) else workload, *options, *set_all(parameters))

    def stencil(self):
        return self.each_seed("stencil", "--workload", "stencil")

    def faults(self):
        return self.each_seed("faults", "--workload", "hydro", *set_all(FAULTS))

    def seeds(self):
        """Runs one workload with several seeds. The times of the slowest rank in each phase must not be correlated between
        seeds."""
        logarithms = []
        for seed in range(1, 6):
            out = self.generate(f"seeds-{seed}", "--ranks", self.options.ranks, "--seed", seed, "--formats", "vom",
                                "--workload", "hydro", *set_all(["load.phases=33"]))
            is_s = {name: value for name, value, _ in self.figures(out)}
            logarithms.append([math.log(is_s[f"load.longest_in.{phase}"]) for phase in range(1, 33)])
            self.drop(out)
        for one, other in itertools.combinations(range(5), 2):
            yield 1, [("seeds.correlation", statistics.correlation(logarithms[one], logarithms[other]),
                       f"ln(phase times) of seeds {one + 1} and {other + 1}")]

    @functools.cache
    def workload(self, name):
        out = self.generate(name, "--ranks", self.options.ranks, "--formats", "clog2,vom", "--workload", name)
        figures = [(figure, value, f"{name}: {says}") for figure, value, says in self.figures(out)]
        self.drop(out)
        return [(1, figures)]

    def workloads(self):
        for name in json.loads(self.call(self.options.hpcgen, "list", "workloads", "--json")):
            yield from self.workload(name)

    def collectives(self):
        lines = [cells for _, cells in read_table(self.options.table, MEASURED)]
        for machine, ranks in sorted({(cells[0], int(cells[2])) for cells in lines}):
            out = self.log(f"collectives-{machine}-{ranks}", ranks, "collectives", "machine.ppn=1", "load.phases=2",
                           "rank2file.checkpoints=0", "workload.least=4", options=("--preset", machine))
            is_us = {name: value for name, value, _ in self.figures(out)}
            self.drop(out)
            for _, call, _, time, measured, _ in (c for c in lines if (c[0], int(c[2])) == (machine, ranks)):
                for size, us in (pair.split(": ") for pair in measured.split(", ")):
                    sent = int(size) // ranks * ranks if call == "alltoall" else int(size)
                    mine = is_us[f"log.{time}_us.MPI_{call.capitalize()}.{sent}"]
                    yield 1, [(f"collective.{call}.{size}", mine / float(us),
                               f"{machine}, {ranks} ranks: {mine:.4g} us, measured {us} us")]

    def physics(self):
        """Collective calls of growing sizes on the default machine: on many nodes, and with all ranks on one node."""
        for ranks, parameters in ((self.options.ranks, ()), (16, ("machine.ppn=16", "machine.cores=16"))):
            out = self.log(f"physics-{ranks}", ranks, "collectives", "load.phases=2", "rank2file.checkpoints=0",
                           "workload.most=1048576", *parameters)
            yield 1, [(name, value, f"{ranks} ranks: {says}") for name, value, says in self.figures(out)]
            self.drop(out)

    def burst(self):
        out = self.log("burst", 256, "burst", "load.phases=4", "rank2file.checkpoints=0",
                       options=("--preset", "dragonfly-ss11"))
        yield 1, self.figures(out)
        self.drop(out)

    def across(self):
        """Mean share of the links' bandwidth that is used while all ranks send at once: messages, then an alltoall."""
        healthy = ("rank2file.checkpoints=0", "machine.bad_node_share=0", "machine.bad_cable_share=0")
        # Two islands of 66 nodes with 14 links of 12.5 GB/s between them.
        tree = (132, "fattree-hdr100", *healthy, "machine.ppn=1", "machine.busy_share=0")
        # Several seeds: the state of the links changes at random times, between phases or within a phase.
        for seed in range(1, 5):
            yield from self.exchanged(*tree, messages=1, of_rank=66 / 14 / 12.5e3, seed=seed)
        yield from self.in_alltoall(*tree, of_rank=66 * 66 / 132 / 14 / 12.5e3)
        # 4 x 4 x 4 units of 2 x 3 x 2 nodes with 4 ranks and 10 links of 6.8 GB/s each.
        sides, ranks, messages = (4, 4, 4, 2, 3, 2), 4 * 768, 8
        torus = (ranks, "torus-tofud", *healthy)
        distances = [ranks // 2 + n * (618 * ranks // 1000) for n in range(messages)]
        hops = statistics.mean(torus_hops(sides, rank // 4, (rank + distance) % ranks // 4)
                               for distance in distances for rank in range(ranks))
        yield from self.exchanged(*torus, messages=messages, of_rank=4 * hops / 10 / 6.8e3)
        hops = statistics.mean(torus_hops(sides, 0, other) for other in range(ranks // 4))
        yield from self.in_alltoall(*torus, of_rank=4 * hops / 10 / 6.8e3)

    def exchanged(self, ranks, machine, *parameters, messages, of_rank, seed=1):
        size = 4 << 20
        out = self.log(f"across-{machine}", ranks, "across", "load.phases=16", f"workload.bytes={size}",
                       f"workload.messages={messages}", *parameters, options=("--preset", machine, "--seed", seed))
        is_us = {name: value for name, value, _ in self.figures("--across", f"{out}/clog2/app.clog2")}
        yield self.carried(f"messages.{machine}", of_rank * size, is_us["across.exchange_us"], out)

    def in_alltoall(self, ranks, machine, *parameters, of_rank):
        size = 64 << 20  # bytes of a rank to all others
        out = self.log(f"alltoall-{machine}", ranks, "collectives", "load.phases=2", f"workload.least={size}",
                       f"workload.most={size}", *parameters, options=("--preset", machine))
        is_us = {name: value for name, value, _ in self.figures(out)}
        mine_us = is_us[f"log.mean_us.MPI_Alltoall.{size // ranks * ranks}"]
        yield self.carried(f"alltoall.{machine}", of_rank * size, mine_us, out)

    def carried(self, name, least_us, mine_us, out):
        self.drop(out)
        return 1, [(f"across.{name}", least_us / mine_us,
                    f"it takes {mine_us:.4g} us, and full links need {least_us:.4g} us for it")]

    def wave(self):
        out = self.log("wave", self.options.ranks, "wave", "rank2file.checkpoints=0")
        yield 1, self.figures("--wave", f"{out}/clog2/app.clog2")
        self.drop(out)

    def late(self):
        for name, size in (("eager", 8), ("rendezvous", 1 << 20)):
            out = self.log(f"late-{name}", self.options.ranks, "late", f"workload.bytes={size}",
                           "rank2file.checkpoints=0")
            yield 1, [(f"{figure}.{name}", value, says) for figure, value, says in self.figures(out)]
            self.drop(out)

    def pipeline(self):
        ranks = self.options.ranks
        y = max(side for side in range(1, math.isqrt(ranks) + 1) if ranks % side == 0)
        x = ranks // y
        for planes in (2, 8):
            out = self.log(f"pipeline-{planes}", ranks, "wavefront", f"workload.planes={planes}",
                           "rank2file.checkpoints=0", *UNIFORM)
            # On a grid of x * y ranks, each of four sweeps takes a step per plane. Before two sweeps, ranks wait x - 1 steps.
            # Before the sweep from the opposite corner, and at the end of the last one, they wait x - 1 + y - 1 steps.
            steps = 4 * planes + 4 * (x - 1) + 2 * (y - 1)
            share = {name: value for name, value, _ in self.figures(out)}["log.compute_share.others"]
            yield 1, [("pipeline.efficiency", share * steps / (4 * planes),
                       f"{x} x {y} ranks, {planes} planes: they compute for {share:.4g} of the time, "
                       f"as {4 * planes} of {steps} steps are {4 * planes / steps:.4g}")]
            self.drop(out)

    def master(self):
        out = self.log("master", self.options.ranks, "farm", f"workload.master={MASTER}", "rank2file.checkpoints=0",
                       *UNIFORM)
        share = {name: value for name, value, _ in self.figures(out)}
        yield 1, [("master.busy", share["log.compute_share.first"], "share of the run that the master computes"),
                  ("master.idle", 1 - share["log.compute_share.others"], "share of the run that workers wait")]
        self.drop(out)

    def checkpoint(self):
        servers = max(1, self.options.ranks // 64)
        out = self.log("checkpoint", self.options.ranks, "stencil", "rank2file.mean_size=256M",
                       f"machine.file_servers={servers}", f"machine.file_server={SERVER}")
        rate = {name: value for name, value, _ in self.figures(out)}["log.checkpoint_gbs"]
        yield 1, [("checkpoint.rate", rate / (servers * SERVER),
                   f"{rate:.4g} GB/s on {servers} servers of {SERVER} GB/s")]
        self.drop(out)

    def noise(self, *parameters):
        out = self.log("noise", 64, "noise", "load.phases=2", "rank2file.checkpoints=0", *parameters)
        yield 1, self.figures("--noise", f"{out}/clog2/app.clog2")
        self.drop(out)

    def scenario(self):
        # The default size, a dataset with few ranks, and one with few phases.
        for ranks, scale in ((self.options.ranks, "medium"), (16, "medium"), (64, "tiny")):
            figures = {}
            for kind in ("none", "spike", "ramp", "hotspot"):
                out = self.generate(f"scenario-{kind}-{ranks}-{scale}", "--ranks", ranks, "--scale", scale, "--formats",
                                    "vom", *set_all([f"load.scenario={kind}"]))
                figures[kind] = {name: value for name, value, _ in self.figures(out)}
                self.drop(out)
            for kind in ("spike", "ramp", "hotspot"):
                mine, what = figures[kind], f"{kind}, {ranks} ranks, {scale}"
                first, last = int(mine["scenario.first"]), int(mine["scenario.last"])
                both = [(mine[name], figures["none"][name]) for name in
                        (f"load.imbalance_in.{k}" for k in range(first, last + 1)) if name in mine]
                most = max(both, key=lambda b: b[0] / b[1], default=(0, 1))
                yield 1, [("scenario.outside", mine["scenario.outside"], f"{what}: phases {first} to {last}"),
                          ("scenario.effect", most[0] / most[1],
                           f"{what}: imbalance {most[0]:.2f} with it, {most[1]:.2f} without")]
                if "scenario.jump" in mine:
                    yield 1, [("scenario.jump", mine["scenario.jump"],
                               f"{what}: radii that the centre moves in a phase")]

    def ramp(self):
        return self.each_seed("ramp", "--formats", "vom", *set_all(["load.course=ramp", "load.phases=20"]))

    def sample(self):
        return self.each_seed("sample", "--formats", "vom", *set_all(["load.comm=sample"]))

    def balancer(self):
        for seed in range(1, self.options.seeds + 1):
            figures = {}
            for kind in ("none", "greedy", "tempered"):
                # The seed chooses among fewer workloads with a balancer, and a balancer cannot follow bursts of load. So the
                # workload and the course are named.
                out = self.generate(f"balancer-{kind}-{seed}", "--ranks", self.options.ranks, "--seed", seed,
                                    "--workload", "stencil", "--formats", "vom",
                                    *set_all([f"load.balancer={kind}", "load.course=ramp"]))
                figures[kind] = {name: value for name, value, _ in self.figures(out)}
                self.drop(out)
            none = figures.pop("none")["load.imbalance"]
            for kind, mine in figures.items():
                yield seed, [("balancer.migrations", mine["load.migrations"], f"{kind}: share of objects that migrate"),
                             ("balancer.counts", mine["load.counts"], f"{kind}: most less fewest objects of a rank"),
                             ("balancer.gain", none / mine["load.imbalance"],
                              f"{kind}: imbalance {none:.2f} without it, {mine['load.imbalance']:.2f} with it")]

    def options_of_links(self):
        median = {}
        for name, settings in {"host": (), "gpu": ("linktest.gpu_memory=yes",),
                               "alone": ("linktest.serial=yes", "linktest.message_size=4M"),
                               "together": ("linktest.message_size=4M",)}.items():
            preset = "torus-tofud" if "4M" in str(settings) else "dfplus-hdr200"
            out = self.generate(f"links-{name}", "--ranks", 256, "--preset", preset, "--formats", "linktest",
                                *set_all(settings))
            median[name] = dict((f, v) for f, v, _ in self.figures(out))["links.median_us"]
            self.drop(out)
        yield 1, [("links.gpu", median["gpu"] / median["host"],
                   f"message buffers in GPU memory: {median['gpu']:.4g} us, in host memory {median['host']:.4g} us"),
                  ("links.torus", median["together"] / median["alone"],
                   f"torus, 4 MiB: {median['together']:.4g} us when all measure, {median['alone']:.4g} us alone")]

    def curve(self):
        presets = json.loads(self.call(self.options.hpcgen, "list", "--json"))["presets"]
        for preset in presets:
            outs = []
            for size in SIZES:
                # 64 ranks use 16 nodes. Small switches and groups, so that these nodes are in several groups, if the
                # machine has groups.
                smaller = [] if "torus" in preset else ["machine.nodes_per_switch=4", "machine.nodes_per_group=8"]
                settings = ["machine.ppn=4", f"linktest.message_size={size}", *smaller]
                outs.append(self.generate(f"curve-{preset}-{size}", "--ranks", 64, "--preset", preset, "--formats",
                                          "linktest", *set_all(settings)))
            yield 1, self.figures("--curve", preset, *(f"{o}/linktest/pingpong_results_bin.sion" for o in outs))
            for out in outs:
                self.drop(out)

    def duration(self):
        for preset, ranks, serial in (("tcp-1g", 256, "no"), ("dfplus-hdr200", 256, "yes")):
            out = self.generate(f"duration-{preset}", "--ranks", ranks, "--preset", preset, "--formats", "linktest",
                                *set_all([f"linktest.serial={serial}"]))
            yield 1, self.figures("--curve", f"{preset}.serial-{serial}",
                                  f"{out}/linktest/pingpong_results_bin.sion")
            self.drop(out)

    def bisection(self):
        out = self.generate("bisection", "--ranks", 760, "--preset", "dfplus-hdr200", "--formats", "linktest",
                            *set_all(["linktest.bisection=yes", "linktest.kernel=bidirectional",
                                      "linktest.message_size=16M"]))
        yield 1, self.figures("--bisection", f"{out}/linktest/pingpong_results_bin.sion")
        self.drop(out)


# Workloads of the library that are also examined alone.
ALONE = ("coupled", "farm", "fft", "wavefront")

# Kinds of data, and how to make them.
MAKE = {"stencil": Runs.stencil, "workloads": Runs.workloads,
        **{name: (lambda runs, name=name: runs.workload(name)) for name in ALONE}, "faults": Runs.faults,
        "physics": Runs.physics, "across": Runs.across, "burst": Runs.burst, "collectives": Runs.collectives,
        "wave": Runs.wave,
        "late": Runs.late, "pipeline": Runs.pipeline, "master": Runs.master, "checkpoint": Runs.checkpoint,
        "noise": Runs.noise, "ramp": Runs.ramp, "seeds": Runs.seeds, "scenario": Runs.scenario,
        "sample": Runs.sample, "balancer": Runs.balancer, "curve": Runs.curve, "duration": Runs.duration,
        "options": Runs.options_of_links, "bisection": Runs.bisection}


def collect(runs, rows):
    """Returns the figures of all seeds as a dictionary: data -> figure -> [(value, says)]."""
    found = {}
    for data in MAKE:
        if any(row.data == data for row in rows):
            print(f"realism: {data} data", file=sys.stderr)
            all_of = found.setdefault(data, {})
            try:
                for _, figures in MAKE[data](runs):
                    for name, value, says in figures:
                        all_of.setdefault(name, []).append((value, says))
            except Refused as refused:
                all_of[REFUSED] = [(None, str(refused))]
    return found


def judge(row, figures):
    """Returns the figures of a row that are out of bounds: [(name, value, says)]."""
    bad = []
    names = [name for name in figures if fnmatch.fnmatchcase(name, row.figure)]
    if REFUSED in figures and not names:
        return [(row.figure, None, figures[REFUSED][0][1])]
    if not names and not row.optional:
        return [(row.figure, None, "the files have no such figure")]
    for name in names:
        seeds = figures[name]
        if row.over == "median":
            known = [value for value, _ in seeds if value is not None]
            middle = statistics.median(known) if known else None
            if not row.holds(middle):
                bad.append((name, middle, f"median of {len(seeds)}: {seeds[0][1]}"))
        else:
            wrong = [(name, value, says) for value, says in seeds if not row.holds(value)]
            if wrong:
                worst = max(wrong, key=lambda w: math.inf if w[1] is None else max(row.low - w[1], w[1] - row.high))
                bad.append((*worst[:2], worst[2] + (f" ({len(wrong)} of {len(seeds)} data)" if len(seeds) > 1 else "")))
    return bad


def ablate(runs, rows):
    """Each kind of noise has a row that must hold with this noise and fail without it. Prints the kinds for which this is
    not so. Returns their number."""
    def values(*parameters):
        return {name: value for _, figures in runs.noise(*parameters) for name, value, _ in figures}

    wrong, kinds = 0, read_table(runs.options.table, NOISE)
    whole = values()
    for _, (parameter, figure, _) in kinds:
        row = next(row for row in rows if row.figure == figure.strip("`"))
        parameter = parameter.strip("`")
        for is_, holds in ((whole, True), (values(f"{parameter}=0"), False)):
            value = is_[row.figure]
            if row.holds(value) != holds:
                wrong += 1
                print(f"FAIL {row.figure}: expected {'' if holds else 'not '}{row.bound}, got {value:.4g}: "
                      f"{'with' if holds else 'without'} {parameter}")
    print(f"{len(kinds)} kinds of noise, {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hpcgen")
    parser.add_argument("--figures")
    parser.add_argument("--table", required=True)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="*", help="rows whose figure fits this pattern")
    parser.add_argument("--list", action="store_true", help="print the rows that hold, too")
    parser.add_argument("--keep", help="directory for the datasets, which stay")
    parser.add_argument("--figures-of", help="JSON that `figures` printed: of the workload stencil")
    parser.add_argument("--ablation", action="store_true", help="switch each kind of noise off instead")
    options = parser.parse_args()
    rows = [row for row in read_rows(options.table) if fnmatch.fnmatchcase(row.figure, options.only)]
    if options.figures_of:
        with open(options.figures_of, encoding="utf-8") as file:
            found = {"stencil": {f["name"]: [(f["value"], f["says"])] for f in json.load(file)}}
        rows = [row for row in rows if row.data == "stencil"]
    else:
        with tempfile.TemporaryDirectory(prefix="realism.") as scratch:
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
            if options.ablation:
                return 1 if ablate(Runs(options, options.keep or scratch), rows) else 0
            found = collect(Runs(options, options.keep or scratch), rows)
    failed = 0
    for row in rows:
        bad = judge(row, found.get(row.data, {}))
        failed += bool(bad)
        for name, value, says in bad[:MOST_LINES]:
            shown = "nothing" if value is None else f"{value:.4g}"
            print(f"FAIL {name}: expected {row.bound}, got {shown}: {says} [{row.data}]")
        if len(bad) > MOST_LINES:
            print(f"     and {len(bad) - MOST_LINES} more of {row.figure} [{row.data}]")
        if not bad and options.list:
            print(f"ok   {row.figure}: {row.bound} [{row.data}]")
    print(f"{len(rows) - failed} of {len(rows)} rows hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
