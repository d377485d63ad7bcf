#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the logs of names.c record by record. Usage: check.py PROCESSES LOG [SECOND]

SECOND is the second log of the program. Without SECOND, LOG is the wrapper's log: it has the events of both logs and the calls
of MPI."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import log as clog  # noqa: E402

processes, paths = int(sys.argv[1]), sys.argv[2:]
DEFINED = {"Compute": ("blue", "rank %d, sum %E"), "Exchange": ("green", ""), "Mark": ("red", "%s"),
           "Sample": ("orange", "%h %l %x %X %e"), "Again": ("green", "")}
X = 0x123456789ABCDEF


def expected(rank):
    """Returns the expected threads of a process in the first log. A thread is a list of messages and of
    events (communicator, name, role, cargo)."""
    world, alone = tuple(range(processes)), (rank,)
    on, after, before = (world, False, 0), (rank + 1) % processes, (rank - 1) % processes
    own = (alone, False, 1 if processes == 1 else 0)
    return [[(on, "Exchange", "begin", None), ("message", on, -101, on, after, 7, 4),
             ("message", on, -102, on, before, 7, 4), (on, "Exchange", "end", None), (on, "Compute", "begin", None),
             (on, "Compute", "end", (rank, 0.5 * rank)), (on, "Sample", "event", (-2, -3, 0x1234, X, 0.25)),
             (own, "Mark", "event", (b"here",)), (on, "Exchange", "begin", (b"as much text as fits into cargo\0",)),
             (on, "Exchange", "end", (b"\0\5plain".ljust(32, b"\0"),))],
            [(on, "Exchange", "begin", None), (on, "Exchange", "end", None)]]


def again(rank):
    return [((tuple(range(processes)), False, 0), "Again", role, None) for role in ("begin", "end")]


def found(log, rank):
    """Returns the threads of a process in a log, without MPI calls and their messages, in the form of expected()."""
    threads = []
    for rows in log.timelines[rank]:
        named, depth = [], 0
        for row in rows:
            call = row[0] in ("event", "cargo") and row[2] < clog.USER_EVENT
            depth += (1 if row[2] % 2 == 0 else -1) if call else 0
            if row[0] == "message" and depth == 0:
                named.append(row)
            elif row[0] in ("event", "cargo") and not call:
                role, *what = log.definitions[row[2]]
                name = what[0] if role == "event" else what[1]
                named.append((row[1], name, role, row[3] if row[0] == "cargo" else None))
        if named:
            threads.append(named)
    return sorted(threads, key=repr)


failed = False
logs = [clog.Log(path) for path in paths]
for number, log in enumerate(logs):
    names = {}
    for event, (role, *what) in log.definitions.items():
        if event >= clog.USER_EVENT:
            names[what[0] if role == "event" else what[1]] = tuple(what[-2:])
    wanted = DEFINED if len(logs) == 1 else {n: d for n, d in DEFINED.items() if (n == "Again") == (number == 1)}
    if names != wanted:
        print(f"{paths[number]}: definitions: expected {wanted}, got {names}")
        failed = True
    for rank in range(processes):
        threads = expected(rank) if number == 0 else [again(rank)]
        if len(logs) == 1:
            threads[0] += again(rank)
        threads.sort(key=repr)
        if found(log, rank) != threads:
            print(f"{paths[number]}: process {rank}: expected {threads}, got {found(log, rank)}")
            failed = True
sys.exit(failed)
