#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast a program is with SIONlib and with hpcw. Usage: speed.py PROGRAM MPICC MPIEXEC REPETITIONS DIRECTORY...

PROGRAM is sionlib_speed, compiled for hpcw. The script also compiles it for SIONlib, with optimisation: HPCW_SIONLIB names a
directory with include/ and lib/. In a repetition both programs run in each directory, one after the other. The script prints
the table of doc/compatibility.md: medians in MB/s, and the median of the ratios within a repetition, with the range.
"""
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import originals  # noqa: E402

PROCESSES = 2
program, mpicc, mpiexec, repetitions, *directories = sys.argv[1:]
prefix = originals.sionlib_prefix()


def rates(binary, directory):
    """Returns the rate of each row."""
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        said = subprocess.run([mpiexec, "-n", str(PROCESSES), binary, f"{scratch}/records.sion", "1"], check=True,
                              stdout=subprocess.PIPE, timeout=300).stdout.decode()
    return {tuple(line.split()[:3]): float(line.split()[4]) for line in said.splitlines()}


with tempfile.TemporaryDirectory() as build:
    original = f"{build}/original"
    subprocess.run([mpicc, "-O3", "-w", "-D_SION_LINUX", "-DSION_MPI", f"{here}/sionlib_speed.c", "-o", original,
                    f"-I{prefix}/include", *originals.archives(prefix, ["mpi", "gen", "ser"]), "-lpthread", "-lm"], check=True)
    measured = {directory: [] for directory in directories}
    for _ in range(int(repetitions)):
        for directory in directories:
            measured[directory].append((rates(original, directory), rates(os.path.abspath(program), directory)))

print("| records | | " + " | ".join(f"{d}: SIONlib | hpcw | ratio" for d in directories) + " |")
print("|---|---|" + "---|---|---|" * len(directories))
for key in measured[directories[0]][0][0]:
    size, manner, direction = key
    cells = []
    for directory in directories:
        theirs, ours = ([run[k][key] for run in measured[directory]] for k in (0, 1))
        ratios = [b / a for a, b in zip(theirs, ours)]
        cells += [f"{statistics.median(theirs):.0f}", f"{statistics.median(ours):.0f}",
                  f"{statistics.median(ratios):.2g} ({min(ratios):.2g} to {max(ratios):.2g})"]
    print(f"| {'64 bytes' if size == '64' else '4 MiB'}, {manner} | {direction} | " + " | ".join(cells) + " |")
