#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the test programs of MPE2, unmodified, and names.c with MPE2 and with libhpcw_mpe, runs both, and compares their
logs.

Usage: programs.py SOURCE_ROOT BUILD_ROOT HPCGEN MPIEXEC MPICC [--table] [--keep] [PROGRAM...]

HPCW_MPE_SOURCE names the sources of MPE2, HPCW_MPE its installation; without them, the test is skipped. --table prints the
rows of doc/compatibility.md. Without --table, the rows of that page must be the results of this run. --keep leaves the logs.

What is compared: on each process, the records of each thread in their order (events, cargo by its format, messages,
communicators), and the definitions of the user and of the calls in the log. Not compared: times, shifts of clocks, and
what MPE2's wrapper and this project's do differently (IGNORED, WAITS, NOT_OF_FORTRAN).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import log as clog  # noqa: E402

PASS, HEAD = "same", "| program | calls of MPI | processes | result |"
# Events that MPE2's wrapper records in addition to calls: begins and ends of communicators.
IGNORED = {-10, -9}
# MPI_Wait, MPI_Test and their variants for all, any or some requests. MPE2 records them on MPI_COMM_WORLD, and this
# project on the communicator of the requests.
WAITS = {event for state in (*range(87, 91), *range(105, 109)) for event in (2 * state, 2 * state + 1)}
# MPI_Comm_split, which MPE2 calls MPI_Comm_split_type.
MISNAMED = {56, 57}
# MPI_Comm_rank and MPI_Comm_size: MPE2's wrapper for Fortran lacks them.
NOT_OF_FORTRAN = {48, 49, 54, 55}
# source, name of the program, options, wrapper, processes, arguments
ROWS = [
    ("names.c", "names", "", False, 4, ""),
    ("cpilog.c", "ncpilog", "-DNO_MPI_LOGGING", False, 4, ""),
    ("cpilog_pack.c", "ncpilog_pack", "-DNO_MPI_LOGGING", False, 4, ""),
    ("fpilog_pack.F", "nfpilog_pack", "-DNO_MPI_LOGGING", False, 2, ""),
    ("log_cost.c", "log_cost", "-DCLOG_NOMPI", False, 1, ""),
    ("cpilog.c", "cpilog", "", True, 4, ""),
    ("cpilog_pack.c", "cpilog_pack", "", True, 4, ""),
    ("fpilog.f", "fpilog", "", True, 2, ""),
    ("fpilog_pack.F", "fpilog_pack", "", True, 2, ""),
    ("iotest.c", "iotest", "", True, 2, ""),
    ("srtest.c", "srtest", "", True, 4, ""),
    ("pthread_sendrecv_user.c", "pthread_sendrecv_user", "", True, 2, "3"),
    ("openmp_mpilog.F", "openmp_mpilog", "-fopenmp", True, 2, ""),
    ("cpi.c", "cpi_log", "", True, 4, ""),
    ("comm1_isr.c", "comm1_isr", "", True, 4, ""),
    ("comm1_isr_loop.c", "comm1_isr_loop", "", True, 4, ""),
    ("fcomm1_isr.f", "fcomm1_isr", "", True, 4, ""),
    ("pthread_sendrecv.c", "pthread_sendrecv", "", True, 2, "3"),
    ("pthread_allreduce.c", "pthread_allreduce", "", True, 2, "3"),
    ("openmp_sendrecv.c", "openmp_sendrecv", "-fopenmp", True, 2, "3"),
    ("comm2_connect_accept.c", "comm2_connect_accept", "", True, 4, ""),
    ("comm2_spawn_parent.c", "comm2_spawn_parent", "", True, 1, ""),
]


class Failed(Exception):
    pass


