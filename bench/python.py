#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how fast the Python package, NumPy, hpcgen and other readers read a dataset. Prints a table for
bench/kernels/README.md.

Usage: python.py DATASET SCRATCH, with the environment variables that doc/python.md describes. Times are medians of 5 runs.
Memory is measured in a process of its own. The rows for pandas and for otf2 need these packages. For these rows, the log
is first exported to SCRATCH, as CSV and as OTF2.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

import hpcw
from hpcw import program

dataset, scratch = sys.argv[1:3]
run = hpcw.open(dataset)


def median(call, times=5):
    """Returns the times of a call in seconds (median, minimum, maximum, median of the processor time), and its last result."""
    seconds, busy, result = [], [], None
    for _ in range(times):
        result = None
        before, begin = os.times(), time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begin)
        busy.append(sum(os.times()[:4]) - sum(before[:4]))
    return (statistics.median(seconds), min(seconds), max(seconds), statistics.median(busy)), result


def row(what, measured, told=""):
    middle, least, most, busy = measured
    print(f"| {what} | {middle:.3f} ({least:.3f} to {most:.3f}) | {busy:.2f} | {told} |", flush=True)


def memory_of(call):
    """Returns the growth of the peak memory by a call on the log, divided by the bytes of the array that it returns."""
    code = f"""
import hpcw
def peak():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
log = hpcw.open({dataset!r}).log
log.{call}(ranks=0, end=0.1)
before = peak()
rows = log.{call}()
print((peak() - before) / rows.nbytes)"""
    return float(subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout)


def importing():
    """Returns the seconds that `import hpcw` adds to `import numpy`."""
    def one(code):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begin
    return median(lambda: one("import numpy, hpcw"))[0][0] - median(lambda: one("import numpy"))[0][0]


def log_rows():
    records = run.log.info()["records"]
    for call in ("states", "messages"):
        measured, rows = median(getattr(run.log, call))
        row(f"`{call}()` of the log", measured, f"{len(rows) / 1e6:.2f} M rows, {records / measured[0] / 1e6:.1f} M records/s, "
            f"{memory_of(call):.2f} x the array")
        del rows


def load_rows():
    measured, rows = median(run.loads.tasks)
    row("`tasks()` of all ranks", measured, f"{len(rows) / 1e6:.2f} M rows")
    row("`hpcgen verify` of the same", median(lambda: hpcw.verify(run.loads))[0])


def link_rows():
    path = run.links.path
    row("the matrix of links", median(lambda: run.links.matrix(0))[0], f"{run.links.tasks} tasks")
    row("`np.fromfile` of its file", median(lambda: np.fromfile(path, np.uint8))[0], f"{os.path.getsize(path) / 1e6:.0f} MB")


def container_rows():
    path, size = os.path.join(scratch, "large.sion"), 1 << 30
    with hpcw.sion_create(path, chunk_size=size, sync="none") as f:
        f.write(0, np.arange(size // 8))
    container = hpcw.open(path)
    row("`read` of a task of 1 GiB", median(lambda: container.read(0, "f8"))[0])
    row("`np.fromfile` of the same", median(lambda: np.fromfile(path, "f8", size // 8))[0])
    os.remove(path)


def peer_rows():
    try:
        import otf2
        import pandas
    except ImportError as missing:
        print(f"no rows of others: {missing}", file=sys.stderr)
        return
    csv, trace = os.path.join(scratch, "log.csv"), os.path.join(scratch, "trace")
    subprocess.run([program.hpcgen(), "export", "-q", "--form", "csv", "-O", csv, run.log.path], check=True)
    subprocess.run([program.hpcgen(), "export", "-q", "--form", "otf2", "-O", trace, run.log.path], check=True)
    frames = median(lambda: (hpcw.to_df(run.log.states()), hpcw.to_df(run.log.messages())))[0]
    row("`to_df` of states and messages", frames)
    row("`pandas.read_csv` of the exported log", median(lambda: pandas.read_csv(csv), 1)[0], "begins and ends are not yet paired")

    def read():
        with otf2.reader.open(os.path.join(trace, "traces.otf2")) as opened:
            return sum(1 for _ in opened.events)
    row("all events by otf2's bindings", median(read, 1)[0])
    os.remove(csv)
    shutil.rmtree(trace)


print("| what | seconds | of a processor | |\n|---|---|---|---|")
log_rows()
load_rows()
link_rows()
container_rows()
print(f"| `import hpcw` above NumPy | {importing():.3f} | | |")
if len(sys.argv) < 4:
    peer_rows()
