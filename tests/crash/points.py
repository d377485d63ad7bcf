# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands under crashpoint, and examines the trees of files that they leave."""
import collections
import hashlib
import json
import os
import re
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "chaos"))
import runs  # noqa: E402

# Files that belong to no finished state: temporary files, markers and locks.
TEMPORARY = re.compile(r"(^|/)(\.hpcw[^/]*(/|$)|\.scr/hpcw\.)")
LOCK = re.compile(r"(^|/)\.scr/hpcw\.lock$")  # stays on purpose

Broken = runs.Broken

# Settings of Open MPI, the same as in tests/meson.build: they allow more processes than cores, and root in containers.
MPI = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


class Programs:
    """The programs of a build directory."""

    def __init__(self, build, mpiexec):
        for name, value in MPI.items():
            os.environ.setdefault(name, value)

        def find(*path):
            full = os.path.join(os.path.abspath(build), *path)
            return full if os.access(full, os.X_OK) else None

        self.hpcgen = find("gen", "hpcgen")
        self.crashpoint = find("tests", "crash", "crashpoint")
        self.writers = find("tests", "crash", "writers")
        self.writers_mpi = find("tests", "crash", "writers_mpi")
        self.mpiexec = mpiexec if self.writers_mpi else None
        if None in (self.hpcgen, self.crashpoint, self.writers):
            raise SystemExit(f"crash: {build}: expected a build with tests")

    def launched(self, command, processes, victim=None, tracer=()):
        """Returns the command on several processes. The tracer runs process `victim`; None: it runs mpiexec with all."""
        if processes == 1:
            return [*tracer, *command]
        if victim is None:
            return [*tracer, self.mpiexec, "-n", processes, *command]
        words = [self.mpiexec]
        for number, before in ((victim, ()), (1, tracer), (processes - 1 - victim, ())):
            if number > 0:
                words += [":"] * (len(words) > 1) + ["-n", number, *before, *command]
        return words


def can_trace(programs):
    """Returns whether this machine allows ptrace and seccomp filters."""
    return runs.run(programs.crashpoint, "--log", "/dev/null", "--below", "/", "true").status == 0


class Traced:
    """A command that ran under crashpoint: its calls, notes and end."""

    def __init__(self, programs, command, below, log, processes=1, victim=None, order=()):
        if os.path.exists(log):
            os.remove(log)
        tracer = [programs.crashpoint, "--log", log, "--below", below, *order]
        self.run = runs.Run(programs.launched(command, processes, victim, tracer))
        self.run.end()
        self.status, self.output = self.run.status, self.run.output
        told = []
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="surrogateescape") as lines:
                told = [json.loads(line) for line in lines if line.endswith("\n")]
        if not told or "end" not in told[-1]:
            told.append({"end": "cut"})  # mpiexec ended the tracer, since another process ended first
        self.end = told[-1]["end"]
        self.lines = told[:-1]
        self.calls = [line for line in self.lines if "n" in line]

    def died(self):
        return self.end == "died"


def name_of(call, root):
    """Returns a call as text for people."""
    names = [os.path.relpath(call[key], root) for key in ("path", "to") if key in call]
    return f"{call['call']} {' -> '.join(names)}"


def tree(directory):
    """Returns everything below a directory by path: digest of a file, target of a link, None for a directory."""
    found = {}
    for folder, folders, names in os.walk(directory):
        for name in folders + names:
            path = os.path.join(folder, name)
            key = os.path.relpath(path, directory)
            if os.path.islink(path):
                found[key] = os.readlink(path)
            elif os.path.isdir(path):
                found[key + "/"] = None
            elif not LOCK.search(key):
                found[key] = hashlib.blake2b(runs.bytes_of(path), digest_size=16).digest()
    return found


def named(files):
    """Returns a tree without temporary files."""
    return {name: what for name, what in files.items() if not TEMPORARY.search(name)}


def difference(want, got):
    """Describes in a line how a tree differs from another one."""
    told = collections.OrderedDict(
        (("left", sorted(got.keys() - want.keys())), ("missing", sorted(want.keys() - got.keys())),
         ("other bytes in", sorted(name for name in want.keys() & got.keys() if want[name] != got[name]))))
    return "; ".join(f"{what}: {', '.join(names[:4])}{' ...' * (len(names) > 4)}" for what, names in told.items() if names)


def copy(source, target):
    shutil.copytree(source, target, symlinks=True)


def empty(directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