def run(command, where, env=None):
    try:
        done = subprocess.run(command, cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failed("does not end") from late
    if done.returncode != 0:
        with open(os.path.join(where, "output"), "ab") as output:
            output.write(" ".join(command).encode() + b"\n" + done.stdout)
        raise Failed("does not run")


def is_fortran(name):
    return name.lower().endswith(".f")


def build(row, where, mpicc, source, flags, libraries):
    name, program, options, _, _, _ = row
    fortran = is_fortran(name)
    more = ["-w", "-O1"] + (["-std=legacy", "-ffixed-line-length-none", "-fallow-argument-mismatch", "-cpp"]
                            if fortran else ["-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"])
    here = os.path.dirname(os.path.abspath(__file__))
    source = here if name == "names.c" else source
    compiler = mpicc.replace("mpicc", "mpifort") if fortran else mpicc
    command = [compiler, *more, *options.split(), *flags, os.path.join(source, name), "-o", program, *libraries,
               "-lpthread", "-lm"]
    try:
        run(command, where)
    except Failed as failed:
        raise Failed("does not compile") from failed


def log_of(row, where, mpiexec):
    _, program, _, _, processes, arguments = row
    env = dict(os.environ, TMPDIR=where, MPE_TMPDIR=where)
    for name in [n for n in env if n.startswith(("HPCW_TRACE", "MPE_LOG"))]:
        del env[name]
    run([mpiexec, "-n", str(processes), "./" + program, *arguments.split()], where, env)
    logs = [n for n in os.listdir(where) if n.endswith(".clog2")]
    if not logs:
        raise Failed("writes no log")
    return [os.path.join(where, n) for n in sorted(logs)]


def plain(rows, ignored, has_format):
    """Returns the rows that are compared. The cargo of an MPI call is kept only if MPE2 defines a format for the call."""
    found = []
    for row in rows:
        if row[0] in ("event", "cargo"):
            event = row[2]
            if event in ignored:
                continue
            if row[0] == "cargo" and event < clog.USER_EVENT and not has_format(event):
                row = ("event", row[1], event)
            if event in WAITS:
                row = (row[0], None, *row[2:])
        found.append(row)
    return found


def compare(theirs, ours, fortran):
    """Returns the first difference, or None."""
    ignored = IGNORED | (NOT_OF_FORTRAN if fortran else set())

    def has_format(event):
        return theirs.definitions.get(event, ("",))[-1] != ""

    for event in sorted(set(theirs.definitions) | set(ours.definitions)):
        a, b = theirs.definitions.get(event), ours.definitions.get(event)
        if event >= clog.USER_EVENT and a != b:
            return f"event {event} is {a} and {b}"
    if theirs.constants and theirs.constants != ours.constants:  # MPE2 without MPI has none
        return f"constants {theirs.constants} and {ours.constants}"
    if set(theirs.timelines) != set(ours.timelines):
        return "other processes"
    for process in sorted(theirs.timelines):
        a, b = ([t for t in sorted((plain(t, ignored, has_format) for t in l.timelines[process]), key=repr) if t]
                for l in (theirs, ours))
        if len(a) != len(b):
            return f"process {process}: {len(a)} and {len(b)} threads"
        for thread, (x, y) in enumerate(zip(a, b)):
            for i in range(max(len(x), len(y))):
                p, q = x[i] if i < len(x) else None, y[i] if i < len(y) else None
                if p != q:
                    return f"process {process}, thread {thread}, record {i}: {p} and {q}"
    used = {row[2] for rows in theirs.timelines.values() for t in rows for row in t if row[0] in ("event", "cargo")}
    for event in sorted(e for e in used - MISNAMED if 0 <= e < clog.USER_EVENT):
        a, b = theirs.definitions.get(event), ours.definitions.get(event)
        if a is None or b is None or a[:4] != b[:4]:
            return f"event {event} is {a} and {b}"
    return None


def judge(row, scratch, given, source, libraries):
    """Runs a program with MPE2 and with libhpcw_mpe. Returns whether both work, and the text for the column "result".
    `libraries`: options for the compiler and the linker, for MPE2 and for libhpcw_mpe."""
    logs = []
    for who, (flags, link) in zip(("theirs", "ours"), libraries):
        where = os.path.join(scratch, row[1], who)
        os.makedirs(where)
        try:
            build(row, where, given.mpicc, source, flags, link(row))
            if row[1] == "comm2_spawn_parent":
                child = ("comm2_spawn_child.c", "comm2_spawn_child", *row[2:])
                build(child, where, given.mpicc, source, flags, link(child))
            logs.append(log_of(row, where, given.mpiexec))
        except Failed as failed:
            return (False, f"{failed} with MPE2") if who == "theirs" else (True, str(failed))
    if len(logs[0]) > len(logs[1]):
        return True, f"{len(logs[1])} logs, {len(logs[0])} with MPE2"
    for path in logs[1]:
        try:
            run([given.hpcgen, "verify", path], scratch)
        except Failed:
            return True, "hpcgen verify refuses the log"
    for a, b in zip(*logs):
        try:
            difference = compare(clog.Log(a), clog.Log(b), is_fortran(row[0]))
        except (AssertionError, KeyError) as broken:
            return True, f"log cannot be read: {broken!r}"
        if difference is not None:
            print(f"{row[1]}: {difference}", file=sys.stderr)
            return True, "differs"
    return True, PASS


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "built", "hpcgen", "mpiexec", "mpicc"):
        parser.add_argument(name)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_intermixed_args()
    given.root, given.built, given.hpcgen = (os.path.abspath(p) for p in (given.root, given.built, given.hpcgen))
    source, prefix = os.environ.get("HPCW_MPE_SOURCE"), os.environ.get("HPCW_MPE")
    if not source or not prefix:
        print("skipped: HPCW_MPE_SOURCE and HPCW_MPE name no MPE2")
        return 77
    directory = os.path.join(given.built, "bindings", "mpe")
    library = [os.path.join(directory, n) for n in os.listdir(directory) if re.search(r"^libhpcw_mpe\.so\.[0-9.]+$", n)]
    wrapper = os.path.join(given.built, "libwriter", "libhpcw_trace.so")
    paths = [f"-Wl,-rpath,{os.path.join(given.built, d)}" for d in ("bindings/mpe", "libreader", "libwriter")]

    def theirs(row):
        if "-DCLOG_NOMPI" in row[2]:
            return [f"-L{prefix}/lib", "-lmpe_nompi"]
        fortran = ["-lmpe_f2cmpi"] if row[3] and is_fortran(row[0]) else []
        return [f"-L{prefix}/lib", *fortran, *(["-llmpe"] if row[3] else []), "-lmpe"]

    def ours(row):
        return ["-Wl,--no-as-needed", *sorted(library)[:1], *([wrapper] if row[3] else []), *paths]

    libraries = (([f"-I{prefix}/include"], theirs), ([f"-I{given.root}/include/hpcw-mpe"], ours))
    scratch = tempfile.mkdtemp()
    lines, work, same = [HEAD, "|---|---|---|---|"], 0, 0
    for row in ROWS:
        if given.programs and row[1] not in given.programs:
            continue
        works, result = judge(row, scratch, given, os.path.join(source, "src", "wrappers", "test"), libraries)
        work += works
        same += works and result == PASS
        lines.append(f"| {row[1]} | {'yes' if row[3] else 'no'} | {row[4]} | {result} |")
    lines += ["", f"{same} of {work} programs that work with MPE2 have the same log."]
    if given.keep:
        print(scratch, file=sys.stderr)
    else:
        shutil.rmtree(scratch)
    if given.table:
        print("\n".join(lines))
        return 0
    with open(os.path.join(given.root, "doc", "compatibility.md"), encoding="utf-8") as page:
        text = page.read()
    # The page must have the rows of the selected programs, or the whole table.
    missing = [line for line in lines[2:-2] if line + "\n" not in text] if given.programs else \
        [] if "\n\n" + "\n".join(lines) + "\n" in text else lines
    if missing:
        print("doc/compatibility.md: expected these lines:", *missing, sep="\n")
    else:
        print(lines[-1])
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
